"""The end of a sweep: tables and page of what is there."""

from spikemark.records import collect
from spikemark.running.sweep import Outcome

from .page import build


def conclude(outcome: Outcome) -> None:
    """Collect and report what is there, adding headline and complaints to `outcome`."""
    collection = collect.collect(outcome.results)
    outcome.complaints += collection.complaints
    if not len(collection.runs):
        outcome.complaints.append("no run is complete")
    outcome.headline = str(build(outcome.results.path, outcome.results.report))
