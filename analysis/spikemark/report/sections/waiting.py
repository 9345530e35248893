"""Why ranks wait: the ladder of meetings of each configuration, theory beside it, and what would
help.

The waiting of a configuration is one number on the whole page (`waited_us`): what its runs timed
(`Run.waiting_phases`), the mean over ranks, cycles and all runs that are compared. The ladder says
what it is made of; `barrier` is what of this number compute times do not explain.
"""

from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.network.schedules import SCHEDULES, MeetingPlan, plan
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Table
from spikemark.quantities.terms import columns
from spikemark.quantities.words import change, counted, number, percent
from spikemark.records.record import Run
from spikemark.records.runs_table import PART
from spikemark.report import heat, plots
from spikemark.report.answer import SweepAnswer, compared
from spikemark.waiting import theory
from spikemark.waiting.answer import helps
from spikemark.waiting.changes import ChangeOutcome
from spikemark.waiting.ladder import (
    PARTS_OF_TIME,
    Ladder,
    efficiency,
    ladder,
    parts_without_intervals,
)
from spikemark.waiting.sentences import MATTERS, MEANS, MICRO, compute_longer
from spikemark.waiting.trace import USUAL_RATIO, CycleTrace, trace

TITLE = "Waiting: why do ranks wait?"
NEGLIGIBLE = 1e-5  # of the waiting, below which a part is 0
MAX_INTERVALS = 50  # runs of a configuration on some ranks whose intervals are computed


@dataclass(frozen=True)
class Bar:
    """One configuration on one number of ranks; means over its runs, in µs per cycle."""

    configuration: str
    ranks: int
    waiting: float  #: as `waited_us`
    parts: dict[str, Quantity]  #: they add up to `waiting`; with the interval of one run
    efficiency: float | None  #: parallel efficiency of POP
    ladder: Ladder  #: of the first run


@dataclass(frozen=True)
class Pair:
    """A run, and the conventional run of the same network, ranks and repetition that predicts its
    waiting.
    """

    row: dict[Hashable, Any]  #: the row of the run
    run: Run  #: the conventional run
    trace: CycleTrace  #: of the conventional run


def section(sweep: SweepAnswer) -> Section:
    """The parts of the waiting of every configuration, the published theory, and what shortens the
    base.
    """
    bars, reasons = _prepare(sweep)
    if not bars:
        return Section(
            "waiting", TITLE, missing=[f"Waiting: {reasons or 'no run has several ranks'}."]
        )
    first = max(bars, key=lambda bar: (bar.configuration == sweep.base, bar.ranks))
    expected = _fitted(sweep)
    helping, why_no_help = _help_of(sweep, first)
    tables = [_table(bars, expected, sweep.runs["kind"].iloc[0])]
    if helping:
        ranks = counted(first.ranks, "rank")
        tables.append(helpful(helping, f"What would help conventional on {ranks}"))
    return Section(
        "waiting",
        TITLE,
        [_sentence(first, expected, helping)],
        figures=[_figure(bars, expected), *_pictures(sweep, first)],
        tables=tables,
        missing=[why_no_help] if why_no_help else [],
    )


def _prepare(sweep: SweepAnswer) -> tuple[list[Bar], str]:
    """The ladders of the case, and why some run has none."""
    runs = compared(sweep)
    runs = runs[runs["ranks"] > 1]
    ratios = [ratio for ratio in runs["delay_ratio"].dropna() if ratio > 1]
    delay_ratio = int(max(ratios, default=USUAL_RATIO))
    waited = waited_us(sweep)
    bars = []
    reasons: dict[str, None] = {}
    for key, group in runs.groupby(["ranks", "configuration"], sort=False):
        ranks, name = cast("tuple[int, str]", key)
        runs_of_bar: list[Decomposed] = []
        every = -(-len(group) // MAX_INTERVALS)
        for id in group["id"]:
            run = sweep.frames.records[id]
            try:
                has_interval = len(runs_of_bar) % every == 0
                runs_of_bar.append(_decomposed(_trace_of(run), delay_ratio, has_interval))
            except BadInput as error:
                reasons[str(error).removeprefix(f"{run.path}: ")] = None
        if runs_of_bar:
            bars.append(_bar(name, int(ranks), waited[ranks, name], runs_of_bar))
    return bars, "; ".join(reasons)


def waited_us(sweep: SweepAnswer) -> dict[tuple[int, str], float]:
    """Waiting in µs per cycle by (ranks, configuration): the mean over the runs of the case that
    timed it.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> waited_us(sweep)[4, "conventional"] > 0
        True
    """
    runs = compared(sweep)
    per_run = MICRO * runs[f"{PART}waiting"] * runs["model_s"] / runs["cycles"]
    means = per_run.groupby([runs["ranks"], runs["configuration"]], sort=False).mean()
    return cast("dict[tuple[int, str], float]", means.to_dict())


def _trace_of(run: Run) -> CycleTrace:
    """The trace of a run. Raises BadInput if there is none."""
    if run.cycles is None:
        reason = "no run recorded cycle times (`record.cycles`)"
        raise BadInput(reason=reason, file=run.path, code="file")
    return trace(run)


@dataclass(frozen=True)
class Decomposed:
    """What the waiting of one run is made of."""

    parts: dict[str, Quantity]  #: in s, with an interval if `ladder` is there
    efficiency: float | None  #: parallel efficiency of POP
    ladder: Ladder | None  #: of some runs of a configuration, the first included


def _decomposed(run: CycleTrace, delay_ratio: int, has_interval: bool) -> Decomposed:
    """The parts of the waiting of a run, with windows of D cycles where it has two of them."""
    fits = delay_ratio % run.period == 0 and 2 * delay_ratio <= run.cycles
    d = delay_ratio if fits else None
    parallel = efficiency(run)["parallel"] if run.exchanged is not None else None
    if not has_interval:
        return Decomposed(parts_without_intervals(run, d), parallel, None)
    with_intervals = ladder(run, d)
    return Decomposed(with_intervals.parts, parallel, with_intervals)


def _bar(name: str, ranks: int, waiting: float, runs: list[Decomposed]) -> Bar:
    """The means over the runs of a configuration; `waiting`: in µs per cycle."""
    parts = {part: _mean([run.parts[part] for run in runs], waiting) for part in PARTS_OF_TIME}
    if parts["barrier"]:
        explained = 0.0
        for part, quantity in parts.items():
            if part != "barrier":
                explained += quantity.value or 0.0
        beyond = waiting - explained
        if abs(beyond) <= NEGLIGIBLE * waiting:
            beyond = 0.0
        parts["barrier"] = _moved(parts["barrier"], beyond)
    efficiencies = [run.efficiency for run in runs if run.efficiency is not None]
    mean_efficiency = float(np.mean(efficiencies)) if efficiencies else None
    first = runs[0].ladder
    assert first is not None  # MAX_INTERVALS is not 0
    return Bar(name, ranks, waiting, parts, mean_efficiency, first)


def _mean(parts: list[Quantity], waiting: float) -> Quantity:
    """The mean of a part over runs, in µs; 0 where it is next to nothing of the waiting.

    Its interval lies around it as those of the runs that have intervals do around their means.
    """
    if any(part.value is None for part in parts):
        return Quantity(None, reason=parts[0].reason or "not timed")
    value = _mean_us(parts, "value")
    measured = [part for part in parts if part.low is not None]
    beside = value - _mean_us(measured, "value")
    lowest = MICRO * min(part.low for part in measured if part.low is not None)
    low = max(_mean_us(measured, "low") + beside, lowest)
    high = _mean_us(measured, "high") + beside
    ends = [value, low, high]
    middle, low, high = (0.0 if abs(end) < NEGLIGIBLE * waiting else end for end in ends)
    return Quantity(middle, low, high)


def _mean_us(parts: list[Quantity], end: str) -> float:
    """The mean of values, lower or upper limits, in µs."""
    return MICRO * float(np.mean([getattr(part, end) for part in parts]))


def _moved(part: Quantity, value: float) -> Quantity:
    """The part with another value, and its interval moved along."""
    assert part.value is not None and part.low is not None and part.high is not None
    return Quantity(value, part.low + value - part.value, part.high + value - part.value)


def plan_of(row: dict[Hashable, Any]) -> MeetingPlan:
    """The meetings of a run, given its row of `runs`. Raises BadInput for an unknown schedule.

    Example:
        >>> row = {"schedule": "structure_aware", "delay_ratio": 10, "ranks": 8, "lag": None}
        >>> plan_of(row).delay_ratio
        10
    """
    schedule = SCHEDULES.get(row["schedule"])
    lag = row["lag"] if schedule and schedule.lagged else None
    return plan(row["schedule"], row["delay_ratio"], row["ranks"], lag)


@dataclass(frozen=True)
class ConventionalRun:
    """A conventional run with cycle times: what theory and replay are fitted to."""

    row: dict[Hashable, Any]  #: of the runs
    run: Run
    trace: CycleTrace


def _conventional(sweep: SweepAnswer) -> dict[tuple[Any, int], list[ConventionalRun]]:
    """Conventional runs with cycle times, by (network, ranks)."""
    runs = compared(sweep)
    plain = runs[(runs["schedule"] == "conventional") & (runs["ranks"] > 1)]
    by_network: dict[tuple[Any, int], list[ConventionalRun]] = {}
    for row in plain.to_dict("records"):
        run = sweep.frames.records[row["id"]]
        with suppress(BadInput):
            with_trace = ConventionalRun(row, run, _trace_of(run))
            by_network.setdefault((row["network"], row["ranks"]), []).append(with_trace)
    return by_network


def pairs(sweep: SweepAnswer) -> list[Pair]:
    """The runs of the case that timed their waiting, with the conventional run that predicts it.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> [pair.row["schedule"] for pair in pairs(sweep)]
        ['conventional', 'structure_aware', 'structure_aware']
    """
    plain = _conventional(sweep)
    runs = compared(sweep)
    pairs = []
    for row in runs[runs[f"{PART}waiting"].notna()].to_dict("records"):
        for other in plain.get((row["network"], row["ranks"]), []):
            if other.row["repetition"] == row["repetition"]:
                pairs.append(Pair(row, other.run, other.trace))
                break
    return pairs


def independent_us(pair: Pair) -> float | None:
    """Waiting in µs per cycle of the run by the theory of independent cycles; None if it says
    nothing.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> independent_us(pairs(sweep)[0]) > 0
        True
    """
    try:
        expected = theory.iid_without_interval(pair.trace, plan_of(pair.row))
    except (BadInput, TypeError):  # an unknown schedule; a lag, of which the theory says nothing
        return None
    if expected is None or expected.value is None:
        return None
    return expected.value * MICRO / pair.trace.cycles


def _fitted(sweep: SweepAnswer) -> dict[tuple[str, int], float]:
    """Waiting (µs per cycle) by (configuration, ranks) that theory expects, fitted to conventional
    runs.
    """
    expected: dict[tuple[str, int], list[float]] = {}
    for pair in pairs(sweep):
        value = independent_us(pair)
        if value is not None:
            key = str(pair.row["configuration"]), int(pair.row["ranks"])
            expected.setdefault(key, []).append(value)
    return {key: float(np.mean(values)) for key, values in expected.items()}


def _pictures(sweep: SweepAnswer, bar: Bar) -> list[Figure]:
    """Who waited and when in the first conventional run on as many ranks; [] without one."""
    runs = compared(sweep)
    plain = runs[(runs["schedule"] == "conventional") & (runs["ranks"] == bar.ranks)]
    for id in plain.loc[plain["ranks"] > 1, "id"]:
        try:
            run = _trace_of(sweep.frames.records[id])
        except BadInput:
            continue
        return heat.section(run).figures
    return []


def _help_of(sweep: SweepAnswer, bar: Bar) -> tuple[list[ChangeOutcome], str]:
    """What would shorten the first undisturbed conventional run on as many ranks, or why nothing is
    said.
    """
    if sweep.chosen is not None and sweep.chosen.too_short:
        return [], "What would help is not known: these runs are too short to tell."
    traces: list[CycleTrace] = []
    for (_, ranks), runs in _conventional(sweep).items():
        if ranks == bar.ranks:
            traces += [run.trace for run in runs]
    quiet = [run for run in traces if not run.disturbed]
    if quiet:
        return helps(quiet[0]), ""
    if traces:
        return [], f"What would help is not known: {traces[0].disturbed}."
    return [], ""


def _sentence(
    bar: Bar, expected: dict[tuple[str, int], float], helping: list[ChangeOutcome]
) -> str:
    """The largest part, what theory expects, the slowest rank, and the best help."""
    text = _largest_part(bar)
    theory_us = expected.get((bar.configuration, bar.ranks))
    if theory_us is not None and bar.waiting > 0:
        text += f" The theory of independent cycles expects {number(theory_us, 2)}\u202fµs."
    slow = bar.ladder.slowest
    share = slow.share.value
    if slow.certain and share is not None and share >= MATTERS:
        text += f" {compute_longer(slow)}: {percent(share)} of the waiting."
    if helping:
        best = helping[0]
        factor = best.prediction.change.value
        assert factor is not None
        text += f" What would help most: {best.name}, {change(factor)} time."
    return text


def _largest_part(bar: Bar) -> str:
    """How long ranks waited, and by which part most."""
    sizes = {name: part.value for name, part in bar.parts.items() if part.value is not None}
    name = max(sizes, key=lambda part: sizes[part])
    share = percent(sizes[name] / bar.waiting if bar.waiting > 0 else 0)
    meaning = MEANS[name].format(d=bar.ladder.delay_ratio)
    return (
        f"On {counted(bar.ranks, 'rank')}, ranks of {bar.configuration} waited"
        f" {number(bar.waiting, 2)}\u202fµs per cycle, mostly by {name} ({share}: {meaning})."
    )


def _figure(bars: list[Bar], expected: dict[tuple[str, int], float]) -> Figure:
    """Stacked parts, a dot where theory expects the waiting; a part below 0 is not drawn."""
    rows = []
    dots = []
    for bar in bars:
        key = {"configuration": bar.configuration, "ranks": bar.ranks}
        parts = {name: part.value if part else np.nan for name, part in bar.parts.items()}
        rows.append(key | parts)
        theory_us = expected.get((bar.configuration, bar.ranks))
        if theory_us is not None:
            dots.append(key | {"value": theory_us})
    frame = pd.DataFrame(rows)
    drawn = frame.assign(
        **{name: frame[name].astype(float).clip(lower=0.0) for name in PARTS_OF_TIME}
    )
    caption = "Waiting by how often ranks would have to meet, from cycle times (modelled)."
    if dots:
        caption += " Dots: expected by the theory of independent cycle times."
    figure = plots.bars(
        drawn,
        "configuration",
        list(PARTS_OF_TIME),
        "ladder",
        "What the waiting is made of",
        caption,
        xlabel="waiting (µs per cycle)",
        unit="µs / cycle",
        panel=plots.if_several(frame, "ranks"),
        dots=pd.DataFrame(dots) if dots else None,
        dot="theory",
    )
    return replace(figure, table=plots.tabulated(frame))


def _table(bars: list[Bar], expected: dict[tuple[str, int], float], kind: str) -> Table:
    """The parts of the waiting, what theory expects, and the efficiency of each configuration."""
    rows: list[dict[str, Cell]] = [
        {
            "configuration": bar.configuration,
            "ranks": bar.ranks,
            "waited": bar.waiting,
            **bar.parts,
            "iid": expected.get((bar.configuration, bar.ranks)),
            "efficiency": bar.efficiency,
        }
        for bar in bars
    ]
    heads = []
    for column in columns(pd.DataFrame(rows)):
        if column.name == "waited":
            column = replace(column, kind=kind)
        heads.append(column)
    delay_ratio = bars[0].ladder.delay_ratio
    meanings = [f"{name}: {MEANS[name].format(d=delay_ratio)}" for name in PARTS_OF_TIME]
    intervals = f"Intervals: of a single run, means over at most {MAX_INTERVALS} runs"
    note = f"{'; '.join(meanings)}. {intervals}."
    return Table(heads, rows, "Parts of the waiting (µs per cycle)", notes=[note])


def helpful(outcomes: list[ChangeOutcome], title: str = "") -> Table:
    """One line for each thing that a user can do: waiting, and the change of the run time.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.record import load_run
        >>> from spikemark.waiting.changes import outcomes
        >>> run = trace(load_run(Path("tests/golden/analysis/records/conventional-4")))
        >>> table = helpful(outcomes(run, ["halve-latency"]))
        >>> [row["measure"] for row in table.rows]
        ['base', 'halve-latency']
    """
    rows: list[dict[str, Cell]] = []
    for outcome in outcomes:
        predicted = outcome.prediction
        waiting = predicted.waiting.times(MICRO / predicted.cycles, "us")
        rows.append({"measure": outcome.name, "waiting_us": waiting, "change": predicted.change})
    return Table(columns(pd.DataFrame(rows, dtype=object)), rows, title)
