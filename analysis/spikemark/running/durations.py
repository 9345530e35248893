"""What a run says of its beginning and end, and how long runs of a plan take. Imports nothing heavy."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from spikemark.core.errors import BadInput
from spikemark.core.reading import read_json
from spikemark.records import run_files
from spikemark.records.folder import Folder

START_S = 1.0  # assumed where a run has no guess
#: What a run in plan.json has of its own beside its setup.
OWN = {"id", "label", "seed", "repetition", "guess_s"}
BEGAN, DONE, FAILED = "began", "done", "failed"
LINE = re.compile(rf"run (\w+) ({BEGAN}|{DONE}|{FAILED})(?: after ([\d.]+) s)?: (.*)")

Entry = dict[str, Any]  # a run in plan.json


class Said(NamedTuple):
    """A line of `spikemark run`: a run, what happened to it (BEGAN, DONE, FAILED), words, seconds it took."""

    run: str
    what: str
    words: str
    took_s: float | None = None

    @classmethod
    def of(cls, text: str) -> "Said | None":
        """What a line says; None for a line of another program."""
        found = LINE.fullmatch(text.strip())
        return cls(found[1], found[2], found[4], float(found[3]) if found[3] else None) if found else None

    def __str__(self) -> str:
        took = "" if self.took_s is None else f" after {self.took_s:.2f} s"
        return f"run {self.run} {self.what}{took}: {self.words}"


def minutes(seconds: float) -> str:
    """A duration as part of a sentence."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


class Durations:
    """Expected durations of the runs of a plan, in s."""

    def __init__(self, entries: Iterable[Entry], results: Folder):
        """Learns from those of `entries` that are done."""
        self._alike: dict[str, list[float]] = defaultdict(list)
        self._ratios: list[float] = []
        for entry in entries:
            try:
                self.learn(entry, float(read_json(results.run(entry["id"]) / run_files.LAUNCH)["wall_s"]))
            except (BadInput, KeyError, TypeError, ValueError):
                continue

    def learn(self, entry: Entry, wall_s: float) -> None:
        """Takes the time of a finished run into account."""
        if wall_s > 0:
            self._alike[_setup(entry)].append(wall_s)
            self._ratios.append(wall_s / (entry.get("guess_s") or START_S))

    @property
    def finished(self) -> int:
        """The number of finished runs that the durations rest on; without one, they are guesses."""
        return len(self._ratios)

    def of(self, entry: Entry) -> float:
        """The median of the runs that are done and differ from it only in seed and repetition.

        Without one, its guess, multiplied by the median ratio of time to guess over all runs that are done.
        """
        if done := self._alike.get(_setup(entry)):
            return _median(done)
        return _median(self._ratios or [1.0]) * (entry.get("guess_s") or START_S)

    def total(self, entries: Iterable[Entry]) -> float:
        """The time of runs one after another."""
        return sum(self.of(entry) for entry in entries)


def _median(values: list[float]) -> float:
    """As statistics.median, which takes longer to import than all else here."""
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _setup(entry: Entry) -> str:
    """What runs have in common that differ in seed and repetition."""
    return json.dumps({name: value for name, value in entry.items() if name not in OWN}, sort_keys=True)
