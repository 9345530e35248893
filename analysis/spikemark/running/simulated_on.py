"""The machine that an experiment is simulated on: its results folder and the digest in its run ids."""

from spikemark import machines
from spikemark.machines.digest import digest
from spikemark.records.experiment_fields import MACHINE, Experiment, as_list
from spikemark.records.plan import SimulatedOn

#: The results folder of an experiment that compares several profiles.
SEVERAL = "simulated"


def folder_name(experiment: Experiment) -> str:
    """The profile's name, or `simulated` where the grid has several; `experiment` has a field `machine`."""
    names = {experiment.machine.name}
    for entry in experiment.grid:
        names.update(SimulatedOn(profile=p).name for p in as_list(entry.get(f"{MACHINE}profile", [])))
    return SEVERAL if len(names) > 1 else names.pop()


def profile_digest(profile: str) -> str:
    """Digest of the values in a machine profile, assumed ones included, from which simulated times follow.

    Raises BadInput for a profile that is missing or invalid.
    """
    return digest(machines.filled(machines.load(profile)))
