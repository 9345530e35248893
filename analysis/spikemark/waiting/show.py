"""Fits, predictions, budgets and changes as tables and as JSON."""

from dataclasses import asdict
from functools import partial
from typing import Any

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, percent

from .budget import Budget
from .causes import Causes
from .estimates import Estimates
from .predictor import Prediction
from .source import Source
from .whatif import CHANGES, Outcome

MICRO = 1e6
_percent = partial(percent, digits=1)
MOST_PROCESSES = 5
MEANING = {
    "persistent": "lasting differences between ranks",
    "jitter": "averages out over {d} cycles, as 1/√{d}",
    "drift": "does not average out over {d} cycles",
    "rare": "rare long cycles of single ranks",
    "barrier": "beyond what the compute times explain",
}


def fitted(source: Source, found: Estimates, made: dict[str, Prediction]) -> Table:
    """One line per parameter, then one per predictor, with the waiting of the run; times in microseconds."""
    parameters = [
        ("mean cycle time (µs)", _us(found.mean_s)),
        ("spread within a rank, SD (µs)", _us(found.own_sd_s)),
        ("drift shared by all ranks, SD (µs)", _us(found.common_sd_s)),
        ("correlation from cycle to cycle", found.rho_1),
        ("correlation time (cycles)", Quantity(found.correlation_time, kind="measured")),
        ("share of slow cycles", found.minor_share),
        ("slow cycles take, times as long", found.minor_factor),
        *((f"rank {m} above the mean (µs)", _us(a)) for m, a in enumerate(found.rank_effects_s)),
        *((f"waiting by {name} (µs per cycle)", _us(one.waiting, one.cycles)) for name, one in made.items()),
    ]
    return Table(
        [Column("what", ""), Column("value", "fitted, and interval of 95 %"), Column("kind", "kind")],
        [{"what": what, "value": value, "kind": value.kind} for what, value in parameters],
        f"{source.ranks} ranks, {source.cycles} cycles",
    )


def fitted_content(source: Source, found: Estimates) -> dict[str, Any]:
    """For JSON; times in seconds; a value of null comes with its reason."""
    content = {"ranks": source.ranks, "cycles": source.cycles, "correlation_time": found.correlation_time}
    for name in ("mean_s", "own_sd_s", "common_sd_s", "rho_1", "minor_share", "minor_factor"):
        content[name] = getattr(found, name).content()
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
    return Table(columns, lines, notes=notes)


NOT_KEPT = "what made cycles long is not known: run again with record.kernel=true (docs/noise.md)"


def long_cycles(found: Causes | None) -> list[Table]:
    """What the rare long cycles were made of, and which counts rose with them."""
    if found is None:
        return [Table([Column("cause", "")], [], notes=[NOT_KEPT])]
    notes = [f"ran beside the ranks: {line}" for line in found.processes[:MOST_PROCESSES]]
    notes += [f"could not be seen: {line}" for line in found.blind]
    columns = [
        Column("cause", "cause of long cycles"),
        Column("share", "share, and interval of 95 %", words=_percent),
        Column("kind", "kind"),
        Column("meaning", "what it is"),
    ]
    rows = [
        {"cause": c.name, "share": c.share, "kind": c.share.kind, "meaning": c.meaning} for c in found.causes
    ]
    title = (
        f"{counted(found.long_cycles, 'rare long cycle')}, {number(1e3 * found.long_s)} ms beyond the usual"
    )
    tables = [Table(columns, rows, title, notes=[] if found.coincidences else notes)]
    if found.coincidences:
        columns = [
            Column("count", "counted more often beside them"),
            Column("with", "per second, with a long cycle", "counted"),
            Column("without", "without", "counted"),
            Column("share", "share that coincides", "modelled", words=_percent),
        ]
        rows = [
            {
                "count": f"{c.name} ({c.source})",
                "with": c.with_loss,
                "without": c.without,
                "share": c.share,
            }
            for c in found.coincidences
        ]
        tables.append(Table(columns, rows, notes=notes))
    return tables


def budget_content(found: Budget) -> dict[str, Any]:
    """For JSON: times in seconds over the run, means over ranks."""
    content = asdict(found)
    content["causes"] = None if found.causes is None else found.causes.content()
    content["parts"] = {name: part.content() for name, part in found.parts.items()}
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


def _us(time: Quantity, cycles: int = 1) -> Quantity:
    """A time in s over several cycles as microseconds per cycle, rounded to 0.1 ns."""
    value, low, high = (
        None if x is None else round(MICRO * x / cycles, 4) for x in (time.value, time.low, time.high)
    )
    return Quantity(value, low, high, "µs", time.kind)
