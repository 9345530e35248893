"""Kernel times in runs of the mini-app, where each phase finds the caches as the others leave them.

A bench repeats one kernel, whose data stay in the caches; in a run, a list costs two to five times as much.
So short runs of networks of several sizes are timed, on one core, on all cores with a rank each, and with all
cores as threads of one rank. The times of each phase are divided among the counts that a prediction
multiplies with kernel times (prediction/performance.py), by non-negative least squares of relative errors.
"""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import optimize

from spikemark.launch import Layout
from spikemark.machines import filled
from spikemark.machines.parts import Node
from spikemark.machines.profile import Profile, Value
from spikemark.machines.values import Values
from spikemark.prediction import layout, performance
from spikemark.prediction.workload import Loads, rates_of
from spikemark.records.record import Run

from . import runs
from .site import LEAST, Effort, Site, measured, repeated

#: Neurons of an area and synapses per neuron: rings of input, and lists, that do and do not fit into caches.
NETWORKS = (
    (500, 400),
    (2_000, 100),
    (2_000, 1_900),
    (8_000, 400),
    (20_000, 40),
    (20_000, 1_000),
    (80_000, 100),
)
MOST_MS, STEPS = 3000.0, 24_000_000  # a run lasts as long as so many neurons take, in ms of a neuron
MODEL = "ignore_and_fire"
#: What is found of each phase; "" is a time in every cycle, which `cycle` holds.
FOUND = {
    "deliver": ("", "t_first", "t_first_far", "t_next"),
    "update": ("", f"update.{MODEL}", "update_far"),
    "collocate": ("", "collocate"),
}
GROUPS = {"one": "one_core", "all": "full_node", "threads": "full_node"}
Timed = list[tuple[str, Run]]  # runs by how they are laid out


def one_round(site: Site, effort: Effort, folder: Path, earlier: list[Timed]) -> Timed:
    """Runs of all networks in all layouts. Raises ProgramFailed if one fails."""
    full = site.full(1)
    ways = {"one": Layout(1), "all": full} | ({"threads": Layout(1, site.cores)} if site.cores > 1 else {})
    made = []
    for number, (neurons, indegree) in enumerate(NETWORKS):
        for name, way in ways.items():
            ms = round(min(MOST_MS, effort.in_runs_ms, STEPS / neurons))
            areas = 1 if name == "one" else site.cores
            made.append((name, runs.run(way, folder / f"{number}-{name}", neurons, indegree, ms, areas)))
    return made


def values(rounds: list[Timed], site: Site, known: dict[str, Value]) -> dict[str, Value]:
    """Kernel times by path, of what the rounds have in common. `known`: those of benches, and the caches."""
    paths = [
        f"{group}.{name}" for group in set(GROUPS.values()) for name in ("t_first_far", "update_far", "cycle")
    ]
    paths += ["full_node.meet", "full_node.exchange"]
    none = {f"kernels.{path}": Value(0.0, "ns", "measured", "") for path in paths}
    profile = filled(Profile("here", "here", known).with_values(none))
    each = [_fitted(timed, profile, site) for timed in rounds]
    together = _fitted([one for timed in rounds for one in timed], profile, site)
    found = {path: _mean(ns, [one[path] for one in each]) for path, ns in together.items()}
    for path, value in known.items():  # other models find the same caches
        group, _, model = path.rpartition(".update.")
        base = f"{group}.update.{MODEL}"
        if model and model != MODEL and base in found:
            more = found[base].value - known[base].value
            found[path] = _moved(value, more)
    return found


def _mean(ns: float, each: list[float]) -> Value:
    """A time fitted to all rounds, with the interval in which it would be in other rounds."""
    detail = f"runs of {len(NETWORKS)} networks, {NETWORKS[0][0]} to {NETWORKS[-1][0]} neurons per core"
    ends = repeated(each, "ns").interval
    if ns == 0 or ends is None:
        return measured(ns, "ns", None, detail)
    half = (ends[1] - ends[0]) / 2 / math.sqrt(len(each) + 1)  # `repeated` is for one more round
    return measured(ns, "ns", (max(ns - half, LEAST * ns), ns + half), detail)


def _moved(value: Value, more: float) -> Value:
    """A time of a bench with `more` ns, but at least half of it."""

    def at(ns: float) -> float:
        return max(ns + more, ns / 2)

    ends = value.interval and (at(value.interval[0]), at(value.interval[1]))
    return Value(
        at(value.value), value.unit, value.kind, f"{value.reference}, and {more:+.3g} ns in a run", ends
    )


def _fitted(timed: Timed, profile: Profile, site: Site) -> dict[str, float]:
    """Kernel times of one round, ns by path."""
    found: dict[str, float] = {}
    for name, group in list(GROUPS.items())[:2]:
        node = Node(site.cores, 1 if name == "one" else site.cores, 1, 1)
        those = [run for of, run in timed if of == name]
        constant = 0.0
        for phase, kernels in FOUND.items():
            times = _divided(phase, kernels, those, profile, node)
            constant += times.pop("")
            found |= {f"kernels.{group}.{kernel}": 1e9 * s for kernel, s in times.items()}
        found[f"kernels.{group}.cycle"] = 1e9 * constant
    there = profile.with_values({p: Value(v, "ns", "measured", "") for p, v in found.items()})
    for name, part, kernel in (("threads", "thread_wait", "meet"), ("all", "exchange", "exchange")):
        over = [_spent(run, part) - said[part] for run, said in _predicted(timed, name, there, site)]
        if over:
            found[f"kernels.full_node.{kernel}"] = 1e9 * max(0.0, float(np.median(over)))
    return found


def _spent(run: Run, part: str) -> float:
    """Seconds of a part in a cycle, mean over ranks."""
    return (run.spent_s(part) or 0.0) / run.record.timing.cycles


def _loads(run: Run) -> Loads:
    record = run.record
    return Loads.of(record.description, record.ranks, record.threads, rates_of(record.description).hz)


def _divided(
    phase: str, kernels: tuple[str, ...], those: list[Run], profile: Profile, node: Node
) -> dict[str, float]:
    """Seconds of each kernel of a phase; what others of its kernels take is known."""
    rows, left = [], []
    for run in those:
        of, spent = Values(profile), _spent(run, phase)
        counts = performance.counted(_loads(run), of, node)[phase]
        counts = {name: float(np.mean(count)) for name, count in counts.items()} | {"": 1.0}
        others = sum(
            n * performance.kernel(of, name, node) for name, n in counts.items() if name not in kernels
        )
        rows.append([counts[name] for name in kernels])
        left.append(max(spent - others, spent / 2))
    relative = np.array(rows) / np.array(left)[:, None]
    scale = np.maximum(relative.max(axis=0), 1e-300)
    times = optimize.nnls(relative / scale, np.ones(len(left)))[0] / scale
    return dict(zip(kernels, times.tolist(), strict=True))


def _predicted(timed: Timed, name: str, profile: Profile, site: Site) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Runs of a layout, and what is predicted of each part so far, s per cycle."""
    for of, run in timed:
        if of == name:
            loads, record = _loads(run), run.record
            there = layout.Layout.of(profile, record.ranks, record.threads, record.ranks)
            made = performance.performance(loads, profile, there, drawn=False)
            yield run, {part: float(s[0]) * loads.cycle_s for part, s in made.parts.items()}
