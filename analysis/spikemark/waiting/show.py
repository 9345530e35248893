"""Fits and predictions as tables for people and as JSON."""

from typing import Any

from rich.table import Table

from spikemark.models.latency_bandwidth import Estimate
from spikemark.quantities.words import number

from .estimates import Estimates
from .predictor import Prediction
from .source import Source


def fitted(source: Source, found: Estimates, made: dict[str, Prediction]) -> Table:
    """One line per parameter, then one per predictor, with the waiting of the run; times in microseconds."""
    table = empty_table(f"{source.ranks} ranks, {source.cycles} cycles", ["", "fitted", "95 % interval"])
    rows: list[tuple[str, Estimate | None, float]] = [
        ("mean cycle time (µs)", found.mean_s, 1e6),
        ("spread within a rank, SD (µs)", found.own_sd_s, 1e6),
        ("drift shared by all ranks, SD (µs)", found.common_sd_s, 1e6),
        ("correlation from cycle to cycle", found.rho_1, 1),
        ("correlation time (cycles)", Estimate(found.correlation_time), 1),
        ("share of slow cycles", found.minor_share, 1),
        ("slow cycles take, times as long", found.minor_factor, 1),
    ]
    rows += [(f"rank {m} above the mean (µs)", a, 1e6) for m, a in enumerate(found.rank_effects_s)]
    for name, one in made.items():
        waiting = Estimate(one.waiting_s, *one.interval)
        rows.append((f"waiting by {name} (µs per cycle)", waiting, 1e6 / one.cycles))
    for name, value, unit in rows:
        if value is None:
            table.add_row(name, "none found", "")
        else:
            limits = "" if value.low is None else f"{number(unit * value.low)} to {number(unit * value.high)}"
            table.add_row(name, number(unit * value.value), limits)
    return table


def fitted_content(source: Source, found: Estimates) -> dict[str, Any]:
    """For JSON; times in seconds; null where there is none."""

    def plain(value: Estimate | None) -> dict[str, Any] | None:
        return None if value is None else {"value": value.value, "interval": [value.low, value.high]}

    content = {"ranks": source.ranks, "cycles": source.cycles, "correlation_time": found.correlation_time}
    for name in ("mean_s", "own_sd_s", "common_sd_s", "rho_1", "minor_share", "minor_factor"):
        content[name] = plain(getattr(found, name))
    return content | {"rank_effects_s": [plain(a) for a in found.rank_effects_s]}


def predicted(made: dict[str, Prediction]) -> Table:
    """One line per predictor."""
    first = next(iter(made.values()))
    plan = first.plan
    title = f"{plan.schedule}, D = {plan.delay_ratio}, {plan.ranks} ranks, {first.cycles} cycles (modelled)"
    heads = ["predictor", "waiting (s)", "95 % interval (s)", "waiting per cycle (µs)", "run time (s)"]
    table = empty_table(title, heads)
    for name, one in made.items():
        low, high = one.interval
        per_cycle = number(1e6 * one.waiting_per_cycle_s)
        limits = f"{number(low)} to {number(high)}"
        table.add_row(name, number(one.waiting_s), limits, per_cycle, number(one.runtime_s))
    return table


def predicted_content(made: dict[str, Prediction]) -> dict[str, Any]:
    """For JSON: waiting is the mean over ranks, in seconds over the run."""
    return {
        name: {"waiting_s": one.waiting_s, "runtime_s": one.runtime_s, "interval": list(one.interval)}
        for name, one in made.items()
    }


def empty_table(title: str, heads: list[str], words: tuple[int, ...] = (0,)) -> Table:
    """Columns of `words` are aligned to the left."""
    table = Table(title=title, title_justify="left")
    for number_of, head in enumerate(heads):
        table.add_column(head, justify="left" if number_of in words else "right")
    return table
