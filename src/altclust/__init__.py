"""altclust: the best clustering of your data that is different from the one you know."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .certificate import Certificate
    from .confidence import Confidence
    from .estimators import KDAC
    from .solvers import ISM, Growth, Newton, Stiefel
    from .sources import open_rows
    from .tuning import Tuning, tune
    from .validate import InputError
    from .views import ViewDiscovery

__version__ = "0.1.0.dev0"

__all__ = [
    "ISM",
    "KDAC",
    "Certificate",
    "Confidence",
    "Growth",
    "InputError",
    "Newton",
    "Stiefel",
    "Tuning",
    "ViewDiscovery",
    "open_rows",
    "tune",
]

_HOMES = {
    "Certificate": "certificate",
    "Confidence": "confidence",
    "KDAC": "estimators",
    **dict.fromkeys(("ISM", "Growth", "Newton", "Stiefel"), "solvers"),
    "open_rows": "sources",
    "Tuning": "tuning",
    "tune": "tuning",
    "InputError": "validate",
    "ViewDiscovery": "views",
}


def __getattr__(name: str) -> Any:
    """A public name from its module, which is imported with all that it needs when first asked for."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
