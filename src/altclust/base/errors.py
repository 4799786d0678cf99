"""What is wrong with the input, as an exception, and values as messages show them."""

from __future__ import annotations

from typing import Any

from .sklearn_compat import InvalidParameterError


class InputError(ValueError):
    """Something about the input; the message names the argument, the value and the remedy."""


class ParameterError(InputError, InvalidParameterError):
    """A value that a parameter cannot have: a ValueError and a TypeError, as scikit-learn's own."""


def one_line(text: str, most: int = 400) -> str:
    """A text for a message: without line breaks, and cut where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]}…"


def shown(value: Any) -> str:
    """A value for a message, whatever its own `repr` does."""
    try:
        return one_line(repr(value), 60)
    except Exception:
        return f"a {type(value).__name__}"
