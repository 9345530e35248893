"""`spikemark budget`: why ranks waited in a run."""

from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson
from .output import print_json, print_tables, warn


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
            help="D, in cycles: what averages out over D cycles counts as jitter, the rest as drift.",
            min=2,
            show_default="that of the run; otherwise 10",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Split the waiting of a run by cause.

    The causes are lasting differences between ranks, jitter, drift, rare long cycles, and what the compute
    times do not explain. For a run with record.kernel, the command also says what made the long cycles long.
    For a run on several nodes, it names slow nodes, and the share of the waiting that is due to nodes.
    """
    from spikemark.records import record
    from spikemark.waiting import show, show_causes
    from spikemark.waiting.budget import budget

    run = record.load(run_dir)
    found = budget(run, delay_ratio)
    warn(found.warnings)
    if as_json:
        print_json(show.budget_content(found))
    else:
        print_tables(show.budget(found, run.record.timing.cycles), *show_causes.tables(found.causes))
