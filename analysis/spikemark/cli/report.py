"""`spikemark report`: writes the page of an experiment again."""

from .options import Experiment, Machine, Root
from .sweep import print_outcome


def report(experiment: Experiment, machine: Machine = None, results: Root = None) -> None:
    """Write the report of an experiment again, without measuring.

    The runs that are there are collected anew.
    """
    from spikemark.report import conclude
    from spikemark.running import sweep
    from spikemark.running.experiment import load

    folder = sweep.folder(load(experiment), machine, results)
    outcome = sweep.Outcome(folder, len(folder.read_plan().runs))
    with sweep.locked(folder):
        conclude(outcome)
    print_outcome(outcome)
