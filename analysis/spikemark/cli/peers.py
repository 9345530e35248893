"""`spikemark peers`: the mini-app beside other simulators."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput


def peers(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="[EXPERIMENT]", help="One network on one rank: name, or path of a .yaml file."
        ),
    ] = "peers",
    threads: Annotated[
        str | None, typer.Option(metavar="N,N", help="Instead of those of the experiment.")
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(help="Rounds, instead of those of the experiment.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print peers.json instead of the table.")] = False,
    out: Annotated[
        Path | None, typer.Option(help="Results folder instead of results/peers/MACHINE in the checkout.")
    ] = None,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a quiet machine before a run.", show_default=True)
    ] = 30.0,
) -> None:
    """Measure the mini-app and its peers in turns, and say by what factors it is ahead."""
    from spikemark.peers import compare
    from spikemark.peers.show import disturbances, notes, table
    from spikemark.quantities.terminal import show
    from spikemark.running import experiments, quiet, sweeps

    if not patience >= 0:
        raise BadInput(f"--patience: {patience:g}; allowed: 0 or more seconds")
    chosen = experiments.load(experiment)
    changes = {}
    if threads is not None:
        changes["threads"] = _counts(threads)
    if repetitions is not None:
        changes["repetitions"] = _count("--repetitions", str(repetitions))
    chosen = chosen.model_copy(update=changes)
    folder = out or sweeps.folder(chosen, None, None).path
    found = compare.compare(
        chosen,
        folder,
        conditions=quiet.Conditions(patience_s=patience),
        say=lambda line: typer.echo(line, err=as_json),
    )
    if as_json:
        typer.echo((found.path / "peers.json").read_text(), nl=False)
    else:
        show(table(found.content))
        typer.echo("\n".join([*notes(found.content), *disturbances(found.content)]))
        typer.echo(found.path / "peers.parquet")
    for line in found.complaints:
        typer.echo(line, err=True)
    if found.complaints:
        raise typer.Exit(1)


def _counts(text: str) -> list[int]:
    return list(dict.fromkeys(_count("--threads", part) for part in text.split(",")))


def _count(option: str, text: str) -> int:
    try:
        count = int(text)
    except ValueError:
        count = 0
    if count < 1:
        raise BadInput(f"{option}: {text!r}; allowed: whole numbers from 1")
    return count
