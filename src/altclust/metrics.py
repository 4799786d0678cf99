"""Overlap of clusterings: the measures of the paper's table."""

from .core.metrics import hsic, match_labels, nmi, overlap

__all__ = ["hsic", "match_labels", "nmi", "overlap"]
