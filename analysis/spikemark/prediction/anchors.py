"""A production simulator anywhere: T(c) = A kernel(c) + B exchange(c), anchored in measured runs.

kernel and exchange, in seconds per simulated second of a configuration c, state how time grows; their costs
are those of one simulator. log A and log B are sums of effects: of the simulator, its version, the network,
its variant, the machine. Each effect is normal with mean 0 and a spread estimated from the published series
(spreads.yaml, by `spikemark score --fit`). Anchors (published series, own runs) inform the effects that they
share with the target; the others keep their spread. Several anchors, or one more run, are the same
computation.

Effects are drawn by name (draws.normal), for example "error/kernel/machine/JURECA-DC": predictions for one
machine, or with one anchor, share what they share, and ratios of two predictions are as certain as they are.
"""

import datetime
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy import special

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically

from . import draws
from .points import EXTERNAL_HZ, Run, published

Array = NDArray[np.float64]
PARTS = ("kernel", "exchange")
SPREADS = Path(__file__).with_name("spreads.yaml")
LEAST = 0.08  #: log SD of a run of an anchor, beyond its own: what the model of growth leaves
SCATTER = 0.05  #: smallest log SD between two runs of one configuration
#: Factors of the layout: two series on Piz Daint (36 cores) of 1 to 36 threads a rank.
ONE_THREAD, ACROSS = 0.70, 1.45
#: What time grows with, by simulator: part, name, and a first guess of its cost in s on a core of 2.25 GHz.
COSTS = {
    "NEST": (
        ("kernel", "synaptic event", 5e-9),
        ("kernel", "synaptic event that misses the cache", 1e-7),
        ("kernel", "plastic synaptic event", 2e-7),
        ("kernel", "list of synapses", 1.5e-7),
        ("kernel", "neuron step", 6e-9),
        ("kernel", "neuron step that misses the cache", 1.5e-7),
        ("kernel", "neuron step with Poisson input", 1e-7),
        ("exchange", "exchange, times log2 of ranks", 4e-6),
        ("exchange", "spike received", 1e-6),
    ),
    "": (
        ("kernel", "synaptic event", 1.5e-7),
        ("kernel", "synaptic event that misses the cache", 1.5e-7),
        ("exchange", "message", 4e-5),
    ),
}  # fmt: skip
IDLE = 0.2  #: a core alone in its node is faster by so much: its turbo clock is 1.2 to 1.3 times the others'
SHARED = 4.0  #: a core uses the cache of so many, if the others are idle
COST_SD = 0.4  #: log SD of a first guess
#: log SD for a factor e more or less in cores than the anchor has.
GROWTH = np.array([0.06, 0.35])
STRANGE = np.array([0.2, 0.35])  #: the same of simulators without published points
RATE = np.array([0.6, 1.0])  #: growth of the parts with the rate


def terms(run: Run) -> Array:
    """How often each cost occurs per simulated second on a core, with its clock and the layout."""
    network, cores, ranks = run.network, run.cores, float(run.ranks)
    spikes, degree = network.neurons * network.rate_hz, network.synapses / network.neurons
    cycles = 1e3 / network.cycle_ms
    event, (held, missed) = spikes * degree / cores, misses(run)
    slower = 2.25 / run.machine.clock_ghz * layout(run)
    if run.simulator != "NEST":
        event += (run.simulator == "DPSNN") * EXTERNAL_HZ * network.neurons / cores
        far = event * held * np.isinf(network.partners)  # in a grid of columns, targets lie together
        return np.array([event * slower, far * slower, cycles * (min(ranks, network.partners) - 1)])
    steps = network.neurons / cores * 1e3 / network.step_ms
    kernel = np.array([event, event * missed, event * network.plastic, spikes * -np.expm1(-degree / cores),
                       steps, steps * held, steps * network.poisson])  # fmt: skip
    exchanged = cycles * np.log2(max(ranks, 1.1)), spikes * -np.expm1(-degree / ranks)
    return np.array([*(kernel * slower), *exchanged])


def costs_of(simulator: str) -> tuple[tuple[str, str, float], ...]:
    """The costs of a simulator; those of any other than NEST are of events and messages."""
    return COSTS.get(simulator, COSTS[""])


def misses(run: Run) -> tuple[float, float]:
    """Shares of neuron steps and of synaptic events that miss the last-level cache.

    Within a cycle, a neuron's e events fall on L lines of its ring buffers: L (1 - exp(-e / L)) of them are
    first touches, which miss as the state of the neurons does; the others miss as the touched lines do.
    """
    network, machine = run.network, run.machine
    cache = machine.cache_mb * min(max(run.nodes * machine.cores / run.cores, 1.0), SHARED)
    each = network.neurons / run.cores / 1e6
    held = each * (16 * (network.delay_ms + network.cycle_ms) / network.step_ms + 600)
    lines = max((network.spread_ms + network.cycle_ms) / network.step_ms * 16 / 64, 1.0)
    events = network.rate_hz * network.synapses / network.neurons * network.cycle_ms / 1e3
    first = -np.expm1(-events / lines) * lines
    touched = each * first * 64
    share = min(first / max(events, 1e-12), 1.0)
    return held / (held + cache), share * held / (held + cache) + (1 - share) * touched / (touched + cache)


def layout(run: Run) -> float:
    """Factor of the kernel on a core: of busy cores in a node, and of the threads of a rank.

    Idle cores leave clock and bandwidth to the others. NEST's ranks of one thread share nothing; ranks across
    sockets reach for remote memory.
    """
    machine = run.machine
    busy = min(run.cores / (run.nodes * machine.cores), 1.0)
    quiet = 1 / (1 + IDLE * (1 - busy)) if machine.cores > 1 else 1.0
    if run.simulator == "NEST" and run.threads == 1 and run.ranks > 1:
        return quiet * ONE_THREAD
    across = machine.sockets > 1 and run.threads > machine.cores / machine.sockets
    return quiet * (ACROSS if across else 1.0)


Key = tuple[str, str, str]  #: part, aspect and name of an effect
ASPECTS = ("platform", "machine", "version", "network", "variant", "simulator")


def effects(run: Run) -> tuple[Key, ...]:
    """The effects that act on a run; of a machine, the kernel knows the processor alone."""
    family, network, machine = run.simulator, run.network, run.machine
    names = {
        "version": f"{family} {run.version}".replace("/", "-"),
        "network": f"{family}/{network.model}",
        "variant": f"{family}/{network.model}/{network.variant}",
        "simulator": family,
    }
    both = [(part, aspect, name) for part in PARTS for aspect, name in names.items()]
    where = [("kernel", machine.processor or machine.name), ("exchange", machine.name)]
    aspects = ("machine", "platform") if machine.platform else ("machine",)
    return (*((part, aspect, name) for part, name in where for aspect in aspects), *both)


@dataclass(frozen=True)
class Spreads:
    """Log SDs of effects by (part, aspect, simulator or "any"), and the number of effects behind each."""

    sd: dict[Key, float]
    known: dict[Key, float] = field(default_factory=dict)
    costs: dict[str, Array] = field(default_factory=dict)  #: log costs by simulator

    def of(self, key: Key, family: str, wide: bool = False) -> float:
        """SD of an effect. `wide`: of one never measured, as Student's t where few effects are known."""
        if key[1] == "simulator" and family not in MEASURED:
            return UNKNOWN[PARTS.index(key[0])]
        of = (*key[:2], family)
        of = of if of in self.sd else (*key[:2], "any")
        df = FREEDOM + self.known.get(of, 0.0)
        return self.sd[of] * (special.stdtrit(df, 0.975) / draws.Z95 if wide else 1.0)


WEIGHT = 2.0  #: a first guess of a spread counts as so many effects
FREEDOM = 8.0  #: degrees of freedom of a spread beyond its effects; sums of several effects have thin tails
#: Simulators with published points; of others, the scale of the kernel is unknown.
MEASURED = ("NEST", "DPSNN")
UNKNOWN = (6.0, 1.0)
#: First guesses of the spreads.
GUESS = {
    "platform": (0.6, 0.8), "machine": (0.4, 0.6), "version": (0.18, 0.4), "network": (0.25, 0.4),
    "variant": (0.15, 0.3), "simulator": (0.15, 0.3),
}  # fmt: skip


@cache
def spreads() -> Spreads:
    """The spreads that `spikemark score --fit` wrote."""
    content = yaml.safe_load(SPREADS.read_text())
    rows = {(row["part"], row["aspect"], row["simulator"]): row for row in content["spreads"]}
    sd, known = ({key: row[name] for key, row in rows.items()} for name in ("sd", "effects"))
    return Spreads(
        sd, known, {name: np.log([row["s"] for row in of]) for name, of in content["costs"].items()}
    )


def keep_spreads(mini_app: list[dict[str, object]] | None = None) -> Path:
    """Estimate costs and spreads from all published points and write spreads.yaml; returns its path.

    `mini_app`: errors of the mini-app's parts with their origin (beside.errors), in place of those kept.
    """
    found, names = fit_spreads(published()), ("part", "aspect", "simulator")
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=SPREADS.parent, check=False,
                            capture_output=True, text=True).stdout.strip()  # fmt: skip
    content = {
        "about": "Written by `spikemark score --fit`: log SDs, from so many effects; costs in s at 2.25 GHz.",
        "date": f"{datetime.date.today()}",
        "commit": commit or None,
        "mini_app": mini_app or yaml.safe_load(SPREADS.read_text())["mini_app"],
        "spreads": [dict(zip(names, key, strict=True)) | {"sd": round(sd, 3), "effects": round(
            float(found.known.get(key, 0.0)), 1)} for key, sd in sorted(found.sd.items())],
        "costs": {family: [{"part": part, "cost": name, "s": float(f"{np.exp(log):.3g}")}
                           for (part, name, _), log in zip(costs_of(family), logs, strict=True)]
                  for family, logs in sorted(found.costs.items())},
    }  # fmt: skip
    write_atomically(SPREADS, yaml.safe_dump(content, sort_keys=False, width=120, default_flow_style=None))
    spreads.cache_clear()
    return SPREADS


@dataclass(frozen=True)
class State:
    """What runs say: mean and covariance of the effects `keys`, and log costs."""

    keys: tuple[Key, ...]
    mean: Array
    covariance: Array
    costs: Array


def infer(anchors: Sequence[Run], spread: Spreads, start: State | None = None, learn: bool = False) -> State:
    """Effects given measured runs of one simulator: Gauss-Newton to the mode, and the Laplace approximation.

    `learn`: the costs are unknown too; otherwise those of `spread` hold.
    """
    family = anchors[0].simulator
    acting, listed = [effects(run) for run in anchors], costs_of(family)
    keys = sorted({key for of in acting for key in of}, key=lambda k: (ASPECTS.index(k[1]), k[2], k[0]))
    design = np.array(
        [[[key[0] == part and key in of for key in keys] for of in acting] for part in PARTS], float
    )
    counts, part = np.array([terms(run) for run in anchors]), np.array([PARTS.index(c[0]) for c in listed])
    of_part = np.array([part == 0, part == 1])
    sees = np.array([[run.part in ("", name) for run in anchors] for name in PARTS])
    guess = np.log([cost[2] for cost in listed])
    costs = start.costs if start else spread.costs.get(family, guess)
    y = np.log([run.seconds for run in anchors])
    weight = 1 / (LEAST**2 + np.square([run.sd for run in anchors]))
    precision = np.array([spread.of(key, family) for key in keys]) ** -2.0
    precision = np.append(precision, np.full(len(part) * learn, COST_SD**-2.0))
    old = dict(zip(start.keys, start.mean, strict=True)) if start else {}
    u = np.array([old.get(key, 0.0) for key in keys])
    if family not in MEASURED:  # begin with all time in the kernel
        first = keys.index(("kernel", "simulator", family))
        u[first] = np.median(y - np.log(counts @ (np.exp(costs) * of_part[0])))
    for _ in range(60):
        each = counts * np.exp(costs)  # (runs, costs)
        factor = np.exp(design @ u) * sees  # (parts, runs)
        mine = factor * (of_part @ each.T)
        total = mine.sum(0)
        jacobian, away = ((mine / total)[:, :, None] * design).sum(0), u
        if learn:
            jacobian = np.hstack([jacobian, each * factor[part].T / total[:, None]])
            away = np.append(u, costs - guess)
        hessian = (jacobian.T * weight) @ jacobian + np.diag(precision)
        step = np.linalg.solve(hessian, jacobian.T @ (weight * (y - np.log(total))) - precision * away)
        step *= min(1.0, 0.7 / max(abs(step).max(), 1e-9))
        u, costs = u + step[: len(u)], costs + (step[len(u) :] if learn else 0.0)
        if abs(step).max() < 1e-4:
            break
    return State(tuple(keys), u, np.linalg.inv(hessian)[: len(u), : len(u)], costs)


def parts(run: Run, costs: Array) -> Array:
    """Seconds of the kernel and of the exchange per simulated second with these log costs (A = B = 1)."""
    each, of = terms(run) * np.exp(costs), [cost[0] for cost in costs_of(run.simulator)]
    return np.array([each[np.equal(of, part)].sum() for part in PARTS])


@dataclass(frozen=True)
class Prediction:
    """Draws of seconds per simulated second, each (targets, N); `noise`, a run's own scatter, is a factor."""

    kernel: Array
    exchange: Array
    noise: Array
    inputs: dict[str, draws.Draws]  #: standard normal draws by name, for draws.shares
    nearest: tuple[Run, ...]  #: of each target: the measured run that is most like it
    differs: tuple[tuple[str, ...], ...]  #: in what: aspects, nodes, layout

    @property
    def total(self) -> Array:
        """Real-time factors, (targets, N)."""
        return (self.kernel + self.exchange) * self.noise

    @property
    def width(self) -> Array:
        """Upper over lower end of the 95 % interval, by target."""
        low, high = np.quantile(self.total, [0.025, 0.975], axis=1)
        return high / low


class NoAnchor(BadInput):
    """Nothing measured carries over to the question; `run` is the one to make."""

    def __init__(self, line: str, run: Run):
        super().__init__(line, field="simulator", code="missing")
        self.run = run


def predict(
    targets: Sequence[Run], own: Sequence[Run] = (), known: Sequence[Run] | None = None,
    more: Sequence[Run] = (),
) -> Prediction:  # fmt: skip
    """Predict `targets` (one simulator, version, network and machine; any nodes) from measured runs.

    `own`: the user's runs. `known`: other runs to anchor in, by default the published ones. `more`: runs of
    the targets' version on their machine that are taken as made, with the times expected. Raises NoAnchor if
    no run of the simulator exists, or if neither the network nor the machine was ever measured with it.
    """
    target, family = targets[0], targets[0].simulator
    anchors = [run for run in (*(published() if known is None else known), *own) if run.simulator == family]
    if not any(shared(target, run) for run in anchors):
        where = f"{target.network.model} and never on {target.machine.name}"
        line = f"simulator={family}: never measured with {where}; expected a run of it"
        raise NoAnchor(line, target.with_nodes(1))
    version = target.version or (own[0].version if own else newest(anchors))
    targets, more = ([replace(run, version=version) for run in of] for of in (targets, more))
    if more:
        expected = np.median(predicted(more, anchors, spreads()).total, axis=1).tolist()
        anchors += [replace(r, seconds=s, series="to make") for r, s in zip(more, expected, strict=True)]
    return predicted(targets, anchors, spreads())


def newest(runs: Iterable[Run]) -> str:
    """The newest version of a simulator that was measured on servers: what a question without one means."""
    named = {run.version for run in runs if not run.machine.platform}
    return max(named, key=lambda v: [int(n) for n in re.findall(r"\d+", v.split(" ")[0])], default="")


def predicted(targets: Sequence[Run], anchors: Sequence[Run], spread: Spreads) -> Prediction:
    """`predict` from exactly these anchors, without refusal."""
    target, state, record = targets[0], infer(anchors, spread), draws.Recorder()

    def normal(*name: str) -> draws.Draws:
        return record.normal("/".join(("error", *name)))

    # Effects that the anchors share with the target are drawn together, as their errors depend on each other.
    # Their order is that of the anchors' effects, so that other targets have the same draws.
    picks, log = np.zeros((2, len(state.keys))), np.zeros((2, draws.N))
    for key in effects(target):
        part = PARTS.index(key[0])
        if key in state.keys:
            picks[part, state.keys.index(key)] = 1
        else:
            log[part] += spread.of(key, target.simulator, wide=True) * normal(*key)
    loads = picks @ np.linalg.cholesky(state.covariance)
    log += (picks @ state.mean)[:, None]
    for i in np.flatnonzero(abs(loads).max(0) > 1e-3):
        log += loads[:, i, None] * normal(*state.keys[i])
    log += RATE[:, None] * target.network.rate_sd * normal("total", "rate", target.network.name)
    nearest = tuple(closest(run, anchors) for run in targets)
    growths = GROWTH if target.simulator in MEASURED else STRANGE
    found, noise = [], []
    for run, near in zip(targets, nearest, strict=True):
        like = [a for a in anchors if a.series == near.series or a.network.model == near.network.model
                or a.machine.name == run.machine.name]  # fmt: skip
        cores, mine = np.log([a.cores for a in like]), log.copy()
        away = max(cores.min() - np.log(run.cores), np.log(run.cores) - cores.max())
        for row, part, growth in zip(mine, PARTS, growths, strict=True) if away > 0 else ():
            row += away * growth * normal(part, "growth", run.network.model)
        found.append(parts(run, state.costs)[:, None] * np.exp(mine))
        scatter = normal("total", "scatter", f"{run.machine.name} {run.nodes}")
        noise.append(np.exp(np.hypot(SCATTER, run.sd) * scatter))
    kernel, exchange = np.swapaxes(found, 0, 1)
    differs = tuple(differences(a, b) for a, b in zip(targets, nearest, strict=True))
    return Prediction(kernel, exchange, np.array(noise), record.inputs, nearest, differs)


FAR = {"machine": 4, "platform": 4, "network": 4, "variant": 2, "version": 1, "simulator": 9}


def closest(target: Run, anchors: Iterable[Run]) -> Run:
    """The measured run that shares most effects with the target; then the nearest number of cores."""
    want = set(effects(target))
    away = {a: sum(FAR[k[1]] for k in want - set(effects(a))) for a in anchors}
    return min(away, key=lambda a: (away[a], abs(np.log(a.cores / target.cores)), a.sd))


def shared(target: Run, run: Run) -> set[str]:
    """What two runs of one simulator share of network, processor and machine."""
    both = set(effects(target)) & set(effects(run))
    return {key[1] for key in both} & {"network", "machine"}


def differences(target: Run, run: Run) -> tuple[str, ...]:
    """In what a measured run differs from the target."""
    apart = {key[1] for key in set(effects(target)) - set(effects(run))} - {"platform"}
    found = [a for a in ASPECTS if a in apart and not (a == "variant" and "network" in apart)]
    if run.nodes != target.nodes:
        found.append("nodes")
    if (run.ranks / run.nodes, run.threads) != (target.ranks / target.nodes, target.threads):
        found.append("layout")
    return tuple(found)


BY_SIMULATOR = ("version", "network", "variant", "simulator")  #: spreads of the others are pooled
EM_STEPS = 25


def fit_spreads(runs: Sequence[Run]) -> Spreads:
    """Costs and spreads from runs, by expectation maximisation; a guess counts as WEIGHT effects."""
    families = sorted({run.simulator for run in runs})
    groups = {family: connected([r for r in runs if r.simulator == family]) for family in families}
    sd = {(part, a, f): sd for f in (*families, "any") for a in GUESS if f == "any" or a in BY_SIMULATOR
          for part, sd in zip(PARTS, GUESS[a], strict=True)}  # fmt: skip
    found, states = Spreads(sd), {}
    for _ in range(EM_STEPS):
        moments: dict[Key, list[tuple[float, float]]] = {}
        for family, group in groups.items():
            state = states[family] = infer(group, found, start=states.get(family), learn=True)
            for key, mean, variance in zip(state.keys, state.mean, np.diag(state.covariance), strict=True):
                if key[1] != "simulator":
                    of = (*key[:2], family if key[1] in BY_SIMULATOR else "any")
                    moments.setdefault(of, []).append((mean**2 + variance, variance))
        known = {}
        for key, of in moments.items():
            known[key] = sum(max(1 - variance / sd[key] ** 2, 0.0) for _, variance in of)
            guess = GUESS[key[1]][PARTS.index(key[0])] ** 2
            sd[key] = float(np.sqrt((WEIGHT * guess + sum(m for m, _ in of)) / (WEIGHT + len(of))))
        found = Spreads(dict(sd), known, {family: state.costs for family, state in states.items()})
    return found


def connected(runs: Sequence[Run]) -> list[Run]:
    """The largest set of series linked by a network or a machine; the others say nothing about spreads."""
    best: list[Run] = []
    left = list(runs)
    while left:
        found, new = [], [left[0]]
        while new:
            found, left = found + new, [run for run in left if run not in new]
            new = [run for run in left if any(shared(run, other) for other in new)]
        best = max(best, found, key=len)
    return best
