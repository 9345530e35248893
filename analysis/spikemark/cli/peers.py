"""`spikemark peers`: the mini-app beside other simulators."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson
from .output import complain, print_lines, print_tables, say


def peers(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Experiment with one network on one rank: a name or the path of a file.",
        ),
    ] = "peers",
    threads: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Numbers of threads, instead of those in the experiment."),
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(help="Number of rounds, instead of that in the experiment.")
    ] = None,
    as_json: AsJson = False,
    out: Annotated[
        Path | None, typer.Option(help="Results folder instead of results/peers/MACHINE in the checkout.")
    ] = None,
    patience: Annotated[
        float,
        typer.Option(help="Longest wait for a quiet machine before a run, in seconds.", show_default=True),
    ] = 30.0,
) -> None:
    """Measure the mini-app beside other simulators.

    The programs take turns on the same network. The factors between them have intervals.
    """
    from spikemark.bench.peers import compare
    from spikemark.bench.peers.show import disturbances, notes, table
    from spikemark.core import places
    from spikemark.running import quiet, sweeps
    from spikemark.running.experiments import load

    if not patience >= 0:
        raise BadInput(f"--patience: {patience:g}; allowed: 0 or more seconds")
    chosen = load(experiment)
    changes = {}
    if threads is not None:
        changes["threads"] = _counts(threads)
    if repetitions is not None:
        changes["repetitions"] = _count("--repetitions", str(repetitions))
    chosen = chosen.model_copy(update=changes)
    folder = (out or sweeps.folder(chosen, places.here_name(), None).path).resolve()
    conditions = quiet.Conditions(patience_s=patience)
    found = compare.compare(chosen, folder, conditions=conditions, say=say if as_json else typer.echo)
    if as_json:
        typer.echo((folder / "peers.json").read_text(), nl=False)
    else:
        print_tables(table(found))
        print_lines([*notes(found), *disturbances(found), str(folder / "peers.parquet")])
    complain(found.complaints)


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
