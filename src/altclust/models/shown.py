"""What a fitted view can show of itself: a picture, a report, a card in a notebook."""

from __future__ import annotations

import io
import os
from base64 import b64encode
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from array_api_compat import is_torch_array
from sklearn.utils.validation import check_is_fitted

from ..base.backend import host
from ..base.errors import InputError
from ..base.validation import given_frame, is_unknown

TOP = 5  # features that a card names
HEAD, CELL = 'style="text-align:left" scope="row"', 'style="text-align:left"'


class Shown:
    """The part of an estimator that people look at."""

    def plot(self, X: Any = None, given: Any = None, *, axes: Any = None) -> np.ndarray:
        """Draw what was given and what was found, side by side in the same learnt directions.

        Parameters
        ----------
        X : array or frame, shape (n_samples, n_features), optional
            Rows to draw; those of the fit if left out, or a sample of them where they were streamed.
        given : labels or several columns of labels, optional
            What is known of X; the first column is drawn.
        axes : sequence of matplotlib Axes, optional
            To draw in: one, or two where something is given.

        Returns
        -------
        array of matplotlib Axes
        """
        from ..report.plotting import plot_views

        rows, known, labels = self._rows_to_show(X, given)
        first = None if known is None else known.iloc[:, 0]
        return plot_views(np.asarray(self.transform(rows)), first, labels, axes=axes)  # type: ignore[attr-defined]

    def report(
        self, path: str | os.PathLike, X: Any = None, given: Any = None, *, confidence: bool = True, **more: Any
    ) -> None:
        """Write a report of the view: one HTML file that needs nothing else.

        Parameters
        ----------
        path : str or path
            Of the file, which is there whole or not at all.
        X, given : optional
            The rows to report on, as for `plot`. Cells of a frame are shown as they are.
        confidence : bool
            Whether to compute `confidence_`, which takes a dozen searches, if it is not there yet.
        more : dict
            Further arguments of `altclust.report.summarise`, such as ``name`` and ``cluster_names``.
        """
        from ..report import summarise, write_report

        rows, known, labels = self._rows_to_show(X, given)
        write_report(path, summarise(self, rows, known, labels=labels, confidence=confidence, **more))

    def _rows_to_show(self, X: Any, given: Any) -> tuple[Any, pd.DataFrame | None, np.ndarray]:
        """Rows, what is known of them, and their clusters."""
        check_is_fitted(self)
        if X is not None:
            frame = None if given is None else given_frame(given)
            return X, frame, np.asarray(self.predict(X))  # type: ignore[attr-defined]
        question = getattr(self, "_question", None)
        if question is None:
            raise InputError("X is missing: a model that was loaded from a file has no rows of its own, so pass some.")
        rows = question.X + self.mean_  # type: ignore[attr-defined]
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            rows = pd.DataFrame(rows, columns=names)
        return rows, self._named_given(question.given), self._answered  # type: ignore[attr-defined]

    def _named_given(self, codes: list[np.ndarray]) -> pd.DataFrame | None:
        """What was given under its own names; numbers where the labels are on a cluster."""
        if not codes:
            return None
        given: Any = self._given  # type: ignore[attr-defined]
        if given is None or hasattr(given, "dask"):
            return pd.DataFrame({f"given {j}": c for j, c in enumerate(codes, 1)})
        frame = given_frame(host(given) if is_torch_array(given) else given)
        named = {}
        for (name, column), code in zip(frame.items(), codes, strict=True):
            levels = [level for level in pd.unique(column) if not is_unknown(level)]  # codes number them in this order
            named[str(name)] = np.array([*levels, None], dtype=object)[code]
        return pd.DataFrame(named)

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._card()  # type: ignore[misc]

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        return bundle | {"text/html": bundle["text/html"] + self._card()} if "text/html" in bundle else bundle

    def _card(self) -> str:
        """What was found, in a few lines of HTML below scikit-learn's own; nothing that takes time to compute."""
        model: Any = self
        if not hasattr(model, "_map"):
            return ""
        counts = np.bincount(np.asarray(model.labels_), minlength=model.n_clusters_)
        names = getattr(model, "feature_names_in_", [f"column {j}" for j in range(model.n_features_in_)])
        top = np.argsort(-model.feature_weights_, kind="stable")[:TOP]
        lines = {
            "clusters": f"{model.n_clusters_}, of {', '.join(f'{count:,}' for count in counts)} rows",
            "overlap": "nothing was given"
            if np.isnan(model.overlap_)
            else f"NMI {model.overlap_:.3f} with what was given; 0 is new",
            "quality": f"{model.quality_:.3f} of at most {model.n_clusters_}",
            "carried by": ", ".join(f"{names[j]} {model.feature_weights_[j]:.0%}" for j in top),
            "status": f"{model.status_} after {model.n_iter_} rounds",
        }
        lines |= {"confidence": str(model._confidence)} if model._confidence is not None else {}
        rows = "".join(
            f"<tr><th {HEAD}>{escape(name)}</th><td {CELL}>{escape(line)}</td></tr>" for name, line in lines.items()
        )
        return f"<table style='margin-top:.5em'>{rows}</table>{self._picture()}"

    def _picture(self) -> str:
        """The view as an image inside the HTML; drawn beside pyplot, so that no notebook shows it twice."""
        if getattr(self, "_question", None) is None:
            return ""
        from matplotlib.figure import Figure

        panels = 1 if not self._question.given else 2  # type: ignore[attr-defined]
        figure = Figure(figsize=(4 * panels, 3.4), layout="constrained")
        self.plot(axes=figure.subplots(1, panels, sharex=True, sharey=True))
        buffer = io.BytesIO()
        figure.savefig(buffer, dpi=80)
        image = b64encode(buffer.getvalue()).decode()
        return f'<img alt="What was given and what was found" src="data:image/png;base64,{image}">'
