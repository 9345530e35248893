"""Answers to papers/beyond.yaml: what the papers leave out."""

import numpy as np
import pandas as pd

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models import recursion, waiting_iid
from spikemark.models.injected import Truth
from spikemark.models.loggp import EXCHANGES, Collectives, Traffic
from spikemark.models.published import papers
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import number
from spikemark.report import plots

from .pick import means, pick, reduction, share
from .study import Answer, Lacking, Runs

MACHINE = "jureca-dc"
DRAWN_RUNS = 16
COMPARED = ("alltoallv", "alltoall", "direct", "allgather", "rma_bruck", "sparse")


# Waiting under skewed cycle times


def beside_loop(runs: Runs) -> Answer:
    """Largest difference to the bare loop of the same schedule, ranks and compute times, %."""
    frame = _waits(runs).dropna(subset=["loop_us"])
    if frame.empty:
        raise Lacking("the bare loops ran on 128 ranks; --quick has fewer")
    off = 100 * (frame["waiting_us"] / frame["loop_us"] - 1).abs()
    return Answer(Quantity(float(off.max()), unit="%", kind="simulated"))


def beside_recursion(runs: Runs) -> Answer:
    """Median of waiting over that of the recursion on the same compute times."""
    frame = _waits(runs)
    long = frame[frame["D"].isin([1, 10])].melt(
        ["schedule", "correlation"], ["waiting_us", "replayed_us"], "kind", "us"
    )
    long["kind"] = long["kind"].map({"waiting_us": "simulated", "replayed_us": "recursion"})
    figure = plots.lines(
        long, "correlation", "us", "beyond-waiting", "Waiting by serial correlation of the cycle times",
        "µs per cycle of 1000 ± 100 µs; D = 10. Dashed: the recursion on the same compute times.",
        hue="schedule", style="kind",
    )  # fmt: skip
    table = plots.tabulated(frame, "Waiting in µs per cycle, mean over ranks")
    ratio = (frame["waiting_us"] / frame["replayed_us"]).median()
    return Answer(Quantity(float(ratio), kind="simulated"), figures=[figure], tables=[table])


def aware_independent(runs: Runs) -> Answer:
    """Waiting saved by D = 10 if cycle times are independent."""
    return _saved(runs, "structure_aware", 0)


def aware_correlated(runs: Runs) -> Answer:
    """The same at a serial correlation of 0.9."""
    return _saved(runs, "structure_aware", 0.9)


def overlapped_correlated(runs: Runs) -> Answer:
    """Waiting saved by overlapped windows, D = 10, at a serial correlation of 0.9."""
    return _saved(runs, "overlapped", 0.9)


def hierarchical(runs: Runs) -> Answer:
    """Waiting of the hierarchical over that of the structure-aware schedule, all areas equally far apart."""
    own = {name: _at(runs, name, 0.9) for name in ("hierarchical", "structure_aware")}
    return Answer(Quantity(own["hierarchical"] / own["structure_aware"], kind="simulated"))


def _at(runs: Runs, schedule: str, correlation: float) -> float:
    frame = _waits(runs)
    own = frame[(frame["schedule"] == schedule) & (frame["correlation"] == correlation)]
    own = own[(own["D"].isin([1, 10])) & (own["lag"] == 1)]
    if own.empty:
        raise Lacking(f"no run of {schedule} at correlation {correlation:g} is complete")
    return float(own["waiting_us"].iloc[0])


def _saved(runs: Runs, schedule: str, correlation: float) -> Answer:
    left = _at(runs, schedule, correlation) / _at(runs, "conventional", correlation)
    theory = 100 * (1 - waiting_iid.waiting_ratio(10))
    note = f"The theory of independent times says {theory:.0f} % without overlap, whatever the correlation."
    return Answer(Quantity(100 * (1 - left), unit="%", kind="simulated"), note)


def _waits(runs: Runs) -> pd.DataFrame:
    """Waiting in µs per cycle: simulated; by the recursion on own and on drawn times; bare loop."""
    found = []
    frames = runs["overlap"]
    for row in frames.runs.itertuples():
        run = frames.records[row.id]
        truth, lanes = Truth.of(run.record.description), recursion.lanes_of(run)
        compute = run.compute()
        drawn = truth.draw(np.random.default_rng(1), *compute.shape, DRAWN_RUNS)
        waited = [1e6 * recursion.evaluate(one, lanes).waiting_per_cycle_s for one in (compute, drawn)]
        found.append(
            {
                "schedule": row.schedule,
                "D": int(row.delay_ratio),
                "lag": int(row.lag),
                "correlation": float(truth.correlation),
                "waiting_us": 1e6 * float(run.waiting().mean()),
                "replayed_us": waited[0],
                "drawn_us": waited[1],
                "loop_us": _loop_us(row, truth),
            }
        )
    return pd.DataFrame(found).sort_values(["correlation", "schedule", "D", "lag"], ignore_index=True)


def _loop_us(row, truth: Truth) -> float:
    wanted = (int(row.delay_ratio), int(row.ranks), round(1e6 * truth.mean_s), round(1e6 * truth.sd_s))
    for line in papers.rows("bare_loop"):
        name, *numbers, waiting_us = line.values()
        if (name, *map(float, numbers)) == (row.schedule, *wanted, truth.correlation) and row.lag == 1:
            return float(waiting_us)
    return np.nan


# Exchanges


def best_exchanges(runs: Runs) -> Answer:
    """The exchange that the model finds fastest by ranks and bytes, if everybody sends to all, or to ten."""
    values, rows = Values(machines.filled(machines.load(MACHINE))), []
    for partners in ("all", "10"):
        for ranks in (16, 64, 256, 1024):
            net, row = Collectives.of(values, ranks), {"partners": partners, "ranks": ranks}
            for size in (4, 64, 1024, 16384):
                seconds = {name: EXCHANGES[name](net, _traffic(ranks, size, partners)) for name in COMPARED}
                best = min(seconds, key=seconds.get)
                row[f"{size} B"] = f"{best} ({number(1e6 * seconds[best])} µs)"
            rows.append(row)
    names = {cell.split()[0] for row in rows for key, cell in row.items() if key.endswith(" B")}
    table = plots.tabulated(pd.DataFrame(rows), "Fastest exchange by bytes for each partner, JURECA-DC")
    return Answer(f"{len(names)} exchanges are fastest somewhere: {', '.join(sorted(names))}", tables=[table])


def _traffic(ranks: int, size: float, partners: str) -> Traffic:
    linked = 1.0 - np.eye(ranks)
    if partners != "all":
        apart = (np.arange(ranks)[None, :] - np.arange(ranks)[:, None]) % ranks
        linked = ((apart > 0) & (apart <= int(partners))).astype(float)
    return Traffic(size * linked, linked, np.arange(ranks))


# Unequal nodes


def weights_save(runs: Runs) -> Answer:
    """Run time that the best weights save against equal shares, four older and four newer nodes, %."""
    own = _weighted(runs)
    frame = means(own, ["weight"], ["real_time_factor", "part.waiting"])
    figure = plots.lines(
        frame, "weight", "real_time_factor", "beyond-weights",
        "Real-time factor by the weight of newer nodes", "Four older and four newer nodes; simulated.",
    )  # fmt: skip
    best = float(frame.loc[frame["real_time_factor"].idxmin(), "weight"])
    value = reduction(pick(own, weight=1), pick(own, weight=best), "real_time_factor")
    table = plots.tabulated(frame, "Seconds per simulated second")
    return Answer(value, f"The best weight of newer nodes is {best:g}.", [figure], [table])


def equal_shares_wait(runs: Runs) -> Answer:
    """Share of waiting in the run time with equal shares, %."""
    return Answer(share(pick(_weighted(runs), weight=1), "part.waiting"))


def _weighted(runs: Runs) -> pd.DataFrame:
    """Runs with the weight of newer nodes, that of older ones being 1."""
    frames = runs["unequal-nodes"]
    weights = {id: run.record.description["placement"]["weights"] for id, run in frames.records.items()}
    return frames.runs.assign(weight=[float(weights[id][-1] / weights[id][0]) for id in frames.runs["id"]])
