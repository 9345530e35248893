"""The end of a sweep: tables and page of what is there."""

from spikemark.records.collect import collect
from spikemark.records.gather import gather
from spikemark.running.sweeps import Outcome

from .page import build


def conclude(outcome: Outcome) -> None:
    """Read every record that is there, once, and make the tables and the page of them.

    Adds to `outcome` the sweep as gathered, the headline and the complaints.
    """
    outcome.sweep = gather(outcome.results.path)
    outcome.complaints += collect(outcome.sweep).complaints
    if not outcome.sweep.runs:
        outcome.complaints.append("no run is complete")
    outcome.headline = str(build(outcome.sweep, outcome.results.report))
