"""Overlap of clusterings: the measures of the paper's table."""

from .core.metrics import hsic, nmi, overlap

__all__ = ["hsic", "nmi", "overlap"]
