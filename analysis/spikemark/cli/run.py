"""`spikemark run`: one run of a plan."""

from typing import Annotated

import typer

from .options import Folder
from .output import fail


def run(
    folder: Folder,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="A run of the plan in that folder.")],
    launcher: Annotated[
        str | None,
        typer.Option(
            help="How to start the ranks: mpirun or srun.",
            show_default="srun inside an allocation of Slurm, else mpirun",
        ),
    ] = None,
    scorep: Annotated[
        bool,
        typer.Option("--scorep", help="Run the program instrumented for Score-P, beside the timed run."),
    ] = False,
) -> None:
    """Carry out one run of a plan; the workflow calls this."""
    from spikemark.records.results import Results
    from spikemark.running.carry_out import RunFailed

    results = Results(folder)
    _, planned = results.planned(run_id)
    try:
        if scorep:
            from spikemark.scorep.instrumented import measure

            record = measure(results, run_id, launcher)
        elif planned.machine:
            from spikemark.running.simulate import simulate

            record = simulate(results, run_id)
        else:
            from spikemark.running.measure import measure

            record = measure(results, run_id, launcher)
        typer.echo(record)
    except RunFailed as reason:
        fail(f"run {run_id} failed: {reason}")
