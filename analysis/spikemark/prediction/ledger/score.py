"""How predictions came out: errors, whether intervals held, and hit rates."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from scipy import special

from spikemark.quantities.quantity import LEVEL, Quantity, mean
from spikemark.records.gather import OVERSUBSCRIBED
from spikemark.records.record import Run

from . import same_run
from .chain import Ledger
from .entry import Entry, Figure, moment
from .quantities import QUANTITIES

#: What a prediction came to, worst first, in the order in which pages show them.
VERDICTS = {
    "not valid": "the entry was tampered with, or its run is older",
    "missed": "measured outside the interval",
    "held": "measured within the interval",
    "not scored": "no record of the run yet, or none with this number",
}
NOT_VALID, MISSED, HELD, OPEN = VERDICTS
NO_RECORD = "no record of the run"
OLDER = "the run of {} started at {}, before the prediction was frozen at {}"
#: Beginnings of warnings of records whose times were disturbed.
DISTURBED = ("foreign load", "stolen time", "shared cores", "bound too tightly")


@dataclass(frozen=True)
class Score:
    """One number of one entry. `measured`: mean over its records; missing where there is none."""

    entry: Entry
    name: str
    measured: Quantity
    runs: tuple[Run, ...] = ()
    wrong: tuple[str, ...] = ()  # why the entry does not count

    @property
    def figure(self) -> Figure:
        """What was predicted."""
        return self.entry.figures[self.name]

    @property
    def verdict(self) -> str:
        """A key of VERDICTS."""
        if self.wrong:
            return NOT_VALID
        if not self.measured:
            return OPEN
        return HELD if self.figure.low <= self.measured.value <= self.figure.high else MISSED

    @property
    def scored(self) -> bool:
        """True if it counts in hit rates."""
        return self.verdict in (HELD, MISSED)

    @property
    def error(self) -> float | None:
        """Predicted over measured, less 1; None where that is unknown."""
        return self.figure.value / self.measured.value - 1 if self.measured and self.measured.value else None

    @property
    def beyond(self) -> float:
        """Factor by which the measured number is outside the interval; 1 within it."""
        value = self.measured.value or 0.0
        if value > self.figure.high:
            return value / self.figure.high if self.figure.high > 0 else float("inf")
        return self.figure.low / value if 0 < value < self.figure.low else 1.0 if value else float("inf")

    @property
    def disturbed(self) -> bool:
        """True if other programs ran beside one of its measured runs."""
        return any(
            warning.startswith(DISTURBED)
            for run in self.runs
            if run.simulation is None
            for warning in run.record.warnings
        )


@dataclass(frozen=True)
class Rate:
    """How often intervals held, of how many numbers, with the binomial (Clopper-Pearson) 95 % interval."""

    held: int
    of: int

    @property
    def share(self) -> Quantity:
        """The share; missing where nothing was scored."""
        if not self.of:
            return Quantity(None, reason="nothing was scored", mark="none")
        low, high = binomial(self.held, self.of)
        return Quantity(self.held / self.of, low, high, kind="counted")


@dataclass(frozen=True)
class Scores:
    """All numbers of a ledger, in the order of its entries."""

    ledger: Ledger
    scores: list[Score]
    complaints: list[str]  # what was tampered with, in the file and in runs
    unreadable: int = 0

    @cached_property
    def failures_first(self) -> list[Score]:
        """Scores in the order of VERDICTS; misses by their distance from the interval, the rest as added."""
        order = list(VERDICTS)
        return sorted(
            self.scores,
            key=lambda s: (order.index(s.verdict), -s.beyond if s.verdict == MISSED else 0, s.entry.number),
        )

    def count(self, verdict: str) -> int:
        """How many numbers came to this."""
        return sum(score.verdict == verdict for score in self.scores)

    @property
    def rate(self) -> Rate:
        """Hit rate of everything that was scored."""
        return _rate(self.scores)

    def rates(self, group: Callable[[Score], str]) -> dict[str, Rate]:
        """Hit rates by a property of scores, the lowest rate first."""
        found = defaultdict(list)
        for score in self.scores:
            if score.scored:
                found[group(score)].append(score)
        rates = {name: _rate(scores) for name, scores in found.items()}
        return dict(sorted(rates.items(), key=lambda item: (item[1].held / item[1].of, item[0])))


#: By what hit rates are told apart: (head, property of a score).
GROUPS: dict[str, tuple[str, Callable[[Score], str]]] = {
    "asked": ("what was asked", lambda score: score.entry.asked),
    "method": ("method", lambda score: score.entry.method),
    "quantity": ("quantity", lambda score: score.name),
    "run": ("runs", lambda score: score.entry.run.kind),
}


def score(ledger: Ledger, folders: Iterable[Path], noted: str | None = None) -> Scores:
    """Scores a ledger by the records below `folders`. `noted`: a digest of a line that was noted elsewhere.

    Raises BadInput for a folder that is not there.
    """
    runs = [run for folder in folders for run in same_run.readable(Path(folder))]
    unique = {run.path.resolve(): run for run in runs}
    complaints = list(ledger.complaints)
    if noted is not None and (lacking := ledger.noted(noted)):
        complaints.append(lacking)
    found = []
    for entry in ledger.entries:
        about = entry.run.model_dump()
        mine = [run for run in unique.values() if same_run.other(about, run) is None]
        older = [run for run in mine if moment(run.record.provenance.started) <= entry.when]
        wrong = [*ledger.wrong.get(entry.number, [])]
        if older:
            first = min(older, key=lambda run: run.record.provenance.started)
            said = OLDER.format(entry.label, first.record.provenance.started, entry.frozen)
            wrong.append(said)
            complaints.append(f"entry {entry.number}: {said}")
        found += [_score(entry, name, mine, tuple(wrong)) for name in entry.figures]
    return Scores(ledger, found, complaints)


def _score(entry: Entry, name: str, runs: list[Run], wrong: tuple[str, ...]) -> Score:
    fair = [run for run in runs if run.simulation is not None or not _crowded(run)]
    none = NO_RECORD if not runs else "more ranks and threads than cores: no evidence of speed"
    known = QUANTITIES.get(name)
    values = [known.of(run) for run in fair] if known else []
    lacking = next((value for value in values if not value), None)
    if known is None:
        measured = Quantity(None, reason=f"{name}: this version does not score it", mark="unknown")
    elif not fair:
        measured = Quantity(None, unit=known.unit, reason=none, mark="none")
    elif lacking is not None:
        measured = lacking
    else:
        measured = mean((value.value for value in values), known.unit, values[0].kind)
    return Score(entry, name, measured, tuple(fair), wrong)


def _crowded(run: Run) -> bool:
    return any(warning.startswith(OVERSUBSCRIBED) for warning in run.record.warnings)


def _rate(scores: Iterable[Score]) -> Rate:
    counted = [score for score in scores if score.scored]
    return Rate(sum(score.verdict == HELD for score in counted), len(counted))


def binomial(held: int, of: int, level: float = LEVEL) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share; it contains the truth at least as often as `level` says."""
    tail = (1 - level) / 2
    low = float(special.betaincinv(held, of - held + 1, tail)) if held else 0.0
    high = float(special.betaincinv(held + 1, of - held, 1 - tail)) if held < of else 1.0
    return low, high
