"""`spikemark fit`: what the cycle times of a run are made of."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Runs
from .output import print_json, print_tables, warn


def fit(
    runs: Runs,
    all_ranks: Annotated[
        bool,
        typer.Option("--all-ranks", help="Show every rank and node, instead of the extremes of many."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what the cycle times of a conventional run are made of.

    Prints mean, spread, drift, serial correlation, slow cycles and lasting differences between ranks, all
    with 95 % intervals, and the waiting that each predictor expects. Needs runs in which all ranks exchange
    in every cycle (schedules conventional and placement_only), with record.cycles and record.barrier. Runs on
    one cluster count as runs on one machine: their times are scaled to the nodes of the first run, and slow
    nodes are named.
    """
    from spikemark.waiting import PREDICTORS, show
    from spikemark.waiting.base_case import misses
    from spikemark.waiting.components import Components
    from spikemark.waiting.estimates import estimates

    source = source_of(runs)
    found = estimates(Components(source.compute))
    made = {name: kind.fit(source).predict("conventional") for name, kind in PREDICTORS.items()}
    missed = misses(source, made)
    warn(source.warnings)
    if as_json:
        print_json(show.fitted_content(source, found) | show.predicted_content(made, missed))
    else:
        print_tables(show.fitted(source, found, made, missed, all_ranks))


def source_of(runs: list[Path]):
    """The cycle times of the records in these folders, joined."""
    from spikemark.records.imported import run_or_times
    from spikemark.waiting.source import source

    return source([run_or_times(path) for path in runs])
