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
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy import special

from spikemark.core import places
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
#: What time grows with, by simulator that was measured: part, name, and a first guess of its cost in s on a
#: core of 2.25 GHz.
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
    "DPSNN": (
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
STRANGE = np.array([0.2, 0.35])  #: the same of other simulators
RATE = np.array([0.6, 1.0])  #: growth of the parts with the rate


@cache
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


def costs_of(simulator: str) -> tuple[Array, NDArray[np.bool_]]:
    """First guesses of the log costs of a simulator, and which of them belong to a part, [part, cost].

    The costs of any simulator but NEST are of events and messages.
    """
    costs = COSTS.get(simulator, COSTS["DPSNN"])
    return np.log([cost for *_, cost in costs]), np.array(
        [[of == part for of, *_ in costs] for part in PARTS]
    )


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
LINKS = ("network", "machine")  #: what a run has to share with others to say something about them


@cache
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


def acting(runs: Sequence[Run], keys: Sequence[Key]) -> Array:
    """Which effects act on which part of a run, [part, run, key]."""
    of_runs = [effects(run) for run in runs]
    return np.array(
        [[[key[0] == part and key in of for key in keys] for of in of_runs] for part in PARTS], float
    )


WEIGHT = 2.0  #: a first guess of a spread counts as so many effects
FREEDOM = 8.0  #: degrees of freedom of a spread beyond its effects; sums of several effects have thin tails
#: First guesses of the spreads of both parts.
GUESS = {
    "platform": (0.6, 0.8), "machine": (0.4, 0.6), "version": (0.18, 0.4), "network": (0.25, 0.4),
    "variant": (0.15, 0.3), "simulator": (0.15, 0.3),
}  # fmt: skip
UNKNOWN = (6.0, 1.0)  #: of a simulator that was never measured: the scale of its kernel may be anything
BY_SIMULATOR = ("version", "network", "variant")  #: spreads of the others are pooled


@dataclass(frozen=True)
class Spreads:
    """What is known of effects: log SD and number of effects behind it, by part, aspect and simulator or
    "any", otherwise the guess; and log costs by simulator."""

    known: dict[Key, tuple[float, float]] = field(default_factory=dict)
    costs: dict[str, Array] = field(default_factory=dict)

    def of(self, key: Key, family: str) -> tuple[float, float]:
        """Log SD of an effect, and the number of effects behind it."""
        guess = UNKNOWN if key[1] == "simulator" and family not in COSTS else GUESS[key[1]]
        return self.known.get(pooled(key, family), (guess[PARTS.index(key[0])], 0.0))


def pooled(key: Key, family: str) -> Key:
    """Part, aspect and simulator of the effects whose spread is that of an effect."""
    return (*key[:2], family if key[1] in BY_SIMULATOR else "any")


@cache
def spreads() -> Spreads:
    """The spreads that `spikemark score --fit` wrote."""
    content = yaml.safe_load(SPREADS.read_text())
    known = {tuple(key.split("/")): tuple(found) for key, found in content["spreads"].items()}
    return Spreads(known, {family: np.log([*of.values()]) for family, of in content["costs"].items()})


def keep_spreads(mini_app: list[dict[str, object]] | None = None) -> Path:
    """Estimate costs and spreads from all published points and write spreads.yaml; returns its path.

    `mini_app`: errors of the mini-app's parts with their origin (beside.errors), in place of those kept.
    """
    found = fit_spreads(published())
    content = {
        "about": "Written by `spikemark score --fit`; spreads: log SD of effects by part, aspect, simulator,"
                 " and how many are known; costs: s on a core of 2.25 GHz.",
        "date": f"{datetime.date.today()}",
        "commit": places.commit(),
        "mini_app": mini_app or yaml.safe_load(SPREADS.read_text())["mini_app"],
        "spreads": {"/".join(key): [round(sd, 3), round(effects, 1)]
                    for key, (sd, effects) in sorted(found.known.items())},
        "costs": {family: {name: float(f"{np.exp(log):.3g}")
                           for (_, name, _), log in zip(COSTS[family], logs, strict=True)}
                  for family, logs in sorted(found.costs.items())},
    }  # fmt: skip
    write_atomically(SPREADS, yaml.safe_dump(content, sort_keys=False, width=120, default_flow_style=None))
    return SPREADS


class State(NamedTuple):
    """What runs say: mean and covariance of the effects `keys`, and log costs."""

    keys: Sequence[Key]
    mean: Array
    covariance: Array
    costs: Array


def infer(anchors: Sequence[Run], spread: Spreads, start: State | None = None, learn: bool = False) -> State:
    """Effects given measured runs of one simulator: Gauss-Newton to the mode, and the Laplace approximation.

    `learn`: the costs are unknown too; otherwise those of `spread` hold.
    """
    family = anchors[0].simulator
    keys = {key for run in anchors for key in effects(run)}
    keys = sorted(keys, key=lambda key: (ASPECTS.index(key[1]), key[2], key[0]))
    design, (guess, of_part) = acting(anchors, keys), costs_of(family)
    counts = np.array([terms(run) for run in anchors])
    sees = np.array([[run.part in ("", name) for run in anchors] for name in PARTS])
    y = np.log([run.seconds for run in anchors])
    weight = 1 / (LEAST**2 + np.square([run.sd for run in anchors]))
    n, costs = len(keys), spread.costs.get(family, guess)
    x = np.append(start.mean, start.costs) if start else np.append(np.zeros(n), costs)
    prior, sd = np.append(np.zeros(n), guess), [spread.of(key, family)[0] for key in keys]
    precision = np.append(sd, np.full(len(guess), COST_SD)) ** -2.0
    free = len(x) if learn else n
    if family not in COSTS:  # begin with all time in the kernel
        first = keys.index(("kernel", "simulator", family))
        x[first] = np.median(y - np.log(counts @ (np.exp(costs) * of_part[0])))
    for _ in range(60):
        each = counts * np.exp(x[n:])  # (runs, costs)
        factor = np.exp(design @ x[:n]) * sees  # (parts, runs)
        mine = factor * (of_part @ each.T)
        total = mine.sum(0)
        of_effects = ((mine / total)[:, :, None] * design).sum(0)
        of_costs = each * factor[of_part.argmax(0)].T / total[:, None]
        jacobian = np.hstack([of_effects, of_costs])[:, :free]
        hessian = (jacobian.T * weight) @ jacobian + np.diag(precision[:free])
        away = jacobian.T @ (weight * (y - np.log(total))) - (precision * (x - prior))[:free]
        step = np.linalg.solve(hessian, away)
        x[:free] += step * min(1.0, 0.7 / max(abs(step).max(), 1e-9))
        if abs(step).max() < 1e-4:
            break
    return State(keys, x[:n], np.linalg.inv(hessian)[:n, :n], x[n:])


def parts(run: Run, costs: Array) -> Array:
    """Seconds of the kernel and of the exchange per simulated second with these log costs (A = B = 1)."""
    each = terms(run) * np.exp(costs)
    return np.array([each[of].sum() for of in costs_of(run.simulator)[1]])


@dataclass(frozen=True)
class Prediction:
    """Draws of seconds per simulated second, each (targets, N); `noise`, a run's own scatter, is a factor."""

    kernel: Array
    exchange: Array
    noise: Array
    inputs: dict[str, draws.Draws]  #: standard normal draws by name, for draws.shares
    nearest: tuple[Run, ...]  #: of each target: the measured run that is most like it
    differs: tuple[tuple[str, ...], ...]  #: in what

    @property
    def total(self) -> Array:
        """Real-time factors, (targets, N)."""
        return (self.kernel + self.exchange) * self.noise


def predict(targets: Sequence[Run], own: Sequence[Run] = (), more: Sequence[Run] = ()) -> Prediction:
    """Predict `targets` (one simulator, version, network and machine; any nodes) from published runs and the
    user's `own`.

    `more`: runs of the targets' version on their machine that are taken as made, with the times expected.
    Raises BadInput if neither the network nor the machine was ever measured with the simulator.
    """
    target, family = targets[0], targets[0].simulator
    anchors = [run for run in (*published(), *own) if run.simulator == family]
    if not any(key[1] in LINKS and key in effects(run) for run in anchors for key in effects(target)):
        where = f"with {target.network.model} and never on {target.machine.name}"
        line = f"simulator={family}: never measured {where}; expected --anchor with a run on one node there"
        raise BadInput(line, code="missing")
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
    picks, log = acting([target], state.keys)[:, 0], np.zeros((2, draws.N))
    for key in effects(target):
        if key not in state.keys:
            sd, known = spread.of(key, target.simulator)
            wide = special.stdtrit(FREEDOM + known, 0.975) / draws.Z95  # Student's t where few are known
            log[PARTS.index(key[0])] += sd * wide * normal(*key)
    loads = picks @ np.linalg.cholesky(state.covariance)
    log += (picks @ state.mean)[:, None]
    for i in np.flatnonzero(abs(loads).max(0) > 1e-3):
        log += loads[:, i, None] * normal(*state.keys[i])
    log += RATE[:, None] * target.network.rate_sd * normal("total", "rate", target.network.name)
    nearest, differs = zip(*(closest(run, anchors) for run in targets), strict=True)
    growths = GROWTH if target.simulator in COSTS else STRANGE
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
    return Prediction(kernel, exchange, np.array(noise), record.inputs, nearest, differs)


#: How far an effect that differs takes a measured run from the target.
FAR = {"machine": 4, "platform": 4, "network": 4, "variant": 2, "version": 1, "simulator": 9}


def closest(target: Run, anchors: Iterable[Run]) -> tuple[Run, tuple[str, ...]]:
    """The measured run that shares most effects with the target, then the nearest number of cores; and in
    what they differ: aspects, nodes, layout."""

    def apart(run: Run) -> list[str]:
        there = effects(run)
        return [key[1] for key in effects(target) if key not in there]

    def away(run: Run) -> tuple[float, ...]:
        return sum(map(FAR.get, apart(run))), abs(np.log(run.cores / target.cores)), run.sd

    near = min(anchors, key=away)
    names = set(apart(near)) - {"platform"}
    found = [a for a in ASPECTS if a in names and not (a == "variant" and "network" in names)]
    layouts = [(run.ranks / run.nodes, run.threads) for run in (near, target)]
    return near, (*found, *["nodes"] * (near.nodes != target.nodes), *["layout"] * (layouts[0] != layouts[1]))


EM_STEPS = 25


@cache
def fit_spreads(runs: tuple[Run, ...]) -> Spreads:
    """Costs and spreads from runs, by expectation maximisation; a guess counts as WEIGHT effects."""
    families = sorted({run.simulator for run in runs})
    groups = {family: connected([r for r in runs if r.simulator == family]) for family in families}
    found, states = Spreads(), {}
    for _ in range(EM_STEPS):
        moments: dict[Key, list[tuple[float, float]]] = {}
        for family, group in groups.items():
            state = states[family] = infer(group, found, start=states.get(family), learn=True)
            for key, mean, variance in zip(state.keys, state.mean, np.diag(state.covariance), strict=True):
                if key[1] != "simulator":
                    moments.setdefault(pooled(key, family), []).append((mean**2 + variance, variance))
        known = {}
        for key, of in moments.items():
            old, guess = found.of(key, key[2])[0], GUESS[key[1]][PARTS.index(key[0])]
            sd = np.sqrt((WEIGHT * guess**2 + sum(m for m, _ in of)) / (WEIGHT + len(of)))
            known[key] = float(sd), float(sum(max(1 - variance / old**2, 0.0) for _, variance in of))
        found = Spreads(known, {family: state.costs for family, state in states.items()})
    return found


def connected(runs: Sequence[Run]) -> list[Run]:
    """The largest set of runs linked by a network or a machine; the others say nothing about spreads."""
    from scipy.sparse import csgraph

    keys = {key for run in runs for key in effects(run) if key[1] in LINKS}
    shares = acting(runs, keys).sum(axis=0)  # [run, key]
    steps = csgraph.shortest_path(shares @ shares.T > 0, unweighted=True)  # [run, run]; inf if not linked
    first = steps[np.isfinite(steps).sum(axis=1).argmax()]
    return [runs[i] for i in np.argsort(first, kind="stable") if np.isfinite(first[i])]
