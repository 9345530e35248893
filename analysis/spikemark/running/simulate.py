"""One run of a plan on a simulated machine: simulate it, check the record, keep it or say why not."""

from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.records.results import Results

from . import simulated_runs
from .carry_out import RunFailed, carry_out, check_record, due
from .simulation.smpirun import SimulationFailed


def simulate(results: Results, run: str) -> Path:
    """Simulate run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises RunFailed. Raises
    BadInput, before anything is changed, for what `carry_out.due` refuses and a run without a machine.
    """
    plan, planned = due(results, run)
    if planned.machine is None:
        raise BadInput(f"run {run!r} is planned on this machine, not on a simulated one")

    out = results.unchecked(run)

    def work() -> dict[str, Any]:
        try:
            launched = simulated_runs.simulate(results, planned, out, plan.experiment.time_limit_s)
        except (BadInput, SimulationFailed, OSError) as error:
            raise RunFailed(" ".join(str(error).split())) from None
        check_record(out, planned)
        return launched

    return carry_out(planned, out, results.run(run), results.failure(run), work)
