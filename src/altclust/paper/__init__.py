"""Reproduction of the paper: its settings, its printed results, and one module per table and figure."""

from .configs import SETS, Task, load_task

__all__ = ["SETS", "Task", "load_task"]
