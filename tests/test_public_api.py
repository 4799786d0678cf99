"""What users rely on: names, arguments and their defaults, options of the command line. A change here is a decision.

`python -m tests.test_public_api` prints it all; put it in tests/public_api.txt where the change is meant, and say so in
CHANGELOG.md.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

ROOT = Path(__file__).parents[1]
SNAPSHOT = Path(__file__).with_name("public_api.txt")


def documented() -> list[str]:
    """The names on the page of the API: all of them are public, and only they."""
    return sorted(set(re.findall(r"^::: (\S+)", (ROOT / "docs/api.md").read_text(encoding="utf-8"), re.MULTILINE)))


def find(name: str) -> Any:
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def arguments(function: Any) -> str:
    """Names, order and defaults; annotations may change."""
    if inspect.isclass(function) and issubclass(function, Exception):
        return ""
    signature = inspect.signature(function)
    plain = [parameter.replace(annotation=parameter.empty) for parameter in signature.parameters.values()]
    return str(signature.replace(parameters=plain, return_annotation=signature.empty))


def of_library() -> Iterator[str]:
    for name in documented():
        thing = find(name)
        yield f"{name}{arguments(thing)}" if callable(thing) else f"{name}: {type(thing).__name__}"
        if inspect.isclass(thing):
            ours = (base for base in thing.__mro__ if base.__module__.startswith("altclust"))
            members = {key: value for base in ours for key, value in vars(base).items() if not key.startswith("_")}
            for key in sorted(members):
                member = getattr(thing, key)
                yield f"{name}.{key}{arguments(member) if callable(member) else ''}"


def of_command_line(command: Any, path: str = "altclust") -> Iterator[str]:
    yield path
    for option in command.params:
        if option.name != "help":
            yield f"{path} {'/'.join([*option.opts, *option.secondary_opts])}"
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from of_command_line(below, f"{path} {name}")


def public() -> list[str]:
    from altclust.apps.cli.main import app

    return [*of_library(), *of_command_line(typer.main.get_command(app))]


def test_the_public_face_is_as_it_was():
    then, now = SNAPSHOT.read_text(encoding="utf-8").splitlines(), public()
    gone, new = [line for line in then if line not in now], [line for line in now if line not in then]
    assert (gone, new) == ([], []), (
        f"The public face changed. Gone: {gone}. New: {new}. If that is meant: "
        "`python -m tests.test_public_api > tests/public_api.txt`, and a line in CHANGELOG.md."
    )


def test_public_modules_are_plain_modules():
    import altclust
    from altclust.core import metrics

    assert altclust.metrics.nmi is metrics.nmi
    code = "import sys\nbefore = list(sys.meta_path)\nimport altclust\nassert sys.meta_path == before\n" + "".join(
        f"assert altclust.{name}.__name__ == 'altclust.{name}'\n" for name in altclust._MODULES
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_is_exported_is_documented():
    import altclust

    assert {f"altclust.{name}" for name in altclust.__all__} <= set(documented())


if __name__ == "__main__":
    print("\n".join(public()))
