"""Spikes, with the populations and the recorded time that are needed to interpret them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network import placement
from spikemark.network.description import read

from .record import Run

#: Label -> names of the populations that are looked at as one.
Groups = dict[str, list[str]]


@dataclass(frozen=True)
class Population:
    """Neurons `first` to `first + size - 1` of the network."""

    name: str
    area: str
    first: int
    size: int


@dataclass(frozen=True)
class Recording:
    """All spikes of the measured part of a run."""

    spikes: np.ndarray  # uint32 [spike, (gid, step)], sorted by step; step 0 begins the warm-up
    populations: list[Population]  # in the order of gids
    resolution_ms: float  # one step
    first_step: int  # of the measured part
    steps: int  # of the measured part

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
        """[spike], the number of the group that holds the neuron, or -1 for none.

        Raises BadInput for a population that does not exist or is in two groups.
        """
        known = {p.name: i for i, p in enumerate(self.populations)}
        number = np.full(len(self.populations), -1, dtype=np.int64)
        for i, (label, names) in enumerate(groups.items()):
            for name in names:
                if name not in known:
                    raise BadInput(f"group {label!r}: no population {name!r}; there are {', '.join(known)}")
                if number[known[name]] != -1:
                    raise BadInput(f"group {label!r}: population {name!r} is in another group too")
                number[known[name]] = i
        return np.repeat(number, [p.size for p in self.populations])[self.gids]

    def sizes(self, groups: Groups) -> np.ndarray:
        """[group], the number of neurons."""
        size = {p.name: p.size for p in self.populations}
        return np.array([sum(size[name] for name in names) for names in groups.values()], dtype=np.int64)


def recording(description: dict[str, Any], spikes: np.ndarray) -> Recording:
    """The spikes, uint32 [spike, (gid, step)], of a run with this description.

    Raises BadInput for a spike of a neuron or at a step that the description does not have.
    """
    described = read(description)
    ends = np.cumsum([0, *(p.size for p in described.network.populations)]).tolist()
    populations = [
        Population(p.name, p.area, first, p.size)
        for p, first in zip(described.network.populations, ends[:-1], strict=True)
    ]
    h, cycle_steps = described.time.resolution_ms, described.time.cycle_steps
    first_step, steps = described.time.warmup_cycles * cycle_steps, described.time.cycles * cycle_steps
    for column, what, low, high in ((0, "gid", 0, ends[-1]), (1, "step", first_step, first_step + steps)):
        values = spikes[:, column]
        if len(values) and not low <= values.min() <= values.max() < high:
            raise BadInput(
                f"spikes: {what} {values.min()} to {values.max()}; the description has {low} to {high - 1}"
            )
    return Recording(spikes, populations, h, first_step, steps)


def of(run: Run) -> Recording:
    """The recording of a run. Raises BadInput for a run that recorded no spikes."""
    if run.spikes is None:
        raise BadInput(
            f"{run.path}: no spikes.npy (record.spikes was false); run again with record.spikes=true"
        )
    return recording(run.record.description, np.asarray(run.spikes))


def by_population(recording: Recording) -> Groups:
    """A group for each population that has neurons."""
    return {p.name: [p.name] for p in recording.populations if p.size}


def by_area(recording: Recording) -> Groups:
    """A group for each area that has neurons, with all of its populations."""
    areas = dict.fromkeys(p.area for p in recording.populations if p.size)
    return {area: [p.name for p in recording.populations if p.area == area] for area in areas}


def rates_hz(recording: Recording, groups: Groups | None = None) -> dict[str, float]:
    """Mean firing rate of each group, spikes per neuron and second; groups without neurons are left out."""
    groups = by_population(recording) if groups is None else groups
    fired = members(recording.groups_of_spikes(groups), len(groups)) / recording.seconds
    of = zip(groups, fired, recording.sizes(groups), strict=True)
    return {label: float(count / size) for label, count, size in of if size}


def members(group: np.ndarray, groups: int) -> np.ndarray:
    """[groups], how many entries of `group` name each of them; -1 names none."""
    return np.bincount(group[group >= 0], minlength=groups)


def of_populations(run: Run) -> dict[str, float] | None:
    """The mean rate of each population as counted, Hz; None where the description states all rates.

    Rates are counted from the spikes where they were recorded, else from ranks.csv if no rank holds two
    populations. Raises BadInput saying what is missing if neither is possible.
    """
    populations = run.record.described.network.populations
    if all(p.neuron.rate_hz is not None for p in populations):
        return None
    if run.spikes is not None:
        return {p.name: 0.0 for p in populations} | rates_hz(of(run))
    held = placement.neurons(
        run.record.described, run.record.described.placement, run.record.ranks, run.record.threads
    ).sum(axis=2)
    if (np.count_nonzero(held, axis=0) > 1).any() or run.ranks["spikes"].isna().any():
        raise BadInput("rates of the neurons are not known: run again with record.spikes=true")
    fired = (held > 0) @ run.ranks["spikes"].to_numpy(np.int64)  # [population]
    seconds = np.maximum(held.sum(axis=1), 1) * run.record.timing.model_s
    return {p.name: float(rate) for p, rate in zip(populations, fired / seconds, strict=True)}
