"""Kernel times in runs of the mini-app, where each phase finds the caches as the others leave them.

A bench repeats one kernel, whose data stay in the caches; in a run, a list costs two to five times
as much. So short runs of networks of several sizes are timed, on one core, on all cores with a rank
each, and with all cores as threads of one rank. The times of each phase are divided among the
counts that a prediction multiplies with kernel times (prediction/performance.py), by non-negative
least squares of relative errors.
"""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import optimize

from spikemark.launch import LaunchLayout
from spikemark.machines import filled
from spikemark.machines.parts import Node
from spikemark.machines.profile import Profile, Value
from spikemark.machines.values import Values
from spikemark.prediction import layout, performance
from spikemark.prediction.workload import Loads, rates_of
from spikemark.records.record import Run

from . import runs
from .site import LOWEST_SHARE_OF_MINIMUM, Effort, Site, measured, repeated

#: Neurons of an area and synapses per neuron: rings of input, and lists, that do and do not fit
#: into caches.
NETWORKS = (
    (500, 400),
    (2_000, 100),
    (2_000, 1_900),
    (8_000, 400),
    (20_000, 40),
    (20_000, 1_000),
    (80_000, 100),
)
#: A run lasts as long as so many neurons take, in ms of a neuron, but not longer than MAX_MS.
MS_OF_A_NEURON = 24_000_000
MAX_MS = 3000.0
NEURON_MODEL = "ignore_and_fire"
#: What every cycle of a phase takes, whatever its counts; `cycle` holds it, for all phases.
CONSTANT = ""
#: Kernels whose times are divided out of each phase.
KERNELS_OF_PHASE = {
    "deliver": (CONSTANT, "t_first", "t_first_far", "t_next"),
    "update": (CONSTANT, f"update.{NEURON_MODEL}", "update_far"),
    "collocate": (CONSTANT, "collocate"),
}
#: Ways to lay out a run: on one core, a rank on every core, a thread on every core.
ONE_CORE, ALL_RANKS, ALL_THREADS = "one", "all", "threads"
#: The group of a profile that the times of runs on one core, and on all, belong to.
GROUPS = {ONE_CORE: "one_core", ALL_RANKS: "full_node"}


class TimedRun(NamedTuple):
    """A run and how it was laid out."""

    way: str  #: ONE_CORE, ALL_RANKS or ALL_THREADS
    run: Run


def one_round(
    site: Site,
    effort: Effort,
    folder: Path,
    earlier: list[list[TimedRun]],
) -> list[TimedRun]:
    """Runs of all networks in all layouts. Raises ProgramFailed if one fails."""
    layouts = {ONE_CORE: LaunchLayout(1), ALL_RANKS: site.full(1)}
    if site.cores > 1:
        layouts[ALL_THREADS] = LaunchLayout(1, site.cores)
    timed = []
    for number, (neurons, indegree) in enumerate(NETWORKS):
        ms = round(min(MAX_MS, effort.in_runs_ms, MS_OF_A_NEURON / neurons))
        for way, ranks in layouts.items():
            areas = 1 if way == ONE_CORE else site.cores
            run = runs.run(ranks, folder / f"{number}-{way}", neurons, indegree, ms, areas)
            timed.append(TimedRun(way, run))
    return timed


def values(
    rounds: list[list[TimedRun]], site: Site, known_values: dict[str, Value]
) -> dict[str, Value]:
    """Kernel times by path, of what the rounds have in common.

    `known_values`: the kernel times of benches, and the caches.
    """
    profile = _with_zero_times(known_values)
    times_by_round = [_fitted(timed, profile, site) for timed in rounds]
    all_runs: list[TimedRun] = []
    for timed in rounds:
        all_runs += timed
    fitted = {}
    for path, ns in _fitted(all_runs, profile, site).items():
        fitted[path] = _with_interval(ns, [times[path] for times in times_by_round])
    for path, value in known_values.items():  # other models find the same caches
        group, _, model = path.rpartition(".update.")
        measured_model = f"{group}.update.{NEURON_MODEL}"
        if model and model != NEURON_MODEL and measured_model in fitted:
            more_ns = fitted[measured_model].value - known_values[measured_model].value
            fitted[path] = _moved(value, more_ns)
    return fitted


def _with_zero_times(known_values: dict[str, Value]) -> Profile:
    """A machine on which what only runs show takes no time."""
    paths = ["kernels.full_node.meet", "kernels.full_node.exchange"]
    for group in GROUPS.values():
        for name in ("t_first_far", "update_far", "cycle"):
            paths.append(f"kernels.{group}.{name}")
    zero = Value(0.0, "ns", "measured", "")
    profile = Profile("here", "here", known_values)
    return filled(profile.with_values(dict.fromkeys(paths, zero)))


def _with_interval(ns: float, round_ns: list[float]) -> Value:
    """A time fitted to all rounds, with the interval in which it would be in other rounds."""
    neurons = f"{NETWORKS[0][0]} to {NETWORKS[-1][0]} neurons per core"
    detail = f"runs of {len(NETWORKS)} networks, {neurons}"
    interval = repeated(round_ns, "ns").interval
    if ns == 0 or interval is None:
        return measured(ns, "ns", None, detail)
    low, high = interval
    half = (high - low) / 2 / math.sqrt(len(round_ns) + 1)  # `repeated` is for one more round
    return measured(ns, "ns", (max(ns - half, LOWEST_SHARE_OF_MINIMUM * ns), ns + half), detail)


def _moved(value: Value, more_ns: float) -> Value:
    """A time of a bench with `more_ns`, but at least half of it."""

    def moved(ns: float) -> float:
        return max(ns + more_ns, ns / 2)

    interval = None
    if value.interval:
        low, high = value.interval
        interval = (moved(low), moved(high))
    reference = f"{value.reference}, and {more_ns:+.3g} ns in a run"
    return Value(moved(value.value), value.unit, value.kind, reference, interval)


def _fitted(timed: list[TimedRun], profile: Profile, site: Site) -> dict[str, float]:
    """Kernel times of some runs, ns by path."""
    times: dict[str, float] = {}
    for way, group in GROUPS.items():
        laid_out = [run for run_way, run in timed if run_way == way]
        ranks = 1 if way == ONE_CORE else site.cores
        for name, ns in _phases(laid_out, profile, Node(site.cores, ranks, 1, 1)).items():
            times[f"kernels.{group}.{name}"] = ns
    values = {path: Value(ns, "ns", "measured", "") for path, ns in times.items()}
    machine = profile.with_values(values)
    for way, part, name, times_a_cycle in (
        (ALL_THREADS, "thread_wait", "meet", math.log2(site.cores)),
        (ALL_RANKS, "exchange", "exchange", 1.0),
    ):
        unexplained_s = [
            _spent(run, part) - _predicted(run, part, machine)
            for run_way, run in timed
            if run_way == way
        ]
        if unexplained_s:
            seconds = max(0.0, float(np.median(unexplained_s))) / times_a_cycle
            times[f"kernels.full_node.{name}"] = 1e9 * seconds
    return times


def _phases(laid_out: list[Run], profile: Profile, node: Node) -> dict[str, float]:
    """Times of the kernels of all phases, and of a cycle, in runs of one layout, ns by name."""
    times = {}
    cycle_s = 0.0
    for phase, kernels in KERNELS_OF_PHASE.items():
        seconds = _divided(phase, kernels, laid_out, profile, node)
        cycle_s += seconds.pop(CONSTANT)
        for kernel, kernel_s in seconds.items():
            times[kernel] = 1e9 * kernel_s
    times["cycle"] = 1e9 * cycle_s
    return times


def _spent(run: Run, part: str) -> float:
    """Seconds of a part in a cycle, mean over ranks."""
    return (run.spent_s(part) or 0.0) / run.record.timing.cycles


def _loads(run: Run) -> Loads:
    """What the ranks of a run do in a cycle."""
    record = run.record
    hz = rates_of(record.description).hz
    return Loads.count(record.description, record.ranks, record.threads, hz)


def _divided(
    phase: str,
    kernels: tuple[str, ...],
    laid_out: list[Run],
    profile: Profile,
    node: Node,
) -> dict[str, float]:
    """Seconds of each kernel of a phase.

    What the other kernels of the phase take is known, but leaves at least half of its time.
    """
    rows = []
    remaining_s = []
    for run in laid_out:
        values = Values(profile)
        counts = {CONSTANT: 1.0}
        for name, rank_counts in performance.counted(_loads(run), values, node)[phase].items():
            counts[name] = float(np.mean(rank_counts))
        others_s = 0.0
        for name, count in counts.items():
            if name not in kernels:
                others_s += count * float(performance.kernel(values, name, node))
        spent_s = _spent(run, phase)
        rows.append([counts[name] for name in kernels])
        remaining_s.append(max(spent_s - others_s, spent_s / 2))
    relative = np.array(rows) / np.array(remaining_s)[:, None]
    scale = np.maximum(relative.max(axis=0), 1e-300)
    times = optimize.nnls(relative / scale, np.ones(len(remaining_s)))[0] / scale
    return dict(zip(kernels, times.tolist(), strict=True))


def _predicted(run: Run, part: str, machine: Profile) -> float:
    """What is predicted of a part so far, s per cycle."""
    loads, record = _loads(run), run.record
    ranks = layout.MachineLayout.from_machine(machine, record.ranks, record.threads, record.ranks)
    prediction = performance.performance(loads, machine, ranks, drawn=False)
    return float(prediction.parts[part][0]) * loads.cycle_s
