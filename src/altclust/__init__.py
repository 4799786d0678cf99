"""altclust: the best clustering of your data that is different from the one you know."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import datasets as datasets
    from . import report as report
    from . import tables as tables
    from .base.errors import InputError
    from .base.keep import Links
    from .base.known import Known
    from .base.progress import Progress
    from .core import kernel_family as kernels  # noqa: F401
    from .core import metrics as metrics
    from .core.certificate import Certificate
    from .core.solvers import ISM, LBFGS, Growth, Newton, Stiefel
    from .data.opening import open_rows
    from .models import baselines as baselines
    from .models import comparison as comparison
    from .models.finding import find
    from .models.found import Found
    from .models.kdac import KDAC
    from .models.projection import KernelProjection
    from .models.view_discovery import ViewDiscovery
    from .report import plotting as plotting
    from .search.significance import Significance
    from .search.tuning import Tuning, tune

__version__ = "0.1.0.dev0"

__all__ = [
    "ISM",
    "KDAC",
    "LBFGS",
    "Certificate",
    "Found",
    "Growth",
    "InputError",
    "KernelProjection",
    "Known",
    "Links",
    "Newton",
    "Progress",
    "Significance",
    "Stiefel",
    "Tuning",
    "ViewDiscovery",
    "find",
    "open_rows",
    "tune",
]

_HOMES = {
    "Certificate": "core.certificate",
    "Significance": "search.significance",
    "Found": "models.found",
    "KDAC": "models.kdac",
    "KernelProjection": "models.projection",
    "find": "models.finding",
    **dict.fromkeys(("ISM", "LBFGS", "Growth", "Newton", "Stiefel"), "core.solvers"),
    "open_rows": "data.opening",
    "Tuning": "search.tuning",
    "tune": "search.tuning",
    "InputError": "base.errors",
    "Known": "base.known",
    "Links": "base.keep",
    "Progress": "base.progress",
    "ViewDiscovery": "models.view_discovery",
}
_MODULES = {  # public modules: where users find them, and where they are
    "baselines": "models.baselines",
    "comparison": "models.comparison",
    "datasets": "datasets",
    "kernels": "core.kernel_family",
    "metrics": "core.metrics",
    "plotting": "report.plotting",
    "report": "report",
    "tables": "tables",
}


def __getattr__(name: str) -> Any:
    """A public name from its module, which is imported with all that it needs when first asked for."""
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    if name in _MODULES:
        return import_module(f".{_MODULES[name]}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]


class _PublicModules(MetaPathFinder, Loader):
    """Lets ``from altclust.metrics import nmi`` find the module in its folder: one module under both names."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        moved = _MODULES.get(name.partition(".")[0], "")
        return ModuleSpec(fullname, self) if package == __name__ and "." in moved else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        first, dot, rest = spec.name.partition(".")[2].partition(".")
        module = import_module(f".{_MODULES[first]}{dot}{rest}", __name__)
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # importlib has put that of the public name there


if not any(type(finder).__name__ == _PublicModules.__name__ for finder in sys.meta_path):
    sys.meta_path.insert(0, _PublicModules())
