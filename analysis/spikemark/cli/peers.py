"""`spikemark peers`: the mini-app beside NEST, on this machine."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.commands import BETWEEN, command
from spikemark.core.errors import BadInput

from . import panels, params
from .options import one_form, whole_numbers
from .output import answer, bar, complain, ending

app = typer.Typer()


@app.command(rich_help_panel=panels.MEASURE)
def peers(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="One network on one rank: a name or a file.",
            autocompletion=params.experiment_names,
        ),
    ] = "peers",
    threads: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Numbers of threads, instead of the experiment's."),
    ] = None,
    repetitions: Annotated[
        int | None,
        typer.Option(min=1, help="Number of rounds, instead of the experiment's."),
    ] = None,
    format_: params.TableForm = None,
    json: params.Json = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder instead of results/peers/MACHINE."),
    ] = None,
    patience: Annotated[float, typer.Option(help="Longest wait for a quiet machine, s.")] = 30.0,
) -> None:
    """Measure the mini-app beside NEST.

    The programs take turns on the same network. The factors between their times have intervals.
    `make peers` installs NEST 3.10 from PyPI into an environment of its own.
    """
    from spikemark import launch
    from spikemark.measuring.peer_factors import factor_table, sentences
    from spikemark.measuring.peers import compare
    from spikemark.quantities.answer import frame_of
    from spikemark.running import quiet, sweeps
    from spikemark.running.experiments import load_experiment

    one_form(format_, json=json)
    if not patience >= 0:
        raise BadInput(
            field="--patience", value=patience, expected="0 or more seconds", code="range"
        )
    changes: dict[str, int | list[int]] = {}
    if threads is not None:
        changes["threads"] = whole_numbers(threads, "--threads")
    if repetitions is not None:
        changes["repetitions"] = repetitions
    plan = load_experiment(experiment).model_copy(update=changes)
    folder = out or sweeps.folder(plan, launch.here_name(), None).path
    conditions = quiet.Conditions(patience_s=patience)
    with ending(), bar() as progress:
        comparison = compare(plan, folder.resolve(), conditions, progress)
    factors = factor_table(comparison)
    trials = comparison.trials.astype(object).where(comparison.trials.notna(), None)
    content = {
        "table": factors.content(),
        "trials": trials.to_dict("records"),
        "complaints": comparison.complaints,
    }
    lines = [str(folder.resolve() / "peers.csv")]
    if not comparison.complaints:
        anchor = command("anchor", "--help")
        lines.append(f"Next: {anchor}{BETWEEN}predictions of NEST on your machine")
    answer(
        "peers",
        json,
        lambda: content,
        sentences(comparison),
        tables=[factors],
        more=lines,
        format_=format_,
        frame=lambda: frame_of(factors),
    )
    complain(comparison.complaints)
