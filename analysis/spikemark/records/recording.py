"""Spikes, with the populations and the recorded time that are needed to interpret them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network import placement
from spikemark.network.description import Population, read

from .record import Run

#: Label -> names of the populations that are looked at as one; none is in two groups.
Groups = dict[str, list[str]]


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

        Raises BadInput for a population that does not exist.
        """
        known = [p.name for p in self.populations]
        for name in (name for names in groups.values() for name in names if name not in known):
            raise BadInput(f"no population {name!r}; expected {', '.join(known)}")
        group = {name: number for number, names in enumerate(groups.values()) for name in names}
        of = [group.get(p.name, -1) for p in self.populations]
        return np.repeat(of, [p.size for p in self.populations])[self.gids]

    def sizes(self, groups: Groups) -> np.ndarray:
        """[group], the number of neurons."""
        size = {p.name: p.size for p in self.populations}
        return np.array([sum(size[name] for name in names) for names in groups.values()], dtype=np.int64)


def recording(description: dict[str, Any], spikes: np.ndarray) -> Recording:
    """The spikes, uint32 [spike, (gid, step)], of a run with this description.

    Raises BadInput for a spike of a neuron or at a step that the description does not have.
    """
    described = read(description)
    time, cycle_steps = described.time, described.time.cycle_steps
    first_step, steps = time.warmup_cycles * cycle_steps, time.cycles * cycle_steps
    ranges = {"gid": (0, described.neurons), "step": (first_step, first_step + steps)}
    for values, (what, (low, high)) in zip(spikes.T, ranges.items(), strict=True):
        if len(values) and not low <= values.min() <= values.max() < high:
            raise BadInput(
                f"spikes: {what} {values.min()} to {values.max()}; the description has {low} to {high - 1}"
            )
    return Recording(spikes, described.network.populations, time.resolution_ms, first_step, steps)


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
