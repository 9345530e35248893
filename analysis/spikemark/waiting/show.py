"""Fits, predictions and changes as tables and as JSON."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, percent

from . import verdicts
from .base_case import SIGN, Miss
from .estimates import Estimates
from .nodes import Nodes
from .predictor import Prediction
from .source import Source
from .units import MICRO, in_us
from .whatif import Outcome, meaning

LISTED, EXTREMES = 16, 3  # ranks of which each has a line; of more, so many at either end


def fitted(
    source: Source,
    found: Estimates,
    made: dict[str, Prediction],
    missed: dict[str, Miss],
    everyone: bool = False,
) -> Table:
    """One line per parameter, then the waiting of the run, and by each predictor; times in microseconds.

    Of many ranks or nodes, shows spread, median and extremes, or with `everyone` each of them. `missed` are
    the predictors that do not reproduce the waiting of the run.
    """
    most = None if everyone else LISTED
    effects = {_rank(source, m): in_us(a) for m, a in enumerate(_effects(source, found))}
    of_ranks, left_out = _several(effects, "{} above the mean (µs)", "rank", "µs", most)
    of_nodes, notes = [], []
    if source.nodes is not None:
        slower = {f"node {name}": _percent(q) for name, q in source.nodes.slower.items()}
        of_nodes, nodes_left_out = _several(slower, "{} slower than the others (%)", "node", "%", most)
        of_nodes.append(("spread between nodes, SD (%)", _percent(source.nodes.spread)))
        left_out, notes = [*left_out, *nodes_left_out], nodes_lines(source.nodes)
    notes += [f"{line}; --all-ranks shows all of them" for line in left_out]
    notes += map(str, missed.values())
    parameters = [
        ("mean cycle time (µs)", in_us(found.mean_s)),
        ("spread within a rank, SD (µs)", in_us(found.own_sd_s)),
        ("drift shared by all ranks, SD (µs)", in_us(found.common_sd_s)),
        ("correlation from cycle to cycle", found.rho_1),
        ("correlation time (cycles)", Quantity(found.correlation_time, kind="measured")),
        ("share of slow cycles", found.minor_share),
        ("length of slow cycles over that of others", found.minor_factor),
        *of_ranks,
        *of_nodes,
        ("waiting of the run (µs per cycle)", in_us(source.waited)),
        *(
            (f"waiting by {name} (µs per cycle)", _signed(in_us(one.waiting, one.cycles), name, missed))
            for name, one in made.items()
        ),
    ]
    columns = {
        Column("what", ""): lambda row: row[0],
        Column("value", "fitted value, with 95 % interval"): lambda row: row[1],
        Column("kind", "kind"): lambda row: row[1].kind,
    }
    return Table.of(
        columns, parameters, f"{counted(source.ranks, 'rank')}, {source.cycles} cycles", notes=notes
    )


def _effects(source: Source, found: Estimates) -> list[Quantity]:
    """How much longer each rank computes; modelled for ranks that have the times of another one."""
    of = source.times_of or range(source.ranks)
    return [
        effect if of[rank] == rank else replace(effect, kind="modelled")
        for rank, effect in enumerate(found.rank_effects_s)
    ]


def _rank(source: Source, rank: int) -> str:
    """A rank with its node, where there are several nodes, or with the rank whose times it has."""
    if source.times_of and source.times_of[rank] != rank:
        return f"rank {rank}, with times of rank {source.times_of[rank]},"
    several = len(set(source.node_of_rank)) > 1
    return f"rank {rank} on {source.node_of_rank[rank]}" if several else f"rank {rank}"


def _several(
    values: dict[str, Quantity], words: str, what: str, unit: str, most: int | None
) -> tuple[list[tuple[str, Quantity]], list[str]]:
    """One line for each value by name, or a summary of more than `most`, and what was left out, in words."""
    known = sorted((name for name in values if values[name]), key=lambda name: -values[name].value)
    if most is None or len(values) <= most or len(known) <= 2 * EXTREMES:
        return [(words.format(name), value) for name, value in values.items()], []
    numbers = [values[name].value for name in known]
    summary = [
        (words.format(f"median {what}"), Quantity(float(np.median(numbers)), unit=unit, kind="measured")),
        *((words.format(name), values[name]) for name in [*known[:EXTREMES], *known[-EXTREMES:]]),
    ]
    if what == "rank":
        spread = Quantity(float(np.std(numbers, ddof=1)), unit=unit, kind="measured")
        summary.insert(0, (f"spread between ranks, SD ({unit})", spread))
    return summary, [f"of {len(values)} {what}s, the {EXTREMES} slowest and the {EXTREMES} fastest are shown"]


def fitted_content(source: Source, found: Estimates) -> dict[str, Any]:
    """The content for JSON; times in seconds; a value of null comes with its reason."""
    content = {"ranks": source.ranks, "cycles": source.cycles, "correlation_time": found.correlation_time}
    for name in ("mean_s", "own_sd_s", "common_sd_s", "rho_1", "minor_share", "minor_factor"):
        content[name] = getattr(found, name).content()
    content["waiting_per_cycle_s"] = source.waited.content()
    content["exchange_per_cycle_s"] = source.exchanged.content()
    content["nodes"] = None if source.nodes is None else nodes_content(source.nodes)
    content["warnings"] = list(source.warnings)
    return content | {"rank_effects_s": [a.content() for a in _effects(source, found)]}


def _signed(value: Quantity, name: str, missed: dict[str, Miss]) -> Quantity:
    """The value with a sign where the predictor does not reproduce the run that it was fitted on."""
    return replace(value, sign=SIGN) if name in missed else value


def predicted(made: dict[str, Prediction], missed: dict[str, Miss], fitted: Source) -> Table:
    """One line per predictor; `missed` as in `fitted`. The first note compares with the fitted run."""
    first = next(iter(made.values()))
    plan = first.plan
    columns = {
        Column("predictor", "predictor"): lambda name: name,
        Column("waiting_s", "waiting (s), with 95 % interval", "modelled"): lambda name: _signed(
            made[name].waiting, name, missed
        ),
        Column("waiting_per_cycle_us", "waiting per cycle (µs)", "modelled"): lambda name: (
            MICRO * made[name].waiting_per_cycle_s
        ),
        Column("runtime_s", "run time (s)", "modelled", digits=4): lambda name: made[name].runtime,
    }
    title = f"{plan.schedule}, D = {plan.delay_ratio}, {counted(plan.ranks, 'rank')}, {first.cycles} cycles"
    best = believed(made, missed)
    notes = [verdicts.effect(made[best], fitted, best), *map(str, missed.values())]
    return Table.of(columns, made, title, notes=notes)


def predicted_content(made: dict[str, Prediction], missed: dict[str, Miss]) -> dict[str, Any]:
    """The content for JSON: waiting is a mean over ranks, in s over the run; `misses_base` as in `fitted`."""
    return {
        name: {
            "waiting_s": one.waiting_s,
            "runtime_s": one.runtime_s,
            "interval": list(one.waiting.interval),
            "runtime_interval": list(one.runtime.interval),
            **_single(one, one.waiting, one.runtime),
            **_plan(one),
            "misses_base": missed[name].content() if name in missed else None,
        }
        for name, one in made.items()
    }


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


def nodes_content(found: Nodes) -> dict[str, Any]:
    """The content for JSON; 0.05 stands for 5 % longer."""
    return {
        "slower": {name: q.content() for name, q in found.slower.items()},
        "spread": found.spread.content(),
        "slow": list(found.slow),
        "note": found.note or None,
    }


def outcomes(found: dict[str, list[Outcome]], missed: dict[str, Miss]) -> Table:
    """One line per change: the waiting by every predictor, and the run time by the one to believe.

    Times are in microseconds per cycle. The title says what helps most, the notes which predictors do not
    reproduce the run, and what the changes do.
    """
    best, judged = judge(found, missed)

    def waiting(row: dict[str, Outcome], name: str) -> Quantity:
        one = row[best]
        if one.refused:
            return one.waiting
        return _signed(in_us(row[name].waiting, one.prediction.cycles), name, missed)

    def runtime(row: dict[str, Outcome]) -> Quantity | None:
        one = row[best]
        return None if one.refused else in_us(one.runtime, one.prediction.cycles)

    columns = {
        Column("change", "µs per cycle"): lambda row: row[best].name,
        **{
            Column(name, f"waiting by {name}", "modelled"): lambda row, name=name: waiting(row, name)
            for name in found
        },
        Column("runtime", f"run time by {best}", "modelled"): runtime,
    }
    rows = [dict(zip(found, outcomes, strict=True)) for outcomes in zip(*found.values(), strict=True)]
    single = {name: meaning(name) for name in (row[best].name for row in rows)}
    notes = [*map(str, missed.values()), *(f"{name}: {text}" for name, text in single.items() if text)]
    return Table.of(columns, rows, judged, notes=notes)


def judge(found: dict[str, list[Outcome]], missed: dict[str, Miss]) -> tuple[str, str]:
    """The predictor to believe, and its sentence on what helps most."""
    best = believed(found, missed)
    return best, verdicts.helps(found[best], best)


def believed(names: Iterable[str], missed: dict[str, Miss]) -> str:
    """The last of the predictors that reproduces the run; the last of all if none does."""
    return ([name for name in names if name not in missed] or list(names))[-1]


def outcomes_content(found: dict[str, list[Outcome]], missed: dict[str, Miss]) -> dict[str, Any]:
    """The content for JSON, by change and predictor: times in seconds over the run, and what helps most."""
    best, sentence = judge(found, missed)
    shown: dict[str, Any] = {}
    for predictor, made in found.items():
        for one in made:
            shown.setdefault(one.name, {})[predictor] = _content(one)
    return {
        "sentence": sentence,
        "predictor": best,
        "misses_base": {name: one.content() for name, one in missed.items()},
        "changes": shown,
    }


def _content(one: Outcome) -> dict[str, Any]:
    made = one.prediction
    if made is None:
        return {"waiting_s": None, "reason": one.refused}
    return {
        "waiting_s": made.waiting_s,
        "runtime_s": made.runtime_s,
        "interval": list(one.waiting.interval),
        "runtime_interval": list(one.runtime.interval),
        **_single(made, one.waiting, one.runtime),
        **_plan(made),
    }


def _single(one: Prediction, waiting: Quantity, runtime: Quantity) -> dict[str, Any]:
    """The intervals of a single run, in s over the run."""
    alone = one.again.waiting(waiting)
    return {
        "run_interval": list(alone.interval),
        "run_runtime_interval": list(one.again.runtime(runtime, alone).interval),
    }


def _plan(one: Prediction) -> dict[str, Any]:
    """How the predicted run goes, and how many cycles its times are for."""
    plan = one.plan
    return {
        "schedule": plan.schedule, "delay_ratio": plan.delay_ratio, "ranks": plan.ranks, "lag": plan.lag,
        "cycles": one.cycles,
    }  # fmt: skip


def _percent(share: Quantity) -> Quantity:
    """A share as a percentage, rounded to 0.01."""
    if not share:
        return share
    ends = (None if x is None else round(100 * x, 2) for x in (share.value, share.low, share.high))
    return Quantity(*ends, "%", share.kind)
