"""altclust: the best clustering of your data that is different from the one you know."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import baselines as baselines
    from . import comparison as comparison
    from . import datasets as datasets
    from . import kernels as kernels
    from . import metrics as metrics
    from . import plotting as plotting
    from . import report as report
    from . import tables as tables
    from .base.errors import InputError as InputError
    from .base.keep import Links as Links
    from .base.known import Known as Known
    from .base.progress import Progress as Progress
    from .core.certificate import Certificate as Certificate
    from .core.solvers import ISM as ISM
    from .core.solvers import LBFGS as LBFGS
    from .core.solvers import Growth as Growth
    from .core.solvers import Newton as Newton
    from .core.solvers import Stiefel as Stiefel
    from .data.opening import open_rows as open_rows
    from .models.find import find as find
    from .models.find_result import Found as Found
    from .models.kdac import KDAC as KDAC
    from .models.projection import KernelProjection as KernelProjection
    from .models.views import View as View
    from .models.views import Views as Views
    from .search.settings import Settings as Settings
    from .search.significance import Significance as Significance
    from .search.tuning import Tuning as Tuning
    from .search.tuning import tune as tune
    from .tables.encoder import TableEncoder as TableEncoder

__version__ = "0.1.0"

_HOMES = {
    "Certificate": "core.certificate",
    "Settings": "search.settings",
    "Significance": "search.significance",
    "Found": "models.find_result",
    "KDAC": "models.kdac",
    "KernelProjection": "models.projection",
    "find": "models.find",
    **dict.fromkeys(("ISM", "LBFGS", "Growth", "Newton", "Stiefel"), "core.solvers"),
    "open_rows": "data.opening",
    "Tuning": "search.tuning",
    "tune": "search.tuning",
    "InputError": "base.errors",
    "Known": "base.known",
    "Links": "base.keep",
    "Progress": "base.progress",
    "TableEncoder": "tables.encoder",
    "View": "models.views",
    "Views": "models.views",
}
__all__ = [*_HOMES]
_MODULES = ("baselines", "comparison", "datasets", "kernels", "metrics", "plotting", "report", "tables")


def __getattr__(name: str) -> Any:
    """A public name from its module, which is imported with all that it needs when first asked for."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
