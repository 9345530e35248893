"""Answers to papers/lober.yaml: structure-aware communication (Lober, Diesmann & Kunkel 2026)."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy import stats

from spikemark import machines
from spikemark.machines.values import Values
from spikemark.models import access, mpi_rules, order_statistics, statistics, waiting_iid
from spikemark.models.loggp import Collectives, Traffic
from spikemark.models.published import papers
from spikemark.network.presets import cortex, mam, mam_benchmark
from spikemark.prediction import anchors, performance, points
from spikemark.prediction.layout import Layout
from spikemark.prediction.workload import Loads
from spikemark.quantities.quantity import Quantity, missing
from spikemark.records.frames import Frames
from spikemark.report import plots

from .pick import levels, mean, means, order, pick, reduction, times, with_cv
from .study import Answer, Lacking, Runs

JURECA, SUPERMUC = "jureca-dc", "supermuc-ng"
SCHEDULES = {
    "conventional": "conventional",
    "placement_only": "placement",
    "structure_aware": "structure-aware",
}
WAITING, MOVING = "part.waiting", "part.exchange"
PARTS = ["part.deliver", "part.update", "part.collocate", WAITING, MOVING]
METASTABLE_HZ, NODES = 14.7, 32
FULL = mam_benchmark.FULL
NEAR = FULL["indegree"] // 2


def _modelled(value: float, unit: str = "") -> Quantity:
    return Quantity(float(value), unit=unit, kind="modelled")


# Figure 1


def phases_order(runs: Runs) -> Answer:
    """Phases of the mini-app on 32 nodes, the longest first, beside the published ones of NEST."""
    modelled = runs.kept("phases", {"hz": METASTABLE_HZ}, _phases)
    theirs = pd.DataFrame(papers.rows("nest_mam_phases")).astype(float).assign(program="NEST, published")
    frame = pd.concat([theirs, pd.DataFrame(modelled).assign(program="mini-app, modelled")])
    long = frame.melt(["program", "nodes"], var_name="phase", value_name="seconds")
    figure = plots.lines(
        long, "nodes", "seconds", "lober-1a", "Phases of the multi-area model on JURECA-DC",
        "Seconds per simulated second, metastable state.", hue="phase", panel="program", log="y",
    )  # fmt: skip
    last = modelled[-1]
    found = order({name: _modelled(last[name]) for name in ("deliver", "communicate", "collocate", "update")})
    return Answer(found, figures=[figure], tables=[plots.tabulated(frame, "Seconds per simulated second")])


def communication_share(runs: Runs) -> Answer:
    """Share of communication in NEST's time on 32 nodes, by the model that is anchored in NEST's runs."""
    target = next(r for r in points.published() if r.series == "N39-MAMM" and r.nodes == NODES)
    found = anchors.predict([replace(target, seconds=None)])
    share = 100 * found.exchange[0] / (found.exchange[0] + found.kernel[0])
    low, high = np.quantile(share, [0.025, 0.975])
    return Answer(Quantity(float(np.median(share)), float(low), float(high), "%", "modelled"))


def _phases() -> list[dict[str, float]]:
    """Seconds per simulated second of the mini-app, metastable state, a rank per node, by number of nodes."""
    machine, seed = machines.filled(machines.load(JURECA)), 1
    description = mam.describe(scale=1, seed=seed)
    rates = mam.rates_hz(seed)
    hz = (
        METASTABLE_HZ
        / mam.RATE_HZ
        * np.array([rates[p["name"]] for p in description["network"]["populations"]])
    )
    found = []
    for nodes in (4, 8, 16, 32):
        layout = Layout.of(machine, nodes, 128)
        loads = Loads.of(description, nodes, 128, hz, "conventional", "round_robin")
        parts = performance.performance(loads, machine, layout, drawn=False).parts
        own = {name: float(np.mean(part)) for name, part in parts.items()}
        row = {"nodes": nodes, "deliver": own["deliver"], "communicate": own["waiting"] + own["exchange"]}
        row |= {"collocate": own["collocate"], "update": own["update"] + own["thread_wait"]}
        found.append(row)
    return found


def inside_over_bare(runs: Runs) -> Answer:
    """Communication inside a simulation over the bare call, on the most ranks of JURECA-DC."""
    runs_ = pick(runs["weak-scaling"], schedule="conventional")
    rows = []
    for (machine, ranks), own in runs_.groupby(["machine", "ranks"]):
        size = own["bytes_sent"].mean() / own["messages"].mean()
        rows.append({
            "machine": machine, "ranks": int(ranks), "bytes": float(size),
            "bare_us": 1e6 * _alltoall_s(machine, int(ranks), float(size)),
            "exchange_us": _per_cycle_us(own, MOVING), "waiting_us": _per_cycle_us(own, WAITING),
        })  # fmt: skip
    frame = pd.DataFrame(rows)
    frame["ratio"] = (frame["exchange_us"] + frame["waiting_us"]) / frame["bare_us"]
    long = frame.melt(["machine", "ranks"], ["bare_us", "exchange_us", "waiting_us"], "what", "us")
    figure = plots.lines(
        long, "ranks", "us", "lober-1b", "Communication: the bare call, and inside a simulation",
        "µs per cycle, conventional schedule. Bare: modelled. Others: simulated.", hue="what",
        panel="machine", log="xy",
    )  # fmt: skip
    own = frame[frame["machine"] == JURECA]
    value = Quantity(float(own["ratio"].iloc[-1]), kind="simulated")
    return Answer(value, figures=[figure], tables=[plots.tabulated(frame, "Microseconds per cycle")])


def _per_cycle_us(runs: pd.DataFrame, part: str) -> float:
    return float((1e6 * runs[part] * runs["model_s"] / runs["cycles"]).mean())


def _alltoall_s(machine: str, ranks: int, size: float) -> float:
    """Modelled time of MPI_Alltoall, one rank per node."""
    other = 1.0 - np.eye(ranks)
    traffic = Traffic(size * other, other, np.arange(ranks))
    return Collectives.of(Values(machines.filled(machines.load(machine))), ranks).alltoall(traffic)


# Figure 4


def d_fold_exchange(runs: Runs) -> Answer:
    """One exchange of ten-fold size over ten exchanges, 128 ranks of JURECA-DC."""
    size = 4 * FULL["neurons_per_area"] * FULL["rate"] * 1e-4
    ratio = _alltoall_s(JURECA, 128, 10 * size) / (10 * _alltoall_s(JURECA, 128, size))
    return Answer(_modelled(100 * ratio, "%"), f"With {size:.0f} bytes for each rank in a cycle.")


def switch_bytes(runs: Runs) -> Answer:
    """Bytes at which the library leaves Bruck's algorithm, 64 to 127 ranks; simulated and modelled times."""
    sizes = 2.0 ** np.arange(5, 17)
    names = [mpi_rules.chosen("ompi", "alltoall", 64, size) for size in sizes]
    first = next(size for size, name in zip(sizes, names, strict=True) if name != mpi_rules.BRUCK)
    columns = ("machine", "ranks", "bytes", "us", "kind")
    rows = [
        (machine, f"{ranks} ranks", size, 1e6 * _alltoall_s(machine, ranks, size), "modelled")
        for machine in (JURECA, SUPERMUC) for ranks in (16, 32, 64, 128) for size in sizes
    ]  # fmt: skip
    for (machine, ranks, _), own in runs["alltoall"].runs.groupby(
        ["machine", "ranks", "swept.neurons_per_area"]
    ):
        size = float((own["bytes_sent"] / own["messages"]).mean())
        rows.append((machine, f"{ranks} ranks", size, _per_cycle_us(own, MOVING), "simulated"))
    frame = pd.DataFrame(rows, columns=columns)
    figure = plots.lines(
        frame, "bytes", "us", "lober-4", "MPI_Alltoall by bytes for each rank",
        "µs; dashed: simulated. The library changes its algorithm at 512 or 1024 bytes.", hue="ranks",
        panel="machine", style="kind", log="xy",
    )  # fmt: skip
    simulated = frame[frame["kind"] == "simulated"].drop(columns="kind")
    modelled = [
        1e6 * _alltoall_s(r.machine, int(r.ranks.split()[0]), r.bytes) for r in simulated.itertuples()
    ]
    table = plots.tabulated(simulated.assign(modelled_us=modelled), "Simulated and modelled time")
    return Answer(_modelled(first, "B"), figures=[figure], tables=[table])


# Sections 2.2 and 2.3, figure 6


def theory_saved(runs: Runs) -> Answer:
    """Waiting saved by the theory, D = 10 (eq. 11)."""
    return Answer(_modelled(100 * (1 - waiting_iid.waiting_ratio(10)), "%"))


def maxima_above(runs: Runs) -> Answer:
    """Share of cycles whose maximum lies in the upper 2.3 % of cycle times, 128 ranks (eq. 12)."""
    return Answer(_modelled(100 * (1 - (1 - 0.023) ** 128), "%"))


def expected_maximum(runs: Runs) -> Answer:
    """Expected maximum of 128 standard normals (eqs 8-9)."""
    return Answer(_modelled(order_statistics.expected_maximum(128)))


def irregular_48(runs: Runs) -> Answer:
    """Irregular accesses saved, 128 ranks of 48 threads (eqs 13-17)."""
    rows = [
        {"ranks": ranks, "threads": threads, "saved": 100 * _irregular(ranks, threads)}
        for threads in (48, 128) for ranks in (2, 4, 8, 16, 32, 64, 128)
    ]  # fmt: skip
    frame = pd.DataFrame(rows).assign(threads=lambda f: f["threads"].astype(str) + " threads")
    figure = plots.lines(
        frame, "ranks", "saved", "lober-6b", "Irregular accesses that structure-awareness saves",
        "%, eqs 13 to 17.", hue="threads", log="x",
    )  # fmt: skip
    return Answer(_modelled(100 * _irregular(128, 48), "%"), figures=[figure])


def irregular_128(runs: Runs) -> Answer:
    """Irregular accesses saved, 128 ranks of 128 threads."""
    return Answer(_modelled(100 * _irregular(128, 128), "%"))


def _irregular(ranks: int, threads: int) -> float:
    return access.reduction(FULL["neurons_per_area"], NEAR, NEAR, ranks, threads)


# Figure 7


def speed_up(runs: Runs) -> Answer:
    """Real-time factor of the conventional over that of the structure-aware schedule on the most nodes."""
    frame = means(runs["weak-scaling"].runs, ["machine", "ranks", "schedule"], ["real_time_factor", *PARTS])
    figure = plots.lines(
        frame, "ranks", "real_time_factor", "lober-7a", "Real-time factor, one area per node",
        "Mean over three seeds; simulated.", hue="schedule", panel="machine", log="x",
    )  # fmt: skip
    base, other = _both(runs, JURECA)
    table = plots.tabulated(frame, "Seconds per simulated second, mean over seeds")
    return Answer(times(base, other, "real_time_factor"), figures=[figure], tables=[table])


def most_gain(runs: Runs) -> Answer:
    """Number of nodes on which structure-awareness saves the largest share of the run time."""
    found = {}
    for ranks in levels(runs["weak-scaling"], "ranks"):
        own = pick(runs["weak-scaling"], machine=JURECA, ranks=ranks)
        found[ranks] = _saved(own, "real_time_factor")
    return Answer(Quantity(float(max(found, key=lambda ranks: found[ranks].value)), kind="simulated"))


def waiting_saved(runs: Runs) -> Answer:
    """Waiting saved on the most nodes of JURECA-DC."""
    return Answer(reduction(*_both(runs, JURECA), WAITING))


def waiting_saved_supermuc(runs: Runs) -> Answer:
    """Waiting saved on the most nodes of SuperMUC-NG."""
    return Answer(reduction(*_both(runs, SUPERMUC), WAITING))


def exchange_saved(runs: Runs) -> Answer:
    """Time of exchanges saved on the most nodes of JURECA-DC."""
    return Answer(reduction(*_both(runs, JURECA), MOVING))


def delivery_saved(runs: Runs) -> Answer:
    """Delivery saved on the most nodes of JURECA-DC."""
    return Answer(reduction(*_both(runs, JURECA), "part.deliver"))


def cv_ratio(runs: Runs) -> Answer:
    """CV of window times over CV of cycle times, D = 10, structure-aware runs of JURECA-DC."""
    _, other = _both(runs, JURECA)
    found = []
    for id in other["id"]:
        compute = statistics.times(runs["weak-scaling"].records[id].compute())
        cv, lumped_cv = (x.std(ddof=1) / x.mean() for x in (compute, statistics.lump(compute, 10)))
        found.append(lumped_cv / cv)
    return Answer(Quantity(float(np.mean(found)), kind="simulated"))


def maxima_inside(runs: Runs) -> Answer:
    """Share of cycles whose slowest rank lies in the interval that eq. 12 gives for 95 %."""
    base, _ = _both(runs, JURECA)
    inside = []
    for id in base["id"]:
        compute = runs["weak-scaling"].records[id].compute()
        least = np.quantile(compute, (1 - 0.95) ** (1 / len(compute)))
        inside.append((compute.max(axis=0) >= least).mean())
    return Answer(Quantity(100 * float(np.mean(inside)), unit="%", kind="simulated"))


def _both(runs: Runs, machine: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Conventional and structure-aware runs on the most ranks."""
    found = pick(runs["weak-scaling"], machine=machine)
    if found.empty:
        raise Lacking(f"no run on {machine} is complete")
    found = pick(found, ranks=levels(found, "ranks")[-1])
    return pick(found, schedule="conventional"), pick(found, schedule="structure_aware")


def _saved(runs: pd.DataFrame, column: str) -> Quantity:
    return reduction(pick(runs, schedule="conventional"), pick(runs, schedule="structure_aware"), column)


# Figure 8


def scatter_by_size(runs: Runs) -> Answer:
    """SD over seeds at the largest spread of sizes over that at the smallest, structure-aware."""
    return _scatter(runs, "size_cv", "8a", "area sizes")


def scatter_by_rate(runs: Runs) -> Answer:
    """The same of rates, whose mean stays."""
    return _scatter(runs, "area_rate_cv", "8b", "area rates")


def saved_at_most_unequal(runs: Runs) -> Answer:
    """Run time saved at the largest spread of sizes."""
    frames = runs["heterogeneity"]
    spread = levels(frames, "size_cv")[-1]
    return Answer(_saved(pick(frames, size_cv=spread, delay_ratio=[1, 10]), "real_time_factor"))


def short_windows(runs: Runs) -> Answer:
    """Real-time factor of the structure-aware schedule with D = 1 over that of the conventional one."""
    frames = runs["heterogeneity"]
    equal = pick(frames, size_cv=0)
    aware = pick(frames, schedule="structure_aware", size_cv=levels(frames, "size_cv"))
    frame = means(aware, ["swept.size_cv", "delay_ratio"], ["real_time_factor", WAITING])
    frame = frame[frame.groupby("swept.size_cv")["delay_ratio"].transform("count") > 1]
    frame = frame.assign(spread=frame["swept.size_cv"].map("spread {:g}".format))
    figure = plots.lines(
        frame, "delay_ratio", "real_time_factor", "lober-8c", "Real-time factor by D",
        "32 areas, mean over seeds; simulated.", hue="spread", log="x",
    )  # fmt: skip
    first = pick(equal, schedule="structure_aware", delay_ratio=1)
    return Answer(times(first, pick(equal, schedule="conventional"), "real_time_factor"), figures=[figure])


def _scatter(runs: Runs, name: str, panel: str, words: str) -> Answer:
    frames, other = runs["heterogeneity"], "area_rate_cv" if name == "size_cv" else "size_cv"
    own = frames.runs[frames.runs[f"swept.{other}"].fillna(0) == 0]
    own = pick(own.assign(spread=own[f"swept.{name}"].fillna(0)), delay_ratio=[1, 10])
    own = own[(own["schedule"] == "conventional") | (own["delay_ratio"] == 10)]
    figure = plots.points(
        own, "spread", "real_time_factor", f"lober-{panel}", f"Real-time factor by spread of {words}",
        "A dot is a seed, which draws its own areas; simulated.", hue="schedule",
    )  # fmt: skip
    sds = pick(own, schedule="structure_aware").groupby("spread")["real_time_factor"].std()
    if len(sds) < 2 or not sds.iloc[0] > 0:
        value = missing("fewer than two seeds, or no scatter at all")
    else:
        value = Quantity(float(sds.iloc[-1] / sds.iloc[0]), kind="simulated")
    frame = means(own, ["spread", "schedule"], ["real_time_factor", WAITING])
    return Answer(value, figures=[figure], tables=[plots.tabulated(frame, "Mean over seeds")])


# Figures 9, 11 and 12


def waits_jureca(runs: Runs) -> Answer:
    """Schedules by waiting on JURECA-DC with its profile's jitter, the longest first."""
    return _waits(runs["mam"], JURECA)


def waits_supermuc(runs: Runs) -> Answer:
    """The same on SuperMUC-NG."""
    return _waits(runs["mam"], SUPERMUC)


def waits_jureca_wide(runs: Runs) -> Answer:
    """The same on JURECA-DC with compute times that scatter by 10 %."""
    return _waits(runs["mam"], JURECA, 0.1)


def waits_by_jitter(runs: Runs) -> Answer:
    """The order by the spread of compute times, for both machines."""
    frame = with_cv(runs["mam"])
    frame = means(frame, ["machine", "cv", "schedule"], [WAITING, "real_time_factor"])
    frame["schedule"] = frame["schedule"].map(SCHEDULES)
    figure = plots.lines(
        frame, "cv", WAITING, "lober-9-jitter", "Waiting by the spread of compute times",
        "Seconds per simulated second; 32 areas on 32 nodes, mean over seeds; simulated.", hue="schedule",
        panel="machine",
    )  # fmt: skip
    said = []
    for machine, own in frame.groupby("machine"):
        for cv, at in own.groupby("cv"):
            names = at.sort_values(WAITING, ascending=False)["schedule"]
            said.append(f"{machine}, {cv:g}: {' > '.join(names)}")
    table = plots.tabulated(frame, "Waiting and real-time factor, mean over seeds")
    return Answer("; ".join(said), figures=[figure], tables=[table])


def _waits(frames: Frames, machine: str, cv: float | None = None) -> Answer:
    found = pick(with_cv(frames), machine=machine)
    found = found[found["cv"] == (found["cv"].min() if cv is None else cv)]
    waits = {words: mean(pick(found, schedule=name), WAITING, "s / s") for name, words in SCHEDULES.items()}
    said = ", ".join(f"{name} {value.value:.3g}" for name, value in waits.items() if value)
    return Answer(order(waits), f"Waiting in seconds per simulated second: {said}.")


def mam_over_benchmark(runs: Runs) -> Answer:
    """Real-time factor of the multi-area model over that of the MAM-benchmark, structure-aware, 32 nodes."""
    model = with_cv(runs["mam"])
    model = pick(model[model["cv"] == model["cv"].min()], machine=JURECA)
    bench = pick(runs["weak-scaling"], machine=JURECA, ranks=NODES)
    both = pd.concat([model.assign(network="MAM"), bench.assign(network="MAM-benchmark")])
    frame = means(both, ["network", "schedule"], ["real_time_factor", *PARTS])
    words = frame["network"].astype(str) + ", " + frame["schedule"].map(SCHEDULES)
    figure = plots.bars(
        frame.assign(schedule=words), "schedule", PARTS, "lober-11",
        "Parts of the real-time factor, 32 nodes of JURECA-DC", "Mean over seeds; simulated.",
        xlabel="s per simulated s",
    )  # fmt: skip
    aware = pick(model, schedule="structure_aware"), pick(bench, schedule="structure_aware")
    value = times(*aware, "real_time_factor", ("ranks", "repetition"))
    return Answer(value, figures=[figure], tables=[plots.tabulated(frame, "Seconds per simulated second")])


def busiest_jureca(runs: Runs) -> Answer:
    """How much longer the busiest area's rank computes in a cycle than the mean rank, JURECA-DC."""
    return _busiest(runs, JURECA)


def busiest_supermuc(runs: Runs) -> Answer:
    """The same on SuperMUC-NG."""
    return _busiest(runs, SUPERMUC)


def _busiest(runs: Runs, machine: str) -> Answer:
    def compute() -> dict[str, float]:
        profile = machines.filled(machines.load(machine))
        cores = round(profile.get("node.cores").value)
        description, rates = mam.describe(scale=1, seed=1), mam.rates_hz(1)
        hz = np.array([rates[p["name"]] for p in description["network"]["populations"]])
        loads = Loads.of(description, NODES, cores, hz, "structure_aware")
        each = sum(performance.compute_s(loads, profile, Layout.of(profile, NODES, cores)).values())
        return {
            "time": float(each.max() / each.mean()),
            "spikes": float(loads.spikes.max() / loads.spikes.mean()),
        }

    found = runs.kept(f"busiest-{machine}", {"seed": 1}, compute)
    note = f"The busiest rank fires {found['spikes']:.2f} times the spikes of the mean rank."
    return Answer(_modelled(100 * (found["time"] - 1), "%"), note)


# Section 4.2


def area_neurons(runs: Runs) -> Answer:
    """Mean number of neurons of an area of the MAM-benchmark."""
    return Answer(Quantity(float(FULL["neurons_per_area"]), kind="given"))


def indegree(runs: Runs) -> Answer:
    """Synapses per neuron of the MAM-benchmark."""
    return Answer(Quantity(float(FULL["indegree"]), kind="given"))


def size_spread(runs: Runs) -> Answer:
    """Spread of the area sizes of the multi-area model."""
    areas = mam.draw(1)
    sizes = np.bincount(areas.area, areas.neurons)
    return Answer(_modelled(sizes.std() / sizes.mean()))


def share_between(runs: Runs) -> Answer:
    """Share of synapses between areas, of the multi-area model as drawn."""
    areas = mam.draw(1)
    same = areas.area[:, None] == areas.area
    weight = areas.neurons[:, None] * areas.indegrees[:, :-1]
    return Answer(_modelled(100 * weight[~same].sum() / weight.sum(), "%"))


def short_delays(runs: Runs) -> Answer:
    """Share of delays between areas that would be below 1 ms without the cut."""
    areas = mam.draw(1)
    synapses = np.zeros((mam.AREAS,) * 2)
    each = areas.neurons[:, None] * areas.indegrees[:, :-1]
    np.add.at(synapses, (areas.area[:, None], areas.area), each)
    np.fill_diagonal(synapses, 0)
    mean_ms = areas.distances_mm / cortex.SPEED_MM_PER_MS + np.eye(mam.AREAS)
    below: Callable = lambda ms: stats.norm.cdf(ms, mean_ms, 0.5 * mean_ms)  # noqa: E731
    share = (below(1.0) - below(0.1)) / (1 - below(0.1))
    return Answer(_modelled(100 * (share * synapses).sum() / synapses.sum(), "%"))
