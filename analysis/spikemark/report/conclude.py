"""The end of a sweep: writes tables and page of all completed runs."""

from dataclasses import replace

from spikemark.records.collect import collect
from spikemark.records.gather import gather
from spikemark.running.sweeps import Outcome

from .page import build


def conclude(outcome: Outcome) -> None:
    """Reads every existing record once, and makes the tables and the page from them.

    Adds to `outcome` the gathered sweep, the headline and the complaints.
    """
    outcome.sweep = replace(gather(outcome.results.path), edited=outcome.edited)
    outcome.complaints += collect(outcome.sweep).complaints
    if not outcome.sweep.runs:
        outcome.complaints.append("no run is complete")
    outcome.headline = str(build(outcome.sweep, outcome.results.report))
