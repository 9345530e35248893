"""Fits, predictions, budgets and changes as tables and as JSON."""

from dataclasses import asdict
from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent

from .budget import Budget
from .estimates import Estimates
from .node_share import BetweenNodes
from .nodes import Nodes
from .predictor import Prediction
from .show_causes import NOT_KEPT
from .source import Source
from .whatif import CHANGES, Outcome

MICRO = 1e6
MEANING = {
    "persistent": "lasting differences between ranks",
    "jitter": "averages out over {d} cycles, as 1/√{d}",
    "drift": "does not average out over {d} cycles",
    "rare": "rare long cycles of single ranks",
    "barrier": "beyond what the compute times explain",
}


def fitted(source: Source, found: Estimates, made: dict[str, Prediction]) -> Table:
    """One line per parameter, then one per predictor, with the waiting of the run; times in microseconds."""
    of_nodes = []
    if source.nodes is not None:
        of_nodes = [
            (f"node {name} slower than the others (%)", _percent(q))
            for name, q in source.nodes.slower.items()
        ]
        of_nodes.append(("spread between nodes, SD (%)", _percent(source.nodes.spread)))
    parameters = [
        ("mean cycle time (µs)", _us(found.mean_s)),
        ("spread within a rank, SD (µs)", _us(found.own_sd_s)),
        ("drift shared by all ranks, SD (µs)", _us(found.common_sd_s)),
        ("correlation from cycle to cycle", found.rho_1),
        ("correlation time (cycles)", Quantity(found.correlation_time, kind="measured")),
        ("share of slow cycles", found.minor_share),
        ("slow cycles take, times as long", found.minor_factor),
        *((f"rank {m} above the mean (µs)", _us(a)) for m, a in enumerate(found.rank_effects_s)),
        *of_nodes,
        *((f"waiting by {name} (µs per cycle)", _us(one.waiting, one.cycles)) for name, one in made.items()),
    ]
    return Table(
        [Column("what", ""), Column("value", "fitted, and interval of 95 %"), Column("kind", "kind")],
        [{"what": what, "value": value, "kind": value.kind} for what, value in parameters],
        f"{source.ranks} ranks, {source.cycles} cycles",
        notes=[] if source.nodes is None else nodes_lines(source.nodes),
    )


def fitted_content(source: Source, found: Estimates) -> dict[str, Any]:
    """For JSON; times in seconds; a value of null comes with its reason."""
    content = {"ranks": source.ranks, "cycles": source.cycles, "correlation_time": found.correlation_time}
    for name in ("mean_s", "own_sd_s", "common_sd_s", "rho_1", "minor_share", "minor_factor"):
        content[name] = getattr(found, name).content()
    content["nodes"] = None if source.nodes is None else _nodes_content(source.nodes)
    return content | {"rank_effects_s": [a.content() for a in found.rank_effects_s]}


def predicted(made: dict[str, Prediction]) -> Table:
    """One line per predictor."""
    first = next(iter(made.values()))
    plan = first.plan
    columns = [
        Column("predictor", "predictor"),
        Column("waiting_s", "waiting (s), and interval of 95 %", "modelled"),
        Column("waiting_per_cycle_us", "waiting per cycle (µs)", "modelled"),
        Column("runtime_s", "run time (s)", "modelled"),
    ]
    rows = [
        {
            "predictor": name,
            "waiting_s": one.waiting,
            "waiting_per_cycle_us": MICRO * one.waiting_per_cycle_s,
            "runtime_s": one.runtime_s,
        }
        for name, one in made.items()
    ]
    title = f"{plan.schedule}, D = {plan.delay_ratio}, {plan.ranks} ranks, {first.cycles} cycles"
    return Table(columns, rows, title)


def predicted_content(made: dict[str, Prediction]) -> dict[str, Any]:
    """For JSON: waiting is the mean over ranks, in seconds over the run."""
    return {
        name: {
            "waiting_s": one.waiting_s,
            "runtime_s": one.runtime_s,
            "interval": list(one.waiting.interval),
        }
        for name, one in made.items()
    }


def budget(found: Budget, cycles: int) -> Table:
    """One line per part, and the efficiencies below; times in microseconds per cycle."""
    waiting = Quantity(found.waiting_s, unit="s", kind="measured")
    rows = [("waiting", waiting, None, "mean over ranks")]
    for name, part in found.parts.items():
        share = percent(round(part.value / found.waiting_s, 6)) if found.waiting_s > 0 else None
        rows.append((f"  {name}", part, share, MEANING[name].format(d=found.delay_ratio)))
    if found.transport is not None:
        rows.append(("transport", found.transport, None, "exchanging data, no waiting"))
    rows.append(("common mode", found.common_mode, None, "all ranks slow at once, no waiting"))
    columns = [
        Column("part", ""),
        Column("us_per_cycle", "µs per cycle, and interval of 95 %"),
        Column("kind", "kind"),
        Column("share", "share"),
        Column("meaning", "what it is"),
    ]
    lines = [
        {
            "part": part,
            "us_per_cycle": _us(value, cycles),
            "kind": value.kind,
            "share": share,
            "meaning": words,
        }
        for part, value, share, words in rows
    ]
    notes = []
    if found.efficiency is not None:
        names = ", ".join(f"{name} {number(value)}" for name, value in found.efficiency.items())
        notes = [f"POP efficiencies: {names}"]
    if found.nodes is not None:
        notes += between_nodes_lines(found.nodes)
    if found.causes is None and found.parts["rare"].value > 0:
        notes.append(NOT_KEPT)
    return Table(columns, lines, notes=notes)


def between_nodes_lines(found: BetweenNodes) -> list[str]:
    """How much of the waiting is due to differences between nodes, and which are slow, in sentences."""
    low, high = found.share.interval
    words = f"{percent(found.share.value)} of the waiting ({percent(low)} to {percent(high)})"
    return [f"lasting differences between nodes: {words}, part of persistent", *nodes_lines(found.nodes)]


def nodes_lines(found: Nodes) -> list[str]:
    """Which nodes are slower than the others by more than chance, in sentences."""
    if not found.spread:
        return [f"effects of nodes are unknown: {found.spread.reason}"]
    lines = [_slow_node(name, found.slower[name]) for name in found.slow]
    lines = lines or ["no node is certainly slower than the others"]
    return [*lines, *([found.note] if found.note else [])]


def _slow_node(name: str, slower: Quantity) -> str:
    low, high = (percent(end, 1) for end in slower.interval)
    return f"slow node: {name} takes {percent(slower.value, 1)} longer than the others ({low} to {high})"


def _nodes_content(found: Nodes) -> dict[str, Any]:
    """For JSON; 0.05 stands for 5 % longer."""
    return {
        "slower": {name: q.content() for name, q in found.slower.items()},
        "spread": found.spread.content(),
        "slow": list(found.slow),
        "note": found.note or None,
    }


def budget_content(found: Budget) -> dict[str, Any]:
    """For JSON: times in seconds over the run, means over ranks."""
    content = asdict(found)
    content["causes"] = None if found.causes is None else found.causes.content()
    content["parts"] = {name: part.content() for name, part in found.parts.items()}
    if found.nodes is not None:
        ours = {"waiting": found.nodes.waiting.content(), "share": found.nodes.share.content()}
        content["nodes"] = ours | _nodes_content(found.nodes.nodes)
    for name in ("common_mode", "transport"):
        value = getattr(found, name)
        content[name] = None if value is None else value.content()
    return content


def outcomes(found: dict[str, list[Outcome]]) -> Table:
    """One line per change: the waiting by every predictor, and the run time by the last one.

    Times are in microseconds per cycle; the notes say what the changes do.
    """
    *_, last = found
    columns = [
        Column("change", "µs per cycle"),
        *(Column(name, f"waiting by {name}", "modelled") for name in found),
        Column("runtime", f"run time by {last}", "modelled"),
    ]
    rows = []
    for by_predictor in zip(*found.values(), strict=True):
        one = by_predictor[-1]
        row = {"change": one.name}
        if one.refused:
            row |= dict.fromkeys(found, one.waiting)
        else:
            cycles = one.prediction.cycles
            row |= {name: _us(each.waiting, cycles) for name, each in zip(found, by_predictor, strict=True)}
            row["runtime"] = MICRO * one.prediction.runtime_s / cycles
        rows.append(row)
    single = [row["change"] for row in rows if row["change"] in CHANGES]
    return Table(columns, rows, notes=[f"{name}: {CHANGES[name].__doc__}" for name in single])


def outcomes_content(found: dict[str, list[Outcome]]) -> dict[str, Any]:
    """For JSON, by change and predictor: times in seconds over the run."""
    shown: dict[str, Any] = {}
    for predictor, made in found.items():
        for one in made:
            shown.setdefault(one.name, {})[predictor] = _content(one)
    return shown


def _content(one: Outcome) -> dict[str, Any]:
    made = one.prediction
    if made is None:
        return {"waiting_s": None, "reason": one.refused}
    return {
        "waiting_s": made.waiting_s,
        "runtime_s": made.runtime_s,
        "interval": list(one.waiting.interval),
        "runtime_interval": list(one.runtime.interval),
        "schedule": made.plan.schedule,
        "delay_ratio": made.plan.delay_ratio,
        "ranks": made.plan.ranks,
    }


def _percent(share: Quantity) -> Quantity:
    """A share as a percentage, rounded to 0.01."""
    if not share:
        return share
    ends = (None if x is None else round(100 * x, 2) for x in (share.value, share.low, share.high))
    return Quantity(*ends, "%", share.kind)


def _us(time: Quantity, cycles: int = 1) -> Quantity:
    """A time in s over several cycles as microseconds per cycle, rounded to 0.1 ns."""
    value, low, high = (
        None if x is None else round(MICRO * x / cycles, 4) for x in (time.value, time.low, time.high)
    )
    return Quantity(value, low, high, "µs", time.kind)
