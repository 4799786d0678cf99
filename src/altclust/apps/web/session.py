"""The state of one visitor: an exploration, the current jobs, and the selected rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ...base.errors import InputError
from ...tables import Table
from .exploration import Choices, Exploration, ShownView
from .jobs import Job, Pool
from .uploads import guess_given


@dataclass
class Session:
    """The state of one visitor; nothing is shared with others."""

    visitor: str = ""  # whose tab it is
    source: Any = None  # identifies the open table
    table: Table | None = None
    guess: list[str] = field(default_factory=list)  # its columns that are probably known clusterings
    types: dict[str, str] = field(default_factory=dict)  # that the visitor chose for its columns
    edits: int = 0  # incremented whenever a type is chosen, so that the list is drawn anew
    study: Exploration | None = None  # the table with the choices, and the views that were found
    place: int = 0  # of the view that is shown
    job: Job | None = None  # the current one
    aside: Job | None = None  # the test of the last view or the search for the next one, beside everything else
    problem: str = ""  # the last error, as a sentence
    chosen: list[int] = field(default_factory=list)  # selected rows
    turn: int = 0  # incremented whenever the charts must be redrawn
    dropped: int = 0  # jobs that were cancelled or refused; a new number resets the slider
    _of: Exploration | None = None  # what the job is about
    _draft: Exploration | None = None

    def open(self, source: Any, read: Callable[[], Table | None]) -> None:
        """Read a table, if it is another one, and discard all results of the last."""
        if source == self.source:
            return
        self.drop_job()
        self.drop_aside()
        self.source, self.table, self.study, self.problem, self.types = source, None, None, "", {}
        self.clear_chosen()
        try:
            self.table = read()
            self.guess = [] if self.table is None else guess_given(self.table.frame)
        except InputError as error:
            self.problem = str(error)
        except MemoryError:
            self.problem = "There is not enough memory to read this table: use a part of it."

    def draft(self, choices: Choices) -> Exploration:
        """The open table with these choices, to show how it is read."""
        assert self.table is not None
        if self._draft is None or self._draft.table is not self.table or self._draft.choices != choices:
            self._draft = Exploration(self.table, choices)
        return self._draft

    def choose_type(self, column: str, kind: str | None) -> None:
        """Set the type of a column; None: by the rules again."""
        rest = {name: other for name, other in self.types.items() if name != column}
        self.types = rest if kind is None else rest | {column: kind}
        self.edits += 1

    @property
    def visit(self) -> int:
        """A number of the open table: in the keys of widgets, it resets them with another table."""
        return hash(self.source)

    @property
    def view(self) -> ShownView | None:
        """The view that is shown."""
        return self.study.views[self.place] if self.study is not None and self.study.views else None

    def find(self, pool: Pool, study: Exploration) -> None:
        """Start the search for the first view, which is shown once it is found; then go on."""
        if self.study is not None:
            study.found_before = self.study.automatic(study)
        self._start(pool, study, Job(study.find, long=study.large, visitor=self.visitor))

    def change(self, pool: Pool, task: Callable[[Job], ShownView]) -> None:
        """Start a job that replaces the view that is shown; views after it depend on it, and are found again."""
        if self.study is not None:
            self.drop_aside()
            self._start(pool, self.study, Job(task, "fit", long=self.study.large, visitor=self.visitor))

    def go_on(self, pool: Pool) -> None:
        """Test the last view, or search for the next one, beside everything else."""
        self.drop_aside()
        if self.study is None or not self.study.to_do:
            return
        stage = self.study.to_do
        with suppress(InputError):  # too many are waiting: the button remains
            task = self.study.test if stage == "test" else self.study.find
            self.aside = pool.submit(Job(task, stage, long=True, aside=True, visitor=self.visitor))

    def is_testing(self, view: ShownView) -> bool:
        """Whether this view is being tested."""
        return self.aside is not None and view.view.significance is None

    def drop_aside(self) -> None:
        """Cancel what runs beside everything else."""
        if self.aside is not None:
            self.aside.stop()
        self.aside = None

    def _start(self, pool: Pool, study: Exploration, job: Job) -> None:
        self.drop_job()
        self.problem, self._of = "", study
        try:
            self.job = pool.submit(job)
        except InputError as error:
            self.problem = str(error)
            self.dropped += 1

    def drop_job(self) -> None:
        """Cancel the job."""
        if self.job is not None:
            self.job.stop()
            self.dropped += 1
        self.job = None

    def finish(self, pool: Pool) -> None:
        """Take over the results of the jobs that have ended, and go on."""
        if self.aside is not None and self.aside.done:
            job, self.aside = self.aside, None
            self.problem = self.problem or job.error
            if job.result is not None and self.study is not None:
                self.study.take(job.result)
                self.go_on(pool)
        if self.job is not None and self.job.done:
            job, self.job = self.job, None
            self.problem = job.error
            if job.result is not None and self._of is not None:
                self._show(pool, self._of, job.result)

    def _show(self, pool: Pool, study: Exploration, view: ShownView) -> None:
        study.take(view)
        if study is not self.study:
            self.chosen = []
        self.study, self.place = study, view.place
        self.turn += 1
        self.drop_aside()
        if not view.stopped:
            self.go_on(pool)

    def clear_chosen(self) -> None:
        """Clear the selection."""
        self.chosen = []
        self.turn += 1
