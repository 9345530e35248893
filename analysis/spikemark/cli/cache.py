"""`spikemark cachesim`: misses of delivery in simulated caches."""

import json
from pathlib import Path
from typing import Annotated

import typer

FITS = 0.5  # predicted misses of a run, below which there are none
Size = Annotated[
    str | None, typer.Option(metavar="SIZE,WAYS,LINE", help="Instead of the host's or machine's.")
]


def cachesim(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN", help="A description of a short run of a small network, or the record of a run."
        ),
    ],
    ranks: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="MPI ranks, each with caches of its own; of a record its own, else 1."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Threads, which share their rank's caches; likewise."),
    ] = None,
    simulate_ms: Annotated[
        float | None, typer.Option(help="Length of the measured part instead of the described one.")
    ] = None,
    ll: Size = None,
    d1: Size = None,
    machine: Annotated[
        str | None,
        typer.Option(help="The caches of a machine profile, a file in machines/ or a path, not this host's."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Simulate the caches during delivery, and compare the misses with those predicted from the counts.

    Needs Valgrind; takes up to a hundred times as long as the run itself. What it finds for a run of a sweep
    (results/EXPERIMENT/MACHINE/runs/ID) is kept, and the next report shows it.
    """
    import tempfile

    from spikemark import machines
    from spikemark.caches import cachesim as simulation
    from spikemark.caches import callgrind, simulated_caches
    from spikemark.core.files import write_json
    from spikemark.records import record

    from .output import short

    first = None if d1 is None else callgrind.cache(d1, "--d1")
    last = None if ll is None else callgrind.cache(ll, "--ll")
    if machine is not None:
        profile = machines.load(machine)
        first = first or simulation.machine_cache(profile, "d1")
        last = last or simulation.machine_cache(profile, "ll")
    try:
        if run.is_dir():
            recorded = record.load(run)
            ranks, threads = ranks or recorded.record.ranks, threads or recorded.record.threads
            with tempfile.NamedTemporaryFile("w", suffix=".json") as description:
                json.dump(recorded.record.description, description)
                description.flush()
                outcome = simulation.simulate(
                    Path(description.name), ranks, threads, first, last, simulate_ms
                )
        else:
            outcome = simulation.simulate(run, ranks or 1, threads or 1, first, last, simulate_ms)
    except simulation.CachesimFailed as reason:
        typer.echo(f"cachesim failed: {reason}", err=True)
        raise typer.Exit(1) from None
    kept = simulated_caches.place(run) if run.is_dir() else None
    if kept:
        write_json(kept, outcome.content())
    typer.echo(json.dumps(outcome.content(), indent=1) if as_json else text(outcome))
    if kept and not as_json:
        typer.echo(short(kept))


def text(outcome) -> str:
    """Misses by term, and in all."""
    from spikemark.bench.kernel_bench import aligned

    rows = [("", "lines visited", "misses predicted", "misses simulated")]
    for term in ("lists", "starts", "words"):
        found = outcome.total(term)
        rows.append((term, f"{found.visits:.0f}", f"{found.misses:.0f}", ""))
    reads, writes = (sum(r.simulated[name] for r in outcome.ranks) for name in ("DLmr", "DLmw"))
    ring = outcome.total("ring")
    rows.append(("these three", "", f"{outcome.expected - ring.misses:.0f}", f"{reads}"))
    rows.append(("ring", f"{ring.visits:.0f}", f"{ring.misses:.0f}", f"{writes}"))
    rows.append(("all", "", f"{outcome.expected:.0f}", f"{outcome.misses}"))
    off = "" if not outcome.misses else f", predicted {100 * (outcome.expected / outcome.misses - 1):+.1f} %"
    each = f"{outcome.misses / outcome.events:.4f}" if outcome.events else "no"
    fits = "The last level holds all of it; larger networks, or a smaller cache (--ll), have misses."
    return "\n".join([
        f"Delivery in simulated caches: D1 {outcome.first.option}, last level {outcome.last.option}"
        f" (bytes, ways, line); {len(outcome.ranks)} x {outcome.threads}",
        aligned(rows, words=1),
        f"{each} last-level misses per synaptic event (simulated{off})",
        *([fits] if outcome.events and outcome.expected < FITS else []),
    ])  # fmt: skip
