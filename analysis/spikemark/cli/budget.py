"""`spikemark budget`, `whatif`: where the waiting of a run comes from, and what would change it."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperCommand

from spikemark.core.errors import BadInput

from .output import list_lines
from .waiting import AsJson, Runs, print_table


def budget(
    run_dir: Annotated[
        Path,
        typer.Argument(
            metavar="RUN_DIR", help="Record of a conventional, placement_only or structure_aware run."
        ),
    ],
    delay_ratio: Annotated[
        int | None,
        typer.Option(
            help="D, in cycles, that tells jitter from drift.", min=2, show_default="that of the run, or 10"
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Split the waiting of a run into lasting differences between ranks, jitter, drift, and what is left."""
    from spikemark.records import record
    from spikemark.waiting import budget as budgets
    from spikemark.waiting import show_budget as show

    run = record.load(run_dir)
    found = budgets.budget(run, delay_ratio)
    list_lines([f"warning: {text}" for text in found.warnings])
    if as_json:
        typer.echo(json.dumps(asdict(found), indent=1))
        return
    print_table(show.budget(found, run.record.timing.cycles))
    typer.echo(show.legend(found))


class Whatif(TyperCommand):
    """Its help lists the changes there are, which are loaded for nothing else."""

    def format_epilog(self, ctx, formatter) -> None:
        from spikemark.waiting.changes import CHANGES

        with formatter.section("Changes"):
            formatter.write_dl([(name, change.__doc__) for name, change in CHANGES.items()])


def whatif(
    runs: Runs,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[+NAME]",
            help="Only this change of those below, or several together; may be repeated.",
            show_default="all",
        ),
    ] = None,
    schedule: Annotated[str, typer.Option(help="How the ranks meet before the change.")] = "conventional",
    delay_ratio: Annotated[int, typer.Option(help="D before the change.")] = 1,
    predictor: Annotated[
        str | None, typer.Option(help="iid, correlated or replay.", show_default="all")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """What waiting and run time would be if something about a conventional run were different."""
    from spikemark.records import record
    from spikemark.waiting import PREDICTORS
    from spikemark.waiting import show_budget as show
    from spikemark.waiting import whatif as whatifs

    base = whatifs.situation([record.load(path) for path in runs], schedule, delay_ratio)
    names = {"names": change} if change else {}
    predictors = [predictor] if predictor else PREDICTORS
    found = {name: whatifs.whatif(base, predictor=name, **names) for name in predictors}
    *_, outcomes = found.values()  # what is refused does not depend on the predictor
    if outcomes[0].refused:  # of the run as it is, so nothing can be said of changes
        raise BadInput(outcomes[0].refused)
    refused = [f"{one.name}: {one.refused}" for one in outcomes if one.refused]
    if refused and change:
        raise BadInput(refused[0])
    list_lines([f"warning: {text}" for text in base.source.warnings])
    if as_json:
        typer.echo(json.dumps(show.outcomes_content(found), indent=1))
        return
    print_table(show.outcomes(found))
    list_lines([f"refused: {text}" for text in refused])
