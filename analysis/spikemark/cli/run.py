"""`spikemark run`: one run of a plan. The workflow starts planned_run.py itself."""

from typing import Annotated, Literal

import typer

from . import panels, params

app = typer.Typer()


@app.command(rich_help_panel=panels.RUN)
def run(
    results_dir: params.ResultsDir,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="A run of the plan in that folder.")],
    launcher: Annotated[
        Literal["mpirun", "srun"] | None,
        typer.Option(
            help="How ranks are started [srun inside an allocation of Slurm, else mpirun]."
        ),
    ] = None,
    scorep: Annotated[
        bool,
        typer.Option(
            "--scorep",
            help="Run the program instrumented for Score-P, beside the timed run.",
        ),
    ] = False,
) -> None:
    """Carry out one run of a plan; the workflow calls this."""
    from .planned_run import carry_out

    raise typer.Exit(carry_out(results_dir, run_id, launcher, scorep))
