"""`spikemark report`: writes the page of an experiment again, of imported cycle times or of a dry run."""

from pathlib import Path
from typing import Annotated

import typer

from spikemark.core.errors import BadInput

from .options import Machine, Root
from .output import print_lines, short, warn
from .sweep import print_outcome


def report(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="Name of a file in workflows/experiments, such as demo, the path of such a file, or a folder"
            " of imported cycle times or of a dry run.",
        ),
    ],
    machine: Machine = None,
    results: Root = None,
) -> None:
    """Write the report of an experiment again, or of imported times.

    Measures nothing: reads all completed runs, and leaves them as they are. If the experiment's file was
    edited since it was planned, the command says so: the report shows what was planned. For a folder that
    `spikemark import` or `spikemark dryrun` wrote, the page says why ranks wait, how other schedules would
    change the program, and what would help.
    """
    if (Path(experiment) / "plan.json").is_file():
        root = short(Path(experiment).resolve().parents[1])
        named = f"its experiment, by name or file, with --results {root}"
        raise BadInput(f"{experiment}: results of a sweep; allowed: {named}")
    if Path(experiment).is_dir():
        return _of_times(Path(experiment))
    from spikemark.core.lock import locked
    from spikemark.report import conclude
    from spikemark.running import sweeps
    from spikemark.running.edited import edited
    from spikemark.running.experiments import load

    chosen = load(experiment)
    folder = sweeps.folder(chosen, machine, results)
    plan = folder.read_plan()
    outcome = sweeps.Outcome(folder, len(plan.runs), edited=edited(chosen, plan))
    with locked(folder.path):
        conclude(outcome)
    print_outcome(outcome)


def _of_times(folder: Path) -> None:
    """Write the page of imported cycle times, or of those of a dry run."""
    from spikemark.records import dry_run, imported
    from spikemark.report import times_page

    read = imported.run_or_times if dry_run.is_dry_run(folder) else imported.load
    times = read(folder)
    path, sentence = times_page.write(times)
    warn(times.cautions)
    print_lines([str(short(path)), sentence])
