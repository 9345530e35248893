"""Spikes, with the populations and the recorded time that are needed to interpret them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, unknown_name
from spikemark.network import placement
from spikemark.network.description import Population, read_description

from .record import Run

#: Label -> names of the populations that are looked at as one; none is in two groups.
Groups = dict[str, list[str]]


@dataclass(frozen=True)
class Recording:
    """All spikes of the measured part of a run."""

    spikes: np.ndarray  #: uint32 [spike, (gid, step)], sorted by step; step 0 begins the warm-up
    populations: list[Population]  #: in the order of gids
    resolution_ms: float  #: one step
    first_step: int  #: of the measured part
    steps: int  #: of the measured part

    @property
    def seconds(self) -> float:
        """The simulated time that was recorded, s."""
        return 1e-3 * self.resolution_ms * self.steps

    @property
    def gids(self) -> np.ndarray:
        """[spike], the neuron that fired."""
        return self.spikes[:, 0]

    @cached_property
    def steps_since_start(self) -> np.ndarray:
        """[spike], int64, steps since the start of the measured part."""
        return self.spikes[:, 1].astype(np.int64) - self.first_step

    def groups_of_spikes(self, groups: Groups) -> np.ndarray:
        """[spike], int64, the number of the group that holds the neuron, or -1 for none.

        Raises BadInput for a population that does not exist.
        """
        names = [population.name for population in self.populations]
        group_of_population: dict[str, int] = {}
        for number, members_of_group in enumerate(groups.values()):
            for name in members_of_group:
                if name not in names:
                    raise unknown_name("population", name, names)
                group_of_population[name] = number
        group_numbers = np.array([group_of_population.get(name, -1) for name in names], np.int64)
        sizes = [population.size for population in self.populations]
        group_of_spike: np.ndarray = np.repeat(group_numbers, sizes)[self.gids]
        return group_of_spike

    def sizes(self, groups: Groups) -> np.ndarray:
        """[group], the number of neurons."""
        size_of = {population.name: population.size for population in self.populations}
        sizes = []
        for members_of_group in groups.values():
            sizes.append(sum(size_of[name] for name in members_of_group))
        return np.array(sizes, dtype=np.int64)


def recording(description: dict[str, Any], spikes: np.ndarray) -> Recording:
    """The spikes, uint32 [spike, (gid, step)], of a run with this description.

    Raises BadInput for a spike of a neuron or at a step that the description does not have.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> network = mam_benchmark.describe(areas=1)
        >>> spikes = np.array([[0, 1003], [7, 1005]], dtype=np.uint32)  # (gid, step)
        >>> recording(network, spikes).steps_since_start.tolist()  # its warm-up takes 1000 steps
        [3, 5]
    """
    described = read_description(description)
    time = described.time
    first_step = time.warmup_cycles * time.cycle_steps
    steps = time.cycles * time.cycle_steps
    _check_range("gid", spikes[:, 0], 0, described.neurons)
    _check_range("step", spikes[:, 1], first_step, first_step + steps)
    return Recording(spikes, described.network.populations, time.resolution_ms, first_step, steps)


def _check_range(name: str, values: np.ndarray, first: int, end: int) -> None:
    """Raises BadInput for values of spikes that are not from `first` to below `end`."""
    if len(values) and not first <= values.min() <= values.max() < end:
        raise BadInput(
            f"spikes: {name} {values.min()} to {values.max()}; the description has {first} to"
            f" {end - 1}",
            field="spikes",
            code="range",
        )


def recording_of(run: Run) -> Recording:
    """The recording of a run. Raises BadInput for a run that recorded no spikes.

    Example:
        >>> from spikemark.records.record import load_run
        >>> recording_of(load_run("tests/golden/analysis/records/aware-4"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: tests/golden/analysis/records/aware-4: no spikes.npy ...
    """
    if run.spikes is None:
        raise BadInput(
            "no spikes.npy (record.spikes was false); run again with record.spikes=true",
            field="record.spikes",
            file=run.path,
            code="missing",
        )
    return recording(run.record.description, np.asarray(run.spikes))


def by_population(recording: Recording) -> Groups:
    """A group for each population that has neurons.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> spikes = np.array([[0, 1003], [7, 1005]], dtype=np.uint32)  # (gid, step)
        >>> by_population(recording(mam_benchmark.describe(areas=2), spikes))
        {'area0': ['area0'], 'area1': ['area1']}
    """
    return {
        population.name: [population.name]
        for population in recording.populations
        if population.size
    }


def by_area(recording: Recording) -> Groups:
    """A group for each area that has neurons, with all of its populations.

    Example:
        >>> from spikemark.network.presets import microcircuit
        >>> spikes = np.array([[0, 5003], [7, 5005]], dtype=np.uint32)  # (gid, step)
        >>> groups = by_area(recording(microcircuit.describe(), spikes))
        >>> {area: len(populations) for area, populations in groups.items()}
        {'column': 8}
    """
    groups: Groups = {}
    for population in recording.populations:
        if population.size:
            groups[population.area] = []
    for population in recording.populations:
        if population.area in groups:
            groups[population.area].append(population.name)
    return groups


def rates_hz(recording: Recording, groups: Groups | None = None) -> dict[str, float]:
    """Mean firing rate of each group, spikes per neuron and second.

    Groups without neurons are left out; without `groups`, each population is one.

    Example:
        >>> from spikemark.network.presets import mam_benchmark
        >>> spikes = np.array([[0, 1003], [7, 1005]], dtype=np.uint32)  # (gid, step)
        >>> rates_hz(recording(mam_benchmark.describe(areas=1), spikes))
        {'area0': 0.0004}
    """
    if groups is None:
        groups = by_population(recording)
    counts = members(recording.groups_of_spikes(groups), len(groups))
    rates = {}
    for label, count, size in zip(groups, counts, recording.sizes(groups), strict=True):
        if size:
            rates[label] = float(count / recording.seconds / size)
    return rates


def members(group: np.ndarray, groups: int) -> np.ndarray:
    """[groups], how many entries of `group` name each of them; -1 names none.

    Example:
        >>> members(np.array([0, 2, -1, 2]), groups=3)
        array([1, 0, 2])
    """
    return np.bincount(group[group >= 0], minlength=groups)


def of_populations(run: Run) -> dict[str, float] | None:
    """The mean rate of each population as counted, Hz; None where the description states all rates.

    Rates are counted from the spikes where they were recorded, else from ranks.csv if no rank holds
    two populations. Raises BadInput saying what is missing if neither is possible.

    Example:
        >>> from spikemark.records.record import load_run
        >>> of_populations(load_run("tests/golden/analysis/records/aware-4"))
    """
    record = run.record
    populations = record.described.network.populations
    if all(population.neuron.rate_hz is not None for population in populations):
        return None
    if run.spikes is not None:
        silent = {population.name: 0.0 for population in populations}
        return silent | rates_hz(recording_of(run))
    placed = record.described.placement
    assert placed is not None  # a record always has one, see schema.DESCRIBED
    on_threads = placement.neurons(record.described, placed, record.ranks, record.threads)
    on_ranks = on_threads.sum(axis=2)  # [population, rank]
    populations_of_rank = np.count_nonzero(on_ranks, axis=0)
    if (populations_of_rank > 1).any() or run.ranks["spikes"].isna().any():
        raise BadInput(
            "rates of the neurons are not known: run again with record.spikes=true",
            field="record.spikes",
            code="missing",
        )
    spikes = (on_ranks > 0) @ run.ranks["spikes"].to_numpy(np.int64)  # [population]
    neuron_seconds = np.maximum(on_ranks.sum(axis=1), 1) * record.timing.model_s
    rates = spikes / neuron_seconds
    return {
        population.name: float(rate) for population, rate in zip(populations, rates, strict=True)
    }
