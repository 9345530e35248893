"""Where a page comes from: network, program, machine, day, commit, and the command that made it.

Every page has these on its first screen, so that it can be read after it was sent on.
"""

import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core.commands import command
from spikemark.core.places import short
from spikemark.quantities.words import counted, integer, listed
from spikemark.records.frames import Frames
from spikemark.records.record import Run

from .measured_by import planned_experiment, sweep_command

COMMIT_DIGITS = 10
MAX_NAMED = 3  #: values of one fact, before the rest is counted


def facts(
    *,
    network: str = "",
    program: str = "",
    machine: str = "",
    day: str = "",
    commit: str = "",
    measured_by: str = "",
    command: str = "",
) -> dict[str, str]:
    """What is known of these, by name, in this order; `day` is today by default.

    Example:
        >>> facts(machine="here", day="2027-01-31")
        {'machine': 'here', 'date': '2027-01-31'}
    """
    stated = {
        "network": network,
        "program": program,
        "machine": machine,
        "date": day or datetime.date.today().isoformat(),
        "commit": commit,
        "measured by": measured_by,
        "made by": f"`{command.replace('`', '')}`" if command else "",
    }
    return {name: value for name, value in stated.items() if value}


def of_sweep(frames: Frames) -> dict[str, str]:
    """Where the runs of a sweep come from.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> of_sweep(frames)["machine"]
        'jureca-dc, simulated on jureca-dc'
    """
    runs = list(frames.records.values())
    stated = of_runs(runs, frames.machine, "")
    page = facts(measured_by=measuring(frames.path), command=command("report", short(frames.path)))
    return stated | {name: page[name] for name in ("measured by", "made by") if name in page}


def measuring(folder: Path) -> str:
    """The command that measured a results folder, as its plan tells it; empty without a plan.

    FILE where the experiment is not one of ours: the section on checks has its fields.

    Example:
        >>> measuring(Path("results/examples/schedules/two-cores"))
        '`spikemark sweep FILE`; FILE: the experiment below Provenance'
    """
    experiment = planned_experiment(folder)
    if experiment is None:
        return ""
    line = sweep_command(experiment)
    if line:
        return f"`{line.replace('`', '')}`"
    return f"`{command('sweep', 'FILE')}`; FILE: the experiment below Provenance"


def of_runs(runs: list[Run], machine: str, made_by: str) -> dict[str, str]:
    """Where runs come from: what they share, or how many values there are.

    Args:
        runs: of the mini-app.
        machine: the name of the results folder, or of the host.
        made_by: the command that makes the page.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.record import load_run
        >>> run = load_run(Path("tests/golden/analysis/records/conventional-4"))
        >>> of_runs([run], machine="my-cluster", made_by="spikemark report")["network"]
        '4 areas, 64 neurons, 512 synapses, 0.1 s'
    """
    if not runs:
        return facts(machine=machine, command=made_by)
    origins = [run.record.provenance for run in runs]
    days = sorted({origin.started[:10] for origin in origins if origin.started})
    commits = []
    for origin in origins:
        changed = " with changes" if origin.dirty else ""
        commits.append(f"{(origin.commit or 'unknown')[:COMMIT_DIGITS]}{changed}")
    processors = few(run.record.host.cpu for run in runs)
    nodes = [run.record.host.nodes for run in runs]
    size = counted(max(nodes), "node")
    cores = [run.record.host.cores for run in runs if run.record.host.cores]
    if cores:
        size += f" of {counted(max(cores), 'core')}"
    network = few(network_in_words(run) for run in _of_each_size(runs))
    seeds = len({run.record.description["seed"] for run in runs})
    if seeds > 1:
        network += f", drawn with {seeds} seeds"
    simulated = {run.simulation["machine"] for run in runs if run.simulation}
    place = f"{machine}: {processors}, {size}"
    if simulated:
        place = f"{few(simulated)}, simulated on {machine}"
    return facts(
        network=network,
        program=f"mini-app {few(origin.version for origin in origins)}",
        machine=place,
        day=" to ".join(dict.fromkeys([days[0], days[-1]])) if days else "",
        commit=few(commits),
        command=made_by,
    )


def _of_each_size(runs: list[Run]) -> list[Run]:
    """The first run of each size of network, since reading a description takes a while."""
    first: dict[tuple[int, int, float], Run] = {}
    for run in runs:
        totals = run.record.totals
        size = totals.neurons, totals.synapses, run.record.timing.model_s
        first.setdefault(size, run)
    return list(first.values())


def network_in_words(run: Run) -> str:
    """The size of the network of a run: areas, neurons, synapses, simulated time.

    Example:
        >>> from spikemark.records.record import load_run
        >>> network_in_words(load_run("tests/golden/analysis/records/conventional-4"))
        '4 areas, 64 neurons, 512 synapses, 0.1 s'
    """
    totals = run.record.totals
    areas = len({population.area for population in run.network.populations})
    size = f"{integer(totals.neurons)} neurons, {integer(totals.synapses)} synapses"
    return f"{counted(areas, 'area')}, {size}, {run.record.timing.model_s:g} s"


def few(values: Iterable[Any]) -> str:
    """Different values in words, in their order; after MAX_NAMED, the rest is counted.

    Example:
        >>> few(["a", "b", "a"]), few("abcde")
        ('a and b', 'a, b, c and 2 more')
    """
    texts = list(dict.fromkeys(str(value) for value in values if not pd.isna(value)))
    if len(texts) > MAX_NAMED:
        texts = [*texts[:MAX_NAMED], f"{len(texts) - MAX_NAMED} more"]
    return listed(texts) if texts else "unknown"
