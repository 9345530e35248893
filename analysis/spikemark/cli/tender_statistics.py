"""`spikemark tender statistics`: what acceptance runs prove."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import AsJson
from .output import print_json, print_lines, print_tables


def statistics(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[RUNS]...", help="Answers, results folders, or folders of repeated runs."),
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(help="Spread from run to run, instead of runs: 0.02 is 2 %.", show_default=False),
    ] = None,
    shortfall: Annotated[float, typer.Option(help="Shortfall of a machine that must be detected.")] = 0.05,
    figure: Annotated[
        str, typer.Option(help="Figure of the runs: real_time_factor or joules_per_synaptic_event.")
    ] = "real_time_factor",
    as_json: AsJson = False,
) -> None:
    """Say how often acceptance runs fail a good machine and miss a bad one, by rule, runs and tolerance.

    The spread from run to run comes from repetitions, or from --spread. Prints how many runs detect a
    shortfall, and which tolerance and number of runs keep both risks small.

    Example: spikemark tender statistics answers/acme --shortfall 0.05
    """
    from spikemark.tender import repetitions, statistics_show
    from spikemark.tender.statistics import Spread

    if bool(runs) == (spread is not None):
        raise BadInput("runs: either folders of RUNS or --spread is needed, and not both")
    if not 0 < shortfall <= 10:
        raise BadInput(f"--shortfall={shortfall:g}; allowed: above 0, up to 10 (0.05 is 5 %)")
    if spread is not None:
        of, weak = statistics_show.Contract(Spread(spread), None, shortfall), []
    else:
        groups, weak = repetitions.read(runs or [], figure)
        of = statistics_show.Contract(groups.spread, groups, shortfall)
    if as_json:
        print_json(statistics_show.content(of))
        return
    print_lines([statistics_show.sentence(of)])
    print_tables(*statistics_show.tables(of))
    print_lines([*statistics_show.where_from(of), *statistics_show.differences(of), *weak])
