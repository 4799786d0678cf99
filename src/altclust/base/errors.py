"""Errors and warnings about the input, and shortened values and texts for messages."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .sklearn_compat import InvalidParameterError

LONGEST = 80  # characters of a name or a cell in a sentence


class _Message:
    """A message about an argument, which the command line can turn into a message about an option.

    The problem is the full sentence, or the part after the argument and its value: "must be at least 1."
    """

    def __init__(self, problem: str, *, argument: str | None = None, value: Any = ...) -> None:
        self.problem, self.argument = problem, argument
        self.value = None if value is ... else short_repr(value)
        super().__init__(sentence(self, argument, "="))  # type: ignore[call-arg]


def sentence(message: _Message, name: str | None, equals: str = " ") -> str:
    """The message with this name for the argument: ``n_clusters=9 is …``, ``--clusters 9 is …``."""
    if name is None:
        return message.problem
    return f"{name} {message.problem}" if message.value is None else f"{name}{equals}{message.value} {message.problem}"


class InputError(_Message, ValueError):
    """Invalid input; the message names the argument, the value and the remedy."""


class ParameterError(InputError, InvalidParameterError):
    """Invalid parameter value: a ValueError and a TypeError, as in scikit-learn."""


class FitWarning(_Message, UserWarning):
    """Warning about a fit; the message names the remedy."""


class NotConvergedWarning(FitWarning, ConvergenceWarning):
    """Warning about a fit that did not converge; the message says why, and what to try."""


def one_line(text: Any, longest: int = 400) -> str:
    """The text on one line, truncated with "…" to at most `longest` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def shown_name(name: Any) -> str:
    """The name of a column in a sentence: on one line, short, and never empty."""
    return one_line(name, LONGEST) or "(no name)"


def short_repr(value: Any) -> str:
    """A short representation of a value for a message; works even if its `repr` raises."""
    try:
        return one_line(repr(value), 60)
    except Exception:
        return f"a {type(value).__name__}"
