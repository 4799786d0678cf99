"""altclust: the best clustering of your data that is different from the one you know."""

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
