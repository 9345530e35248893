"""The ladder of meetings: what the waiting of a run would be if its ranks met ever more rarely.

W(k) is the waiting, per cycle, if ranks met every k cycles, by replay of the run's own compute times.
imbalance = W(all cycles as one window), drift = W(D) - W(all), jitter = W(1) - W(D), barrier = measured -
W(1). The parts add up to the measured waiting exactly, and a run that meets every D cycles refutes jitter or
does not. For a run that meets every P cycles, W(P) takes the place of W(1). Of independent cycle times, drift
is the jitter that D cycles leave, 1 / sqrt(D) of it; `drift_share` says how much of it is slow.

Long cycles are those beyond the 99.9 % quantile of their rank. Cycle times are compared with the usual ones
(median) at the same place of a window of D cycles, so that planned work in every D-th cycle is not long. What
long cycles add is the difference to the same ladder with cycle times cut off there.
"""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.statistics import lump
from spikemark.quantities.quantity import Quantity, missing

from .bootstrap import Draws, means
from .trace import Trace

#: The parts of the waiting, and what each is, given D.
MEANS = {
    "imbalance": "the same ranks are always late",
    "drift": "left when ranks meet every {d} cycles",
    "jitter": "averages out over {d} cycles",
    "barrier": "beyond what computing explains",
}
PARTS = tuple(MEANS)
LONG = 0.999
UNTIMED = "waiting was not timed, so nothing is known beyond what the compute times explain"


@dataclass(frozen=True)
class Slowest:
    """The rank that computes longest: by which share it exceeds the mean of the others, and what of the
    waiting would go if it did not. `certain`: it exceeds every other rank by more than chance.
    """

    rank: int
    node: str | None  # where there are several
    longer: Quantity
    share: Quantity
    certain: bool


@dataclass(frozen=True)
class Ladder:
    """Seconds per cycle, means over ranks. `parts` (PARTS) add up to `waiting`.

    `rare`: of imbalance, drift and jitter, what rare long cycles add. `exchange` and `efficiency` (POP): None
    where exchanges were not timed. `common`: all ranks slow at once, which makes nobody wait. `drift_share`:
    of the variance between ranks of means over D cycles.
    """

    waiting: Quantity
    parts: dict[str, Quantity]
    rare: dict[str, Quantity]
    computing: Quantity
    exchange: Quantity | None
    common: Quantity
    efficiency: dict[str, float] | None
    slowest: Slowest
    delay_ratio: int
    drift_share: float


def usual(compute: np.ndarray, every: int = 1) -> np.ndarray:
    """Median time of each rank at each of `every` places of a window, [rank, cycle]."""
    ranks, cycles = compute.shape
    every = every if cycles >= 2 * every else 1
    whole = compute[:, : cycles // every * every].reshape(ranks, -1, every)
    return np.tile(np.median(whole, axis=1), -(-cycles // every))[:, :cycles]


def clipped(compute: np.ndarray, every: int = 1) -> np.ndarray:
    """Compute times [rank, cycle] without what long cycles take beyond the 99.9 % quantile of their rank."""
    expected = usual(compute, every)
    beyond = compute - expected
    return expected + np.minimum(beyond, np.quantile(beyond, LONG, axis=1, keepdims=True))


def ladder(run: Trace, delay_ratio: int | None = None) -> Ladder:
    """The parts of the waiting of a run; D separates jitter from drift.

    Raises BadInput where fewer than two windows of D cycles, or a D that is no multiple of the period.
    """
    d, m = delay_ratio or run.separating, run.ranks
    if 2 * d > run.cycles or d % run.period:
        raise BadInput(
            f"delay_ratio={d}: expected a multiple of {run.period}, the cycles between meetings, up to"
            f" {run.cycles // 2}, half of all cycles"
        )
    course = run.compute.mean(axis=0, dtype=np.float64)
    together = course - usual(course[None], run.place)[0]
    columns, exact = [], []  # [window of D, column] and [column]; the latter knows the last, shorter window
    for times in (run.compute, clipped(run.compute, run.place)):
        rare, often = _waited(times, d), _waited(times, run.period)
        columns += [*lump(times, d), rare, lump(often, d // run.period)[: len(rare)]]
        exact += [*times.mean(axis=1, dtype=np.float64), rare.mean() / d, often.mean() / run.period]
    for series, every in ((run.waits, run.period), (run.exchanges, run.period), (together, 1)):
        columns.append(lump(series[: run.cycles // d * d // every], d // every))
        exact.append(series.sum() / run.cycles)
    draws, exact = means(np.stack(columns, axis=1) / d), np.array(exact)
    draws = Draws(exact, draws.draws + (exact - draws.value))

    def parts(x: np.ndarray, first: int = 0) -> list[np.ndarray]:
        own, (rare, often) = x[..., first : first + m], (x[..., first + m + i] for i in (0, 1))
        imbalance = own.max(axis=-1) - own.mean(axis=-1)
        return [imbalance, rare - imbalance, often - rare]

    found = {name: draws(lambda x, i=i: parts(x)[i], "s") for i, name in enumerate(PARTS[:-1])}
    long = {
        name: draws(lambda x, i=i: parts(x)[i] - parts(x, m + 2)[i], "s", least=-np.inf)
        for i, name in enumerate(PARTS[:-1])
    }
    doubt = [x / run.period for x in run.doubt_s or (0.0, 0.0)]
    found["barrier"] = missing(UNTIMED, "s", "not timed")
    if run.waited is not None and run.doubt_s is not None:
        found["barrier"] = draws(lambda x: x[..., -3] - x[..., m + 1], "s", least=-np.inf).widened(*doubt)
    exchange = None
    if run.exchanged is not None:
        exchange = draws(lambda x: x[..., -2], "s", run.kind).widened(*doubt[::-1])
    return Ladder(
        draws(lambda x: x[..., -3], "s", run.kind).widened(*doubt), found, long,
        draws(lambda x: x[..., :m].mean(axis=-1), "s", "measured"), exchange,
        draws(lambda x: x[..., -1], "s", least=-np.inf), exchange and efficiency(run),
        _slowest(run, draws), d, drift_share(run.compute, d),
    )  # fmt: skip


def _waited(compute: np.ndarray, every: int) -> np.ndarray:
    """Waiting [window], mean over ranks, of ranks with these times that meet `every` so many cycles."""
    times = lump(compute, every)
    return times.max(axis=0).astype(np.float64) - times.mean(axis=0, dtype=np.float64)


def _slowest(run: Trace, draws: Draws) -> Slowest:
    mean = draws.value[: run.ranks]
    rank = int(np.argmax(mean))
    rest = np.delete(np.arange(run.ranks), rank)

    def longer(x: np.ndarray) -> np.ndarray:
        others = x[..., rest].mean(axis=-1)
        return np.divide(x[..., rank], others, out=np.ones_like(others), where=others > 0) - 1

    level = np.array(run.compute, dtype=np.float64)
    level[rank] -= mean[rank] - mean[rest].mean()
    gone, whole = float(run.implied.mean() - _waited(level, run.period).mean()), float(run.waits.mean())
    share = min(max(gone / whole, 0.0), 1.0) if whole > 0 else 0.0
    gap = draws(lambda x: x[..., rank] - x[..., rest].max(axis=-1), least=-np.inf)
    node = run.nodes[rank] if run.nodes and len(set(run.nodes)) > 1 else None
    return Slowest(rank, node, draws(longer, kind="measured"), Quantity(share, kind="modelled"), gap.low > 0)


def drift_share(compute: np.ndarray, d: int) -> float:
    """Share of the variance between ranks of means over D cycles that is drift, 0 to 1.

    With V(k) the variance between ranks of means over k cycles, without lasting differences: V(1) = jitter +
    drift and V(D) = jitter / D + drift.
    """
    own = compute - compute.mean(axis=1, keepdims=True, dtype=np.float64)
    own -= own.mean(axis=0)
    one, slow = float((own**2).mean()), float(((lump(own, d) / d) ** 2).mean())
    return float(np.clip((d - one / slow) / (d - 1), 0.0, 1.0)) if d > 1 and slow > 0 else 0.0


def efficiency(run: Trace) -> dict[str, float]:
    """The efficiencies of POP (Performance Optimisation and Productivity), 0 to 1.

    Load balance: mean over maximum of the ranks' computing. Serialisation: that maximum over the run time on
    a network that takes no time, the sum of the slowest ranks' times. Transfer: that run time over the
    measured one. Their product is the parallel efficiency, mean computing over run time.
    """
    totals = run.compute.sum(axis=1, dtype=np.float64)
    ideal = float(lump(run.compute, run.period).max(axis=0).sum(dtype=np.float64))
    runtime = float(totals.mean() + run.waits.sum() + run.exchanges.sum())
    return {
        "load_balance": float(totals.mean() / totals.max()),
        "serialisation": float(totals.max()) / ideal,
        "transfer": ideal / runtime,
        "parallel": float(totals.mean()) / runtime,
    }
