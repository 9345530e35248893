"""One run of a plan on a simulated machine: simulate it, check the record, keep it or say why not."""

import contextlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.records.results import Results

from . import simulation
from .carry_out import RunFailed, carry_out, check_record, due
from .simulated_on import layout


def check() -> None:
    """Raises BadInput if SimGrid, or the mini-app built for it, is missing."""
    simulation.smpirun.version()
    places.program("miniapp_smpi")


def simulate(results: Results, run: str) -> Path:
    """Simulate run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises RunFailed. Raises
    BadInput, before anything is changed, for what `carry_out.due` refuses and a run without a machine.
    """
    plan, planned = due(results, run)
    wanted = planned.machine
    if wanted is None:
        raise BadInput(f"run {run!r} is planned on this machine, not on a simulated one")
    out, compute_of = results.unchecked(run), results.compute_of(run)
    arguments = {
        "ranks": planned.ranks,
        "compute": wanted.compute,
        **layout(wanted),
        "seed": 1000 * planned.seed + planned.repetition,
        "correlation": wanted.correlation,
        "cv": wanted.cv,
        "hz": wanted.rate_hz,
    }

    def work() -> dict[str, Any]:
        try:
            with limited(plan.experiment.time_limit_s):
                simulation.run.simulate(
                    results.read_description(run),
                    machines.load_any(wanted.profile),
                    out=out,
                    compute_of=json.loads(compute_of.read_text()) if compute_of.is_file() else None,
                    **arguments,
                )
        except (BadInput, simulation.SimulationFailed, OSError) as error:
            raise RunFailed(" ".join(str(error).split())) from None
        check_record(out, planned)
        return {"machine": wanted.profile, **arguments}

    return carry_out(planned, out, results.run(run), results.failure(run), work)


@contextlib.contextmanager
def limited(limit_s: float) -> Iterator[None]:
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
