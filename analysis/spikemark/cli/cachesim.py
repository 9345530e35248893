"""`spikemark cachesim`: cache misses of delivery, by Valgrind."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spikemark.core.errors import BadInput
from spikemark.core.places import short

from . import panels, params
from .options import machine_profile, read_description
from .output import answer, bar_of_cycles, ending, say

if TYPE_CHECKING:
    from spikemark.machines.profile import Profile
    from spikemark.measuring.cachesim import Cache

MAX_RANKS_OR_THREADS = 64  # Valgrind runs all of them a hundred times more slowly

app = typer.Typer()


@app.command(rich_help_panel=panels.RECORDS)
def cachesim(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN",
            help="Description of a short run of a small network, or the record of a run.",
        ),
    ],
    ranks: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_RANKS_OR_THREADS,
            help="MPI ranks, each with caches of its own [those of the record, or 1].",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MAX_RANKS_OR_THREADS,
            help="Threads of a rank, which share its caches [those of the record, or 1].",
        ),
    ] = None,
    simulate_ms: Annotated[
        float | None,
        typer.Option(help="Length of the measured part in ms, instead of that in the description."),
    ] = None,
    ll: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE,WAYS,LINE",
            help="Last cache, sizes in bytes, instead of that of the host or machine.",
        ),
    ] = None,
    d1: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE,WAYS,LINE",
            help="First data cache, sizes in bytes, instead of that of the host or machine.",
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(
            help="Take the caches from a machine profile: a file in machines/, or a path.",
            autocompletion=params.machine_names,
            callback=params.known_machine,
        ),
    ] = None,
    json: params.Json = False,
) -> None:
    """Simulate the caches during delivery and count the misses.

    Prints the misses beside those predicted from the counts of synapses and spikes. Needs Valgrind,
    and takes up to a hundred times as long as the run itself: about a minute for a million synapses
    and --simulate-ms 100, and it says beforehand how long. If the run belongs to a sweep
    (results/EXPERIMENT/MACHINE/runs/ID), the result is kept and the next report shows it.
    """
    from spikemark.core.files import write_json
    from spikemark.core.yaml_file import YAML
    from spikemark.launch.process import ProgramFailed
    from spikemark.measuring import cachesim
    from spikemark.records import record
    from spikemark.records.results import Results, beside

    if machine is not None and d1 is not None and ll is not None:
        expected = "no machine, since --d1 and --ll state both caches"
        raise BadInput(field="--machine", value=machine, expected=expected, code="conflict")
    profile = None if machine is None else machine_profile(machine, filled=False)
    first_cache = _cache("d1", d1, profile)
    last_cache = _cache("ll", ll, profile)
    if not run.exists():
        expected = "a run description, or the record of a run"
        raise BadInput(file=run, reason="not found", expected=expected, code="file")
    with tempfile.TemporaryDirectory() as folder:
        description = run
        result_file = None
        if run.is_dir():
            recorded = record.load_run(run).record
            description = Path(folder) / "run.json"
            write_json(description, recorded.description)
            ranks = ranks or recorded.ranks
            threads = threads or recorded.threads
            result_file = beside(run, Results.cachesim)
        elif run.suffix in YAML:  # the mini-app reads JSON
            description = Path(folder) / "run.json"
            write_json(description, read_description(run))
        failure = ending(ProgramFailed, words="cachesim failed: {}")
        with failure, bar_of_cycles("the run under Valgrind") as advance:
            outcome = cachesim.simulate(
                description,
                ranks or 1,
                threads or 1,
                first_cache,
                last_cache,
                simulate_ms,
                advance,
                say,
            )
    lines = []
    if result_file is not None:
        write_json(result_file, outcome.model_dump())
        lines.append(str(short(result_file)))
    answer(
        "cachesim",
        json,
        outcome.model_dump,
        [cachesim.sentence(outcome)],
        tables=[cachesim.miss_table(outcome)],
        more=lines,
    )


def _cache(name: str, text: str | None, profile: "Profile | None") -> "Cache":
    """The cache that an option gives, or else that of the profile or of this host.

    Args:
        name: d1 or ll, as the option is called.
        text: the value of the option, SIZE,WAYS,LINE.
        profile: of the machine that is named; None for this host.
    """
    from spikemark.measuring import cachesim

    if text is not None:
        return cachesim.cache(text, f"--{name}")
    return cachesim.of_machine(name, profile)
