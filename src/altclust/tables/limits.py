"""How large a table may be, and how long reading it may take."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..files.npy import BadFile, check_fits


@dataclass(frozen=True)
class Limits:
    """The largest table that is read."""

    rows: float = math.inf
    columns: float = 100_000  # every column takes time, even with few rows
    bytes: float = math.inf  # of memory; never more than is free
    seconds: float = 600  # that reading a Parquet, Arrow or Excel file may take
    taker: str = "altclust"  # for messages: whose limit it is, and what to do
    remedy: str = "pass a part of the table"

    def check(self, rows: float, columns: float, needed: float = 0.0) -> None:
        """Refuse a table of this shape, or one that needs so many bytes."""
        if rows > self.rows or columns > self.columns:
            most = f"{self.rows:,} and {self.columns:,}" if math.isfinite(self.rows) else f"{self.columns:,} columns"
            raise BadFile(
                f"has {rows:,} rows and {columns:,} columns; {self.taker} reads at most {most}: {self.remedy}."
            )
        check_fits(needed, self.bytes)
