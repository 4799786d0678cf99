"""Overlap and dependence of clusterings: the measures of the paper's table."""

from .core.metrics import dependence, hsic, match_labels, nmi, overlap

__all__ = ["dependence", "hsic", "match_labels", "nmi", "overlap"]
