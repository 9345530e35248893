"""What a history tells: the spread of a machine from run to run and from session to session, and changes."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.energy.changes import segments
from spikemark.quantities.quantity import Quantity, student
from spikemark.records.record import Run

from .entries import Entry, file_of, files, key_of, read
from .estimate import FEWEST_DEGREES
from .spread import Known, Spread
from .times import CYCLE

FEWEST = 4  # entries in which a change can be found
SURE = 0.99  # level of the interval of a change, of which the best place was chosen with the times known


@dataclass(frozen=True)
class Change:
    """The time of a cycle changed between two entries, by a share of the time before."""

    before: Entry
    after: Entry
    change: Quantity

    @property
    def differs(self) -> dict[str, tuple]:
        """The versions that differ between the two entries, with both values."""
        old, new = self.before.versions, self.after.versions
        names = dict.fromkeys((*old, *new))
        return {name: (old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)}


@dataclass(frozen=True)
class Course:
    """All entries of one setup, in the order of time, and where their level changes."""

    entries: list[Entry]
    changes: list[Change]

    @property
    def title(self) -> str:
        return self.entries[-1].title

    @property
    def levels(self) -> list[list[Entry]]:
        """The entries between changes."""
        ends = [self.entries.index(change.after) for change in self.changes]
        return [self.entries[a:b] for a, b in zip([0, *ends], [*ends, len(self.entries)], strict=True)]


def courses(entries: Iterable[Entry]) -> list[Course]:
    """The courses of all setups, in the order in which they were first measured."""
    found: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        found[entry.key].append(entry)
    return [Course(each, changes(each)) for each in found.values()]


def changes(entries: list[Entry]) -> list[Change]:
    """Where the time of a cycle changes for good: in at least two entries before, and two after.

    The places are those of penalised least squares on logarithms (`energy.changes`). A change counts if the
    interval of SURE of the difference of the two levels excludes 0 (Student's, with their common variance).
    """
    if len(entries) < FEWEST:
        return []
    logs = np.log([entry.cycle_s for entry in entries])
    ends = [segment.first for segment in segments(logs)[1:]]
    while ends:
        bounds = [0, *ends, len(logs)]
        levels = [logs[a:b] for a, b in pairwise(bounds)]
        made = [_between(before, after) for before, after in pairwise(levels)]
        unsure = [(abs(found.value), at) for at, found in enumerate(made) if found.low <= 0 <= found.high]
        if not unsure:
            return [Change(entries[at - 1], entries[at], one) for at, one in zip(ends, made, strict=True)]
        del ends[min(unsure)[1]]  # the levels on both sides become one
    return []


def _between(before: np.ndarray, after: np.ndarray) -> Quantity:
    """Share by which the level is higher afterwards, with the interval of SURE."""
    degrees = len(before) + len(after) - 2
    squares = sum(float(np.square(part - part.mean()).sum()) for part in (before, after))
    error = (squares / degrees * (1 / len(before) + 1 / len(after))) ** 0.5
    middle, half = float(after.mean() - before.mean()), student(degrees, SURE) * error
    return Quantity(*(float(np.expm1(x)) for x in (middle, middle - half, middle + half)), kind="measured")


def known_of(folder: Path) -> Callable[[Run], Known]:
    """A function that tells the spread of the setup of a run on its machine, or else of all setups there.

    The function raises BadInput where the folder has no history of the machine.
    """
    names = [path.name for path in files(folder)]
    read_once: dict[Path, list[Entry]] = {}

    def known(run: Run) -> Known:
        path = file_of(folder, run)
        if not path.is_file():
            raise BadInput(f"--history={folder}: no {path.name}; allowed: a history of the machine of A;"
                           f" there are {', '.join(names)}")  # fmt: skip
        entries = read_once.setdefault(path, read(path))
        own = spreads([entry for entry in entries if entry.key == key_of(run)])
        if own.of_part(CYCLE).runs_degrees >= FEWEST_DEGREES:
            return own
        return spreads(entries)

    return known


def spreads(entries: list[Entry]) -> Known:
    """The spread of every part within and between entries, as shares of the time of a cycle.

    Between entries: what the means of entries of one level vary beyond what their runs explain.
    """
    found = courses(entries)
    names = dict.fromkeys(name for entry in entries for run in entry.runs for name in run.parts)
    return Known({name: _spread(name, found) for name in names}, f"{len(entries)} entries")


def _spread(name: str, found: list[Course]) -> Spread:
    runs = sessions = explained = 0.0
    runs_degrees = sessions_degrees = 0
    for level in (level for course in found for level in course.levels):
        means, fewest = [], []
        for entry in level:
            by_seed = defaultdict(list)
            for run in entry.runs:
                by_seed[run.seed].append(run.parts.get(name, 0.0) / entry.cycle_s)
            for values in by_seed.values():
                runs += float(np.square(np.array(values) - np.mean(values)).sum())
                runs_degrees += len(values) - 1
            whole = level[0].cycle_s
            means.append(np.mean([run.parts.get(name, 0.0) for run in entry.runs]) / whole)
            fewest.append(len(entry.runs))
        if len(means) > 1:
            sessions += float(np.square(np.array(means) - np.mean(means)).sum())
            sessions_degrees += len(means) - 1
            explained += (len(means) - 1) / float(np.mean(fewest))
    variance = runs / runs_degrees if runs_degrees else 0.0
    beyond = max(sessions - explained * variance, 0.0) / sessions_degrees if sessions_degrees else 0.0
    return Spread(variance, runs_degrees, beyond, sessions_degrees)
