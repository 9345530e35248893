"""What a run says of its beginning and end, and how long runs of a plan take.

Imports nothing heavy: a process is started for every run.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.records import run_files
from spikemark.records.folder import Folder

#: Assumed of a run without a guess, s.
START_S = 1.0
#: What a run in plan.json has of its own beside its setup.
NOT_SETUP = {"id", "label", "seed", "repetition", "guess_s"}
#: What happened to a run.
BEGAN = "began"
DONE = "done"
FAILED = "failed"
LINE = re.compile(rf"run (\S+) ({BEGAN}|{DONE}|{FAILED})(?: after ([\d.]+) s)?: (.*)")

#: A run in plan.json.
Entry = dict[str, Any]


class RunEvent(NamedTuple):
    """A line of `spikemark run`: what happened to a run."""

    run: str  #: its id
    what: str  #: BEGAN, DONE or FAILED
    words: str
    took_s: float | None = None

    @classmethod
    def parse(cls, text: str) -> "RunEvent | None":
        """What a line says; None for a line of another program.

        Example:
            >>> RunEvent.parse("run lanes-r2-s1-1a2b3c done after 2.50 s: real-time factor 3")
            RunEvent(run='lanes-r2-s1-1a2b3c', what='done', words='real-time factor 3', took_s=2.5)
        """
        match = LINE.fullmatch(text.strip())
        if match is None:
            return None
        run, what, seconds, words = match.groups()
        return cls(run, what, words, float(seconds) if seconds else None)

    def __str__(self) -> str:
        took = "" if self.took_s is None else f" after {self.took_s:.2f} s"
        return f"run {self.run} {self.what}{took}: {self.words}"


def minutes(seconds: float) -> str:
    """A duration as part of a sentence.

    Example:
        >>> minutes(45), minutes(600), minutes(9000)
        ('45 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def _wall_s(run: Path) -> float:
    """How long a finished run took from start to end. Raises as `Durations` catches."""
    return float(read_json(run / run_files.LAUNCH)["wall_s"])


def simulate_s(run: Path) -> float:
    """How long the measured part of a finished run took. Raises as `Durations` catches.

    Example:
        >>> round(simulate_s(Path("tests/golden/analysis/records/aware-4")), 2)
        0.43
    """
    return float(read_json(run / run_files.RECORD)["timing"]["simulate_s"])


class Durations:
    """Expected durations of the runs of a plan, in s.

    Args:
        entries: runs of the plan; it learns from those that are done. `guess_s` of an entry is a
            guess of the same time.
        results: their folder.
        took: reads the duration of a finished run from its folder: that of the whole run, or of a
            part.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        results: Folder,
        took: Callable[[Path], float] = _wall_s,
    ):
        self._seconds_by_setup: dict[str, list[float]] = defaultdict(list)
        self._ratios: list[float] = []
        for entry in entries:
            try:
                self.learn(entry, took(results.run(entry["id"])))
            except (BadInput, KeyError, TypeError, ValueError):
                continue

    def learn(self, entry: Entry, seconds: float) -> None:
        """Takes the time of a finished run into account."""
        if seconds > 0:
            self._seconds_by_setup[_setup(entry)].append(seconds)
            self._ratios.append(seconds / (entry.get("guess_s") or START_S))

    @property
    def finished(self) -> int:
        """The number of finished runs that the durations rest on; without one, they are guesses."""
        return len(self._ratios)

    def expected_s(self, entry: Entry) -> float:
        """The median of the runs that are done and differ from it only in seed and repetition.

        Without one, its guess, multiplied by the median ratio of time to guess over all runs that
        are done.
        """
        alike = self._seconds_by_setup.get(_setup(entry))
        if alike:
            return _median(alike)
        return _median(self._ratios or [1.0]) * (entry.get("guess_s") or START_S)

    def total(self, entries: Iterable[Entry]) -> float:
        """The time of runs one after another."""
        return sum(self.expected_s(entry) for entry in entries)


def _median(values: list[float]) -> float:
    """As statistics.median, which takes longer to import than all else here."""
    ordered = sorted(values)
    half = len(values) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2


def _setup(entry: Entry) -> str:
    """What runs have in common that differ in seed and repetition."""
    setup = {name: value for name, value in entry.items() if name not in NOT_SETUP}
    return json.dumps(setup, sort_keys=True)
