"""What one person's visit holds: a study, the job that is under way, and the rows that were brushed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ...base.errors import InputError
from ...tables import Table
from .jobs import Job, Pool
from .study import Choices, Study, View
from .uploads import guess_given


@dataclass
class Session:
    """One visit; nothing in it is shared with another.

    Attributes
    ----------
    source : object
        Says which table is open: another one begins anew.
    table : Table or None
    guess : list of str
        The columns of it that are probably known.
    study : Study or None
        The table with what was chosen, and the views that were found.
    place : int
        The view that is shown.
    job : Job or None
        The one that is under way.
    problem : str
        The sentence that explains what did not work.
    chosen : list of int
        Rows that were brushed.
    turn : int
        Grows with every change that charts have to be made anew for.
    dropped : int
        Jobs that were given up or refused: what was set for them goes back to what it was.
    """

    source: Any = None
    table: Table | None = None
    guess: list[str] = field(default_factory=list)
    study: Study | None = None
    place: int = 0
    job: Job | None = None
    problem: str = ""
    chosen: list[int] = field(default_factory=list)
    turn: int = 0
    dropped: int = 0
    _take: Callable[[View], None] | None = None
    _draft: Study | None = None

    def open(self, source: Any, read: Callable[[], Table | None]) -> None:
        """Read another table, if it is another; all that was found in the last one is gone."""
        if source == self.source:
            return
        self.drop_job()
        self.source, self.table, self.study, self.problem = source, None, None, ""
        self.clear_chosen()
        try:
            self.table = read()
            self.guess = [] if self.table is None else guess_given(self.table.frame)
        except InputError as error:
            self.problem = str(error)
        except MemoryError:
            self.problem = "There is not enough memory to read this table: take a part of it."

    def draft(self, choices: Choices) -> Study:
        """The open table with these choices, to see how it would be read."""
        assert self.table is not None
        if self._draft is None or self._draft.table is not self.table or self._draft.choices != choices:
            self._draft = Study(self.table, choices)
        return self._draft

    @property
    def view(self) -> View | None:
        """The view that is shown."""
        return self.study.views[self.place] if self.study is not None and self.study.views else None

    def find(self, pool: Pool, study: Study) -> None:
        """Look for the next view of a study, which takes the place of the one before once it is found."""

        def take(view: View) -> None:
            study.views.append(view)
            self.study, self.place = study, len(study.views) - 1
            self.clear_chosen()

        self._start(pool, Job(study.find, long=study.large), take)

    def change(self, pool: Pool, task: Callable[[Job], Any], stage: str = "searching") -> None:
        """Begin a job that makes another of the view that is shown."""
        study, place = self.study, self.place
        if study is None:
            return

        def take(view: View) -> None:
            study.views[place] = replace(view, names=study.views[place].names)  # it may have got names meanwhile
            self.turn += 1

        self._start(pool, Job(task, stage, long=study.large or stage == "comparing"), take)

    def _start(self, pool: Pool, job: Job, take: Callable[[View], None]) -> None:
        self.drop_job()
        self.problem, self._take = "", take
        try:
            self.job = pool.submit(job)
        except InputError as error:
            self.problem = str(error)
            self.dropped += 1

    def drop_job(self) -> None:
        """Give the job up and go back to what there was."""
        if self.job is not None:
            self.job.stop()
            self.dropped += 1
        self.job = None

    def finish(self) -> None:
        """Take over what the job has found, if it has ended."""
        if self.job is None or not self.job.done:
            return
        job, take = self.job, self._take
        self.job = self._take = None
        self.problem = job.error
        if job.result is not None and take is not None:
            take(job.result)

    def name_cluster(self, code: int, name: str) -> None:
        """Call a cluster of the view that is shown by a name."""
        if self.study is not None:
            self.study.rename(self.place, code, name)

    def clear_chosen(self) -> None:
        """No row is brushed any more."""
        self.chosen = []
        self.turn += 1
