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
        from spikemark.waiting.whatif import meanings

        with formatter.section("Changes"):
            formatter.write_dl(list(meanings().items()))


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
    schedule: Annotated[
        str, typer.Option(help="Schedule to which the changes are applied.")
    ] = "conventional",
    delay_ratio: Annotated[
        int, typer.Option(help="D of that run: cycles between two exchanges of all ranks.")
    ] = 1,
    predictor: Annotated[
        str | None, typer.Option(help="Only this predictor: iid, correlated or replay.", show_default="all")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Predict what a change to a run would do to its waiting.

    The first sentence says which change shortens the run most. Then a table has, for each change to a
    conventional run, the waiting that every predictor expects and the run time. A predictor that does not
    reproduce the waiting of the run itself is marked.
    """
    from spikemark.records.imported import run_or_times
    from spikemark.waiting import PREDICTORS, show
    from spikemark.waiting.base_case import misses
    from spikemark.waiting.whatif import situation, whatif

    base = situation([run_or_times(path) for path in runs], schedule, delay_ratio)
    names = {"names": change} if change else {}
    predictors = [predictor] if predictor else PREDICTORS
    found = {name: whatif(base, predictor=name, **names) for name in predictors}
    *_, outcomes = found.values()  # what is refused does not depend on the predictor
    if outcomes[0].refused:  # the run as it is cannot be predicted, so nothing can be said of changes
        raise BadInput(outcomes[0].refused)
    refused = [f"{one.name}: {one.refused}" for one in outcomes if one.refused]
    if refused and change:
        raise BadInput(refused[0])
    as_it_ran = {name: PREDICTORS[name].fit(base.source).predict("conventional") for name in found}
    missed = misses(base.source, as_it_ran)
    warn(base.source.warnings)
    if as_json:
        print_json(show.outcomes_content(found, missed))
        return
    print_tables(show.outcomes(found, missed))
    list_lines([f"refused: {text}" for text in refused])
