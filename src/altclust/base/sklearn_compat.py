"""scikit-learn's private names that altclust uses, imported in this module only."""

from sklearn.utils._param_validation import Interval, InvalidParameterError, Options, StrOptions
from sklearn.utils._param_validation import validate_parameter_constraints as validate_constraints

__all__ = ["Interval", "InvalidParameterError", "Options", "StrOptions", "validate_constraints"]
