"""The end of a sweep: writes tables and page of all completed runs."""

from spikemark.records.collect import collect
from spikemark.records.frames import load_folder
from spikemark.running.sweeps import SweepOutcome

from . import cases, sweep_page


def conclude(outcome: SweepOutcome) -> None:
    """Reads every existing record once, and makes the tables and the page from them.

    Adds to `outcome` the frames, the headline and the complaints.
    """
    frames = load_folder(outcome.results.path)
    outcome.frames = frames
    outcome.complaints += collect(frames)
    if frames.runs.empty:
        outcome.complaints.append("no run is complete")
    sweep = sweep_page.write(frames, outcome.results.report)
    case = [cases.shown(sweep), *cases.costs(sweep)]
    said = [sweep.sentence, sweep.elsewhere, sweep.caution, *case]
    outcome.headline = " ".join(filter(None, said))
