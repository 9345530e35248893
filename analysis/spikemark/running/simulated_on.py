"""The machine that an experiment is simulated on: its results folder, its digest in run ids, and its room."""

from functools import cache
from typing import Any

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.digest import digest
from spikemark.network.description import Description
from spikemark.prediction import rates
from spikemark.records.experiment_fields import MACHINE, Experiment, as_list
from spikemark.records.plan import Planned, SimulatedOn

from .simulation.run import placed

#: The results folder of an experiment that compares several profiles.
SEVERAL = "simulated"


def folder_name(experiment: Experiment) -> str:
    """The profile's name, or `simulated` where the grid has several; `experiment` has a field `machine`."""
    names = {experiment.machine.name}
    for entry in experiment.grid:
        names.update(SimulatedOn(profile=p).name for p in as_list(entry.get(f"{MACHINE}profile", [])))
    return SEVERAL if len(names) > 1 else names.pop()


def profile_digest(profile: str) -> str:
    """Digest of the values of a profile or a machine of parts, assumed ones included, from which simulated
    times follow.

    Raises BadInput for a profile that is missing or invalid.
    """
    return digest(machines.filled(machines.load_any(profile)))


class Room:
    """Says which runs of an experiment their machines can take; every machine is read once."""

    def __init__(self) -> None:
        self._filled = cache(lambda profile: machines.filled(machines.load_any(profile)))

    def refusal(self, run: Planned) -> str | None:
        """Why the ranks of a run cannot lie on its simulated machine as asked; None if they can."""
        asked = run.machine
        if asked is None:
            return None
        if run.threads != 1:
            return f"threads={run.threads}: allowed with the field 'machine' is 1; machine.threads says more"
        try:
            placed(self._filled(asked.profile), run.ranks, asked.compute, **layout(asked))
        except BadInput as why:
            return f"machine: {why}"
        return None


def untold_rate(asked: SimulatedOn | None, given: Description) -> str | None:
    """Why modelled compute times lack the rate of a population of this description; None if they do not."""
    if asked is None or asked.compute != "model" or asked.compute_of:
        return None
    try:
        rates.of(given, asked.rate_hz)
    except BadInput as why:
        return f"machine.rate_hz={asked.rate_hz}: {str(why).partition(': ')[2]}"
    return None


def layout(asked: SimulatedOn) -> dict[str, Any]:
    """How ranks are to lie on the machine, as arguments of `simulate`."""
    return {"ranks_per_node": asked.ranks_per_node, "threads": asked.threads, "on": asked.on}
