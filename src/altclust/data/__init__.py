"""Rows in memory, in files and on Dask: opening them, and sums over them."""
