"""What the waiting is made of, by schedule, and what would change it."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change, counted, geometric_mean, number, percent
from spikemark.records.cases import Case, View
from spikemark.records.gather import Configuration, Measured
from spikemark.report import foremost, long_cycles
from spikemark.report.columns import LABEL, RUNS, share
from spikemark.report.style import COLOUR, axis_end, drawing, legend_above, markup, rows_height, stacked
from spikemark.waiting.budget import PARTS, USUAL_RATIO, Budget, budget
from spikemark.waiting.causes import Causes
from spikemark.waiting.node_share import BetweenNodes
from spikemark.waiting.slowest import Slowest
from spikemark.waiting.whatif import CHANGES, Outcome, situation, whatif

TITLE = "What the waiting is made of"
EXPLAINED = (
    "Why do ranks wait? Persistent: some ranks are always slower. Jitter: fluctuations of a rank that "
    "average out over D cycles, as 1/√D. Drift: fluctuations that do not average out. Rare: single cycles "
    "that take far "
    "longer than is usual for the rank. Barrier: {kind} waiting that the compute times do not explain. The "
    "size of a part is what the part adds to the waiting, averaged over all orders in which the parts can "
    "be added; together they make the {kind} waiting. What slows down all ranks equally makes nobody wait."
)
UNDIVIDED = "not divided"
COLOURS = {name: name for name in (*PARTS, "barrier")} | {UNDIVIDED: "undivided"}
NO_BARRIER = "its ranks do not all meet at one barrier, so its waiting is not divided"
ENDS = ("value", "low", "high")
EFFICIENCIES = {
    "load_balance": "load balance",
    "serialisation": "serialisation",
    "transfer": "transfer",
    "parallel": "parallel (product)",
}


@dataclass(frozen=True)
class Bar:
    """One configuration: waiting and its parts in s per s of simulated time, geometric means over runs."""

    configuration: Configuration
    runs: int
    waiting: float
    parts: dict[str, Quantity]  # with the interval of one run
    efficiency: dict[str, float]
    nodes: tuple[BetweenNodes, ...] = ()  # of the runs on several nodes
    causes: tuple[Causes, ...] = ()  # of long cycles, of the runs with record.kernel
    slowest: tuple[Slowest, ...] = ()  # rank of every run


def prepare(case: Case, ranks: int, delay_ratio: int) -> list[Bar]:
    """Returns bars of the configurations whose ranks all meet at a barrier and whose cycles were recorded."""
    bars = []
    for configuration in case.configurations(ranks):
        found = [_budget(m, delay_ratio) for m in case.of(configuration, ranks)]
        found = [one for one in found if one is not None and one[0].waiting_s > 0]
        if found:
            bars.append(_bar(configuration, found))
    return bars


def with_undivided(case: Case, ranks: int, bars: list[Bar]) -> list[Bar]:
    """Returns the bars with those of the other configurations, whose waiting is one part."""
    found = {bar.configuration: bar for bar in bars}
    for configuration in case.configurations(ranks):
        waited = [m.waiting for m in case.of(configuration, ranks) if m.waiting]
        if waited and configuration not in found:
            waiting = geometric_mean(waited)
            part = {UNDIVIDED: Quantity(waiting)}
            found[configuration] = Bar(configuration, len(waited), waiting, part, {})
    return sorted(found.values(), key=lambda bar: bar.configuration.order)


def _budget(m: Measured, delay_ratio: int) -> tuple[Budget, float] | None:
    if m.run.cycles is None:
        return None
    try:
        return budget(m.run, delay_ratio), m.run.record.timing.model_s
    except BadInput:
        return None


def _bar(configuration: Configuration, found: list[tuple[Budget, float]]) -> Bar:
    waiting = geometric_mean([one.waiting_s / model_s for one, model_s in found])

    def part(name: str, end: str) -> float:
        return waiting * float(np.mean([getattr(one.parts[name], end) / one.waiting_s for one, _ in found]))

    parts = {name: Quantity(*(part(name, end) for end in ENDS)) for name in found[0][0].parts}
    efficiency = {name: geometric_mean([one.efficiency[name] for one, _ in found]) for name in EFFICIENCIES}
    nodes = tuple(one.nodes for one, _ in found if one.nodes is not None)
    causes = tuple(one.causes for one, _ in found if one.causes is not None)
    slowest = tuple(one.slowest for one, _ in found if one.slowest is not None)
    return Bar(configuration, len(found), waiting, parts, efficiency, nodes, causes, slowest)


def section(view: View) -> Section:
    """Shows a figure, the efficiencies and a table of changes for every number of ranks above one."""
    if view.case is None:
        return Section("budget", TITLE, missing=["What the waiting is made of: no run is complete."])
    figures, tables, lacking, first = [], [], [], []
    delay_ratio = max([c.delay_ratio for c in view.case.configurations()] + [2])
    delay_ratio = delay_ratio if view.comparable else USUAL_RATIO
    for ranks in (r for r in view.case.ranks if r > 1):
        bars = prepare(view.case, ranks, delay_ratio)
        if not bars:
            lacking.append(
                f"What the waiting is made of on {counted(ranks, 'rank')}: no run with recorded cycle times "
                "and "
                f"waiting, and at least {2 * USUAL_RATIO} meetings at a barrier."
            )
            continue
        where = counted(ranks, "rank")
        figures.append(_figure(ranks, with_undivided(view.case, ranks, bars), delay_ratio, view.kind))
        tables.append(_efficiencies(bars, f"Efficiencies of POP on {where}", view.kind))
        on_nodes = [bar for bar in bars if bar.nodes]
        if on_nodes:
            tables.append(_between_nodes(on_nodes, f"Differences between nodes on {where}"))
        long = long_cycles.table(bars, f"What made long cycles long on {where}")
        tables += [long] if long else []
        for bar in bars:
            first += foremost.slow_rank(f"{bar.configuration.label} on {where}", bar.slowest, view.kind)
        outcomes = _outcomes(view.case, ranks)
        if outcomes:
            first += foremost.most_helpful(where, [made for made, _ in outcomes])
            tables.append(_changes(outcomes, f"What if: changes to the conventional schedule on {where}"))
            refused = [one for one in outcomes[0][0] if one.refused and one.name in CHANGES]
            lacking += [f"{one.name} on {where}: {one.refused}." for one in refused]
    if view.case.ranks == [1]:
        lacking.append("What the waiting is made of: one rank waits for nobody.")
    text = [*first, EXPLAINED.format(kind=view.kind)] if figures else []
    return Section("budget", TITLE, text=text, figures=figures, tables=tables, missing=lacking)


def _figure(ranks: int, bars: list[Bar], delay_ratio: int, kind: str) -> Figure:
    where = counted(ranks, "rank")
    alt = f"Stacked horizontal bars of the waiting on {where}, one per schedule. " + " ".join(
        f"{bar.configuration.label}: "
        + ", ".join(f"{name} {percent(part.value / bar.waiting)}" for name, part in bar.parts.items())
        + "."
        for bar in bars
    )
    caption = (
        f"Waiting on {where} by cause, in seconds per second of simulated time (mean over ranks; modelled "
        f"from the {kind} cycle times, D = {delay_ratio}). Bars: geometric mean over runs, divided in "
        "proportion to the average parts; the table has the 95 % interval of a single run."
    )
    columns = {
        **LABEL,
        RUNS: lambda bar: bar.runs,
        Column("waiting", "waiting (s/s)", kind): lambda bar: bar.waiting,
    }
    for part in _names(bars):
        column = Column(part, part, kind if part == UNDIVIDED else "modelled", words=_part_in_words)
        columns[column] = lambda bar, part=part: bar.parts.get(part, missing(_why(part), mark="–"))
    if UNDIVIDED in _names(bars):
        caption += f" {UNDIVIDED.capitalize()}: the ranks do not all meet at one barrier."
    name = f"budget-{ranks}"
    return Figure(name, f"On {where}", _draw(bars, name, alt), alt, caption, Table.of(columns, bars))


def _names(bars: list[Bar]) -> list[str]:
    """Returns the parts of all bars; what is not divided comes last."""
    found = dict.fromkeys(name for bar in bars for name in bar.parts)
    return sorted(found, key=lambda name: name == UNDIVIDED)


def _why(part: str) -> str:
    return "it is divided" if part == UNDIVIDED else NO_BARRIER


def _part_in_words(seconds: float) -> str:
    return number(round(seconds, 8), 2)


def _efficiencies(bars: list[Bar], title: str, kind: str) -> Table:
    columns = {share(n, head, kind): lambda bar, n=n: bar.efficiency[n] for n, head in EFFICIENCIES.items()}
    return Table.of(LABEL | columns, bars, title)


def _between_nodes(bars: list[Bar], title: str) -> Table:
    """Tabulates means over the runs; the interval is that of one run."""
    columns = {
        RUNS: lambda bar: len(bar.nodes),
        share("share", "share of the waiting (with 95 % interval)", "modelled"): _share_of_nodes,
        Column("slow", "slow nodes", "measured"): lambda bar: slow_nodes(bar.nodes),
    }
    notes = [
        "The part of the persistent differences that ranks of a node have in common. A node is slow if its "
        "ranks take longer than those of the others by more than chance.",
        *dict.fromkeys(one.nodes.note for bar in bars for one in bar.nodes if one.nodes.note),
    ]
    return Table.of(LABEL | columns, bars, title, notes=notes)


def _share_of_nodes(bar: Bar) -> Quantity:
    return Quantity(*(float(np.mean([getattr(one.share, end) for one in bar.nodes])) for end in ENDS))


def slow_nodes(found: Sequence[BetweenNodes]) -> str:
    """Names the nodes that were slow in some of the runs, the most often slow first."""
    seen = Counter(name for one in found for name in {*one.nodes.slower})
    called = Counter(name for one in found for name in one.nodes.slow)
    words = []
    for name, times in called.most_common():
        slower = [one.nodes.slower[name].value for one in found if name in one.nodes.slow]
        words.append(
            f"{name}: {percent(float(np.mean(slower)), 1)} longer, in {times} of {seen[name]} runs on it"
        )
    return "; ".join(words) or "none"


def _outcomes(case: Case, ranks: int) -> list[tuple[list[Outcome], float]]:
    """Returns the outcomes for every conventional run, with its simulated time in s."""
    plain = [c for c in case.configurations(ranks) if c.schedule == "conventional"]
    found = []
    for m in (m for c in plain for m in case.of(c, ranks) if m.run.cycles is not None):
        try:
            found.append((whatif(situation([m.run])), m.run.record.timing.model_s))
        except BadInput:
            continue
    return found


def _changes(found: list[tuple[list[Outcome], float]], title: str) -> Table:
    """Tabulates geometric means over the runs; the interval is that of one run."""
    possible = [i for i in range(len(found[0][0])) if all(outcomes[i].prediction for outcomes, _ in found)]

    def waiting(position: int) -> Quantity:
        made = [(outcomes[position].waiting, model_s) for outcomes, model_s in found]
        return Quantity(*(geometric_mean([getattr(one, end) / s for one, s in made]) for end in ENDS))

    def against_base(name: str) -> Callable[[int], float | None]:
        def cell(position: int) -> float | None:
            if position == 0:
                return None
            made = [(outcomes[position].prediction, outcomes[0].prediction) for outcomes, _ in found]
            pairs = [(getattr(one, name), getattr(base, name)) for one, base in made]
            return geometric_mean([x / y if y > 0 else 0.0 for x, y in pairs])

        return cell

    columns = {
        Column("change", "change", "given"): lambda position: found[0][0][position].name,
        Column("waiting", "waiting (s/s, with 95 % interval)", "modelled"): waiting,
        Column("waiting_change", "change of waiting", "modelled", words=change): against_base("waiting_s"),
        Column("runtime_change", "change of run time", "modelled", words=change): against_base("runtime_s"),
    }
    return Table.of(columns, possible, title)


def _draw(bars: list[Bar], name: str, alt: str) -> str:
    """Draws stacked horizontal bars of the waiting, by cause. A part below 0 is not drawn."""
    with drawing(height=rows_height(len(bars))) as (figure, (axes,)):
        parts = {
            n: (
                [max(bar.parts[n].value, 0.0) if n in bar.parts else 0.0 for bar in bars],
                COLOUR[COLOURS[n]],
            )
            for n in _names(bars)
        }
        end = axis_end([sum(widths[i] for widths, _ in parts.values()) for i in range(len(bars))])
        handles = stacked(axes, [bar.configuration.label for bar in bars], parts, "modelled", end)
        axes.set(ylim=(-0.6, len(bars) - 0.4), xlabel="waiting (s / s simulated)")
        legend_above(figure, handles, columns=5)
        return markup(figure, name, alt)
