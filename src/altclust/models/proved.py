"""What speaks for a fitted view, computed when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..base.errors import InputError
from ..base.validation import generator
from ..core.certificate import Certificate
from ..search.significance import Confidence, assess
from ..search.trajectories import Question
from ..search.tuning import Progress


class Proved:
    """The part of an estimator that proves what it found."""

    n_jobs: int | None
    random_state: Any
    _certify: Callable[[], Certificate] | None
    _certificate: Certificate | None
    _confidence: Confidence | None
    _question: Question | None
    _answered: Any

    @property
    def certificate_(self) -> Certificate:
        """What can be proved about the directions, computed when first asked for."""
        check_is_fitted(self)
        if self._certificate is None:
            if self._certify is None:
                raise InputError(
                    "certificate_ was not asked for before the model was saved, and needs the rows: fit again."
                )
            self._certificate = self._certify()
        return self._certificate

    @property
    def confidence_(self) -> Confidence:
        """How stable the view is and whether it is stronger than chance; a dozen searches when first asked for."""
        found = self.assess_confidence()
        assert found is not None
        return found

    def assess_confidence(self, progress: Progress | None = None) -> Confidence | None:
        """Compute `confidence_`, telling how far it is.

        Parameters
        ----------
        progress : callable, optional
            Called with (searches done, searches in all). A true answer gives it up: then the result is None.
        """
        check_is_fitted(self)
        if self._confidence is None:
            if self._question is None:
                raise InputError(
                    "confidence_ was not asked for before the model was saved, and needs the rows: fit again."
                )
            rng = generator(self.random_state)
            found = assess(self._question, self._answered, n_jobs=self.n_jobs, progress=progress, rng=rng)
            if found is None:
                return None
            self._confidence = found
        return self._confidence

    def _get_fitted_attr_html(self, doc_link: str = "") -> Any:
        """scikit-learn lists all attributes in a notebook: what was not asked for yet is not computed for that."""
        there = {"certificate_": self._certificate, "confidence_": self._confidence, "__doc__": type(self).__doc__}
        listed: Any = object.__new__(type(type(self).__name__, (type(self),), there))
        listed.__dict__ = self.__dict__
        return super(Proved, listed)._get_fitted_attr_html(doc_link)  # type: ignore[misc]
