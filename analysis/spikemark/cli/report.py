"""`spikemark report`: writes the page of an experiment again."""

from .options import Experiment, Machine, Root
from .sweep import print_outcome


def report(experiment: Experiment, machine: Machine = None, results: Root = None) -> None:
    """Write the report of an experiment again, without measuring.

    Reads all completed runs again.
    """
    from spikemark.core.lock import locked
    from spikemark.report import conclude
    from spikemark.running import sweeps
    from spikemark.running.experiments import load

    folder = sweeps.folder(load(experiment), machine, results)
    outcome = sweeps.Outcome(folder, len(folder.read_plan().runs))
    with locked(folder.path):
        conclude(outcome)
    print_outcome(outcome)
