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

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spikemark.core.errors import BadInput
from spikemark.quantities.words import listed

from . import draws, growth
from .effects import (
    LEFT_OPEN,
    LINKS,
    NETWORK_OF,
    OF_MACHINES,
    Array,
    Key,
    Spreads,
    State,
    closest,
    effects_of,
    sd_with_tails,
    spreads,
    weight_of,
)
from .evidence import infer
from .growth import terms
from .likeness import BETWEEN_NODES, SIGN, is_as_good, likeness
from .offered_machines import OfferedMachines
from .points import PublishedRun, presets_of, published
from .program_costs import PARTS, PROGRAMS, find
from .published_machine import PublishedMachine, UncertainValue

SMALLEST_LOAD = 1e-3  #: of a draw on a part, in log SD; smaller ones do not count
SMALLEST_CHANCE = 0.1  #: of being as good as a measured machine; less does not count
SCATTER_SD = 0.05  #: smallest log SD between two runs of one configuration
#: log SD for a factor e more or less in cores than the anchor has, by part.
GROWTH_SD = np.array([0.05, 0.35])
OTHER_GROWTH_SD = np.array([0.2, 0.35])  #: the same of programs without costs
RATE = np.array([0.6, 1.0])  #: growth of the parts with the rate


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
    """Seconds of the parts (`parts`) with draws of what is not known of the machine, [part, draw].

    `absorbed`: see `_drawn_machine`.
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
        presets = presets_of({run.network.model for run in anchors})
        published_networks = ""
        if presets:
            published_networks = f"a published network (full=True of {listed(presets)}), or "
        raise BadInput(
            f"program={program}: never measured with this network and never on"
            f" {target.machine.title}; expected {published_networks}anchor=FILE"
            " with a run on one node there",
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
    for key in effects_of(run):
        if key.aspect not in OF_MACHINES:
            continue
        if key not in state.keys:
            return {}
        mean = state.mean[state.keys.index(key)]
        logs[PARTS.index(key.part)] += weight_of(key, run, state.costs) * mean
    return dict(zip(PARTS, np.exp(logs).tolist(), strict=True))


def _linked(target: PublishedRun, runs: Iterable[PublishedRun]) -> bool:
    """Whether the network or the machine of a run is that of another."""
    links = {key for key in effects_of(target) if key.aspect in LINKS}
    return any(not links.isdisjoint(effects_of(run)) for run in runs)


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
    offers: OfferedMachines
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
    grown = logs + of_machine + _growth_draws(run, near, known, recorder)
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


def _inferred(anchors: Sequence[PublishedRun], spread: Spreads) -> tuple[OfferedMachines, State]:
    """What published runs say, and what all anchors do."""
    if spread is spreads():
        return _inferred_once(tuple(anchors))
    others = [run for run in anchors if not run.machine.is_offer]
    known = infer(others, spread) if others else _nothing(anchors[0].program, spread)
    offers = OfferedMachines(known, frozenset(run.machine for run in others), spread)
    if len(others) == len(anchors):
        return offers, known
    return offers, infer(anchors, spread, offers=offers)


@lru_cache(maxsize=8)
def _inferred_once(anchors: tuple[PublishedRun, ...]) -> tuple[OfferedMachines, State]:
    """The same by the fitted spreads, once for all machines and options of a question."""
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
    of_target = effects_of(target)
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
    for key in effects_of(target):
        if key.aspect in OF_MACHINES:
            continue
        if key in effects:
            logs[PARTS.index(key.part)] += effects[key]
        else:
            sd = sd_with_tails(*spread.of(key, target.program))
            logs[PARTS.index(key.part)] += sd * _normal(recorder, *key)
    rate = _normal(recorder, "total", "rate", target.network.name)
    logs += RATE[:, None] * target.network.rate_sd * rate
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
    for key in effects_of(run):
        if key.aspect not in OF_MACHINES:
            continue
        weight = weight_of(key, run, offers.known.costs)
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


def _growth_draws(
    run: PublishedRun, near: PublishedRun, known: StartingPoint, recorder: draws.Recorder
) -> Array:
    """Draws of what growth adds to the logarithms of a run with more or fewer cores than the runs
    like it, [part, draw] or [part, 1].

    The less alike in cores, the less is known of the growth; but a small run of a network never
    says less than none would: then its effect and that of the machine had their whole spreads, and
    runs of other networks would tell how times grow.

    `near`: the measured run that is most like it.
    """
    like_it = [
        anchor
        for anchor in known.anchors
        if anchor.series == near.series
        or anchor.network.model == near.network.model
        or anchor.machine.name == run.machine.name
    ]
    distance = _distance_in_cores(run, like_it)
    if distance == 0:
        return np.zeros((len(PARTS), 1))
    distance_of_all = _distance_in_cores(run, known.anchors)
    growth_sd = GROWTH_SD if run.program in PROGRAMS else OTHER_GROWTH_SD
    rows = []
    for part, sd in zip(PARTS, growth_sd, strict=True):
        as_unknown = [distance_of_all * sd]
        for aspect in ("machine", "network"):
            as_unknown.append(
                sd_with_tails(*known.offers.spread.of(Key(part, aspect, ""), run.program))
            )
        sd_of_growth = min(distance * sd, float(np.linalg.norm(as_unknown)))
        rows.append(sd_of_growth * _normal(recorder, part, "growth", run.network.model))
    return np.array(rows)


def _distance_in_cores(run: PublishedRun, others: Iterable[PublishedRun]) -> float:
    """How far the cores of a run lie outside those of others: the logarithm of a ratio."""
    logs = np.log([other.cores for other in others])
    here = np.log(run.cores)
    return float(max(0.0, logs.min() - here, here - logs.max()))
