"""All methods on one table, compared."""

from .models.comparison import Comparison, compare

__all__ = ["Comparison", "compare"]
