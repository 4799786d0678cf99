"""scikit-learn's private names that altclust uses, imported in this module only."""

from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions

__all__ = ["Interval", "InvalidParameterError", "StrOptions"]
