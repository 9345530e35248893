"""`spikemark cachesim`: cache misses of delivery, from a simulation of the caches."""

import json
from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, machine_profile
from .output import fail, print_json, print_lines, print_tables, short

GEOMETRY = "SIZE,WAYS,LINE"


def cachesim(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="Description of a short run of a small network, or the record of a run."
        ),
    ],
    ranks: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Number of MPI ranks, each with caches of its own.",
            show_default="those of the record, or 1",
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=64,
            help="Number of threads of a rank, which share its caches.",
            show_default="those of the record, or 1",
        ),
    ] = None,
    simulate_ms: Annotated[
        float | None,
        typer.Option(help="Length of the measured part in ms, instead of that in the description."),
    ] = None,
    ll: Annotated[
        str | None,
        typer.Option(
            metavar=GEOMETRY, help="Last cache, sizes in bytes, instead of that of the host or machine."
        ),
    ] = None,
    d1: Annotated[
        str | None,
        typer.Option(
            metavar=GEOMETRY, help="First data cache, sizes in bytes, instead of that of the host or machine."
        ),
    ] = None,
    machine: Annotated[
        str | None,
        typer.Option(help="Take the caches from a machine profile: a file in machines/, or a path."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Simulate the caches during delivery and count the misses.

    Prints them beside the misses that are predicted from the counts of synapses and spikes. Needs Valgrind,
    and takes up to a hundred times as long as the run itself. If the run belongs to a sweep
    (results/EXPERIMENT/MACHINE/runs/ID), the result is kept and the next report shows it.
    """
    import tempfile

    from spikemark.caches import callgrind
    from spikemark.caches.cachesim import CachesimFailed, machine_cache, simulate
    from spikemark.caches.show import remarks, table
    from spikemark.core.files import write_json
    from spikemark.records import record
    from spikemark.records.results import Results, beside

    first = None if d1 is None else callgrind.cache(d1, "--d1")
    last = None if ll is None else callgrind.cache(ll, "--ll")
    if machine is not None:
        profile = machine_profile(machine, filled=False)
        first = first or machine_cache(profile, "d1")
        last = last or machine_cache(profile, "ll")
    try:
        if run.is_dir():
            recorded = record.load(run)
            ranks, threads = ranks or recorded.record.ranks, threads or recorded.record.threads
            with tempfile.NamedTemporaryFile("w", suffix=".json") as description:
                json.dump(recorded.record.description, description)
                description.flush()
                outcome = simulate(Path(description.name), ranks, threads, first, last, simulate_ms)
        else:
            outcome = simulate(run, ranks or 1, threads or 1, first, last, simulate_ms)
    except CachesimFailed as reason:
        fail(f"cachesim failed: {reason}")
    kept = beside(run, Results.cachesim) if run.is_dir() else None
    if kept:
        write_json(kept, outcome.content())
    if as_json:
        print_json(outcome.content())
        return
    print_tables(table(outcome))
    print_lines([*remarks(outcome), *([str(short(kept))] if kept else [])])
