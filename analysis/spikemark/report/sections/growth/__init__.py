"""Growth of cost: how work, memory and times per unit of work change when one quantity is doubled."""

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter

from spikemark.quantities.elements import Box, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import NARROW, span
from spikemark.records.cases import Ratio, View
from spikemark.records.gather import Measured
from spikemark.report.columns import LABEL, PAIRS

from .doublings import COSTS, QUANTITIES, Cost, Doubling, doublings, memory_parts, windows

TITLE = "Growth of cost"
MARK = "▲"
EXACT = 0.01  # smallest growth of a counted cost beyond that of its work that is reported
EXPLAINED = (
    "Which costs grow faster than the work? The tables compare pairs of setups that differ by one doubled "
    f"quantity. A cost that grows like its work has a factor of 1 per unit of work; {MARK} marks a factor "
    "whose whole interval lies above 1. Times are core time: a core is one thread of one rank. Exchange is "
    "wall-clock time per window; its work is the bytes that a rank sends. About one comparison in 40 is "
    "marked by chance."
)
WHY = {
    "neurons": "Neurons doubled, in-degree fixed: every list keeps its length, but the ring buffers of input "
    "and the states of the neurons grow. Once these no longer fit into a cache, deliver takes longer for "
    "each event, whose targets lie anywhere in the ring buffer, and update takes longer for each neuron.",
    "in-degree": "In-degree doubled: lists get longer, so that more synapses share the irregular first "
    "access, while the numbers of ring buffers, lists and routes stay the same. Costs per unit of work "
    "should fall.",
    "ranks": "Ranks doubled: the synapses of a source are spread over more lists, which are shorter. Lists, "
    "first accesses and the routes by which spikes find them therefore grow although the synapses do not, "
    "until lists run empty. Deliver pays for the first accesses, collocate writes a spike once for every "
    "rank that needs it, and exchange serves more ranks. In return, the ring buffers of a rank shrink.",
    "threads": "Threads doubled: each thread has its own lists, so lists and first accesses grow as with "
    "ranks. Work that only one thread does costs the time of all cores. Update includes the waiting for the "
    "last thread, and threads share caches and memory bandwidth.",
}
NOTHING = (
    f"Growth of cost: no two runs differ by exactly one doubling of {', '.join(QUANTITIES)}; run `spikemark "
    "sweep growth`."
)


def section(view: View) -> Section:
    """Compares all runs of the sweep, whatever their network."""
    found = doublings(view.sweep.runs)
    if not found:
        return Section("growth", TITLE, missing=[NOTHING])
    shown = [d for d in found if d.timed]
    present = [q for q in QUANTITIES if any(d.quantity == q for d in found)]
    text = [EXPLAINED, *(WHY[q] for q in present)]
    tables = [_counts(found)]
    if shown:
        tables.append(_times(shown, view.kind))
    crowded = list(dict.fromkeys(d.label for d in found if not d.timed))
    lacking = []
    if crowded:
        lacking.append(f"Times of {', '.join(crowded)} are not shown: more ranks × threads than cores.")
    boxes = [_verdict(q, [d for d in found if d.quantity == q]) for q in present]
    return Section("growth", TITLE, text=text, boxes=boxes, tables=tables, missing=lacking)


def _verdict(quantity: str, found: list[Doubling]) -> Box:
    """Says what grew more than its work when `quantity` was doubled."""
    counted = [_grown(name, [_per_work(d, v, work) for d in found]) for name, v, work in _counted(found)]
    timed = [d for d in found if d.timed]
    factors = {cost: [r for d in timed if (r := judged(d, cost))] for cost in COSTS}
    times = [
        _grown(cost.said, [r.value for r in ratios if r.verdict == "larger"], len(ratios))
        for cost, ratios in factors.items()
    ]
    everything = [r for rs in factors.values() for r in rs]
    open_ = sum(r.verdict in ("open", "few") for r in everything)
    text = (
        f"{quantity[0].upper()}{quantity[1:]} doubled. Counts and memory that grew more than the work: "
        f"{_list(counted)}."
    )
    if everything:
        text += f" Times that grew more than the work: {_list(times)}"
        text += f"; for {open_} of {len(everything)} factors the repetitions cannot tell" if open_ else ""
        text += "."
    return Box("plain", text)


def _list(lines: list[str]) -> str:
    return "; ".join(line for line in lines if line) or "none"


def _grown(name: str, factors: list[float | None], compared: int | None = None) -> str:
    """Gives the name, the factors above 1 and in how many comparisons they occur; empty if there are none."""
    known = [x for x in factors if x is not None]
    above = [x for x in known if x > 1 + (EXACT if compared is None else 0)]
    if not above:
        return ""
    return f"{name} ×{span(above)} ({len(above)} of {compared or len(known)})"


def judged(doubling: Doubling, cost: Cost) -> Ratio | None:
    """Returns the factor of the cost per unit of its work."""
    return doubling.factor(cost.judged or cost.value)


Value = Callable[[Measured], float | None]
_first_accesses, _events, _synapses = (
    attrgetter(f"run.record.totals.{name}") for name in ("first_accesses", "synaptic_events", "synapses")
)


def _per_work(doubling: Doubling, value: Value, work: Value) -> float | None:
    cost, base = doubling.factor(value), doubling.factor(work)
    return cost.value / base.value if cost and base else None


def _part(name: str) -> Value:
    return lambda m: m.run.record.memory.parts.get(name)


def _counted(found: list[Doubling]) -> list[tuple[str, Value, Value]]:
    """Returns name, value and work of every exact count that could grow more than its work."""
    access = ("first accesses per synaptic event", _first_accesses, _events)
    return [access, *((f"memory for {n} per synapse", _part(n), _synapses) for n in memory_parts(found))]


def _bytes_per_window(m: Measured) -> float | None:
    return m.run.record.totals.bytes_sent / windows(m) if windows(m) else None


def _counts(found: list[Doubling]) -> Table:
    values: dict[str, Value] = {
        "neurons": lambda m: m.run.record.totals.neurons,
        "synapses": _synapses,
        "synaptic events": _events,
        "first accesses": _first_accesses,
        "bytes / window": _bytes_per_window,
        **{f"memory: {name}": _part(name) for name in memory_parts(found)},
    }
    columns = {
        Column(n, n, "counted"): lambda d, value=value: _plain(d, value) for n, value in values.items()
    }
    return Table.of(SETUPS | columns, found, "Factors of work and memory")


def _times(found: list[Doubling], kind: str) -> Table:
    def pairs(d: Doubling) -> int:
        return max((len(r.pairs) for cost in COSTS if (r := d.factor(cost.value))), default=0)

    columns = {Column(cost.name, cost.head, kind): lambda d, cost=cost: _cell(d, cost) for cost in COSTS}
    title = "Factors of time per unit of work, with 95 % intervals"
    return Table.of({**SETUPS, PAIRS: pairs, **columns}, found, title)


SETUPS = {
    Column("doubled", "doubled", "given"): lambda d: d.label,
    **LABEL,
    Column("start", "from (neurons × in-degree, ranks × threads)", "given"): lambda d: d.start,
}


def _plain(doubling: Doubling, value: Value) -> Cell:
    found = doubling.factor(value)
    if found:
        return found.value
    before, after = (max(value(m) or 0 for m in runs) for runs in (doubling.small, doubling.large))
    mark = "none" if not before and not after else "from none" if not before else "to none"
    return missing("the setups have none of it before, after, or both", mark=mark)


def _cell(doubling: Doubling, cost: Cost) -> Quantity:
    shown, per_work = doubling.factor(cost.value), judged(doubling, cost)
    if shown is None:
        return missing("not timed in both")
    larger = per_work is not None and per_work.verdict == "larger"
    return replace(shown.quantity, sign=f"{NARROW}{MARK}" if larger else "")
