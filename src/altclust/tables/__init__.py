"""Tables in files: read in many formats, made into rows of numbers, written back with columns added."""

from .encoder import TableEncoder
from .formats import FORMATS, Table, read_table
from .learn_recipe import learn_recipe
from .limits import Limits
from .recipe import Recipe

__all__ = ["FORMATS", "Limits", "Recipe", "Table", "TableEncoder", "learn_recipe", "read_table"]
