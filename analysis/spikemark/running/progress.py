"""Progress of a sweep: one line per finished run, and a bar below them on a terminal."""

import json
from collections.abc import Sequence
from typing import TextIO

from rich import progress as bars
from rich.console import Console

from spikemark.core.slurm import Job
from spikemark.quantities.words import counted
from spikemark.records import run_files
from spikemark.records.plan import Planned
from spikemark.records.results import Results

from .durations import Durations, minutes


class Progress:
    """Watches the results folder.

    Use it as a context manager and call `look` now and then. It finds runs by the files that they leave, so
    it does not matter which machine measures them.
    """

    def __init__(
        self,
        results: Results,
        runs: Sequence[Planned],
        stream: TextIO | None = None,
        expected: Durations | None = None,
    ):
        self.results = results
        self.console = Console(file=stream, highlight=False, soft_wrap=True)
        self.total = len(runs)
        self.pending = {run.id: run.label for run in runs if not results.measured(run.id)}
        self.failed: dict[str, str] = {}  # reason by label
        self._runs = {run.id: run for run in runs}
        self._expected = expected
        self._queue = ""
        columns = (
            bars.BarColumn(bar_width=20),
            bars.MofNCompleteColumn(),
            bars.TimeElapsedColumn(),
            bars.TextColumn("{task.fields[left]}"),
            bars.TextColumn("{task.fields[queue]}"),
        )
        hidden = not self.console.is_terminal
        self.bar = bars.Progress(*columns, console=self.console, disable=hidden, transient=True)
        self.task = self.bar.add_task(
            "", total=self.total, completed=self.total - len(self.pending), left=self._left(), queue=""
        )

    def __enter__(self) -> "Progress":
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        self.console.print(line, markup=False)

    def look(self) -> None:
        """Prints a line for each run that has finished or failed since the last look."""
        for run, label in list(self.pending.items()):
            if self.results.measured(run):
                self._finish(run, f"{label}  real-time factor {self._real_time_factor(run)}")
            elif self.results.failure(run).is_file():
                reason = (self.results.failure(run).read_text().splitlines() or ["no reason given"])[0]
                self.fail(run, reason)

    def show_queue(self, queue: Sequence[Job], node_hours: float) -> None:
        """Shows which jobs run or wait; where there is no bar, only what has changed since the last time."""
        words = [f"job {job.id} {_state(job)}" for job in queue]
        changed, self._queue = " ".join(words) != self._queue, " ".join(words)
        running = sum(job.state == "RUNNING" for job in queue)
        jobs = words[0] if len(words) == 1 else f"{running} jobs running, {len(words) - running} waiting"
        failed = f", {counted(len(self.failed), 'run')} failed" if self.failed else ""
        line = f"{jobs}{failed}, {node_hours:.2g} node-hours" if queue else ""
        self.bar.update(self.task, queue=line)
        if changed and queue and self.bar.disable:
            self.say(f"{line}; {self._left()}")

    def fail(self, run: str, reason: str) -> None:
        """Counts a run as failed and prints the reason."""
        self.failed[self.pending[run]] = reason
        self._finish(run, f"{self.pending[run]}  FAILED: {reason}")

    def _finish(self, run: str, text: str) -> None:
        del self.pending[run]
        if self._expected is not None:
            self._expected.learn(self._runs[run])
        done = self.total - len(self.pending)
        self.say(f"[{done}/{self.total}] {text}")
        self.bar.update(self.task, completed=done, left=self._left())

    def _left(self) -> str:
        """How long the runs that are left will take one after another, in words."""
        if self._expected is None or not self.pending:
            return ""
        return f"about {minutes(self._expected.total(self._runs[run] for run in self.pending))} left"

    def _real_time_factor(self, run: str) -> str:
        try:
            record = json.loads((self.results.run(run) / run_files.RECORD).read_text())
            return format(record["timing"]["real_time_factor"], ".3g") + self._cost(run)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return "unreadable"

    def _cost(self, run: str) -> str:
        """Says how long it took to simulate the run; empty for a measured run."""
        path = self.results.run(run) / run_files.SIMULATION
        return f", simulated in {json.loads(path.read_text())['cost_s']:.3g} s" if path.is_file() else ""


def _state(job: Job) -> str:
    waits = f" ({job.reason})" if job.state == "PENDING" and job.reason not in ("", "None") else ""
    return f"{job.state.lower()}{waits}"
