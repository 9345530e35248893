"""`spikemark work`: what a sweep starts, here or as a batch job; not a command for people."""

import time
from pathlib import Path
from typing import Annotated

import typer

from .options import Folder


def work(
    folder: Folder,
    run: Annotated[list[str] | None, typer.Option(help="Only this run; may be repeated.")] = None,
) -> None:
    """Carry out the missing runs of a plan, one after another, until the allocation ends."""
    from spikemark.core import slurm
    from spikemark.records.results import Results
    from spikemark.running import campaign, jobs, worker

    results, began_s = Results(folder.resolve()), time.time()
    allocation = slurm.allocation()
    worked = worker.work(results, _carry_out, allocation.ends_s if allocation else None, run)
    if allocation and jobs.known(results, allocation.job):
        over = worked.why == worker.TIME
        following = campaign.of(results).follow(results, results.read_plan().runs) if over else None
        jobs.keep_end(results, allocation.job, began_s, worked.why, following)
    if worked.why == worker.TIME:
        typer.echo("the time of the allocation is over; the same command goes on in another one")


def _carry_out(results, planned) -> Path:
    """One run, on this machine or on a simulated one."""
    if planned.machine is not None:
        from spikemark.running.simulate import simulate

        return simulate(results, planned.id)
    from spikemark.running.measure import measure

    return measure(results, planned.id)
