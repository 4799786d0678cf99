"""altclust: the best clustering of your data that is different from the one you know."""

from .certificate import Certificate
from .estimators import KDAC
from .solvers import ISM, Growth, Newton, Stiefel
from .validate import InputError

__version__ = "0.1.0.dev0"

__all__ = ["ISM", "KDAC", "Certificate", "Growth", "InputError", "Newton", "Stiefel"]
