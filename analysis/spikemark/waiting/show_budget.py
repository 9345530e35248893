"""Budgets and what-ifs as tables for people and as JSON."""

from typing import Any

from rich.table import Table

from spikemark.quantities.words import number, percent

from .budget import Budget, Part
from .changes import CHANGES
from .show import empty_table
from .whatif import Outcome

MEANING = {
    "persistent": "lasting differences between ranks",
    "jitter": "averages out over {d} cycles, as 1/√{d}",
    "drift": "does not average out over {d} cycles",
    "rare": "rare long cycles of single ranks",
    "barrier": "beyond what the compute times explain",
}


def budget(found: Budget, cycles: int) -> Table:
    """One line per part; times in microseconds per cycle."""
    shown = empty_table("", ["µs per cycle", "mean", "95 % interval", "share", "what it is"], words=(0, 4))
    per = 1e-6 * cycles
    shown.add_row("waiting", number(found.waiting_s / per), "", "", "measured, mean over ranks")
    for name, part in found.parts.items():
        share = percent(part.value_s / found.waiting_s) if found.waiting_s > 0 else ""
        shown.add_row(f"  {name}", *_cells(part, per), share, MEANING[name].format(d=found.delay_ratio))
    if found.transport is not None:
        shown.add_row("transport", *_cells(found.transport, per), "", "exchanging data, no waiting")
    shown.add_row("common mode", *_cells(found.common_mode, per), "", "all ranks slow at once, no waiting")
    return shown


def legend(found: Budget) -> str:
    """The efficiencies, in one line."""
    if found.efficiency is None:
        return ""
    names = ", ".join(f"{name} {number(value)}" for name, value in found.efficiency.items())
    return f"POP efficiencies: {names}"


def outcomes(found: dict[str, list[Outcome]]) -> Table:
    """One line per change; waiting by every predictor, its interval and the run time by the last one.

    Times in microseconds per cycle.
    """
    *_, last = found
    heads = ["µs per cycle", *found, "95 % interval", "run time", "what changes"]
    title = f"waiting (modelled); interval and run time by {last}"
    shown = empty_table(title, heads, words=(0, len(heads) - 1))
    for by_predictor in zip(*found.values(), strict=True):
        one = by_predictor[-1]
        made = one.prediction
        if made is None:
            shown.add_row(one.name, "refused", *[""] * (len(heads) - 2))
            continue
        per = 1e-6 * made.cycles
        waiting = [number(each.prediction.waiting_s / per) for each in by_predictor]
        low, high = (x / per for x in one.interval)
        times = f"{number(low)} to {number(high)}", number(made.runtime_s / per)
        shown.add_row(one.name, *waiting, *times, changed(one.name))
    return shown


def changed(name: str) -> str:
    """What a change does; nothing for the base and for several together, whose names say it."""
    return CHANGES[name].__doc__.splitlines()[0].rstrip(".") if name in CHANGES else ""


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
        "interval": list(one.interval),
        "runtime_interval": list(one.runtime_interval),
        "schedule": made.plan.schedule,
        "delay_ratio": made.plan.delay_ratio,
        "ranks": made.plan.ranks,
    }


def _cells(part: Part, per: float) -> tuple[str, str]:
    value, low, high = (round(x / per, 4) for x in (part.value_s, *part.interval))  # 0.1 ns is rounding
    return number(value), f"{number(low)} to {number(high)}"
