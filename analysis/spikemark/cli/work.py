"""`spikemark work`: what a sweep starts, here or as a batch job; not a command for people."""

import os
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

    results, began_s = Results(folder.resolve()), time.monotonic()
    allocation = slurm.allocation()
    ours = allocation is not None and os.environ.get("SLURM_JOB_NAME") == jobs.name(results)
    look = _witness(results, campaign.of(results)) if ours else lambda: None
    ends_s = slurm.ends_s(allocation.job) if allocation else None
    worked = worker.work(results, _carry_out, ends_s, run, ours, look)
    if ours:
        over = worked.why == worker.TIME
        following = campaign.of(results).follow(results, results.read_plan().runs) if over else None
        jobs.keep_end(results, allocation.job, time.monotonic() - began_s, worked.why, following)
    if worked.why == worker.TIME:
        typer.echo("the time of the allocation is over; run the same command in another one to continue")


def _witness(results, campaign):
    """What is done before each run of a job: now and then, a look at the noise of all its nodes.

    Not where every run is a job of its own: others run beside it.
    """
    from spikemark.core.errors import BadInput
    from spikemark.running import noise

    profile = campaign.profile
    due = (
        [0.0] if profile.noise_s > 0 and not campaign.one_each else []
    )  # when to look next; empty: not any more

    def look() -> None:
        if due and time.monotonic() >= due[0]:
            try:
                noise.keep(results.path, profile.noise_s)
                due[0] = time.monotonic() + profile.noise_every_s
            except (BadInput, noise.NoiseFailed) as reason:
                due.clear()
                typer.echo(f"no noise was measured: {reason}")

    return look


def _carry_out(results, planned) -> Path:
    """One run, on this machine or on a simulated one."""
    if planned.machine is not None:
        from spikemark.running.simulate import simulate

        return simulate(results, planned.id)
    from spikemark.running.measure import measure

    return measure(results, planned.id)
