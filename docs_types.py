"""The types of our docstrings, as they stand, in the API reference."""

from __future__ import annotations

import re
from typing import Any

import griffe

# "array, shape (n, d)" and "{"a", "b"} or array" are no Python, yet the parser takes parts of them for it.
PROSE = re.compile(r"^(\s*[\w, ]+ : )(?=.*(?:shape|\{|, ))", flags=re.MULTILINE)
NO_PYTHON = "\u2060"  # a sign without width, with which it is left alone


class PlainTypes(griffe.Extension):
    """Keeps types that are written for people from being read as expressions."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Mark the types of an object's docstring."""
        if obj.docstring is not None:
            obj.docstring.value = PROSE.sub(rf"\g<1>{NO_PYTHON}", obj.docstring.value)
