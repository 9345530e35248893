"""One run of a plan on a simulated machine; `measure` is the other way to carry out a run."""

import json
from pathlib import Path
from typing import Any

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.network.presets import mam
from spikemark.records.frames import preset_of
from spikemark.records.results import Results

from . import simulation
from .experiments import BY_POPULATION
from .measure import RunFailed, carry_out, check_record, claim


def simulate(results: Results, run: str) -> Path:
    """Simulate run id `run` of the plan and return the directory of its record.

    A failure leaves `failed/ID.log` behind, whose first line is the reason, and raises RunFailed. Raises
    BadInput, before anything is changed, for what `claim` refuses.
    """
    due, out, compute_of = (
        claim(results, run, simulated=True),
        results.unchecked(run),
        results.compute_of(run),
    )
    description, (plan, planned) = results.read_description(run), results.planned(run)
    asked, hz = planned.machine, planned.machine.rate_hz
    if hz == BY_POPULATION:
        hz = mam.rates_hz(planned.seed, preset_of(plan, planned)[1].get("from_"))
    arguments = {
        "ranks": planned.ranks, "compute": asked.compute, "ranks_per_node": asked.ranks_per_node,
        "threads": asked.threads, "on": asked.on, "seed": 1000 * planned.seed + planned.repetition,
        "correlation": asked.correlation, "cv": asked.cv, "hz": hz,
    }  # fmt: skip

    def work() -> dict[str, Any]:
        of = json.loads(compute_of.read_text()) if compute_of.is_file() else None
        try:
            machine = machines.load_any(asked.profile)
            limited = {"out": out, "compute_of": of, "limit_s": due.limit_s}
            simulation.run.simulate(description, machine, **limited, **arguments)
        except (BadInput, simulation.SimulationFailed, OSError) as error:
            raise RunFailed(" ".join(str(error).split())) from None
        check_record(out, due.layout)
        return {"machine": asked.profile, **arguments}

    return carry_out(due, out, results.run(run), results.failure(run), work)
