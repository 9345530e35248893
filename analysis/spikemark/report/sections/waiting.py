"""Why ranks wait: the ladder of meetings of each configuration, theory beside it, and what would help."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.network.schedules import SCHEDULES, Plan, plan
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Table
from spikemark.quantities.terms import columns
from spikemark.quantities.words import change, counted, number, percent
from spikemark.records.record import Run
from spikemark.report import plots
from spikemark.report.answer import Answer, compared
from spikemark.waiting import theory
from spikemark.waiting.answer import MATTERS, MEANS, MICRO, helps
from spikemark.waiting.changes import Outcome
from spikemark.waiting.ladder import PARTS, Ladder, ladder
from spikemark.waiting.trace import USUAL_RATIO, Trace, trace

TITLE = "Waiting: why do ranks wait?"
MOST_RUNS = 3  # read of each configuration
NOTHING = 1e-5  # of the waiting, below which a part is 0


@dataclass(frozen=True)
class Bar:
    """One configuration on one number of ranks; means over its first runs, in µs per cycle."""

    configuration: str
    ranks: int
    waiting: float
    parts: dict[str, Quantity]  # with the interval of one run
    efficiency: float | None  # parallel efficiency of POP
    ladder: Ladder  # of the first run


def section(found: Answer) -> Section:
    """The parts of the waiting of every configuration, the published theory, and what shortens the base."""
    bars, reasons = prepare(found)
    if not bars:
        return Section("waiting", TITLE, missing=[f"Waiting: {reasons or 'no run has several ranks'}."])
    first = max(bars, key=lambda bar: (bar.configuration == found.base, bar.ranks))
    expected = {key: value for key, value in fitted(found).items() if value is not None}
    helping, why = help_of(found, first)
    tables = [_table(bars, expected, found.runs["kind"].iloc[0])]
    if helping:
        tables.append(helpful(helping, f"What would help conventional on {counted(first.ranks, 'rank')}"))
    return Section(
        "waiting", TITLE, [sentence(first, expected, helping)], figures=[figure(bars, expected)],
        tables=tables, missing=[why] if why else [],
    )  # fmt: skip


def prepare(found: Answer) -> tuple[list[Bar], str]:
    """The ladders of the case, and why some run has none."""
    runs, reasons = compared(found), {}
    runs = runs[runs["ranks"] > 1]
    uses = [d for d in runs["delay_ratio"].dropna() if d > 1]
    d = int(max(uses, default=USUAL_RATIO))
    bars = []
    for (ranks, name), own in runs.groupby(["ranks", "configuration"], sort=False):
        made = []
        for id in own["id"].iloc[:MOST_RUNS]:
            run = found.frames.records[id]
            try:
                made.append(_ladder(trace_of(run), d))
            except BadInput as error:
                reasons[str(error).removeprefix(f"{run.path}: ")] = None
        if made:
            bars.append(_bar(str(name), int(ranks), made))
    return bars, "; ".join(reasons)


def trace_of(run: Run) -> Trace:
    """The trace of a run. Raises BadInput if there is none."""
    if run.cycles is None:
        raise BadInput(f"{run.path}: no run recorded cycle times (`record.cycles`)")
    return trace(run)


def per_cycle(run: Run) -> float:
    """What turns s per simulated second into µs per cycle."""
    return MICRO * run.record.timing.model_s / run.record.timing.cycles


def _ladder(run: Trace, d: int) -> Ladder:
    return ladder(run, d if d % run.period == 0 and 2 * d <= run.cycles else None)


def _bar(name: str, ranks: int, made: list[Ladder]) -> Bar:
    def mean(part: str, end: str) -> float | None:
        ends = [getattr(one.parts[part], end) for one in made]
        value = None if None in ends else MICRO * float(np.mean(ends))
        return 0.0 if value is not None and abs(value) < NOTHING * waiting else value

    waiting = MICRO * float(np.mean([one.waiting.value for one in made]))
    parts = {}
    for part in PARTS:
        value, low, high = (mean(part, end) for end in ("value", "low", "high"))
        lacking = made[0].parts[part].reason
        parts[part] = Quantity(value, low, high, reason=None if value is not None else lacking or "not timed")
    known = [one.efficiency["parallel"] for one in made if one.efficiency]
    return Bar(name, ranks, waiting, parts, float(np.mean(known)) if known else None, made[0])


def plan_of(row: dict) -> Plan:
    """The meetings of a run, given its row of `runs`. Raises BadInput for an unknown schedule."""
    known = SCHEDULES.get(row["schedule"])
    lag = row["lag"] if known and known.lagged else None
    return plan(row["schedule"], row["delay_ratio"], row["ranks"], lag)


def conventional(found: Answer) -> dict[tuple, list[tuple[dict, Run, Trace]]]:
    """Conventional runs with cycle times, by (network, ranks): what theory and replay are fitted to."""
    runs, known = compared(found), {}
    plain = runs[(runs["schedule"] == "conventional") & (runs["ranks"] > 1)]
    for row in plain.to_dict("records"):
        run = found.frames.records[row["id"]]
        try:
            known.setdefault((row["network"], row["ranks"]), []).append((row, run, trace_of(run)))
        except BadInput:
            continue
    return known


def fitted(found: Answer) -> dict[tuple[str, int], float | None]:
    """Waiting (µs per cycle) by (configuration, ranks) that theory expects, fitted to conventional runs."""
    plain, expected = conventional(found), {}
    for (ranks, name), own in compared(found).groupby(["ranks", "configuration"], sort=False):
        values = []
        for row in own.to_dict("records")[:MOST_RUNS]:
            try:
                values += [
                    theory.iid(one, plan_of(row)).value * MICRO / one.cycles
                    for *_, one in plain.get((row["network"], ranks), [])[:1]
                ]
            except (BadInput, TypeError):  # an unknown schedule; a lag, of which the theory says nothing
                continue
        expected[str(name), int(ranks)] = float(np.mean(values)) if values else None
    return expected


def help_of(found: Answer, bar: Bar) -> tuple[list[Outcome], str]:
    """What would shorten the first undisturbed conventional run on as many ranks, or why nothing is said."""
    runs = [one for key, own in conventional(found).items() if key[1] == bar.ranks for *_, one in own]
    quiet = [one for one in runs if not one.disturbed]
    if quiet:
        return helps(quiet[0]), ""
    return [], f"What would help: {runs[0].disturbed}." if runs else ""


def sentence(bar: Bar, expected: dict, helping: list[Outcome]) -> str:
    """The largest part, what theory expects, the slowest rank, and the best help."""
    known = {name: q for name, q in bar.parts.items() if q}
    name = max(known, key=lambda one: known[one].value)
    said = (
        f"On {counted(bar.ranks, 'rank')}, ranks of {bar.configuration} waited"
        f" {number(bar.waiting, 2)}\u202fµs per cycle, mostly by {name}"
        f" ({percent(known[name].value / bar.waiting if bar.waiting > 0 else 0)}:"
        f" {MEANS[name].format(d=bar.ladder.delay_ratio)})."
    )
    if (theory_s := expected.get((bar.configuration, bar.ranks))) is not None and bar.waiting > 0:
        said += f" The theory of independent cycles expects {number(theory_s, 2)}\u202fµs."
    slow = bar.ladder.slowest
    if slow.certain and slow.share.value >= MATTERS:
        where = f" on {slow.node}" if slow.node else ""
        said += (
            f" Rank {slow.rank}{where} computes {percent(slow.longer.value)} longer than the others, of the"
            f" waiting {percent(slow.share.value)}."
        )
    if helping:
        best = helping[0]
        said += f" What would help most: {best.name}, {change(best.prediction.change.value)} time."
    return said


def figure(bars: list[Bar], expected: dict) -> Figure:
    """Stacked parts, a dot where theory expects the waiting; a part below 0 is not drawn."""
    frame = pd.DataFrame(
        {"configuration": bar.configuration, "ranks": bar.ranks}
        | {name: max(q.value, 0.0) if q else np.nan for name, q in bar.parts.items()}
        for bar in bars
    )
    keys = [(bar.configuration, bar.ranks) for bar in bars]
    dots = pd.DataFrame(
        [(*key, expected[key]) for key in keys if key in expected],
        columns=["configuration", "ranks", "value"],
    )
    said = " Dots: expected by the theory of independent cycle times (eqs 8-10)." if len(dots) else ""
    caption = f"Waiting by how often ranks would have to meet, from cycle times (modelled).{said}"
    return plots.bars(
        frame, "configuration", list(PARTS), "ladder", "What the waiting is made of", caption,
        xlabel="waiting (µs per cycle)", panel="ranks" if frame["ranks"].nunique() > 1 else None,
        dots=dots if len(dots) else None, dot="theory",
    )  # fmt: skip


def _table(bars: list[Bar], expected: dict, kind: str) -> Table:
    rows = [
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
    heads = [replace(c, kind=kind) if c.name == "waited" else c for c in columns(pd.DataFrame(rows))]
    d = bars[0].ladder.delay_ratio
    meaning = "; ".join(f"{name}: {MEANS[name].format(d=d)}" for name in PARTS)
    return Table(
        heads, rows, "Parts of the waiting (µs per cycle)", notes=[f"{meaning}. Intervals: of a single run."]
    )


def helpful(found: list[Outcome], title: str = "") -> Table:
    """One line for each thing that a user can do: waiting, and the change of the run time."""
    rows = []
    for one in found:
        made = one.prediction
        waiting = made.waiting.times(MICRO / made.cycles, "us")
        rows.append({"measure": one.name, "waiting_us": waiting, "change": made.change})
    return Table(columns(pd.DataFrame(rows, dtype=object)), rows, title)
