"""Cycles of a network without a simulator: computing by a program's costs, waiting by jitter.

One rank on each node computes for as long as its kernels take (prediction/programs.py), times the
factors that a jitter draws (models/jitter.py). Where all ranks meet, each waits for the slowest.
Exchanges take what the model of MPI_Alltoall says. Of NEST only delivery and update are taken,
since its fitted costs of exchanges hold the waiting as well. `NestCosts` are those costs alone: for
machines that NEST was never timed on, and to see what each of the public series decides.
"""

import copy
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from spikemark.machines import Node, Profile
from spikemark.machines.values import Values
from spikemark.models import statistics
from spikemark.models.exchange_times import WORD_BYTES
from spikemark.models.jitter import Jitter, Noise
from spikemark.models.loggp import Traffic
from spikemark.network.presets import mam, mam_benchmark
from spikemark.prediction import (
    effects,
    evidence,
    performance,
    points,
    program_costs,
    question,
    spread_fit,
)
from spikemark.prediction.draws import Z95
from spikemark.prediction.layout import AnyMachine, MachineLayout
from spikemark.prediction.programs import ProductionProgram, Program, program_named
from spikemark.prediction.question import Question
from spikemark.prediction.workload import Loads

from .claims import FARTHEST_FACTOR
from .profiles import assumed_profile, interconnect_of, profile_value
from .score import source_of

MINI_APP, NEST = "mini-app", "nest"
JURECA = "jureca-dc"
#: Phases in which a core computes, by program.
PHASES = {MINI_APP: ("deliver", "update", "thread_wait", "collocate"), NEST: ("deliver", "update")}
#: Series of NEST in which authors of Lober et al. had a part: Albers et al. 2022 (beNNch), those of
#: Kunkel's group (compneuronmbu), and the benchmark pages of the project that they belong to.
SOURCES_OF_AUTHORS = (
    "INM-6/beNNch README figure",
    "INM-6/beNNch-plot@01592e8 examples/multi-area-model",
    "NEST 3.8 benchmark page",
    "NEST 3.9 benchmark page",
    "compneuronmbu benchmarks",
)
DRAWN_CYCLES = 2000  #: of each rank
#: Has all parts of a jitter, so that its random numbers suffice for any other.
COMPLETE = Jitter(cv=0.1, minor_share=0.01, common_share=0.1, spell_share=0.01)


@dataclass(frozen=True)
class NestCosts(ProductionProgram):
    """NEST's costs without the effects of versions, networks and machines.

    So seconds mean nothing, but ratios of computing times do, on any machine.
    """

    name: str = NEST
    without: tuple[str, ...] = ()  #: sources of public series that the costs are fitted without
    off: str = ""  #: a cost whose first guess is taken to be off
    factor: float = 1.0  #: by how many times
    scaled: str = ""  #: a cost that is multiplied after the fit, which cannot pull it back
    scale: float = 1.0  #: by how many times

    def cost_s(self, name: str, values: Values, node: Node) -> float:
        """Seconds of a cost at the reference clock."""
        names = [cost.name for cost in program_costs.NEST.costs]
        costs = _fitted_costs(self.without, self.off, self.factor)
        scale = self.scale if name == self.scaled else 1.0
        return scale * float(np.exp(costs[names.index(name)]))

    def factors(
        self, network: Question, loads: Loads, machine: AnyMachine, layout: MachineLayout
    ) -> dict[str, float]:
        """One for each phase."""
        return dict.fromkeys(performance.COMPUTE, 1.0)


@cache
def _fitted_costs(without: tuple[str, ...], off: str, factor: float) -> np.ndarray:
    """Log costs of NEST, fitted without the runs of some sources, or with another first guess.

    The usual ones where neither is named.
    """
    if not without and not off:
        return effects.spreads().costs[NEST]
    runs = tuple(run for run in points.published() if source_of(run) not in without)
    other_guess = spread_fit.OtherGuess(NEST, off, factor) if off else None
    return spread_fit.fit_spreads(runs, other_guess).costs[NEST]


@cache
def refitted() -> list[NestCosts]:
    """NEST's costs by other fits: without each of the sources of its public series in turn, without
    all SOURCES_OF_AUTHORS at once, and with the first guess of each cost of computing at either end
    of its 95 % interval.

    The series hardly decide some of the costs, so that the fit stays near the first guess of them.

    Example:
        >>> costs = refitted()
        >>> len(set(costs)) == len(costs) > 1
        True
    """
    sources = {source_of(run) for run in points.published() if run.program == NEST}
    costs = [NestCosts(without=(source,)) for source in sorted(sources)]
    costs.append(NestCosts(without=SOURCES_OF_AUTHORS))
    largest = float(np.exp(Z95 * evidence.COST_SD))
    for cost in program_costs.NEST.costs:
        if cost.phase in PHASES[NEST]:
            costs += [NestCosts(off=cost.name, factor=factor) for factor in (1 / largest, largest)]
    return costs


@cache
def far_off() -> list[NestCosts]:
    """NEST's costs with each cost of computing, one at a time, ten to FARTHEST_FACTOR times less or
    more than the fit has it.

    What no such cost changes says nothing of NEST, but of the model. All of them at once change no
    ratio of times.

    Example:
        >>> sorted({costs.scale for costs in far_off()})
        [0.001, 0.01, 0.1, 10.0, 100.0, 1000.0]
    """
    decades = range(1, round(np.log10(FARTHEST_FACTOR)) + 1)
    scales = [10.0**decade for decade in decades]
    scales += [10.0**-decade for decade in decades]
    costs = []
    for cost in program_costs.NEST.costs:
        if cost.phase in PHASES[NEST]:
            costs += [NestCosts(scaled=cost.name, scale=scale) for scale in scales]
    return costs


@dataclass(frozen=True, eq=False)
class ModelledCycles:
    """A network on a machine under a schedule, as means over cycles."""

    phases_s: dict[str, np.ndarray]  #: computing of each rank in a cycle, by phase, [rank]
    exchange_s: float  #: moving the data, in a cycle
    window: int  #: cycles from one meeting of all ranks to the next

    @property
    def compute_s(self) -> np.ndarray:
        """Computing of each rank in a cycle, [rank]."""
        seconds: np.ndarray = np.sum(list(self.phases_s.values()), axis=0)
        return seconds

    def windows_s(self, factors: np.ndarray) -> np.ndarray:
        """Computing between two meetings, [rank, window], for factors of cycles [rank, cycle]."""
        return statistics.lump(self.compute_s[:, None] * factors, self.window)

    def waiting_s(self, factors: np.ndarray) -> float:
        """Waiting of the mean rank in a cycle."""
        windows_s = self.windows_s(factors)
        waiting_s = windows_s.max(axis=0) - windows_s.mean(axis=0)
        return float(waiting_s.mean() / self.window)

    def cycle_s(self, factors: np.ndarray) -> float:
        """What a cycle takes: computing of the mean rank, waiting, and the exchange."""
        return float(self.compute_s.mean()) + self.waiting_s(factors) + self.exchange_s


@dataclass(frozen=True, eq=False)
class PlacedNetwork:
    """A network on nodes of a machine, one rank on each, as programs are asked about it."""

    network: Question
    machine: str  #: of machines/
    profile: Profile
    layout: MachineLayout
    loads: Loads

    @classmethod
    def on(cls, machine: str, network: Question, ranks: int, schedule: str) -> "PlacedNetwork":
        """A network on so many nodes. Raises BadInput where it cannot be run there."""
        profile = assumed_profile(machine)
        cores = round(profile_value(machine, "node.cores"))
        loads = Loads.count(network.description, ranks, cores, network.rates.hz, schedule)
        layout = MachineLayout.from_machine(profile, ranks, cores)
        return cls(network, machine, profile, layout, loads)

    def cycles(self, program: str | Program) -> ModelledCycles:
        """What a program makes of it. Raises BadInput where it cannot be predicted there."""
        if isinstance(program, str):
            program = program_named(program)
        seconds = program.times(self.network, self.loads, self.profile, self.layout)
        phases = PHASES[NEST if isinstance(program, ProductionProgram) else MINI_APP]
        phases_s = {name: seconds[name] for name in phases}
        period = self.loads.lanes[-1].period
        return ModelledCycles(phases_s, self._exchange_s(period), period)

    def _exchange_s(self, period: int) -> float:
        """An exchange of all ranks every so many cycles, per cycle."""
        ranks = self.loads.ranks
        others = 1.0 - np.eye(ranks)
        words = float((self.loads.words[-1] * others).sum() / others.sum())  # to each in a cycle
        traffic = Traffic(WORD_BYTES * words * period * others, others, np.arange(ranks))
        return float(interconnect_of(self.machine, ranks).alltoall(traffic) / period)


@cache
def of_benchmark(
    program: str | Program, ranks: int, schedule: str, **options: object
) -> ModelledCycles:
    """The MAM-benchmark at its published size, with an area on each node of JURECA-DC.

    `options`: of the preset, such as the spread of sizes.

    Example:
        >>> cycles = of_benchmark(MINI_APP, ranks=4, schedule="conventional")
        >>> list(cycles.phases_s), cycles.compute_s.shape
        (['deliver', 'update', 'thread_wait', 'collocate'], (4,))
    """
    return _placed_benchmark(ranks, schedule, **options).cycles(program)


@lru_cache(maxsize=16)
def _placed_benchmark(ranks: int, schedule: str, **options: object) -> PlacedNetwork:
    """The MAM-benchmark; counting its loads takes longer than asking a program."""
    description = mam_benchmark.describe(full=True, areas=ranks, **options)
    network = question.of_description("the MAM-benchmark", description)
    return PlacedNetwork.on(JURECA, network, ranks, schedule)


@cache
def delivery_by_lane(costs: NestCosts, ranks: int) -> np.ndarray:
    """Delivery of the MAM-benchmark, structure-aware, of spikes from the own area and from others.

    In a unit that means nothing, [2]. Half of the synaptic events are of either kind; the lists of
    synapses that they enter are counted.

    Example:
        >>> of_own_area, of_others = delivery_by_lane(NestCosts(), ranks=4)
        >>> of_others > of_own_area  # lists of synapses are shorter there
        np.True_
    """
    placed = _placed_benchmark(ranks, "structure_aware")
    values, node = Values(placed.profile), placed.layout.shares[0].node
    seconds = {}
    for name, count in costs.counts(placed.network, placed.loads, values, node)["deliver"].items():
        seconds[name] = float(count.mean()) * costs.cost_s(name, values, node)
    lists = placed.loads.of_rank(placed.loads.lists).mean(axis=1)  # [lane]: own area, others
    of_lists = seconds.pop("list of synapses") * lists / lists.sum()
    by_lane: np.ndarray = of_lists + sum(seconds.values()) / 2
    return by_lane


@cache
def of_multi_area_model(
    program: str | Program, machine: str, schedule: str, between: float | None = None
) -> ModelledCycles:
    """The multi-area model in its ground state, with an area on each node.

    `between`: the share of its synapses that connect areas, in place of that of the public data.
    """
    return _placed_model(machine, schedule, between).cycles(program)


def lists_of_multi_area_model(
    machine: str, schedule: str, between: float | None = None, seed: int = 1
) -> float:
    """Lists of synapses that spikes of the multi-area model enter in a cycle, on all threads.

    The first synapse of a list is the one that is not accessed in order. `between`: as above.
    """
    loads = _placed_model(machine, schedule, between, seed).loads
    return float(loads.of_rank(loads.lists).sum())


@lru_cache(maxsize=8)
def _placed_model(
    machine: str, schedule: str, between: float | None, seed: int = 1
) -> PlacedNetwork:
    """The multi-area model; counting its loads takes seconds, asking a program does not."""
    description = mam.describe(scale=1, seed=seed)
    if between is not None:
        description = _connected(description, between)
    network = question.of_description("the multi-area model", description, mam.rates_hz(seed))
    return PlacedNetwork.on(machine, network, mam.AREAS, schedule)


def _connected(description: dict[str, Any], between: float) -> dict[str, Any]:
    """A network with as many synapses, of which a share connects areas."""
    changed = copy.deepcopy(description)
    populations = {part["name"]: part for part in changed["network"]["populations"]}
    means: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    synapses = {False: 0.0, True: 0.0}  # by whether they connect areas
    for projection in changed["network"]["projections"]:
        target = populations[projection["target"]]
        areas = {populations[name]["area"] for name in projection["source"]}
        connects_areas = areas != {target["area"]}
        means[connects_areas].append(projection["indegree"])
        synapses[connects_areas] += target["size"] * projection["indegree"]["mean"]
    total = sum(synapses.values())
    for connects_areas, share in ((True, between), (False, 1 - between)):
        for indegree in means[connects_areas]:
            indegree["mean"] *= share * total / synapses[connects_areas]
    return changed


def factors_of(jitter: Jitter, ranks: int) -> np.ndarray:
    """Times of cycles over the mean of all ranks, [rank, cycle]; nodes differ, too.

    All jitters have the same random numbers, so that they can be compared.

    Example:
        >>> factors = factors_of(COMPLETE, ranks=4)
        >>> factors.shape, round(float(factors.mean()), 1)
        ((4, 2000), 1.0)
    """
    noise, nodes = _noise(ranks)
    factors: np.ndarray = jitter.level(nodes)[:, None] * jitter.times(noise)
    return factors


@lru_cache(maxsize=4)
def _noise(ranks: int) -> tuple[Noise, np.ndarray]:
    """Random numbers of all cycles, and of the nodes."""
    own, shared, nodes = (np.random.default_rng(seed) for seed in (1, 2, 3))
    return COMPLETE.noise(own, shared, ranks, DRAWN_CYCLES), nodes.standard_normal(ranks)


def coefficient_of_variation(values: np.ndarray) -> float:
    """SD over mean of all values.

    Example:
        >>> round(coefficient_of_variation(np.array([0.9, 1.0, 1.1])), 3)
        0.1
    """
    return float(values.std(ddof=1) / values.mean())


def maxima_inside_percent(times: np.ndarray) -> float:
    """Share of cycles whose slowest rank lies in the interval that eq. 12 gives for 95 %.

    Args:
        times: computing, [rank, cycle].

    Example:
        >>> independent = np.random.default_rng(1).normal(1.0, 0.1, size=(16, 2000))
        >>> round(maxima_inside_percent(independent))  # as eq. 12 says
        95
    """
    least = np.quantile(times, (1 - 0.95) ** (1 / len(times)))
    return float(100 * (times.max(axis=0) >= least).mean())
