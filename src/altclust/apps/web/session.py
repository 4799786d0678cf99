"""The state of one visitor: a study, the current job, and the selected rows."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ...base.errors import InputError
from ...tables import Table
from .exploration import Choices, Exploration, ShownView
from .jobs import Job, Pool
from .uploads import guess_given


@dataclass
class Session:
    """The state of one visitor; nothing is shared with others.

    Attributes
    ----------
    source : object
        Identifies the open table.
    table : Table or None
    guess : list of str
        Its columns that are probably known clusterings.
    types : dict of str to str
        The types that the visitor chose for its columns.
    edits : int
        Incremented whenever a type is chosen, so that the list is drawn anew.
    study : Exploration or None
        The table with the choices, and the views that were found.
    place : int
        The number of the view that is shown.
    job : Job or None
        The current one.
    test : Job or None
        The current test of a view, which runs beside everything else.
    problem : str
        The last error, as a sentence.
    chosen : list of int
        Selected rows.
    turn : int
        Incremented whenever the charts must be redrawn.
    dropped : int
        Number of jobs that were cancelled or refused; a new number resets the slider.
    """

    source: Any = None
    table: Table | None = None
    guess: list[str] = field(default_factory=list)
    types: dict[str, str] = field(default_factory=dict)
    edits: int = 0
    study: Exploration | None = None
    place: int = 0
    job: Job | None = None
    test: Job | None = None
    problem: str = ""
    chosen: list[int] = field(default_factory=list)
    turn: int = 0
    dropped: int = 0
    _take: Callable[[ShownView], None] | None = None
    _testing: ShownView | None = None
    _draft: Exploration | None = None

    def open(self, source: Any, read: Callable[[], Table | None]) -> None:
        """Read a table, if it is another one, and discard all results of the last."""
        if source == self.source:
            return
        self.drop_job()
        self.drop_test()
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
        """Start the search for the next view of a study, which is shown once it is found, and then tested."""

        def take(view: ShownView) -> None:
            study.views.append(view)
            self.study, self.place = study, len(study.views) - 1
            self.clear_chosen()
            if not view.stopped:
                self.start_test(pool)

        self._start(pool, Job(study.find, long=study.large), take)

    def change(self, pool: Pool, task: Callable[[Job], Any], stage: str = "search") -> None:
        """Start a job that replaces the view that is shown."""
        study, place = self.study, self.place
        if study is None:
            return
        self.drop_test()

        def take(view: ShownView) -> None:
            study.views[place] = replace(view, names=study.views[place].names)  # clusters may have been named meanwhile
            self.turn += 1

        self._start(pool, Job(task, stage, long=study.large or stage == "test"), take)

    def start_test(self, pool: Pool) -> None:
        """Test the significance of the view that is shown, beside everything else."""
        study, view = self.study, self.view
        if study is None or view is None:
            return
        self.drop_test()
        with suppress(InputError):  # too many are waiting: the button remains
            self.test = pool.submit(Job(partial(study.assess, view), "test", long=True, aside=True))
            self._testing = view

    def is_testing(self, view: ShownView) -> bool:
        """Whether the test is about this view."""
        return self.test is not None and self._testing is not None and self._testing.model is view.model

    def drop_test(self) -> None:
        """Cancel the test."""
        if self.test is not None:
            self.test.stop()
        self.test = self._testing = None

    def _start(self, pool: Pool, job: Job, take: Callable[[ShownView], None]) -> None:
        self.drop_job()
        self.problem, self._take = "", take
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

    def finish(self) -> None:
        """Take over the results of the test and of the job, if they have ended."""
        if self.test is not None and self.test.done:
            test, view = self.test, self._testing
            self.test = self._testing = None
            self.problem = self.problem or test.error
            if test.result is not None and view is not None and self.study is not None:
                self.study.take_test(view, test.result)
        if self.job is None or not self.job.done:
            return
        job, take = self.job, self._take
        self.job = self._take = None
        self.problem = job.error
        if job.result is not None and take is not None:
            take(job.result)

    def name_cluster(self, code: int, name: str) -> None:
        """Name a cluster of the view that is shown."""
        if self.study is not None:
            self.study.rename(self.place, code, name)

    def clear_chosen(self) -> None:
        """Clear the selection."""
        self.chosen = []
        self.turn += 1
