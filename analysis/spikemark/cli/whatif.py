"""`spikemark whatif`: what waiting and run time would be if something about a run were different."""

from typing import Annotated

import typer
from typer.core import TyperCommand

from spikemark.core.errors import BadInput

from .options import AsJson, Runs
from .output import list_lines, print_json, print_tables, warn


class Whatif(TyperCommand):
    """Lists in its help what can be changed; that list is loaded for nothing else."""

    def format_epilog(self, ctx, formatter) -> None:
        """Write the names of the changes, with what each one does."""
        from spikemark.waiting.whatif import CHANGES

        with formatter.section("Changes"):
            formatter.write_dl([(name, change.__doc__) for name, change in CHANGES.items()])


def whatif(
    runs: Runs,
    change: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[+NAME]",
            help="Only this change of those listed below, or several combined; may be repeated.",
            show_default="each of them, and some combined",
        ),
    ] = None,
    schedule: Annotated[str, typer.Option(help="Schedule of the run to be changed.")] = "conventional",
    delay_ratio: Annotated[
        int, typer.Option(help="D of the run to be changed: cycles between two exchanges of all ranks.")
    ] = 1,
    predictor: Annotated[
        str | None, typer.Option(help="Only this predictor: iid, correlated or replay.", show_default="all")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict what a change to a run would do to its waiting.

    For each change to a conventional run, prints the waiting and the run time that every predictor expects.
    """
    from spikemark.records import record
    from spikemark.waiting import PREDICTORS, show
    from spikemark.waiting.whatif import situation, whatif

    base = situation([record.load(path) for path in runs], schedule, delay_ratio)
    names = {"names": change} if change else {}
    predictors = [predictor] if predictor else PREDICTORS
    found = {name: whatif(base, predictor=name, **names) for name in predictors}
    *_, outcomes = found.values()  # what is refused does not depend on the predictor
    if outcomes[0].refused:  # the run as it is cannot be predicted, so nothing can be said of changes
        raise BadInput(outcomes[0].refused)
    refused = [f"{one.name}: {one.refused}" for one in outcomes if one.refused]
    if refused and change:
        raise BadInput(refused[0])
    warn(base.source.warnings)
    if as_json:
        print_json(show.outcomes_content(found))
        return
    print_tables(show.outcomes(found))
    list_lines([f"refused: {text}" for text in refused])
