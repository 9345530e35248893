"""Answers to papers/beyond.yaml: what the papers leave out.

Waiting under cycle times that are correlated in time, beside the recursion of models/recursion.py
and a bare loop; the fastest exchange by ranks and bytes; and the best weights of unequal nodes.
"""

from typing import Any

import numpy as np
import pandas as pd

from spikemark.models import recursion, waiting_iid
from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.injected import Truth
from spikemark.models.loggp import Traffic
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import number
from spikemark.report import plots

from .claims import StudyAnswer
from .pick import means, pick, reduction, share
from .profiles import interconnect_of
from .published import papers
from .study import Lacking, Runs, answers_claim

MACHINE = "jureca-dc"
DRAWN_RUNS = 16  #: of compute times, for the recursion
DELAY_RATIOS = (1, 10)  #: of the figures; schedules without windows have 1
COMPARED = ("alltoallv", "alltoall", "direct", "allgather", "rma_bruck", "sparse")


# Waiting under skewed cycle times


@answers_claim
def _beside_loop(runs: Runs) -> StudyAnswer:
    """Largest difference to the bare loop of the same schedule, ranks and compute times, %."""
    frame = _waits(runs).dropna(subset=["loop_us"])
    if frame.empty:
        raise Lacking("the bare loops ran on 128 ranks; --quick has fewer")
    ratios = frame["waiting_us"] / frame["loop_us"]
    difference_percent = 100 * (ratios - 1).abs()
    return StudyAnswer(_simulated(difference_percent.max(), "%"))


@answers_claim
def _beside_recursion(runs: Runs) -> StudyAnswer:
    """Median of waiting over that of the recursion on the same compute times."""
    frame = _waits(runs)
    long = frame[frame["D"].isin(DELAY_RATIOS)].melt(
        ["schedule", "correlation"], ["waiting_us", "replayed_us"], "kind", "us"
    )
    long["kind"] = long["kind"].map({"waiting_us": "simulated", "replayed_us": "recursion"})
    figure = plots.lines(
        long,
        "correlation",
        "us",
        "beyond-waiting",
        "Waiting by serial correlation of the cycle times",
        "µs per cycle of 1000 ± 100 µs; D = 10. Dashed: the recursion on the same compute times.",
        hue="schedule",
        style="kind",
    )
    table = plots.tabulated(frame, "Waiting in µs per cycle, mean over ranks")
    ratio = (frame["waiting_us"] / frame["replayed_us"]).median()
    return StudyAnswer(_simulated(ratio), figures=[figure], tables=[table])


@answers_claim
def _aware_independent(runs: Runs) -> StudyAnswer:
    """Waiting saved by D = 10 if cycle times are independent."""
    return _saved(runs, "structure_aware", 0)


@answers_claim
def _aware_correlated(runs: Runs) -> StudyAnswer:
    """The same at a serial correlation of 0.9."""
    return _saved(runs, "structure_aware", 0.9)


@answers_claim
def _overlapped_correlated(runs: Runs) -> StudyAnswer:
    """Waiting saved by overlapped windows, D = 10, at a serial correlation of 0.9."""
    return _saved(runs, "overlapped", 0.9)


@answers_claim
def _hierarchical(runs: Runs) -> StudyAnswer:
    """Waiting of the hierarchical over that of the structure-aware schedule.

    All areas are equally far apart.
    """
    structure_aware_us = _waiting_us(runs, "structure_aware", 0.9)
    return StudyAnswer(_simulated(_waiting_us(runs, "hierarchical", 0.9) / structure_aware_us))


def _simulated(value: float, unit: str = "") -> Quantity:
    return Quantity(float(value), unit=unit, kind="simulated")


def _waiting_us(runs: Runs, schedule: str, correlation: float) -> float:
    """Waiting of a schedule per cycle, without a lag."""
    frame = pick(
        _waits(runs),
        schedule=schedule,
        correlation=correlation,
        D=DELAY_RATIOS,
        lag=1,
    )
    if frame.empty:
        raise Lacking(f"no run of {schedule} at correlation {correlation:g} is complete")
    return float(frame["waiting_us"].iloc[0])


def _saved(runs: Runs, schedule: str, correlation: float) -> StudyAnswer:
    """Waiting that a schedule saves against the conventional one, %."""
    conventional_us = _waiting_us(runs, "conventional", correlation)
    ratio = _waiting_us(runs, schedule, correlation) / conventional_us
    theory_percent = 100 * (1 - waiting_iid.waiting_ratio(10))
    note = (
        f"The theory of independent times says {theory_percent:.0f} % without overlap, whatever the"
        " correlation."
    )
    return StudyAnswer(_simulated(100 * (1 - ratio), "%"), note)


def _waits(runs: Runs) -> pd.DataFrame:
    """Waiting in µs per cycle, a row per run.

    `waiting_us`: simulated; `replayed_us` and `drawn_us`: by the recursion on the run's own and on
    drawn compute times; `loop_us`: of the bare loop, missing where there is none.
    """
    frames = runs["overlap"]
    rows = []
    row: Any
    for row in frames.runs.itertuples():
        run = frames.records[row.id]
        truth = Truth.from_description(run.record.description)
        lanes = recursion.lanes_of(run)
        compute_s = run.compute()
        waiting_s = run.waiting()
        assert waiting_s is not None  # all of these runs have a barrier
        ranks, cycles = compute_s.shape
        drawn_s = truth.draw(np.random.default_rng(1), ranks, cycles, DRAWN_RUNS)
        rows.append(
            {
                "schedule": row.schedule,
                "D": int(row.delay_ratio),
                "lag": int(row.lag),
                "correlation": float(truth.correlation),
                "waiting_us": 1e6 * float(waiting_s.mean()),
                "replayed_us": 1e6 * recursion.evaluate(compute_s, lanes).waiting_per_cycle_s,
                "drawn_us": 1e6 * recursion.evaluate(drawn_s, lanes).waiting_per_cycle_s,
                "loop_us": _loop_us(row, truth),
            }
        )
    order = ["correlation", "schedule", "D", "lag"]
    return pd.DataFrame(rows).sort_values(order, ignore_index=True)


def _loop_us(run: Any, truth: Truth) -> float:
    """Waiting of the bare loop with the schedule, ranks and times of a run; else missing."""
    if run.lag != 1:
        return np.nan
    wanted = (
        run.schedule,
        int(run.delay_ratio),
        int(run.ranks),
        round(1e6 * truth.mean_s),
        round(1e6 * truth.sd_s),
        truth.correlation,
    )
    for line in papers.rows("bare_loop"):
        schedule, *numbers, waiting_us = line.values()
        if (schedule, *map(float, numbers)) == wanted:
            return float(waiting_us)
    return np.nan


# Exchanges


@answers_claim
def _best_exchanges(runs: Runs) -> StudyAnswer:
    """The exchange that the model finds fastest by ranks and bytes.

    Everybody sends to all, or to ten.
    """
    rows = []
    fastest = set()
    for partners in (None, 10):
        for ranks in (16, 64, 256, 1024):
            row: dict[str, object] = {"partners": str(partners or "all"), "ranks": ranks}
            for size in (4, 64, 1024, 16384):
                seconds = _seconds_by_exchange(ranks, size, partners)
                best = min(seconds, key=lambda name: seconds[name])
                row[f"{size} B"] = f"{best} ({number(1e6 * seconds[best])} µs)"
                fastest.add(best)
            rows.append(row)
    title = "Fastest exchange by bytes for each partner, JURECA-DC"
    table = plots.tabulated(pd.DataFrame(rows), title)
    words = f"{len(fastest)} exchanges are fastest somewhere: {', '.join(sorted(fastest))}"
    return StudyAnswer(words, tables=[table])


def _seconds_by_exchange(ranks: int, size: float, partners: int | None) -> dict[str, float]:
    """Modelled seconds of an exchange of so many bytes for each partner, a rank on each node."""
    collectives = interconnect_of(MACHINE, ranks)
    traffic = _traffic(ranks, size, partners)
    return {name: EXCHANGES[name](collectives, traffic) for name in COMPARED}


def _traffic(ranks: int, size: float, partners: int | None) -> Traffic:
    """Ranks that send to the next ones, or to all others."""
    linked = 1.0 - np.eye(ranks)
    if partners is not None:
        rank = np.arange(ranks)
        distance = (rank[None, :] - rank[:, None]) % ranks
        linked = ((distance > 0) & (distance <= partners)).astype(float)
    return Traffic(size * linked, linked, np.arange(ranks))


# Unequal nodes


@answers_claim
def _weights_save(runs: Runs) -> StudyAnswer:
    """Run time that the best weights save against equal shares, %.

    Four nodes are older, four are newer.
    """
    weighted = _weighted(runs)
    frame = means(weighted, ["weight"], ["real_time_factor", "part.waiting"])
    figure = plots.lines(
        frame,
        "weight",
        "real_time_factor",
        "beyond-weights",
        "Real-time factor by the weight of newer nodes",
        "Four older and four newer nodes; simulated.",
    )
    best = float(frame.sort_values("real_time_factor").iloc[0]["weight"])
    value = reduction(pick(weighted, weight=1), pick(weighted, weight=best), "real_time_factor")
    table = plots.tabulated(frame, "Seconds per simulated second")
    note = f"The best weight of newer nodes is {best:g}"
    if best == frame["weight"].max():
        note += ", the largest that was tried"
    return StudyAnswer(value, f"{note}.", [figure], [table])


@answers_claim
def _equal_shares_wait(runs: Runs) -> StudyAnswer:
    """Share of waiting in the run time with equal shares, %."""
    return StudyAnswer(share(pick(_weighted(runs), weight=1), "part.waiting"))


def _weighted(runs: Runs) -> pd.DataFrame:
    """Runs with the `weight` of newer nodes, that of older ones being 1."""
    frames = runs["unequal-nodes"]
    weights = []
    for id in frames.runs["id"]:
        of_ranks = frames.records[id].record.description["placement"]["weights"]
        weights.append(float(of_ranks[-1] / of_ranks[0]))
    return frames.runs.assign(weight=weights)
