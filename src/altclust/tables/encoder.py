"""A table of any columns as rows of numbers, as a scikit-learn transformer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from ..base.errors import InputError
from .frames import as_pandas
from .learn_recipe import learn_recipe
from .recipe import Recipe


@dataclass(kw_only=True, repr=False)
class TableEncoder(TransformerMixin, BaseEstimator):
    """Turn a table with columns of any type into numbers that `altclust.KDAC` can cluster.

    Every column gets a type: numbers are standardised, missing ones are replaced by the median, dates become years.
    Columns with few values (categories, yes/no, ratings) become normal scores, so that none of them shows clusters by
    itself. Texts and identifiers are left out. `altclust.find` reads tables with it.

    Parameters
    ----------
    columns : str or sequence of str
        Columns to use, by name or pattern such as ``gene_*``. Default: all that are measurements or have few values.
    drop : str or sequence of str
        Columns not to use, by name or pattern.
    types : dict of str to str, optional
        Types of columns, by name or pattern, such as ``{"zip": "category"}``: number, ordered, category, yes/no, date,
        money, percent, identifier or text. Default: by rules.
    encode : bool
        Whether to use columns with few values.
    impute : bool
        Whether to replace missing numbers by the median; otherwise they are an error. Missing categories are a level of
        their own.
    log : "auto", or sequence of str
        Columns to take logarithms of, by name or pattern; "auto" takes all skewed positive numbers.
    decimal : "." or ",", optional
        The decimal mark of numbers in text. Default: found for each column.
    standardise : bool
        Whether to scale every column to unit variance.

    Attributes
    ----------
    recipe_ : altclust.tables.Recipe
        How each column that is used becomes a feature; ``recipe_.sentences`` says what was decided.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : array of str, shape (n_features_in_,)
        Their names, if the table has names.

    Notes
    -----
    As for scikit-learn's ``TargetEncoder``, ``fit_transform(X)`` is not ``fit(X).transform(X)``. The first is for the
    rows that a model is fitted to: each row gets a value within the interval of its level, so that a column with few
    values has no gaps. The second is for new rows: each value is the middle of its level, so that equal rows are equal.
    A pipeline calls the right one.

    Examples
    --------
    >>> from altclust import KDAC, TableEncoder
    >>> from altclust.datasets import penguins
    >>> from sklearn.pipeline import make_pipeline
    >>> birds = penguins(as_frame=True)
    >>> views = make_pipeline(TableEncoder(drop=["species", "sex"]), KDAC(n_clusters=2, sigma=1.0, random_state=0))
    >>> views.fit(birds, birds["species"]).predict(birds.head(3)).shape
    (3,)
    >>> views[0].get_feature_names_out().tolist()
    ['island', 'bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g', 'year']
    """

    columns: str | Sequence[str] | None = ()
    drop: str | Sequence[str] | None = ()
    types: Mapping[str, str] | None = None
    encode: bool = True
    impute: bool = True
    log: str | Sequence[str] = ()
    decimal: str | None = None
    standardise: bool = True

    def fit(self, X: Any, y: Any = None) -> TableEncoder:
        """Decide how each column is used, and learn medians, scales and levels.

        Parameters
        ----------
        X : DataFrame of pandas or polars, Arrow table, dict of columns, or array, shape (n, d)
        y : ignored
        """
        frame = self._frame(X, fewest=2)
        self.recipe_: Recipe = learn_recipe(frame, self)
        self.n_features_in_ = frame.shape[1]
        if _has_names(X):
            self.feature_names_in_ = frame.columns.to_numpy(dtype=object)
        elif hasattr(self, "feature_names_in_"):  # of an earlier fit
            del self.feature_names_in_
        return self

    def fit_transform(self, X: Any, y: Any = None) -> pd.DataFrame:
        """Fit, and return the same rows as numbers, without gaps in columns with few values.

        Parameters
        ----------
        X : table, shape (n, d)
            As for `fit`.
        y : ignored

        Returns
        -------
        DataFrame, shape (n, features)
        """
        return self.fit(X)._numbers(X, self.recipe_.apply)

    def transform(self, X: Any) -> pd.DataFrame:
        """Return other rows as numbers; equal rows are equal.

        Parameters
        ----------
        X : table, shape (m, d)
            With the columns that are used; others are ignored. A level that is new gets the mean, 0.

        Returns
        -------
        DataFrame, shape (m, features)
        """
        check_is_fitted(self)
        return self._numbers(X, self.recipe_.middles)

    def _numbers(self, X: Any, apply: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
        frame = self._frame(X, fewest=1)
        if not _has_names(X) and frame.shape[1] != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise InputError(f"has {frame.shape[1]} features, but {expected}: pass all of them.", argument="X")
        return apply(frame).set_axis(frame.index)

    def _frame(self, X: Any, fewest: int) -> pd.DataFrame:
        if not _has_names(X):
            X = check_array(X, dtype=None, ensure_all_finite=False, ensure_min_samples=fewest, estimator=self)
        return as_pandas(X, fewest, argument="X")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """The names of the features: those of the columns that are used.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the table's columns; they must be those of the fit.

        Returns
        -------
        array of str, shape (features,)
        """
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        if input_features is not None and names is not None and list(input_features) != list(names):
            raise InputError("differs from the columns of the fit: leave it out.", argument="input_features")
        return np.array(self.recipe_.names, dtype=object)

    def __hash__(self) -> int:
        return hash(TableEncoder)  # parameters can change, and scikit-learn looks estimators up in sets

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags


def _has_names(X: Any) -> bool:
    """Whether a table has named columns: a data frame, an Arrow table or a dict."""
    return (isinstance(X, Mapping) or hasattr(X, "columns")) and not issparse(X)  # some sparse matrices are dicts
