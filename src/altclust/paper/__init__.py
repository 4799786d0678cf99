"""The paper, reproduced: its settings, its printed figures, and one file per table and figure."""

from .configs import SETS, Task, load_task

__all__ = ["SETS", "Task", "load_task"]
