"""What the waiting is made of, by schedule, and what would change it."""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section, Table
from spikemark.quantities.words import change, counted, number, percent, typical
from spikemark.records.cases import Case, View
from spikemark.records.gather import Configuration, Measured
from spikemark.report.figures import budget as drawing
from spikemark.waiting.budget import USUAL_RATIO, Budget, budget
from spikemark.waiting.whatif import CHANGES, Outcome, situation, whatif

TITLE = "What the waiting is made of"
EXPLAINED = (
    "Persistent: ranks that are always slower. Jitter: fluctuations of a rank that average out over D "
    "cycles, as 1/√D. Drift: fluctuations that do not. Rare: single cycles far beyond what is usual for the "
    "rank. Barrier: measured waiting that the compute times do not explain. Each part is what it adds to the "
    "waiting, averaged over all orders of adding; they add up to what was measured. What slows down all "
    "ranks alike makes nobody wait."
)
EFFICIENCIES = {
    "load_balance": "load balance",
    "serialisation": "serialisation",
    "transfer": "transfer",
    "parallel": "parallel (product)",
}


@dataclass(frozen=True)
class Bar:
    """Of one configuration, typical over its runs: waiting and its parts in s per s of simulated time."""

    configuration: Configuration
    runs: int
    waiting: float
    parts: dict[str, tuple[float, float, float]]  # value, and the ends of the interval of one run
    efficiency: dict[str, float]


def prepare(case: Case, ranks: int, delay_ratio: int) -> list[Bar]:
    """Bars of the configurations whose ranks all meet at a barrier and whose cycles were recorded."""
    bars = []
    for configuration in case.configurations(ranks):
        found = [_budget(m, delay_ratio) for m in case.of(configuration, ranks)]
        found = [one for one in found if one is not None and one[0].waiting_s > 0]
        if found:
            bars.append(_bar(configuration, found))
    return bars


def _budget(m: Measured, delay_ratio: int) -> tuple[Budget, float] | None:
    if m.run.cycles is None:
        return None
    try:
        return budget(m.run, delay_ratio), m.run.record.timing.model_s
    except BadInput:
        return None


def _bar(configuration: Configuration, found: list[tuple[Budget, float]]) -> Bar:
    waiting = typical([one.waiting_s / model_s for one, model_s in found])

    def share(name: str, of) -> float:
        return waiting * float(np.mean([of(one.parts[name]) / one.waiting_s for one, _ in found]))

    parts = {
        name: tuple(share(name, of) for of in (lambda p: p.value, lambda p: p.low, lambda p: p.high))
        for name in found[0][0].parts
    }
    efficiency = {name: typical([one.efficiency[name] for one, _ in found]) for name in EFFICIENCIES}
    return Bar(configuration, len(found), waiting, parts, efficiency)


def section(view: View) -> Section:
    """For every number of ranks above one: a figure, the efficiencies, and a table of changes."""
    if view.case is None:
        return Section("budget", TITLE, missing=["What the waiting is made of: no run is complete."])
    figures, tables, missing = [], [], []
    delay_ratio = max([c.delay_ratio for c in view.case.configurations()] + [2])
    delay_ratio = delay_ratio if view.structure_aware else USUAL_RATIO
    for ranks in (r for r in view.case.ranks if r > 1):
        bars = prepare(view.case, ranks, delay_ratio)
        if not bars:
            missing.append(
                f"What the waiting is made of on {ranks} ranks: no run with recorded cycle times and "
                f"waiting, and at least {2 * USUAL_RATIO} meetings at a barrier."
            )
            continue
        figures.append(_figure(ranks, bars, delay_ratio))
        tables.append((f"Efficiencies of POP on {counted(ranks, 'rank')}", _efficiencies(bars)))
        outcomes = _outcomes(view.case, ranks)
        if outcomes:
            caption = f"What if: changes to the conventional schedule on {counted(ranks, 'rank')}"
            tables.append((caption, _changes(outcomes)))
            refused = [one for one in outcomes[0][0] if one.refused and one.name in CHANGES]
            missing += [f"{one.name} on {counted(ranks, 'rank')}: {one.refused}." for one in refused]
    if view.case.ranks == [1]:
        missing.append("What the waiting is made of: one rank waits for nobody.")
    return Section(
        "budget", TITLE, text=[EXPLAINED] if figures else [], figures=figures, tables=tables, missing=missing
    )


def _figure(ranks: int, bars: list[Bar], delay_ratio: int) -> Figure:
    where = counted(ranks, "rank")
    alt = f"Stacked horizontal bars of the waiting on {where}, one per schedule. " + " ".join(
        f"{bar.configuration.label}: "
        + ", ".join(f"{name} {percent(v[0] / bar.waiting)}" for name, v in bar.parts.items())
        + "."
        for bar in bars
    )
    caption = (
        f"Waiting on {where} by cause, in seconds per second of simulated time (mean over ranks; modelled "
        f"from the measured cycle times, D = {delay_ratio}). Geometric mean over runs, divided as the parts "
        "are on average; the table has the 95 % interval of a run."
    )
    rows = [
        [bar.configuration.label, str(bar.runs), number(bar.waiting), *(_cell(v) for v in bar.parts.values())]
        for bar in bars
    ]
    names = list(bars[0].parts)
    table = Table(
        ["schedule", "runs", "waiting (s/s)", *names],
        rows,
        ["given", "counted", "measured", *["modelled"] * len(names)],
    )
    name = f"budget-{ranks}"
    return Figure(name, f"On {where}", drawing.draw(bars, name, alt), alt, caption, table)


def _cell(part: tuple[float, float, float]) -> str:
    value, low, high = (number(round(x, 8), 2) for x in part)
    return f"{value} ({low} to {high})"


def _efficiencies(bars: list[Bar]) -> Table:
    rows = [
        [bar.configuration.label, *(percent(bar.efficiency[name], 1) for name in EFFICIENCIES)]
        for bar in bars
    ]
    return Table(["schedule", *EFFICIENCIES.values()], rows, ["given", *["measured"] * len(EFFICIENCIES)])


def _outcomes(case: Case, ranks: int) -> list[tuple[list[Outcome], float]]:
    """Of every conventional run, and its simulated time in s."""
    plain = [c for c in case.configurations(ranks) if c.schedule == "conventional"]
    found = []
    for m in (m for c in plain for m in case.of(c, ranks) if m.run.cycles is not None):
        try:
            found.append((whatif(situation([m.run])), m.run.record.timing.model_s))
        except BadInput:
            continue
    return found


def _changes(found: list[tuple[list[Outcome], float]]) -> Table:
    """Typical values over the runs; the interval is that of a run."""
    possible = [i for i in range(len(found[0][0])) if all(outcomes[i].prediction for outcomes, _ in found)]
    rows = [_row(position, found) for position in possible]
    columns = ["change", "waiting (s/s)", "95 % interval", "waiting", "run time"]
    return Table(columns, rows, ["given", "modelled", "modelled", "modelled", "modelled"])


def _row(position: int, found: list) -> list[str]:
    made = [(all_of[position], all_of[0], model_s) for all_of, model_s in found]
    name = made[0][0].name
    waiting, low, high = (
        typical([getattr(one.waiting, end) / model_s for one, _, model_s in made])
        for end in ("value", "low", "high")
    )
    row = [name, number(waiting), f"{number(low)} to {number(high)}"]
    if name == "base":
        return [*row, "", ""]
    factors = []
    for of in ("waiting_s", "runtime_s"):
        pairs = [(getattr(one.prediction, of), getattr(base.prediction, of)) for one, base, _ in made]
        factors.append(change(typical([x / y if y > 0 else 0.0 for x, y in pairs])))
    return [*row, *factors]
