"""The paper, reproduced: its settings, its printed figures, and one file per table and figure."""

from .settings import SETS, Task, load_task

__all__ = ["SETS", "Task", "load_task"]
