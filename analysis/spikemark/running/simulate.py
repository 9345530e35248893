"""Runs of a plan on a simulated machine: what identifies it, which ranks fit on it, and one run."""

import contextlib
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.machines.parts import Machine
from spikemark.machines.profile import Profile
from spikemark.network.description import Description
from spikemark.network.presets import mam
from spikemark.prediction.workload import rates_of
from spikemark.records.experiment_fields import MACHINE, Experiment, as_list
from spikemark.records.frames import preset_of
from spikemark.records.plan import Planned, SimulatedOn
from spikemark.records.results import Results

from . import simulation
from .measure import RunFailed, carry_out, check_place, check_record, find
from .simulation.times import layout_of

#: `rate_hz` of neurons that fire as the preset expects of each population.
BY_POPULATION = "by population"
#: The results folder of an experiment that compares several profiles.
SEVERAL = "simulated"


def folder_name(experiment: Experiment) -> str:
    """The profile's name, or `simulated` where the grid has several; `experiment` has a field `machine`."""
    names = {experiment.machine.name}
    for entry in experiment.grid:
        names.update(SimulatedOn(profile=p).name for p in as_list(entry.get(f"{MACHINE}profile", [])))
    return SEVERAL if len(names) > 1 else names.pop()


def filled(profile: str) -> Profile | Machine:
    """A profile or machine of parts with assumed values. Raises BadInput if it is missing or invalid."""
    return machines.filled(machines.load_any(profile))


def refusal(
    run: Planned, given: Description, load: Callable[[str], Profile | Machine] = filled
) -> str | None:
    """Why a run cannot be simulated as asked: its ranks do not fit, or a rate is unknown; None if it can."""
    asked = run.machine
    if asked is None:
        return None
    if run.threads != 1:
        return f"threads={run.threads}: expected 1 with the field 'machine'; machine.threads says more"
    if asked.compute != "model":
        return f"machine.compute={asked.compute!r}: expected 'model'"
    try:
        layout_of(load(asked.profile), run.ranks, **_layout(asked))
    except BadInput as why:
        return f"machine: {why}"
    if asked.compute_of or asked.rate_hz == BY_POPULATION:
        return None
    try:
        rates_of(given, asked.rate_hz)
    except BadInput as why:
        return f"machine.rate_hz={asked.rate_hz}: {str(why).partition(': ')[2]}"
    return None


def check_rates(asked: SimulatedOn, preset: str | None) -> None:
    """Raises BadInput for rates by population that the preset does not have."""
    if asked.rate_hz == BY_POPULATION and preset != "mam":
        raise BadInput(f"machine.rate_hz={BY_POPULATION!r}: expected with the preset mam, not {preset}")


def _layout(asked: SimulatedOn) -> dict[str, Any]:
    """How ranks are to lie on the machine, as arguments of `simulation.simulate`."""
    return {"ranks_per_node": asked.ranks_per_node, "threads": asked.threads, "on": asked.on}


def check() -> None:
    """Raises BadInput if SimGrid, or the mini-app built for it, is missing."""
    simulation.smpirun.version()
    places.program("miniapp_smpi")


def simulate(results: Results, run: str) -> Path:
    """Simulate run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises RunFailed. Raises
    BadInput, before anything is changed, for what `find` and `check_place` refuse and a run
    without a machine.
    """
    due = find(results, run)
    check_place(results, run)
    description, (plan, planned) = results.read_description(run), results.planned(run)
    asked = planned.machine
    if asked is None:
        raise BadInput(f"run {run!r} is planned on this machine, not on a simulated one")
    preset, options = preset_of(plan, planned)
    check_rates(asked, preset)
    hz = asked.rate_hz
    if hz == BY_POPULATION:
        hz = mam.rates_hz(planned.seed, options.get("from_"))
    out, compute_of = results.unchecked(run), results.compute_of(run)
    arguments = {
        "ranks": planned.ranks,
        "compute": asked.compute,
        **_layout(asked),
        "seed": 1000 * planned.seed + planned.repetition,
        "correlation": asked.correlation,
        "cv": asked.cv,
        "hz": hz,
    }

    def work() -> dict[str, Any]:
        of = json.loads(compute_of.read_text()) if compute_of.is_file() else None
        try:
            with _limited(due.limit_s):
                machine = machines.load_any(asked.profile)
                simulation.run.simulate(description, machine, out=out, compute_of=of, **arguments)
        except (BadInput, simulation.SimulationFailed, OSError) as error:
            raise RunFailed(" ".join(str(error).split())) from None
        check_record(out, due.layout)
        return {"machine": asked.profile, **arguments}

    return carry_out(due, out, results.run(run), results.failure(run), work)


@contextlib.contextmanager
def _limited(limit_s: float) -> Iterator[None]:
    """Raises TimeoutError inside the block after `limit_s` seconds; works in the main thread only."""

    def over(*_: object) -> None:
        raise TimeoutError(f"not finished within the time limit of {limit_s:g} s")

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
