"""Real ranks of which one is slowed by injected waits, beside what `whatif` says from equal ones."""

from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records.gather import Configuration, Measured, Sweep
from spikemark.studies.runs import factor, group, mean_time
from spikemark.waiting.whatif import Outcome, situation, whatif

from .kept import error

MICRO = 1e6
TITLE = "Two ranks, one of them slowed by injected waits"
NOTE = (
    "`whatif` has seen the conventional runs of equal ranks only. Evidence are ratios: how long a cycle with"
    " a slow rank takes over one with equal ranks of the same schedule, in the median over windows of D"
    " cycles, so that other programs on the same cores count less. Injected waits have an SD of 5 % of those"
    " of equal ranks, whatever the rank; `whatif` scales that of the slow rank with its mean."
)


def slower_of(m: Measured) -> float | None:
    """How many times as long as the first rank the last one takes; None for a run that injects nothing."""
    given = (m.description.get("inject") or {}).get("per_neuron_ns")
    if not isinstance(given, list) or not given or not given[0] > 0:
        return None
    return given[-1] / given[0]


def table(sweep: Sweep) -> Table:
    """One row for each schedule and factor."""
    found = group([m for m in sweep.runs if slower_of(m)], lambda m: (m.configuration, slower_of(m)))
    setups = sorted(dict.fromkeys(setup for setup, _ in found), key=lambda setup: setup.order)
    equal = [m for (setup, slower), runs in found.items() for m in runs
             if setup.schedule == "conventional" and slower == 1]  # fmt: skip
    rows = []
    for setup in setups:
        base = found.get((setup, 1.0), [])
        factors = sorted(slower for other, slower in found if other == setup and slower > 1)
        said = _asked(equal, setup, factors)
        for slower in factors:
            own = found[setup, slower]
            rows.append({
                "schedule": setup.short, "slower": slower,
                "waiting_us": mean_time(own, _waiting_us), "ratio": factor(own, base, _cycle_s),
                **said.get(slower, {}),
            })  # fmt: skip
            rows[-1]["off"] = error(rows[-1]["said_ratio"], rows[-1]["ratio"])
    columns = [
        Column("schedule", "schedule", "given"),
        Column("slower", "slow rank takes", "given", words=lambda x: f"{x:g} times"),
        Column("waiting_us", "waiting (µs per cycle)", sweep.kind),
        Column("said_us", "whatif (µs)", "modelled"),
        Column("ratio", "run time over that of equal ranks", sweep.kind),
        Column("said_ratio", "whatif", "modelled"),
        Column("off", "whatif, error (%)", "modelled", 2),
    ]
    return Table(columns, rows, TITLE, "injected", [NOTE])


def _waiting_us(m: Measured) -> float | None:
    waiting = None if m.run.cycles is None else m.run.waiting()
    return None if waiting is None else MICRO * _usual(m, waiting)


def _cycle_s(m: Measured) -> float | None:
    cycles = m.run.cycles
    return None if cycles is None else _usual(m, np.nansum(cycles, axis=2, dtype=np.float64))


def _usual(m: Measured, times: np.ndarray) -> float:
    """Of times in s, [rank, cycle]: per cycle, in the usual window of D cycles, mean over ranks.

    A median, since other programs on the same cores make single windows far longer.
    """
    window = m.configuration.delay_ratio
    return float(np.median(lump(times.mean(axis=0), window))) / window


def _asked(equal: list[Measured], setup: Configuration, factors: list[float]) -> dict[float, dict[str, Cell]]:
    """What `whatif` says of each factor under a schedule, from the conventional runs of equal ranks."""

    def nothing(reason: str) -> dict[float, dict[str, Cell]]:
        none = missing(reason)
        return {slower: {"said_us": none, "said_ratio": none} for slower in factors}

    if not equal:
        return nothing("no conventional run of equal ranks is complete")
    last = equal[0].run.record.ranks - 1
    names = [f"slow-rank={last}:{slower:g}" for slower in factors]
    try:
        base = situation([m.run for m in equal], setup.schedule, setup.delay_ratio)
        first, *changed = whatif(base, names)
    except BadInput as reason:
        return nothing(str(reason))
    if first.refused:
        return nothing(first.refused)
    return {slower: _said(first, one) for slower, one in zip(factors, changed, strict=True)}


def _said(first: Outcome, one: Outcome) -> dict[str, Any]:
    if one.refused:
        return {"said_us": one.waiting, "said_ratio": one.waiting}
    waiting = one.waiting.times(MICRO / one.prediction.cycles, "us")
    ratio: Quantity = one.runtime.times(1 / first.runtime.value, "")
    return {"said_us": waiting, "said_ratio": ratio}
