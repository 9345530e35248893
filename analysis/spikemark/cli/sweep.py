"""Verbs on experiments and results folders: sweep, run, report, study, collect, export."""

import sys
from pathlib import Path
from typing import Literal

import typer

from .kinds import Experiment, OutputFile, Text, Texts, number
from .options import machine_profile, verb
from .output import answer, complain, list_lines, print_lines, say, short

NAME_WIDTH = 10


@verb
def sweep(
    experiment, *, dry_run: bool = False, machine, results,
    again: number(0),
) -> None:  # fmt: skip
    """Measure an experiment's missing runs with Snakemake, then write its report.

    First prints how many runs are missing, how long they will take and on how many nodes. A point of the grid
    that the mini-app would refuse is refused before anything is measured. After an interruption, the same
    command continues. In an allocation of Slurm, srun starts the ranks; docs/clusters.md has a batch script.

    A finished run is never measured again unless other programs disturbed it: then its record moves to
    RESULTS/EXPERIMENT/MACHINE/runs-disturbed, up to --again of them in all. To repeat another one, delete
    its folder in RESULTS/EXPERIMENT/MACHINE/runs.

    --dry-run: Only list the runs, done and missing, in their order, and what they will take.
    --again: Most runs to measure again because other programs disturbed them [half of all].
    """
    from spikemark.running import possible, sweeps
    from spikemark.running.experiments import expand, load

    chosen = load(experiment)
    sifted = possible.sift(chosen, expand(chosen))
    folder = sweeps.folder(chosen, machine, results)
    for line in sifted.lines:
        say(line)
    for simulated in sorted({run.machine.profile for run in sifted.runs if run.machine}):
        machine_profile(simulated, parts=True)
    if dry_run:
        return typer.echo(sweeps.dry_run(sifted.runs, folder))
    most = -(-len(sifted.runs) // 2) if again is None else again
    return _print(sweeps.sweep(chosen, sifted.runs, folder, _conclude, again=most))


def _conclude(outcome) -> None:
    """Draws the report; what that needs takes a second to import, and runs need none of it."""
    from spikemark.report import conclude

    conclude(outcome)


def _print(outcome) -> None:
    """Print where the report is and what failed, and end the command with the status of the outcome."""
    if outcome.failed:
        folder = short(outcome.results.path / "failed")
        say(f"{len(outcome.failed)} of {outcome.planned} runs failed, details in {folder}:")
    list_lines([f"failed: {label}: {reason}" for label, reason in outcome.failed.items()])
    list_lines(outcome.complaints)
    if outcome.headline:
        typer.echo(f"{short(outcome.results.report)}\n{outcome.headline}")
    if outcome.status:
        raise typer.Exit(outcome.status)


@verb
def run(folder, id_: str, *, launcher: Literal["mpirun", "srun"] | None, scorep: bool = False) -> None:
    """Carry out one run of a plan; the workflow calls this.

    ID: A run of the plan in that folder.
    --launcher: How ranks are started [srun inside an allocation of Slurm, else mpirun].
    --scorep: Run the program instrumented for Score-P, beside the timed run.
    """
    from .run import carry_out

    raise typer.Exit(carry_out(folder, id_, launcher, scorep))


@verb
def report(experiment: Experiment, *, machine, results) -> None:
    """Write the report of an experiment again, or of imported times.

    Measures nothing: reads all completed runs of the plan, and leaves them as they are. For a folder that
    `spikemark import` or `spikemark dryrun` wrote, the page says why ranks wait, how other schedules would
    change the program, and what would help.

    EXPERIMENT: Name or file of an experiment, such as demo, or a folder of results, of imported times or of
        a dry run.
    """
    from spikemark.core.lock import locked
    from spikemark.records import dry_run, imported
    from spikemark.records.results import Results
    from spikemark.report import conclude, times_page
    from spikemark.running import sweeps
    from spikemark.running.experiments import load

    place = Path(experiment)
    if place.is_dir() and not (place / "plan.json").is_file():
        times = (imported.run_or_times if dry_run.is_dry_run(place) else imported.load)(place)
        path, sentence = times_page.write(times)
        list_lines([f"warning: {text}" for text in times.cautions])
        return print_lines([str(short(path)), sentence])
    given = place.is_dir()
    folder = Results(place.resolve()) if given else sweeps.folder(load(experiment), machine, results)
    plan = folder.read_plan()
    outcome = sweeps.Outcome(folder, len(plan.runs))
    with locked(folder.path):
        conclude(outcome)
    return _print(outcome)


@verb
def study(
    name: Text, *, quick: bool = False, json, details, html, markdown: OutputFile, machine, results
) -> None:
    """Repeat a paper: print each of its figures and tables beside ours, and whether they agree.

    Runs what is missing, at most an hour on two cores. After an interruption, the same command continues.
    Without a name, lists the studies. The exit status is 1 if something failed.

    NAME: Name of a study.
    --quick: Small sizes: two minutes on two cores.
    --details: Print every row.
    --markdown FILE: Also write a page of the documentation to this file.
    """
    from spikemark import studies
    from spikemark.core.files import write_atomically
    from spikemark.studies import show
    from spikemark.studies.study import carry_out, load

    if name is None:
        return print_lines(f"{one:{NAME_WIDTH}}{load(one).title}" for one in studies.names())
    found = carry_out(name, studies.module(name), quick, machine, results, sys.stderr)
    for file, page in ((html, show.page), (markdown, show.markdown)):
        if file is not None:
            write_atomically(file, page(found))
    sentences, table, more = show.screen(found, details)
    answer(json, lambda: show.content(found), sentences, [table], more)
    if found.complaints:
        say("Some rows are missing:")
    return complain(found.complaints)


@verb
def collect(folder) -> None:
    """Write the records of a results folder as tables (Parquet) for other tools."""
    from spikemark.quantities.words import counted
    from spikemark.records.collect import collect
    from spikemark.records.frames import load_folder
    from spikemark.records.results import Results

    frames = load_folder(folder)
    complaints = collect(frames)
    typer.echo(f"{counted(len(frames.runs), 'run')} in {Results(folder).summary}")
    complain(complaints)


@verb
def export(folder, *, format_: Literal["figures", "extra-p"], only: Texts, output: OutputFile) -> None:
    """Print the measurements of a results folder for another tool.

    --format: figures: one JSON line of figures of merit per configuration; extra-p: JSON Lines for Extra-P.
    --only NAME=VALUE: Only runs with this value, such as schedule=conventional; may be repeated.
    --output FILE: Write to this file instead of printing.
    """
    from spikemark.core.files import write_output
    from spikemark.records.frames import load_folder
    from spikemark.report.export import FORMATS

    lines, complaints = FORMATS[format_](load_folder(folder), tuple(only or ()))
    if output is None:
        typer.echo(lines, nl=False)
    else:
        write_output(output, lines)
    complain(complaints)
