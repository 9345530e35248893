"""A comparison as one screen, as JSON, and as a page: the answer, the parts, what else differs."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from spikemark.core.files import write_output
from spikemark.quantities.answer import Answer, Screen, frame_of
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.figure import PALETTE, intervals
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Cells, Column, Table
from spikemark.quantities.words import counted, decimals_between, listed, percent
from spikemark.report import plots
from spikemark.report.document import Page, html
from spikemark.report.facts import facts

from .compare import FAIL, FASTER, OPEN, SLOWER, Gate, ResultsComparison, Setup, judged, verdict
from .estimate import ASSUMED_SESSIONS, WORDS, Estimate
from .times import CYCLE, MEDIAN, PHASE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MICROSECONDS_PER_SECOND = 1e6
MAX_SETUPS = 12  # rows of a screen, setups of a picture
MAX_VALUE_CHARACTERS = 60
MAX_NAMES = 5  # in a sentence
#: Parts that take less on both sides are not shown, s per cycle.
NEGLIGIBLE_S = 1e-10


#: Units of the columns of `overview`.
UNITS = {"first": "µs per cycle", "second": "µs per cycle", "change": "share of a cycle of A"}


@dataclass(frozen=True, repr=False)
class DifferenceAnswer(Answer):
    """Two results side by side: is B slower than A, by how much, and where.

    `table` has a row for each setup, with the change of its time per cycle as a share.
    """

    verb = "diff"

    comparison: ResultsComparison
    decision: Gate | None = None  #: whether B is slower than was allowed, if a limit was given

    @property
    def state(self) -> str:
        """What a badge says: of the limit, or else whether B is slower."""
        if self.decision is not None:
            return self.decision.state
        return judged(self.comparison.overall)

    @property
    def failed(self) -> bool:
        """Whether B is surely slower than the limit allows."""
        return self.decision is not None and self.decision.state == FAIL

    @property
    def table(self) -> pd.DataFrame:
        """The setups: times per cycle in µs, and their change with its interval."""
        return frame_of(overview(self.comparison, self.comparison.setups), UNITS)

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """The change of each setup in per cent, with its 95 % interval."""
        columns = {"change": "value", "change_low": "low", "change_high": "high"}
        table = self.table.rename(columns=columns)
        percents = 100 * table[["value", "low", "high"]].astype(float)
        labels = [name or "all runs" for name in table["setup"]]
        axes = intervals(labels, percents, axes)
        axes.axvline(0.0, color=PALETTE[-1], linewidth=1, linestyle="dotted")
        axes.set(xlabel="change of the time of a cycle (%)", title="B compared with A")
        return axes

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark diff A B` prints."""
        sentences = [sentence(self.comparison)]
        if self.decision is not None:
            sentences.append(self.decision.sentence)
        tables = [first_table(self.comparison)]
        if details:
            tables = _all_tables(self.comparison)
        notes = lines(self.comparison)
        return Screen(sentences, tables, notes, list(self.comparison.cautions))

    def content(self) -> dict[str, Any]:
        """Times in s per cycle; changes are shares of a cycle of A."""
        return difference_content(self.comparison, self.decision)

    def write_page(self, path: Path, made_by: str = "") -> None:
        """Write the page, whole or not at all; `made_by`: the command that makes it."""
        boxes = []
        if self.decision is not None:
            boxes.append(Box("bad" if self.failed else "plain", self.decision.sentence))
        boxes += [Box("wary", caution) for caution in self.comparison.cautions]
        first, second = self.comparison.paths
        tables = _all_tables(self.comparison)
        page = Page(
            f"{first} (A) and {second} (B)",
            "Two results side by side",
            sentence(self.comparison),
            facts=facts(machine=f"A: {first}; B: {second}", command=made_by),
            picture=_picture(self.comparison),
            table=first_table(self.comparison),
            notes=lines(self.comparison),
            sections=[Section("details", "Details", boxes=boxes, tables=tables)],
        )
        write_output(path, html(page))


def signed(share: float, most_decimals: int = 1) -> str:
    """A share with its sign, as per cent with one digit behind the point.

    Args:
        share: of 1.
        most_decimals: that small ones have, where an interval supports more.

    Example:
        >>> signed(0.098), signed(-0.2), signed(-0.0002), signed(-0.0002, most_decimals=2)
        ('+9.8\\u202f%', '−20.0\\u202f%', '0.0\\u202f%', '−0.02\\u202f%')
    """
    rounded = round(share, 4)
    words = percent(rounded, 1, most_decimals)
    return f"+{words}" if rounded > 0 and words != percent(0, 1) else words


def change_in_words(change: Quantity) -> str:
    """A change with its interval: '+9.8 % (+8.1 % to +11 %)'; there has to be one.

    Example:
        >>> change_in_words(Quantity(0.098, 0.081, 0.11))
        '+9.8\\u202f% (+8.1\\u202f% to +11.0\\u202f%)'
    """
    assert change.value is not None
    if change.low is None or change.high is None:
        return signed(change.value)
    decimals = max(decimals_between(100 * change.low, 100 * change.high) or 1, 1)
    value, low, high = (signed(x, decimals) for x in (change.value, change.low, change.high))
    return f"{value} ({low} to {high})"


def sentence(comparison: ResultsComparison) -> str:
    """Is B slower, by how much, and where?

    Example:
        >>> from .compare import compare
        >>> records = Path("tests/golden/analysis/records")
        >>> sentence(compare(records / "aware-4", records / "conventional-4"))
        'B differs from A by +19.5\\u202f% per cycle, but runs were disturbed: not judged.'
    """
    change = comparison.overall
    setups = comparison.setups
    if not change:
        return f"B is not compared with A: {change.reason}."
    over = f"Over {counted(len(setups), 'setup')}, " if len(setups) > 1 else ""
    words = change_in_words(change)
    if change.low is None:
        differs = f"B differs from A by {words} per cycle"
        return f"{over}{differs}, but runs were disturbed: not judged."
    if verdict(change) == OPEN:
        return f"{over}B is as fast as A as far as is known: {words} per cycle."
    mostly = _mostly(setups[0]) if len(setups) == 1 else ""
    return f"{over}B is {verdict(change)} than A: {words} per cycle{mostly}."


def _mostly(setup: Setup) -> str:
    """The phase with the largest share of the change, if it is told apart from 0."""
    phases = [name for name in setup.parts if PHASE in name]
    if not phases:
        return ""

    def share_of_change(name: str) -> float:
        return setup.parts[name].difference_s / setup.cycle.difference_s

    largest = max(phases, key=share_of_change)
    if verdict(setup.change(largest)) == OPEN:
        return ""
    return f", most of it in {largest.removeprefix(PHASE)}"


def lines(comparison: ResultsComparison) -> list[str]:
    """What the screen says besides the sentence, at most four lines.

    Example:
        >>> from .compare import compare
        >>> records = Path("tests/golden/analysis/records")
        >>> for line in lines(compare(records / "aware-4", records / "conventional-4")):
        ...     print(line)
        Also different: schedule, placement, lanes.near.period, lanes.near.lag and ...
    """
    sentences = []
    setups = comparison.setups
    if len(setups) > 1:
        verdicts = [verdict(comparison.change(setup)) for setup in setups]
        slower = verdicts.count(SLOWER)
        faster = verdicts.count(FASTER)
        sentences.append(f"Told apart from A: {slower} slower, {faster} faster.")
    sentences += _hidden_change(comparison)
    if comparison.overall.low is not None:
        rests = listed(dict.fromkeys(WORDS[setup.cycle.spread] for setup in setups))
        if any(setup.cycle.sessions_assumed for setup in setups):
            share = f"{100 * ASSUMED_SESSIONS:g} %"
            rests += f" and {share} assumed, as one side was measured later"
        sentences.append(f"Intervals (95 %) rest on {rests}.")
    sentences.append(_what_else_differs(comparison))
    return sentences


def _hidden_change(comparison: ResultsComparison) -> list[str]:
    """A line where the median cycle of a setup changed, and few long cycles hide it."""
    hidden: list[tuple[Setup, Quantity]] = []
    for setup in comparison.setups:
        median = comparison.median_change(setup)
        if not median:
            continue
        if verdict(median) not in (OPEN, verdict(comparison.change(setup))):
            hidden.append((setup, median))
    if not hidden:
        return []
    setup, median = max(hidden, key=lambda change: abs(change[1].value or 0.0))
    name = f" of {setup.name}" if setup.name else ""
    words = change_in_words(median)
    return [f"The median cycle{name} is {verdict(median)}: {words}; few long cycles hide it."]


def _what_else_differs(comparison: ResultsComparison) -> str:
    """Which fields differ, and which runs have no partner."""
    names = [*dict.fromkeys(name for name, *_ in comparison.differs)]
    fields = listed(names[:MAX_NAMES]) if names else "nothing"
    if len(names) > MAX_NAMES:
        fields += f" and {len(names) - MAX_NAMES} more"
    sentences = [f"Also different: {fields}."]
    for side, runs in zip("AB", comparison.alone, strict=True):
        if runs:
            sentences.append(f"{len(runs)} runs are only in {side}.")
    return " ".join(sentences)


def first_table(comparison: ResultsComparison) -> Table:
    """The setups that changed most; or of a single one, its phases and causes.

    Example:
        >>> from .compare import compare
        >>> records = Path("tests/golden/analysis/records")
        >>> table = first_table(compare(records / "aware-4", records / "conventional-4"))
        >>> [row["part"] for row in table.rows][:4]
        ['cycle', 'phase deliver', 'phase update', 'phase inject']
    """
    if len(comparison.setups) == 1:
        return _parts(comparison, comparison.setups[0])

    def size_of_change(setup: Setup) -> float:
        return abs(setup.change().value or 0.0)

    by_size = sorted(comparison.setups, key=size_of_change, reverse=True)
    return overview(comparison, by_size[:MAX_SETUPS])


def overview(comparison: ResultsComparison, setups: list[Setup]) -> Table:
    """A row per setup.

    Example:
        >>> from .compare import compare
        >>> records = Path("tests/golden/analysis/records")
        >>> comparison = compare(records / "aware-4", records / "conventional-4")
        >>> [column.name for column in overview(comparison, comparison.setups).columns]
        ['setup', 'pairs', 'first', 'second', 'change']
    """
    columns: Cells = {
        Column("setup", "setup"): lambda setup: setup.name,
        Column("pairs", "pairs", "counted"): lambda setup: setup.pairs,
        Column("first", "A (µs per cycle)", digits=4): lambda setup: (
            MICROSECONDS_PER_SECOND * setup.cycle.first_s
        ),
        Column("second", "B (µs per cycle)", digits=4): lambda setup: (
            MICROSECONDS_PER_SECOND * setup.cycle.second_s
        ),
        Column("change", "change", words=signed): comparison.change,
    }
    table: Table = Table.from_items(columns, setups, "Setups")
    return table


def _parts(comparison: ResultsComparison, setup: Setup) -> Table:
    """The cycle, its phases and its causes on both sides.

    Phases add up to the cycle, and so do causes.
    """

    def change_of(name: str) -> Quantity:
        return comparison.change(setup) if name == CYCLE else setup.change(name)

    columns: Cells = {
        Column("part", ""): lambda name: name.replace(".", " "),
        Column("first", "A (µs)", digits=4): lambda name: (
            MICROSECONDS_PER_SECOND * setup.parts[name].first_s
        ),
        Column("second", "B (µs)", digits=4): lambda name: (
            MICROSECONDS_PER_SECOND * setup.parts[name].second_s
        ),
        Column("share", "change, of a cycle of A", words=signed): change_of,
    }
    names = [name for name, part in setup.parts.items() if _is_shown(name, part)]
    title = f"{counted(setup.runs[0], 'run')} of A, {counted(setup.runs[1], 'run')} of B"
    if setup.name:
        title = f"{setup.name}: {title}"
    notes = [f"{name}: {reason}" for name, reason in setup.missing.items()]
    table: Table = Table.from_items(columns, names, title, notes=notes)
    return table


def _is_shown(name: str, part: Estimate) -> bool:
    """Says whether a part stands in the table: the cycle, and others that took any time."""
    if name in (CYCLE, MEDIAN):
        return name == CYCLE
    return max(abs(part.first_s), abs(part.second_s)) > NEGLIGIBLE_S


def _all_tables(comparison: ResultsComparison) -> list[Table]:
    """All setups, the parts of each, what else differs, and runs without a partner."""
    differing: list[dict[str, Cell]] = [
        {
            "field": name,
            "first": first[:MAX_VALUE_CHARACTERS],
            "second": second[:MAX_VALUE_CHARACTERS],
            "pairs": pairs,
        }
        for (name, first, second), pairs in comparison.differs.items()
    ]
    alone: list[dict[str, Cell]] = []
    for side, runs in zip("AB", comparison.alone, strict=True):
        alone += [{"side": side, "run": run} for run in runs]
    tables = [overview(comparison, comparison.setups)]
    tables += [_parts(comparison, setup) for setup in comparison.setups]
    columns = [
        Column("field", "field"),
        Column("first", "A"),
        Column("second", "B"),
        Column("pairs", "pairs", "counted"),
    ]
    tables.append(Table(columns, differing, "What else differs"))
    columns = [Column("side", "only in"), Column("run", "run")]
    tables.append(Table(columns, alone, "Runs without a partner"))
    return [table for table in tables if table.rows]


def difference_content(
    comparison: ResultsComparison, decision: Gate | None = None
) -> dict[str, Any]:
    """The content for JSON; times are in s per cycle, changes are shares of a cycle of A.

    Example:
        >>> from .compare import compare
        >>> records = Path("tests/golden/analysis/records")
        >>> content = difference_content(compare(records / "aware-4", records / "conventional-4"))
        >>> content["kind"], len(content["setups"]), content["only_first"]
        ('difference', 1, [])
    """
    differs = [
        {"field": name, "first": first, "second": second, "runs": pairs}
        for (name, first, second), pairs in comparison.differs.items()
    ]
    answer: dict[str, Any] = {
        "kind": "difference",
        "format_version": 1,
        "first": str(comparison.paths[0]),
        "second": str(comparison.paths[1]),
        "sentence": sentence(comparison),
        "overall": comparison.overall.content(),
        "level": comparison.level,
        "setups": [_setup_content(comparison, setup) for setup in comparison.setups],
        "differs": differs,
        "only_first": comparison.alone[0],
        "only_second": comparison.alone[1],
        "cautions": comparison.cautions,
    }
    if decision is not None:
        answer["fail_above"] = {
            "limit": decision.limit,
            "state": decision.state,
            "setup": decision.setup,
            "ratio": decision.ratio.content(),
            "sentence": decision.sentence,
        }
    return answer


def _setup_content(comparison: ResultsComparison, setup: Setup) -> dict[str, Any]:
    """The content of one setup for JSON."""
    change = comparison.change(setup)
    median = comparison.median_change(setup)
    parts_content = {}
    for name, part in setup.parts.items():
        if name != MEDIAN:
            parts_content[name] = {
                "first_s": part.first_s,
                "second_s": part.second_s,
                "difference_s": part.difference_s,
                "interval_s": list(part.interval()) if setup.judged else None,
                "kind": setup.kind,
                "spread": part.spread,
            }
    return {
        "name": setup.name,
        "runs": list(setup.runs),
        "change": change.content(),
        "verdict": verdict(change) if setup.judged else "not judged",
        "median_change": None if median is None else median.content(),
        "parts": parts_content,
        "missing": setup.missing,
    }


def _picture(comparison: ResultsComparison) -> Figure:
    """Bars of the phases of the first setups, on both sides."""
    rows = []
    for setup in comparison.setups[:MAX_SETUPS]:
        first: dict[str, Any] = {"setup": f"{setup.name} A".strip()}
        second: dict[str, Any] = {"setup": f"{setup.name} B".strip()}
        for name, part in setup.parts.items():
            if name.startswith(PHASE):
                phase = name.removeprefix(PHASE)
                first[phase] = max(MICROSECONDS_PER_SECOND * part.first_s, 0.0)
                second[phase] = max(MICROSECONDS_PER_SECOND * part.second_s, 0.0)
        rows += [first, second]
    frame = pd.DataFrame(rows).fillna(0.0)
    names = [str(name) for name in frame.columns if name != "setup"]
    kind = comparison.setups[0].kind
    caption = f"Microseconds per cycle by phase, means over ranks and runs ({kind})."
    return plots.bars(
        frame,
        "setup",
        names,
        "phases",
        "Phases",
        caption,
        xlabel="µs per cycle",
        unit="µs / cycle",
    )
