"""A production program anywhere: T(c) = A kernel(c) + B exchange(c), anchored in measured runs.

kernel and exchange, in seconds per simulated second of a configuration c, state how time grows;
their costs are those of one program. log A and log B are sums of effects: of the program, its
version, the network, its variant, the machine. Each effect is normal with mean 0 and a spread
estimated from the published series (spreads.yaml, by `spikemark score --fit`). Anchors (published
series, own runs) inform the effects that they share with the target; the others keep their spread.
Several anchors, or one more run, are the same computation. A machine that nobody has published has
effects of its nodes and of its network (identity.py): runs on one offer inform every other one that
has the same nodes, or the same network.

Effects are drawn by name (draws.normal), for example "error/kernel/machine/JURECA-DC": predictions
for one machine, for nodes of one processor, or with one anchor, share what they share, and ratios
of two predictions are as certain as they are.

What anchors say of the effects is the matter of inference.py: some hundredths of a second.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_yaml

from . import draws, growth, inference
from .growth import terms
from .likeness import (
    BETTER,
    BETWEEN_NODES,
    SIGN,
    is_as_good,
    likeness,
    may_be,
    unstated,
)
from .points import PublishedRun, published
from .program_costs import PARTS, PROGRAMS, find
from .published_machine import PublishedMachine, UncertainValue

Array = NDArray[np.float64]
SPREADS = Path(__file__).with_name("spreads.yaml")
ANCHOR_SD = 0.08  #: log SD of a run of an anchor, beyond its own: what the model of growth leaves
SMALLEST_LOAD = 1e-3  #: of a draw on a part, in log SD; smaller ones do not count
SMALLEST_CHANCE = 0.1  #: of being as good as a measured machine; less does not count
SCATTER_SD = 0.05  #: smallest log SD between two runs of one configuration
COST_SD = 0.4  #: log SD of a first guess
#: log SD for a factor e more or less in cores than the anchor has, by part.
GROWTH_SD = np.array([0.05, 0.35])
OTHER_GROWTH_SD = np.array([0.2, 0.35])  #: the same of programs without costs
RATE = np.array([0.6, 1.0])  #: growth of the parts with the rate


class Key(NamedTuple):
    """What identifies an effect, or in `Spreads` the effects that share a spread."""

    part: str  #: of PARTS
    aspect: str  #: of ASPECTS
    name: str  #: such as that of a machine; in `Spreads`, the program or "any"


ASPECTS = ("platform", "machine", "version", "network", "variant", "program")
OF_MACHINES = ("machine", "platform")
NETWORK_OF = "the network of {}"  #: name of an effect
LEFT_OPEN = "{}, for what is not stated"  #: name of an effect
LINKS = ("network", "machine")  #: what a run has to share with others to say something about them


@cache
def _effects(run: PublishedRun) -> tuple[Key, ...]:
    """The effects that act on a run; of a machine, the kernel knows the processor alone."""
    program = run.program
    network = run.network
    machine = run.machine
    names = {
        "version": f"{find(run.program).title} {run.version}".replace("/", "-"),
        "network": f"{program}/{network.model}",
        "variant": f"{program}/{network.model}/{network.variant}",
        "program": program,
    }
    keys = []
    for part, names_of_part in _machine_by_part(machine).items():
        for name in names_of_part:
            keys.append(Key(part, "machine", name))
            if machine.platform:
                keys.append(Key(part, "platform", name))
    for part in PARTS:
        keys += [Key(part, aspect, name) for aspect, name in names.items()]
    return tuple(keys)


def _machine_by_part(machine: PublishedMachine) -> dict[str, tuple[str, ...]]:
    """What a machine is called in its effects: machines of one processor share the kernel's.

    The exchange of an offer has an effect of its nodes and one of its network.
    """
    kernel = machine.processor or machine.node_as or machine.name
    if not machine.is_offer:
        return {"kernel": (kernel,), "exchange": (machine.name,)}
    network = NETWORK_OF.format(machine.network_as)
    return {"kernel": (kernel,), "exchange": (machine.node_as, network)}


def _weight(key: Key, run: PublishedRun, costs: Array) -> float:
    """How much of an effect acts on a run: the squares of those of nodes and network make 1.

    The network's counts as much as messages on a usual network have of the exchange; the rest is
    software, on the nodes. `costs`: log costs.
    """
    if not run.machine.is_offer or key.part == "kernel" or key.aspect not in OF_MACHINES:
        return 1.0
    share = _share_of_network(run, costs)
    if key.name == NETWORK_OF.format(run.machine.network_as):
        return share
    return float((1 - share**2) ** 0.5)


def _acting(runs: Sequence[PublishedRun], keys: Iterable[Key], costs: Array) -> Array:
    """How much each effect acts on which part of a run, [part, run, key].

    `costs`: log costs.
    """
    column = {key: number for number, key in enumerate(keys)}
    act = np.zeros((len(PARTS), len(runs), len(column)))
    for row, run in enumerate(runs):
        for key in _effects(run):
            if key in column:
                act[PARTS.index(key.part), row, column[key]] = _weight(key, run, costs)
    return act


GUESS_WEIGHT = 2.0  #: a first guess of a spread counts as so many effects
#: degrees of freedom of a spread beyond its effects; sums of several effects have thin tails
FREEDOM = 12.0
#: First guesses of the spreads of both parts.
GUESS = {
    "platform": (0.6, 0.8),
    "machine": (0.4, 0.6),
    "version": (0.18, 0.4),
    "network": (0.25, 0.4),
    "variant": (0.15, 0.3),
    "program": (0.15, 0.3),
}
#: The same of a program that was never measured: the scale of its kernel may be anything.
UNMEASURED = (6.0, 1.0)
BY_SIMULATOR = ("version", "network", "variant")  #: spreads of the others are pooled


@dataclass(frozen=True)
class Spreads:
    """What is known of effects and costs."""

    #: Log SD and number of effects behind it, by part, aspect and program or "any"; otherwise the
    #: guess holds.
    known: dict[Key, tuple[float, float]] = field(default_factory=dict)
    #: Log costs by program, [cost].
    costs: dict[str, Array] = field(default_factory=dict)

    def of(self, key: Key, program: str) -> tuple[float, float]:
        """Log SD of an effect, and the number of effects behind it."""
        guesses = GUESS[key.aspect]
        if key.aspect == "program" and program not in PROGRAMS:
            guesses = UNMEASURED
        guess = guesses[PARTS.index(key.part)]
        return self.known.get(_pooled(key, program), (guess, 0.0))


def _pooled(key: Key, program: str) -> Key:
    """Part, aspect and program of the effects whose spread is that of an effect."""
    return key._replace(name=program if key.aspect in BY_SIMULATOR else "any")


@cache
def spreads() -> Spreads:
    """The spreads that `spikemark score --fit` wrote.

    Example:
        >>> sorted(spreads().costs)
        ['dpsnn', 'nest']
    """
    content = read_yaml(SPREADS)
    by_key = {}
    for text, (sd, number) in content["spreads"].items():
        by_key[Key(*text.split("/"))] = (sd, number)
    costs = {
        program: np.log(list(by_name.values())) for program, by_name in content["costs"].items()
    }
    return Spreads(by_key, costs)


class State(NamedTuple):
    """What runs say."""

    keys: Sequence[Key]  #: of the effects
    mean: Array  #: of the effects, [key]
    covariance: Array  #: [key, key]
    costs: Array  #: log costs, [cost]


def _infer(
    runs: Sequence[PublishedRun],
    spread: Spreads,
    offers: "OfferedMachines | None" = None,
) -> State:
    """What measured runs of one program say of its effects (inference.py).

    Args:
        runs: the measured ones.
        spread: what is known of effects and costs.
        offers: what is expected of the effects of offers among the machines.
    """
    program = runs[0].program
    keys = _keys_in_order(runs)
    guesses = find(program).guesses
    costs = spread.costs.get(program, guesses)
    times = _measured_times(runs, keys, costs, offers)
    prior = _prior(program, keys, guesses, spread, offers.sds(runs) if offers else {})
    begin = _start(program, keys, costs, times)
    return _state(keys, inference.posterior(times, prior, begin, free=len(keys)))


def _state(keys: Sequence[Key], posterior: inference.Posterior) -> State:
    """What a posterior says of the effects, and of the costs."""
    effects = len(keys)
    return State(
        keys,
        mean=posterior.mode[:effects],
        covariance=posterior.covariance[:effects, :effects],
        costs=posterior.mode[effects:],
    )


def _guessed_costs(program: str, other: "OtherGuess | None") -> Array:
    """First guesses of the log costs of a program, [cost]; one of them may be another one."""
    costs = find(program)
    guesses = costs.guesses.copy()
    if other is not None and other.program == program:
        names = [cost.name for cost in costs.costs]
        guesses[names.index(other.cost)] += np.log(other.factor)
    return guesses


def _measured_times(
    runs: Sequence[PublishedRun],
    keys: Sequence[Key],
    costs: Array,
    offers: "OfferedMachines | None",
) -> inference.MeasuredTimes:
    """Measured runs, and what their times are made of; `costs`: log costs."""
    expected = np.zeros((len(PARTS), len(runs)))
    if offers is not None:
        expected = np.array([offers.expected(run) for run in runs]).T
    part_of_run = np.array([run.part for run in runs])
    holds_all = part_of_run == ""
    return inference.MeasuredTimes(
        log_seconds=np.log(np.array([run.seconds for run in runs], dtype=float)),
        weights=1 / (ANCHOR_SD**2 + np.square([run.sd for run in runs])),
        counts=np.array([terms(run) for run in runs]),
        of_part=find(runs[0].program).of_part,
        acting=_acting(runs, keys, costs),
        expected=expected,
        in_seconds=np.array([holds_all | (part_of_run == part) for part in PARTS]),
    )


def _prior(
    program: str,
    keys: Sequence[Key],
    guesses: Array,
    spread: Spreads,
    of_offers: Mapping[Key, float],
) -> inference.Prior:
    """Effects are 0 within their spreads, log costs their guesses within COST_SD; `of_offers`: the
    log SDs of effects of offers.
    """
    sds = []
    for key in keys:
        usual, _ = spread.of(key, program)
        sds.append(of_offers.get(key, usual))
    return inference.Prior(
        mean=np.append(np.zeros(len(keys)), guesses),
        sd=np.append(sds, np.full(len(guesses), COST_SD)),
    )


def _start(
    program: str, keys: Sequence[Key], costs: Array, times: inference.MeasuredTimes
) -> Array:
    """Effects of 0 and log costs, to begin with; for a program that was never fitted, all time is
    in the kernel.
    """
    effects = np.zeros(len(keys))
    if program not in PROGRAMS:
        kernel_s = times.counts @ (np.exp(costs) * times.of_part[PARTS.index("kernel")])
        whole = keys.index(Key("kernel", "program", program))
        effects[whole] = np.median(times.log_seconds - np.log(kernel_s))
    return np.append(effects, costs)


def _keys_in_order(runs: Sequence[PublishedRun]) -> list[Key]:
    """The effects of runs, by aspect, name and part."""
    keys: set[Key] = set()
    for run in runs:
        keys.update(_effects(run))
    return sorted(keys, key=lambda key: (ASPECTS.index(key.aspect), key.name, key.part))


def parts(run: PublishedRun, costs: Array) -> Array:
    """Seconds of the kernel and of the exchange per simulated second with these log costs (A = B =
    1), [part].

    Example:
        >>> from spikemark.prediction import points
        >>> nest = [run for run in points.published() if run.program == "nest"]
        >>> parts(nest[0], np.zeros(10)).shape  # kernel, exchange
        (2,)
    """
    part_s: Array = find(run.program).of_part @ (terms(run) * np.exp(costs))
    return part_s


def _drawn_machine(
    run: PublishedRun, recorder: draws.Recorder, absorbed: frozenset[str]
) -> PublishedRun:
    """A run with draws of what is not known of its machine.

    `absorbed`: names of draws of machines that were run: what these values are is part of what the
    runs took, so they have their medians.
    """
    values: dict[str, draws.Draws] = {}
    for uncertain in chain(*_open_values(run, absorbed)):
        middle = getattr(run.machine, uncertain.field)
        values[uncertain.field] = recorder(
            uncertain.name, middle, uncertain.low, uncertain.high, uncertain.value
        )
    machine: Any = replace(run.machine, **values)  # type: ignore[arg-type]  # draws for numbers
    return replace(run, machine=machine)


def _open_values(
    run: PublishedRun, absorbed: frozenset[str]
) -> tuple[list[UncertainValue], list[UncertainValue]]:
    """What is not known of the nodes of a machine, and of its network, and not part of what runs
    took.
    """
    left_open = [uncertain for uncertain in _deciding(run) if uncertain.name not in absorbed]
    of_nodes = [value for value in left_open if value.field not in BETWEEN_NODES]
    of_network = [value for value in left_open if value.field in BETWEEN_NODES]
    return of_nodes, of_network


def _drawn_parts(
    run: PublishedRun, costs: Array, recorder: draws.Recorder, absorbed: frozenset[str]
) -> Array:
    """The same with draws of what is not known of the machine, [part, draw]; `absorbed`: see
    `_drawn_machine`.
    """
    counts = growth.counts(_drawn_machine(run, recorder, absorbed))
    cost_s = [
        np.broadcast_to(count * np.exp(cost), draws.N)
        for count, cost in zip(counts, costs, strict=True)
    ]
    part_s: Array = find(run.program).of_part @ np.array(cost_s)
    of_nodes, _ = _open_values(run, absorbed)
    return part_s * _unstated_factor(run, recorder, of_nodes)


def _unstated_factor(
    run: PublishedRun, recorder: draws.Recorder, values: Iterable[UncertainValue]
) -> draws.Draws:
    """Factor of a time for those of the values that the profile does not state, [draw]."""
    factor = np.ones(draws.N)
    for value in values:
        if value.field not in run.machine.stated:
            factor *= recorder.unstated(value.name, SIGN[value.field])
    return factor


def _deciding(run: PublishedRun) -> list[UncertainValue]:
    """What is not known of the machine of a run, and matters to so many nodes."""
    return [
        uncertain
        for uncertain in run.machine.uncertain
        if run.nodes > 1 or uncertain.field not in BETWEEN_NODES
    ]


@dataclass(frozen=True)
class AnchoredTimes:
    """Draws of seconds per simulated second of several targets, and what they rest on."""

    kernel: Array  #: [target, draw]
    exchange: Array  #: [target, draw]
    noise: Array  #: [target, draw], a run's own scatter, a factor
    unstated: Array  #: [target, draw], for what is not stated of the network, a factor
    inputs: dict[str, draws.Draws]  #: standard normal draws by name, for draws.shares
    nearest: tuple[PublishedRun, ...]  #: of each target: the measured run that is most like it
    differs: tuple[tuple[str, ...], ...]  #: in what

    @property
    def total(self) -> Array:
        """Real-time factors, [target, draw]."""
        return (self.kernel + self.exchange) * self.noise * self.unstated


def predict(
    targets: Sequence[PublishedRun],
    own: Sequence[PublishedRun] = (),
    more: Sequence[PublishedRun] = (),
) -> AnchoredTimes:
    """Times of runs, predicted from published ones and the user's own.

    Args:
        targets: of one program, version, network and machine; any nodes.
        own: the user's measured runs.
        more: runs of the targets' version on their machine that are taken as made, with the times
            expected.

    Raises BadInput if neither the network nor the machine was ever measured with the program.

    Example:
        >>> runs = [run for run in published() if run.series == "SIM-T2"]
        >>> times = predict([runs[0].with_nodes(2)])
        >>> times.total.shape  # [run, draw]
        (1, 2048)
    """
    target = targets[0]
    program = target.program
    anchors = [run for run in (*published(), *own) if run.program == program]
    if not _linked(target, anchors):
        raise BadInput(
            f"program={program}: never measured with this network and never on"
            f" {target.machine.title}; expected a published network (a preset with full=True), or"
            " anchor=FILE with a run on one node there",
            field="program",
            code="missing",
        )
    version = target.version
    if not version:
        version = own[0].version if own else _newest(anchors)
    if more:
        more = [replace(run, version=version) for run in more]
        expected = np.median(predicted(more, anchors, spreads()).total, axis=1).tolist()
        for run, seconds in zip(more, expected, strict=True):
            anchors.append(replace(run, seconds=seconds, series="to make"))
    targets = [replace(run, version=version) for run in targets]
    return predicted(targets, anchors, spreads())


def beyond_data(run: PublishedRun, own: Sequence[PublishedRun] = ()) -> dict[str, float]:
    """How long the runs on a machine took over what the costs make of its data, by part: medians;
    {} where nobody has run the program there.

    `own`: the user's measured runs.

    Example:
        >>> runs = [run for run in published() if run.machine.name == "jureca-dc"]
        >>> sorted(beyond_data(runs[0])), beyond_data(runs[0])["kernel"] < 1
        (['exchange', 'kernel'], True)
    """
    anchors = [other for other in (*published(), *own) if other.program == run.program]
    offers, state = _inferred(anchors, spreads())
    logs = offers.expected(run)
    for key in _effects(run):
        if key.aspect not in OF_MACHINES:
            continue
        if key not in state.keys:
            return {}
        mean = state.mean[state.keys.index(key)]
        logs[PARTS.index(key.part)] += _weight(key, run, state.costs) * mean
    return dict(zip(PARTS, np.exp(logs).tolist(), strict=True))


def _linked(target: PublishedRun, runs: Iterable[PublishedRun]) -> bool:
    """Whether the network or the machine of a run is that of another."""
    links = {key for key in _effects(target) if key.aspect in LINKS}
    return any(not links.isdisjoint(_effects(run)) for run in runs)


def _newest(runs: Iterable[PublishedRun]) -> str:
    """The newest version of a program that was measured on servers: what a question without one
    means.
    """
    versions = {run.version for run in runs if not run.machine.platform}
    return max(versions, key=_version_numbers, default="")


def newest_of(program: str) -> str:
    """The newest version of a program in the published points; empty where it has none.

    Example:
        >>> newest_of("nest") > "", newest_of("no such program")
        (True, '')
    """
    return _newest(run for run in published() if run.program == program)


def _version_numbers(version: str) -> list[int]:
    """The numbers of a version, to sort by: [3, 10] of "3.10-patched"."""
    return [int(digits) for digits in re.findall(r"\d+", version.split("-")[0])]


def predicted(
    targets: Sequence[PublishedRun], anchors: Sequence[PublishedRun], spread: Spreads
) -> AnchoredTimes:
    """`predict` from exactly these anchors, without refusal. The targets are on one machine.

    On a measured machine, the median of a total is that of the model at the medians: that of a sum
    of draws with long tails would be larger, and the more so the less is known.

    Example:
        >>> runs = [run for run in published() if run.series == "SIM-T2"]
        >>> times = predicted(runs[-1:], runs[:2], spreads())
        >>> times.nearest[0].ranks
        2
    """
    if len({run.machine for run in targets}) > 1:
        raise ValueError("targets: expected on one machine")
    offers, state = _inferred(anchors, spread)
    measured = offers.measured
    absorbed = frozenset(value.name for run in anchors for value in _deciding(run))
    known = StartingPoint(anchors, offers, state, absorbed)
    recorder = draws.Recorder()
    machine = targets[0].machine
    is_measured = machine.name in {other.name for other in measured}
    if not is_measured and not machine.is_offer:
        machine = replace(machine, node_as=machine.name, network_as=machine.name)
    targets = [replace(run, machine=machine) for run in targets]
    effects = _shared_effects(targets[0], state, recorder)
    logs = _effect_draws(targets[0], effects, spread, recorder)
    kernel, exchange, noise, doubts = [], [], [], []
    nearest, differs = [], []
    for run in targets:
        near, aspects = closest(run, anchors)
        nearest.append(near)
        differs.append(aspects)
        times, middle_s = _drawn_times(run, near, logs, effects, known, recorder)
        of_run = _scatter(run, recorder)
        has_run = not offers.unknown(run).isdisjoint(state.keys)
        if is_measured or has_run:
            alike = times
            if near.machine.is_offer:  # where it was run: on all with its nodes, by one factor
                there, unused = replace(run, machine=near.machine), draws.Recorder()
                effects_there = _shared_effects(there, state, unused)
                alike, middle_s = _drawn_times(there, near, logs, effects_there, known, unused)
            times *= middle_s / np.median(alike.sum(axis=0) * of_run)
        else:
            times *= _factor_of_like_machines(run, near, logs, known)
        doubt = np.ones(draws.N)
        least_s = growth.least_exchange_s(run)
        if run.machine.is_offer:
            of_nodes, of_network = _open_values(run, absorbed)
            doubt = _unstated_factor(run, recorder, of_network)
            least_s = growth.least_exchange_s(_drawn_machine(run, recorder, absorbed))
            least_s = least_s * _unstated_factor(run, recorder, of_nodes)  # as all of its times
        kernel.append(times[0])
        exchange.append(np.maximum(times[1], least_s / of_run))
        noise.append(of_run)
        doubts.append(doubt)
    return AnchoredTimes(
        np.array(kernel),
        np.array(exchange),
        np.array(noise),
        np.array(doubts),
        recorder.inputs,
        tuple(nearest),
        tuple(differs),
    )


class StartingPoint(NamedTuple):
    """What a prediction starts from."""

    anchors: Sequence[PublishedRun]
    offers: "OfferedMachines"
    state: State  #: what the anchors say
    absorbed: frozenset[str]  #: see _drawn_machine


def _drawn_times(
    run: PublishedRun,
    near: PublishedRun,
    logs: Array,
    effects: Mapping[Key, draws.Draws],
    known: StartingPoint,
    recorder: draws.Recorder,
) -> tuple[Array, float]:
    """Draws of seconds per simulated second, [part, draw], and their sum at the medians.

    Args:
        run: what is predicted.
        near: the measured run that is most like it.
        logs: what the effects of all but the machine add, [part, draw].
        effects: those that the anchors inform.
        known: what the prediction starts from.
        recorder: of the inputs.
    """
    of_machine = _machine_draws(run, effects, known.offers, recorder)
    grown = logs + of_machine + _growth_draws(run, near, known.anchors, recorder)
    costs = known.state.costs
    part_s = parts(run, costs)[:, None]  # [part, 1]
    middle_s = float((part_s[:, 0] * np.exp(np.median(grown, axis=1))).sum())
    if run.machine.is_offer:
        part_s = _drawn_parts(run, costs, recorder, known.absorbed)
    return part_s * np.exp(grown), middle_s


def _factor_of_like_machines(
    run: PublishedRun, near: PublishedRun, logs: Array, known: StartingPoint
) -> float:
    """Factor of the times of a machine that nobody has measured.

    It is the smallest of those of machines with all data of a measured one, whose totals have the
    median of the model at the medians; the less a machine is as good as the measured one, the
    nearer it is to 1. So a better machine is not the slower one. Arguments as of `_drawn_times`.
    """
    smallest = 1.0
    for other in sorted(known.offers.measured, key=lambda machine: machine.name):
        share = _share_of_all(run, other)
        if share < SMALLEST_CHANCE:
            continue
        name = other.name
        offered = replace(
            other,
            processor=run.machine.processor,
            node_as=f"nodes of {name}",
            network_as=name,
        )
        twin = replace(run, machine=offered)
        unused = draws.Recorder()
        effects = _shared_effects(twin, known.state, unused)
        times, middle_s = _drawn_times(twin, near, logs, effects, known, unused)
        factor = middle_s / float(np.median(times.sum(axis=0) * _scatter(twin, unused)))
        smallest = min(smallest, factor**share)
    return smallest


def _share_of_all(run: PublishedRun, other: PublishedMachine) -> float:
    """How much the machine of a run is as good as a measured one, in its part that is least so: 1
    for one that is as good in everything.
    """
    if is_as_good(run.machine, other, run.nodes):
        return 1.0
    shares = [likeness(part, run.machine, other, slow=False, nodes=run.nodes)[0] for part in PARTS]
    return min(shares)


def _scatter(run: PublishedRun, recorder: draws.Recorder) -> draws.Draws:
    """Factor of the time of a single run, [draw]."""
    nodes = run.machine.node_as or run.machine.name
    scatter = _normal(recorder, "total", "scatter", f"{nodes} {run.nodes}")
    factor: draws.Draws = np.exp(np.hypot(SCATTER_SD, run.sd) * scatter)
    return factor


def _inferred(anchors: Sequence[PublishedRun], spread: Spreads) -> "tuple[OfferedMachines, State]":
    """What published runs say, and what all anchors do."""
    if spread is spreads():
        return _inferred_once(tuple(anchors))
    others = [run for run in anchors if not run.machine.is_offer]
    known = _infer(others, spread) if others else _nothing(anchors[0].program, spread)
    offers = OfferedMachines(known, frozenset(run.machine for run in others), spread)
    if len(others) == len(anchors):
        return offers, known
    return offers, _infer(anchors, spread, offers=offers)


@lru_cache(maxsize=8)
def _inferred_once(anchors: tuple[PublishedRun, ...]) -> "tuple[OfferedMachines, State]":
    """The same by the fitted spreads: all machines and options of a question share it."""
    return _inferred(anchors, replace(spreads()))


def _nothing(program: str, spread: Spreads) -> State:
    """What no run says of a program."""
    costs = spread.costs.get(program, find(program).guesses)
    return State((), np.zeros(0), np.zeros((0, 0)), costs)


def _normal(recorder: draws.Recorder, *name: str) -> draws.Draws:
    """Standard normal draws of an error of the model."""
    return recorder.normal("/".join(("error", *name)))


def _shared_effects(
    target: PublishedRun, state: State, recorder: draws.Recorder
) -> dict[Key, draws.Draws]:
    """Draws of the effects that anchors share with a run.

    They are drawn together, as their errors depend on each other. Their order is that of the
    anchors' effects, so that other targets have the same draws.
    """
    of_target = _effects(target)
    columns = np.array([n for n, key in enumerate(state.keys) if key in of_target], dtype=np.intp)
    effects = {}
    for key, drawn in _shared_draws(state, columns).items():
        effects[key] = float(state.mean[state.keys.index(key)]) + drawn
        sd = float(np.std(drawn))
        if sd > SMALLEST_LOAD:  # named by the effect that it is
            recorder.inputs["/".join(("error", *key))] = drawn / sd
    return effects


def _effect_draws(
    target: PublishedRun,
    effects: Mapping[Key, draws.Draws],
    spread: Spreads,
    recorder: draws.Recorder,
) -> Array:
    """Draws of log A and log B of a run, [part, draw], but for the effects of its machine.

    `effects`: those that the anchors share with it.
    """
    logs = np.zeros((len(PARTS), draws.N))
    for key in _effects(target):
        if key.aspect in OF_MACHINES:
            continue
        if key in effects:
            logs[PARTS.index(key.part)] += effects[key]
        else:
            sd = _sd_with_tails(*spread.of(key, target.program))
            logs[PARTS.index(key.part)] += sd * _normal(recorder, *key)
    rate = _normal(recorder, "total", "rate", target.network.name)
    logs += RATE[:, None] * target.network.rate_sd * rate
    return logs


def _sd_with_tails(sd: float, number: float) -> float:
    """The spread of an effect, wider by Student's t where few effects are known."""
    from scipy import special

    return sd * float(special.stdtrit(FREEDOM + number, 0.975)) / draws.Z95


class Doubt(NamedTuple):
    """How far off the expected effect of a machine would be if what its profile does not state were
    that of others: as log SDs towards shorter and towards longer times.
    """

    faster: float
    slower: float


@dataclass(frozen=True)
class OfferedMachines:
    """What is expected of machines of which no run is published.

    Such a machine is expected to have the effect of one with like data (likeness.py). What is left
    is an error of its nodes, in the exchange also one of its network: so two offers of the same
    nodes share what is not known of these, and a network on which little depends decides little.
    The doubt for what profiles do not state of networks is alike on all offers: of two that leave
    the same open, only what they state decides; beside one that states it, all of it counts.
    """

    known: State  #: what published runs say
    measured: frozenset[PublishedMachine]  #: the machines of these
    spread: Spreads

    def unknown(self, run: PublishedRun) -> set[Key]:
        """The effects of the machine of a run that no published run informs."""
        of_machine = {key for key in _effects(run) if key.aspect in OF_MACHINES}
        return of_machine.difference(self.known.keys)

    def sd(self, key: Key, run: PublishedRun) -> float:
        """Log SD of an effect of the machine of a run, beside its doubt."""
        sd, _ = self.spread.of(key, run.program)
        return sd * self._wider(key, run)

    def doubt(self, key: Key, run: PublishedRun) -> "Doubt":
        """Log SDs of an effect for what the profile of the machine does not state."""
        _, doubt = _expected(key, run, self.measured, self.known)
        wider = self._wider(key, run)
        return Doubt(wider * doubt.faster, wider * doubt.slower)

    def _wider(self, key: Key, run: PublishedRun) -> float:
        """Factor of both: the less is stated and the fewer effects are known, the wider."""
        _, number = self.spread.of(key, run.program)
        return _sd_with_tails(unstated(key.part, run.machine, run.nodes), number)

    def sds(self, runs: Iterable[PublishedRun]) -> dict[Key, float]:
        """The same of all effects of the machines of runs that no published run informs."""
        sds: dict[Key, float] = {}
        for run in runs:
            for key in self.unknown(run):
                sd = float(np.hypot(self.sd(key, run), max(self.doubt(key, run))))
                sds[key] = max(sds.get(key, 0.0), sd)
        return sds

    def expected(self, run: PublishedRun) -> Array:
        """What a machine like others is expected to add to log A and log B of a run, [part]."""
        logs = np.zeros(len(PARTS))
        for part, aspect in {(key.part, key.aspect) for key in self.unknown(run)}:
            expected, _ = _expected(Key(part, aspect, ""), run, self.measured, self.known)
            logs[PARTS.index(part)] += expected
        return logs


def _machine_draws(
    run: PublishedRun,
    effects: Mapping[Key, draws.Draws],
    offers: OfferedMachines,
    recorder: draws.Recorder,
) -> Array:
    """Draws of what the machine of a run adds to log A and log B, [part, draw].

    `effects`: those that anchors inform.
    """
    logs = np.zeros((len(PARTS), draws.N))
    for key in _effects(run):
        if key.aspect not in OF_MACHINES:
            continue
        weight = _weight(key, run, offers.known.costs)
        if not weight:
            continue
        if key in effects:
            drawn = effects[key]
        else:
            named = key
            if key.part == "kernel":  # two of one processor may differ in unknown caches
                named = key._replace(name=run.machine.node_as)
            drawn = offers.sd(key, run) * _normal(recorder, *named)
            doubt = offers.doubt(key, run)
            if any(doubt):
                normal = _normal(recorder, *_left_open(key, run))
                drawn = drawn + normal * np.where(normal < 0, doubt.faster, doubt.slower)
        logs[PARTS.index(key.part)] += weight * drawn
    return logs + offers.expected(run)[:, None]


def _left_open(key: Key, run: PublishedRun) -> Key:
    """The name of the doubt about an effect: that about networks is the same on all offers."""
    whose = run.machine.node_as
    if key.name == NETWORK_OF.format(run.machine.network_as):
        whose = "networks"
    return key._replace(name=LEFT_OPEN.format(whose))


def _share_of_network(run: PublishedRun, costs: Array) -> float:
    """Share of the exchange that messages between nodes would take on a usual network."""
    if run.nodes == 1:
        return 0.0
    usual = {name: getattr(PublishedMachine, name) for name in BETTER["exchange"]}
    counts = terms(replace(run, machine=replace(run.machine, **usual)))
    seconds = counts * np.exp(costs)
    of_exchange = [cost.part == "exchange" for cost in find(run.program).costs]
    on_network = [cost.part == "exchange" and not cost.phase for cost in find(run.program).costs]
    return float(seconds[on_network].sum() / seconds[of_exchange].sum())


def _shared_draws(state: State, columns: NDArray[np.intp]) -> dict[Key, draws.Draws]:
    """Draws of what is left to know of some effects, by their keys.

    `columns`: of the effects. All are made of the same independent numbers, one for each effect.
    """
    root = np.linalg.cholesky(state.covariance)[columns]  # [effect, number]
    root[abs(root) <= SMALLEST_LOAD] = 0  # each by itself: it is the same beside other effects
    numbers = np.flatnonzero(root.any(axis=0))
    drawn = np.zeros((len(columns), draws.N))
    for number in numbers.tolist():
        name = "/".join(("error", *state.keys[number]))
        drawn += root[:, number, None] * draws.normal(name)
    return {state.keys[column]: row for column, row in zip(columns.tolist(), drawn, strict=True)}


def _expected(
    key: Key, run: PublishedRun, measured: Iterable[PublishedMachine], state: State
) -> tuple[float, Doubt]:
    """Expectation of the effect of the machine of a run, from those of machines with like data
    (likeness.py); and the doubt about it.

    Of faster machines that it is as good as, the fastest counts; of slower ones that it is no
    better than, the slowest: then better data never make it slower. Nor is it slower than a machine
    that it is as good as in everything, or faster than one that it is nowhere better than: one with
    the same data has the same effect.
    """
    faster, slower = 0.0, 0.0
    doubt_faster, doubt_slower = 0.0, 0.0
    least, most = -math.inf, math.inf
    machine = run.machine
    of_possible_twins = []
    for other in measured:
        other_key = key._replace(name=_machine_by_part(other)[key.part][0])
        if other_key not in state.keys:
            continue
        mean = float(state.mean[state.keys.index(other_key)])
        share, in_doubt = likeness(key.part, machine, other, slow=mean > 0, nodes=run.nodes)
        faster = min(faster, share * mean)
        slower = max(slower, share * mean)
        doubt_faster = max(doubt_faster, in_doubt * -mean)
        doubt_slower = max(doubt_slower, in_doubt * mean)
        if is_as_good(machine, other, run.nodes):
            most = min(most, mean)
        if is_as_good(other, machine, run.nodes):
            least = max(least, mean)
        if may_be(machine, other, run.nodes):
            of_possible_twins.append(mean)
    expected = float(np.clip(faster + slower, min(least, most), max(least, most)))
    if least >= most:  # the same data as one, or as several that differ in what data do not say
        return expected, Doubt((least - most) / 2, (least - most) / 2)
    doubt_faster = max([doubt_faster, *(expected - mean for mean in of_possible_twins)])
    doubt_slower = max([doubt_slower, *(mean - expected for mean in of_possible_twins)])
    return expected, Doubt(doubt_faster, doubt_slower)


def _growth_draws(
    run: PublishedRun,
    near: PublishedRun,
    anchors: Sequence[PublishedRun],
    recorder: draws.Recorder,
) -> Array:
    """Draws of what growth adds to the logarithms of a run with more or fewer cores than the runs
    like it, [part, draw] or [part, 1].

    `near`: the measured run that is most like it.
    """
    cores = [
        anchor.cores
        for anchor in anchors
        if anchor.series == near.series
        or anchor.network.model == near.network.model
        or anchor.machine.name == run.machine.name
    ]
    logs = np.log(cores)
    distance = max(logs.min() - np.log(run.cores), np.log(run.cores) - logs.max())
    if distance <= 0:
        return np.zeros((len(PARTS), 1))
    growth_sd = GROWTH_SD if run.program in PROGRAMS else OTHER_GROWTH_SD
    rows = [
        distance * sd * _normal(recorder, part, "growth", run.network.model)
        for part, sd in zip(PARTS, growth_sd, strict=True)
    ]
    return np.array(rows)


#: How far an effect that differs takes a measured run from the target.
DISTANCE = {"machine": 4, "platform": 4, "network": 4, "variant": 2, "version": 1, "program": 9}


def closest(
    target: PublishedRun, anchors: Iterable[PublishedRun]
) -> tuple[PublishedRun, tuple[str, ...]]:
    """The measured run that shares most effects with the target, then the nearest number of cores;
    and in what they differ: aspects, nodes, layout.

    Example:
        >>> from spikemark.prediction import points
        >>> nest = [run for run in points.published() if run.program == "nest"]
        >>> closest(nest[0], nest)[0] == nest[0]
        True
    """

    of_target = _effects(target)
    cores = target.cores

    def distance(run: PublishedRun) -> tuple[float, float, float]:
        by_effects = sum(DISTANCE[aspect] for aspect in _aspects_apart(of_target, run))
        return by_effects, abs(np.log(run.cores / cores)), run.sd

    near = min(anchors, key=distance)
    apart = set(_aspects_apart(of_target, near)) - {"platform"}
    if "network" in apart:
        apart.discard("variant")
    differs = [aspect for aspect in ASPECTS if aspect in apart]
    if near.nodes != target.nodes:
        differs.append("nodes")
    same_ranks = near.ranks / near.nodes == target.ranks / target.nodes
    if not same_ranks or near.threads != target.threads:
        differs.append("layout")
    return near, tuple(differs)


def _aspects_apart(of_target: tuple[Key, ...], run: PublishedRun) -> list[str]:
    """The aspects of the effects that act on a target and not on another run."""
    of_run = _effects(run)
    return [key.aspect for key in of_target if key not in of_run]


EM_STEPS = 25


class OtherGuess(NamedTuple):
    """Another first guess of a cost than that of its program."""

    program: str
    cost: str
    factor: float  #: to the guess of the program


@cache
def fit_spreads(runs: tuple[PublishedRun, ...], other: OtherGuess | None = None) -> Spreads:
    """Costs and spreads from runs, by expectation maximisation; a guess counts as GUESS_WEIGHT
    effects.

    Args:
        runs: measured ones, of any programs.
        other: a cost that begins from another guess.

    Example:
        >>> runs = tuple(run for run in published() if run.program == "dpsnn")
        >>> fitted = fit_spreads(runs)
        >>> sorted(fitted.costs)
        ['dpsnn']
    """
    spread = Spreads()
    evidence = {}
    states: dict[str, State] = {}
    for program in sorted({run.program for run in runs}):
        group = _connected([run for run in runs if run.program == program])
        guesses = _guessed_costs(program, other)
        evidence[program] = _evidence(group, guesses)
        keys, times = evidence[program]
        begin = _start(program, keys, guesses, times)
        effects = len(keys)
        states[program] = State(keys, begin[:effects], np.zeros((effects, effects)), guesses)
    for _ in range(EM_STEPS):
        for program, (keys, times) in evidence.items():
            prior = _prior(program, keys, _guessed_costs(program, other), spread, {})
            begin = np.append(states[program].mean, states[program].costs)
            posterior = inference.posterior(times, prior, begin, free=len(begin))
            states[program] = _state(keys, posterior)
        by_key = {}
        for key, moments in _moments(states).items():
            by_key[key] = _spread_of(moments, GUESS[key.aspect], key, spread)
        costs = {program: state.costs for program, state in states.items()}
        spread = Spreads(by_key, costs)
    return spread


def _evidence(
    runs: Sequence[PublishedRun], costs: Array
) -> tuple[list[Key], inference.MeasuredTimes]:
    """The effects of runs, and their times. Raises ValueError for a run on an offer: how much its
    effects act would follow the costs, which are not known yet.
    """
    on_offers = [run.machine.title for run in runs if run.machine.is_offer]
    if on_offers:
        raise ValueError(f"{on_offers[0]}: costs are learnt from machines with published runs")
    keys = _keys_in_order(runs)
    return keys, _measured_times(runs, keys, costs, offers=None)


class Moment(NamedTuple):
    """What a state says of an effect."""

    square: float  #: expectation of its square
    variance: float


def _moments(states: dict[str, State]) -> dict[Key, list[Moment]]:
    """The moments of all effects but those of programs, by the key of their spread."""
    moments: dict[Key, list[Moment]] = {}
    for program, state in states.items():
        variances = np.diag(state.covariance)
        for key, mean, variance in zip(state.keys, state.mean, variances, strict=True):
            if key.aspect != "program":
                moment = Moment(mean**2 + variance, variance)
                moments.setdefault(_pooled(key, program), []).append(moment)
    return moments


def _spread_of(
    moments: list[Moment], guesses: tuple[float, float], key: Key, spread: Spreads
) -> tuple[float, float]:
    """Log SD of effects, and how many of them are known, from their moments."""
    guess = guesses[PARTS.index(key.part)]
    previous, _ = spread.of(key, key.name)
    squares = sum(moment.square for moment in moments)
    sd = np.sqrt((GUESS_WEIGHT * guess**2 + squares) / (GUESS_WEIGHT + len(moments)))
    number = sum(max(1 - moment.variance / previous**2, 0.0) for moment in moments)
    return float(sd), float(number)


def _connected(runs: Sequence[PublishedRun]) -> list[PublishedRun]:
    """The largest set of runs linked by a network or a machine; the others say nothing about
    spreads.
    """
    from scipy.sparse import csgraph

    links = [key for key in _keys_in_order(runs) if key.aspect in LINKS]
    shares = _acting(runs, links, np.zeros(0)).sum(axis=0)  # [run, key]
    steps = csgraph.shortest_path(shares @ shares.T > 0, unweighted=True)  # inf if not linked
    linked = np.isfinite(steps)
    from_first = steps[linked.sum(axis=1).argmax()]
    order = np.argsort(from_first, kind="stable")
    return [runs[number] for number in order if np.isfinite(from_first[number])]
