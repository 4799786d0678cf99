"""A process that reads files for the tests: it may crash, hang or want too much memory without taking them along.

It is told a job in a line of JSON, and answers in one: "good", or the sentence of an InputError, or a stack trace, with
the seconds that it took, by how many bytes its memory grew at most, and the largest memory of its children so far.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import select
import subprocess
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

ROOM = 2**31  # bytes that the process may take beside what it has to begin with
PATIENCE = 100  # seconds for one job, on a machine that does other things as well


class Reader:
    """Such a process, begun again whenever it is gone."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def ask(self, job: str, path: Path, **more: Any) -> dict[str, Any]:
        """Do this job with this file."""
        if self.process is None:
            root = Path(__file__).parents[2]
            sources = os.pathsep.join([str(root), str(root / "src")])
            environment = os.environ | {"PYTHONPATH": sources, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
            self.process = subprocess.Popen(
                [sys.executable, "-X", "faulthandler", "-m", "tests.trust.reading"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                cwd=root,
                env=environment,
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"job": job, "path": str(path), **more}) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.end()
            return {"answer": "it hangs" if not ready else "the process crashed", "kind": "crash"}
        return json.loads(line)

    def end(self) -> None:
        """End the process."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


def _table(path: Path) -> None:
    from altclust.tables import TableEncoder, learn_recipe, read_table

    frame = read_table(path).frame
    if frame.size < 100_000:
        learn_recipe(frame, TableEncoder()).apply(frame)


def _page(path: Path) -> None:
    from altclust.apps.web.uploads import PAGE, guess_given
    from altclust.tables import read_table

    with path.open("rb") as file:
        guess_given(read_table(file, path.name, PAGE).frame)


def _rows(path: Path) -> None:
    import numpy as np
    from sklearn.base import BaseEstimator

    from altclust.data.opening import checked_rows

    rows = checked_rows(BaseEstimator(), path, reset=True)
    rows.take(np.arange(min(rows.n, 3)))
    rows.total(lambda X, codes: (X.sum(axis=0),))


def _model(path: Path) -> None:
    import numpy as np

    from altclust import KDAC

    model = KDAC.load(path)
    X = np.linspace(-1, 1, 3 * model.n_features_in_).reshape(3, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, Z = model.predict(X), model.transform(X)
    assert labels.shape == (3,)
    assert Z.shape == (3, model.n_components_)
    model._repr_html_()
    repr(model)
    model.save(path.with_name("again.npz"))
    assert set(labels) <= set(range(model.n_clusters_))


def _results(path: Path) -> None:
    from altclust.apps.cli.results import read_results
    from altclust.tables import read_table

    figures, recipe, models = read_results(path)
    frame = read_table(path / f"table{Path(figures['table']).suffix}").frame
    for model in models.values():
        model.predict(recipe.apply(frame))


def _command(path: Path) -> None:
    """The command line, which must end in a sentence, an exit code and nothing written."""
    from altclust.apps.cli.main import main
    from altclust.base.errors import InputError

    with contextlib.chdir(path.parent):
        before = sorted(Path().iterdir())
        sys.argv = ["altclust", "find", path.name, "--out", "found"]
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            try:
                main()
            except SystemExit as end:
                code = end.code
        assert code in (1, 2), (code, said.getvalue())
        assert sorted(Path().iterdir()) == before
    raise InputError(said.getvalue().removeprefix("altclust: ").strip())


JOBS = {
    "table": _table,
    "page": _page,
    "rows": _rows,
    "model": _model,
    "results": _results,
    "command": _command,
}


def _peak() -> int:
    with contextlib.suppress(OSError, IndexError):
        return 1024 * int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
    return 0


def _answer(job: str, path: Path) -> dict[str, Any]:
    from altclust.base.errors import InputError

    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before, began = _peak(), time.monotonic()
    try:
        JOBS[job](path)
        kind, answer = "good", "good"
    except InputError as error:
        kind, answer = "sentence", str(error)
    except BaseException:
        kind, answer = "crash", traceback.format_exc()
    children = 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    seconds = time.monotonic() - began
    return {"kind": kind, "answer": answer, "seconds": seconds, "bytes": _peak() - before, "children": children}


def _listen() -> None:
    import openpyxl  # noqa: F401
    import pandas as pd
    import pyarrow.feather
    import pyarrow.parquet  # noqa: F401

    pd.DataFrame({"a": ["b"]}).astype(str)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + ROOM, taken + ROOM))
    for line in sys.stdin:
        job = json.loads(line)
        answers.write(json.dumps(_answer(job["job"], Path(job["path"]))) + "\n")
        answers.flush()


if __name__ == "__main__":
    _listen()
