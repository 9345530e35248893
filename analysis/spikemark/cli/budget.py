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
            metavar="RUN_DIR",
            help="Record of a conventional, placement_only or structure_aware run, or imported cycle times.",
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
    """Say why the ranks of a run waited, and how long for each cause.

    The causes are lasting differences between ranks, jitter, drift, rare long cycles, and what the compute
    times do not explain. For a run with record.kernel, the command also says what made the long cycles long.
    The first sentence names the rank or node that causes much of the waiting, or else its largest part. For a
    run on several nodes, the command lists slow nodes, and the share of the waiting that is due to nodes. For
    imported sums, such as NEST's stopwatches, it prints load balance and the efficiencies of POP.
    """
    from spikemark.records.imported import run_or_times, sums_in
    from spikemark.waiting import show_budget, show_causes, sums
    from spikemark.waiting.budget import budget

    if (found := sums_in(run_dir)) is not None:
        warn(found.remarks)
        return print_json(sums.content(found)) if as_json else print_tables(sums.table(found))
    run = run_or_times(run_dir)
    found = budget(run, delay_ratio)
    warn(found.warnings)
    if as_json:
        print_json(show_budget.budget_content(found))
    else:
        print_tables(show_budget.budget(found, run.measured_cycles), *show_causes.tables(found.causes))
