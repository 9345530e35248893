"""`spikemark fit`, `predict`, `coverage`: waiting for the slowest rank, from one conventional run."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

Runs = Annotated[
    list[Path],
    typer.Argument(metavar="RUN_DIR…", help="Records of conventional runs of one setup on one machine."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


def fit(runs: Runs, as_json: AsJson = False) -> None:
    """What the cycle times of a conventional run are made of."""
    from spikemark.waiting import show
    from spikemark.waiting.components import Components
    from spikemark.waiting.estimates import estimates

    source = _source(runs)
    found = estimates(Components(source.compute))
    if as_json:
        typer.echo(json.dumps(show.fitted_content(source, found), indent=1))
    else:
        print_table(show.fitted(source, found))


def predict(
    runs: Runs,
    schedule: Annotated[str, typer.Option(help="conventional, structure_aware, overlapped, …")],
    delay_ratio: Annotated[int, typer.Option(help="D: cycles between two exchanges of all ranks.")] = 1,
    ranks: Annotated[int | None, typer.Option(help="Instead of as many as were measured.")] = None,
    lag: Annotated[int | None, typer.Option(help="L of overlapped (1).")] = None,
    group_period: Annotated[
        int | None, typer.Option(help="Cycles between two meetings of a group, of hierarchical (D).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Waiting and run time under another schedule, by every predictor, with 95 % intervals."""
    from spikemark.waiting import PREDICTORS, show

    source = _source(runs)
    made = {
        name: kind.fit(source).predict(schedule, delay_ratio, ranks, lag, group_period)
        for name, kind in PREDICTORS.items()
    }
    if as_json:
        typer.echo(json.dumps(show.predicted_content(made), indent=1))
    else:
        print_table(show.predicted(made))


def coverage(
    trials: Annotated[int, typer.Option(min=10, help="Runs drawn of each process.")] = 500,
    write: Annotated[Path | None, typer.Option(help="Write the table there instead.")] = None,
) -> None:
    """How often the intervals of the predictors hold the truth, on processes that are planted."""
    from spikemark.waiting import coverage as study
    from spikemark.waiting import coverage_ranks, show_coverage

    def say(text: str) -> None:
        typer.echo(text, err=True)

    page = show_coverage.page(study.study(trials, say=say), coverage_ranks.study(trials, say=say), trials)
    if write is None:
        typer.echo(page)
    else:
        write.write_text(page)


def _source(runs: list[Path]):
    from spikemark import record
    from spikemark.waiting.source import source

    found = source([record.load(path) for path in runs])
    for text in found.warnings:
        typer.echo(f"warning: {text}", err=True)
    return found


def print_table(table) -> None:
    """A rich table, as wide as it is."""
    from rich.console import Console

    Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else 150).print(table)
