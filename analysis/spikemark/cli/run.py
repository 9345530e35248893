"""`spikemark run`: one run of a plan."""

from typing import Annotated

import typer

from .options import Folder
from .output import fail


def run(
    folder: Folder,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="A run of the plan in that folder.")],
    launcher: Annotated[str, typer.Option(help="How to start the ranks: mpirun or srun.")] = "mpirun",
    scorep: Annotated[
        bool,
        typer.Option("--scorep", help="Run the program instrumented for Score-P, beside the timed run."),
    ] = False,
) -> None:
    """Carry out one run of a plan; the workflow calls this."""
    from spikemark.records.results import Results
    from spikemark.running import measure
    from spikemark.scorep import instrumented

    try:
        carry_out = instrumented.measure if scorep else measure.measure
        typer.echo(carry_out(Results(folder), run_id, launcher))
    except measure.RunFailed as reason:
        fail(f"run {run_id} failed: {reason}")
