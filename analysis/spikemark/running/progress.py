"""Progress of a sweep: one line per finished run, and a bar below them on a terminal."""

from collections.abc import Sequence
from typing import TextIO

from rich import progress as bars
from rich.console import Console

from .durations import BEGAN, FAILED, Durations, Entry, RunEvent, minutes


class Progress:
    """Shows what the runs of a sweep say (`durations.RunEvent`). Use it as a context manager."""

    def __init__(
        self,
        entries: Sequence[Entry],
        done: set[str],
        expected: Durations,
        stream: TextIO | None = None,
    ):
        self.console = Console(
            file=stream,
            highlight=False,
            soft_wrap=True,
        )
        self.total = len(entries)
        self.pending = {entry["id"]: entry for entry in entries if entry["id"] not in done}
        self.failed: dict[str, str] = {}  #: reason by label
        self._expected = expected
        columns = (
            bars.BarColumn(bar_width=20),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("{task.fields[left]}"),
            bars.TextColumn("{task.fields[at]}"),
        )
        hidden = not self.console.is_terminal
        self._bar = bars.Progress(
            *columns,
            console=self.console,
            disable=hidden,
            transient=True,
        )
        self._task = self._bar.add_task(
            "", total=self.total, completed=len(done), left=self._left(), at=""
        )

    def __enter__(self) -> "Progress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        self.console.print(line, markup=False)

    def take(self, line: str) -> None:
        """Takes note of a line that a run or another program of the workflow printed."""
        event = RunEvent.parse(line)
        if event is None or event.run not in self.pending:
            return
        entry = self.pending[event.run]
        if event.what == BEGAN:
            self._bar.update(self._task, at=entry["label"])
        elif event.what == FAILED:
            self.failed[entry["label"]] = event.words
            self.finish(event.run, f"FAILED: {event.words}")
        else:
            if event.took_s is not None:
                self._expected.learn(entry, event.took_s)
            self.finish(event.run, event.words)

    def finish(self, run: str, words: str) -> None:
        """Counts a run as over and prints a line about it."""
        label = self.pending.pop(run)["label"]
        done = self.total - len(self.pending)
        self.say(f"[{done}/{self.total}] {label}  {words}")
        self._bar.update(
            self._task,
            completed=done,
            left=self._left(),
            at="",
        )

    def _left(self) -> str:
        if not self.pending:
            return ""
        return f"about {minutes(self._expected.total(self.pending.values()))} left"
