"""Several results beside a first one: machines, versions or days, and which changes are real.

Each is compared with the first as `compare` does it. The intervals of all these comparisons hold
together with 95 %, so that with as many results as you like, a change is called real by mistake in
one of twenty answers at most.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from spikemark.core.files import write_output
from spikemark.quantities.answer import Answer, Screen, frame_of
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.figure import PALETTE, intervals
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted
from spikemark.records.record import Run
from spikemark.report import plots
from spikemark.report.document import Page, html
from spikemark.report.facts import COMMIT_DIGITS, facts, few

from . import sides
from .compare import (
    FAIL,
    FASTER,
    INCONCLUSIVE,
    NOT_JUDGED,
    OPEN,
    PASS,
    SLOWER,
    VERDICTS,
    Gate,
    KnownSpread,
    ResultsComparison,
    compare,
    gate,
    judged,
)
from .show import MICROSECONDS_PER_SECOND, difference_content, signed
from .times import CYCLE, PHASE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Of the boxes of a page, by what a limit decides.
TONES = {FAIL: "bad", PASS: "good", INCONCLUSIVE: "wary"}
UNITS = {"first": "µs per cycle", "time": "µs per cycle", "change": "share of a cycle of the first"}


@dataclass(frozen=True)
class Origin:
    """Where results come from."""

    machine: str
    commit: str
    day: str  #: of the first run


@dataclass(frozen=True, repr=False)
class SeveralAnswer(Answer):
    """Several results beside a first one.

    `table` has a row for each, with the change of its time per cycle as a share.
    """

    verb = "diff"

    comparisons: list[ResultsComparison]  #: of the first results with each of the others
    origins: list[Origin]  #: of the first, then of the others
    decisions: list[Gate]  #: about the limit, by comparison; [] without one

    @property
    def failed(self) -> bool:
        """Whether one of the results is surely slower than the limit allows."""
        return any(decision.state == FAIL for decision in self.decisions)

    @property
    def state(self) -> str:
        """What a badge says: of the limit, or else the worst verdict."""
        if self.decisions:
            states = [decision.state for decision in self.decisions]
            return next(state for state in (FAIL, INCONCLUSIVE, PASS) if state in states)
        verdicts = [judged(comparison.overall) for comparison in self.comparisons]
        in_order = (VERDICTS[SLOWER], NOT_JUDGED, VERDICTS[OPEN], VERDICTS[FASTER])
        return next(words for words in in_order if words in verdicts)

    @property
    def table(self) -> pd.DataFrame:
        """The results: mean times per cycle over setups in µs, and their change with its
        interval.
        """
        frame = frame_of(self._overview(), UNITS)
        frame["results"] = [str(comparison.paths[1]) for comparison in self.comparisons]
        return frame

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """The change of each of the results in per cent, with its 95 % interval."""
        columns = {"change": "value", "change_low": "low", "change_high": "high"}
        table = self.table.rename(columns=columns)
        percents = 100 * table[["value", "low", "high"]].astype(float)
        axes = intervals(self._names[1:], percents, axes)
        axes.axvline(0.0, color=PALETTE[-1], linewidth=1, linestyle="dotted")
        axes.set(
            xlabel="change of the time of a cycle (%)", title=f"Compared with {self._names[0]}"
        )
        return axes

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark diff A B C` prints."""
        tables = [self._overview()]
        if details:
            tables += [self._phases()]
        return Screen(self._sentences(), tables, self._notes(), self._cautions())

    def content(self) -> dict[str, Any]:
        """A difference for each of the results; times in s per cycle."""
        decisions: Sequence[Gate | None] = self.decisions or [None] * len(self.comparisons)
        differences = [
            difference_content(comparison, decision)
            for comparison, decision in zip(self.comparisons, decisions, strict=True)
        ]
        return {
            "kind": "differences",
            "format_version": 1,
            "first": str(self._paths[0]),
            "sentence": self._sentences()[0],
            "state": self.state,
            "differences": differences,
        }

    def write_page(self, path: Path, made_by: str = "") -> None:
        """Write the page, whole or not at all; `made_by`: the command that makes it."""
        sentence, *further = self._sentences()
        boxes = []
        for decision, line in zip(self.decisions, further, strict=True):
            boxes.append(Box(TONES[decision.state], line))
        boxes += [Box("wary", caution) for caution in self._cautions()]
        phases = self._phases()
        details = Section(
            "details", "Details", boxes=boxes, figures=[self._bars()], tables=[phases]
        )
        machines = few(origin.machine for origin in self.origins)
        page = Page(
            f"{self._names[0]} and {counted(len(self.comparisons), 'other')}",
            "Several results side by side",
            sentence,
            facts=facts(
                machine=machines,
                day=few(origin.day for origin in self.origins),
                commit=few(origin.commit for origin in self.origins),
                command=made_by,
            ),
            picture=self._changes(),
            table=self._overview(),
            notes=self._notes(),
            sections=[details],
        )
        write_output(path, html(page))

    @property
    def _paths(self) -> list[Path]:
        """The first results, then the others."""
        others = [comparison.paths[1] for comparison in self.comparisons]
        return [self.comparisons[0].paths[0], *others]

    @property
    def _names(self) -> list[str]:
        """What to call the first results and the others: their paths from the folder of all."""
        folder = common_folder(self._paths)
        return [os.path.relpath(path, folder) if folder else str(path) for path in self._paths]

    def _sentences(self) -> list[str]:
        """How many of the results are slower and faster, and what the limit says."""
        verdicts = [judged(comparison.overall) for comparison in self.comparisons]
        counts = []
        for words in (*VERDICTS.values(), NOT_JUDGED):
            if words in verdicts:
                counts.append(f"{verdicts.count(words)} {words}")
        sentences = [f"Beside {self._names[0]}: {', '.join(counts)}."]
        for name, decision in zip(self._names[1:], self.decisions, strict=False):
            sentences.append(f"{name}: {decision.sentence}")
        return sentences

    def _notes(self) -> list[str]:
        """How intervals are meant, and where the results lie."""
        notes = ["Times are means over setups; all intervals hold together with 95 %."]
        folder = common_folder(self._paths)
        if folder:
            notes.append(f"All results lie in {folder}.")
        return notes

    def _cautions(self) -> list[str]:
        """What to be wary of, with the results that it is about."""
        lines = []
        for name, comparison in zip(self._names[1:], self.comparisons, strict=True):
            lines += [f"{name}: {caution}" for caution in comparison.cautions]
        return lines

    def _overview(self) -> Table:
        """A row for each of the results that are compared with the first."""
        rows: list[dict[str, Cell]] = []
        compared = zip(self._names[1:], self.comparisons, self.origins[1:], strict=True)
        for name, comparison, origin in compared:
            rows.append(
                {
                    "results": name,
                    "machine": origin.machine,
                    "commit": origin.commit,
                    "day": origin.day,
                    "first": _mean_us(comparison, CYCLE, first=True),
                    "time": _mean_us(comparison, CYCLE),
                    "change": comparison.overall,
                    "verdict": judged(comparison.overall),
                }
            )
        columns = [
            Column("results", "results"),
            Column("change", "change", words=signed),
            Column("verdict", "verdict"),
            Column("first", "first (µs per cycle)", digits=4),
            Column("time", "here (µs per cycle)", digits=4),
            Column("machine", "machine"),
            Column("commit", "commit"),
            Column("day", "day"),
        ]
        return Table(columns, rows, f"Compared with {self._names[0]}")

    def _phases(self) -> Table:
        """The time of each phase, a row for each of the results, the first one on top."""
        frame = self._phase_frame()
        names = [str(name) for name in frame.columns if name != "results"]
        columns = [Column("results", "results")]
        columns += [Column(name, name) for name in names]
        rows: list[dict[str, Cell]] = []
        for row in frame.to_dict("records"):
            rows.append({str(name): cell for name, cell in row.items()})
        return Table(columns, rows, "Phases (µs per cycle)")

    def _phase_frame(self) -> pd.DataFrame:
        """Mean microseconds per cycle over setups: a row for each of the results, the first on
        top.
        """
        rows = [_phases_of(self.comparisons[0], first=True)]
        rows += [_phases_of(comparison) for comparison in self.comparisons]
        frame = pd.DataFrame(rows).fillna(0.0)
        frame.insert(0, "results", self._names)
        return frame.loc[:, (frame != 0).any()]

    def _bars(self) -> Figure:
        """Bars of the phases of all results."""
        frame = self._phase_frame()
        names = [str(name) for name in frame.columns if name != "results"]
        kind = self.comparisons[0].setups[0].kind
        caption = f"Microseconds per cycle by phase, means over setups ({kind})."
        return plots.bars(
            frame,
            "results",
            names,
            "phases-of-all",
            "Phases",
            caption,
            xlabel="µs per cycle",
            unit="µs / cycle",
        )

    def _changes(self) -> Figure:
        """The change of each of the results, with its interval."""
        rows = []
        for name, comparison in zip(self._names[1:], self.comparisons, strict=True):
            change = comparison.overall
            ends = {"low": change.low, "high": change.high}
            row: dict[str, Any] = {"results": name}
            for column, share in {"change_percent": change.value, **ends}.items():
                row[column] = None if share is None else 100 * share
            rows.append(row)
        frame = pd.DataFrame(rows).astype(dict.fromkeys(("change_percent", "low", "high"), float))
        return plots.points(
            frame,
            "change_percent",
            "results",
            "changes",
            "Change of the time of a cycle",
            f"Compared with {self._names[0]}, whose time is the dotted line.",
            low="low",
            high="high",
            line=0.0,
            xlabel="change (%), lower is better",
        )


def several(
    first: Path,
    others: Sequence[Path],
    known_spread: Callable[[Run], KnownSpread] | None = None,
    largest_change: float | None = None,
) -> SeveralAnswer:
    """Compare several results with the first.

    Args:
        first, others: as `compare`.
        known_spread: as `compare`.
        largest_change: a share; no result may be slower by more.

    Raises BadInput as `compare`.

    Example:
        >>> records = Path("tests/golden/analysis/records")
        >>> len(several(records / "aware-4", [records / "conventional-4"]).comparisons)
        1
    """
    comparisons = [compare(first, other, known_spread, len(others)) for other in others]
    decisions = []
    if largest_change is not None:
        decisions = [gate(comparison, largest_change) for comparison in comparisons]
    origins = [_origin(path) for path in (first, *others)]
    return SeveralAnswer(comparisons, origins, decisions)


def common_folder(paths: Sequence[Path]) -> str:
    """The folder in which all of these lie, so that pages need not repeat it; empty without one.

    Example:
        >>> common_folder([Path("runs/may/a"), Path("runs/may/b/c")])
        'runs/may'
        >>> common_folder([Path("runs/a"), Path("runs")])
        ''
    """
    folders = [os.path.dirname(path) for path in paths]
    if len({os.path.isabs(folder) for folder in folders}) > 1:
        return ""
    return os.path.commonpath(folders)


def _origin(path: Path) -> Origin:
    """Where the runs of results come from."""
    records = [run.record for run in sides.read(path).runs["run"]]
    return Origin(
        machine=few(record.host.name for record in records),
        commit=few((record.provenance.commit or "unknown")[:COMMIT_DIGITS] for record in records),
        day=min(record.provenance.started for record in records)[:10],
    )


def _mean_us(comparison: ResultsComparison, part: str, first: bool = False) -> float:
    """The mean time of a part over setups, in µs per cycle, of the first results or the others."""
    estimates = [setup.parts[part] for setup in comparison.setups if part in setup.parts]
    seconds = [each.first_s if first else each.second_s for each in estimates]
    return MICROSECONDS_PER_SECOND * sum(seconds) / len(comparison.setups)


def _phases_of(comparison: ResultsComparison, first: bool = False) -> dict[str, Any]:
    """The mean time of each phase over setups, in µs per cycle."""
    row: dict[str, Any] = {}
    for setup in comparison.setups:
        for name in setup.parts:
            if name.startswith(PHASE):
                row[name.removeprefix(PHASE)] = max(_mean_us(comparison, name, first), 0.0)
    return row
