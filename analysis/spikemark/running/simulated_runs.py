"""Runs of an experiment that are carried out on a simulated machine instead of the one at hand."""

import contextlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spikemark.core import places
from spikemark.records.experiment_fields import MACHINE, as_list
from spikemark.records.plan import SimulatedOn

if TYPE_CHECKING:
    from spikemark.records.plan import Planned
    from spikemark.records.results import Results

    from .experiments import Experiment

#: The results folder of an experiment that compares several profiles.
SEVERAL = "simulated"


def folder_name(experiment: "Experiment") -> str:
    """Of the results: the profile's name, or `simulated` where the grid has others, too."""
    names = {experiment.machine.name}
    for entry in experiment.grid:
        names.update(SimulatedOn(profile=p).name for p in as_list(entry.get(f"{MACHINE}profile", [])))
    return SEVERAL if len(names) > 1 else names.pop()


def profile_digest(profile: str) -> str:
    """Of the values in a machine profile, assumed ones included, from which simulated times follow.

    Raises BadInput for a profile that is not there or not valid.
    """
    from spikemark import machines

    from .simulation import run as simulation

    return simulation.digest(machines.filled(machines.load(profile)))


def check() -> None:
    """Raises BadInput where nothing can be simulated: without SimGrid, or the mini-app built for it."""
    from .simulation import smpirun

    smpirun.version()
    places.miniapp_smpi()


def simulate(results: "Results", planned: "Planned", out: Path, limit_s: float) -> dict[str, Any]:
    """Simulate a run of the plan, leave its record in `out`, and return what to keep of how it was started.

    Raises BadInput for what cannot be simulated, TimeoutError beyond `limit_s`.
    """
    from spikemark import machines

    from .simulation import run as simulation

    wanted = planned.machine
    of = results.compute_of(planned.id)
    arguments = {
        "ranks": planned.ranks,
        "compute": wanted.compute,
        "ranks_per_node": wanted.ranks_per_node,
        "seed": 1000 * planned.seed + planned.repetition,
        "correlation": wanted.correlation,
        "cv": wanted.cv,
        "hz": wanted.rate_hz,
    }
    with limited(limit_s):
        simulation.simulate(
            results.read_description(planned.id),
            machines.load(wanted.profile),
            out=out,
            compute_of=json.loads(of.read_text()) if of.is_file() else None,
            **arguments,
        )
    return {"machine": wanted.profile, **arguments}


@contextlib.contextmanager
def limited(limit_s: float) -> Iterator[None]:
    """Raise TimeoutError inside the block after `limit_s` seconds; only in the main thread."""

    def over(*_: object) -> None:
        raise TimeoutError(f"not finished within the time limit of {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
