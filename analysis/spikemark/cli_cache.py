"""`spikemark cachesim`: misses of delivery in simulated caches."""

import json
from pathlib import Path
from typing import Annotated

import typer

Size = Annotated[
    str | None, typer.Option(metavar="SIZE,WAYS,LINE", help="Instead of the host's or machine's.")
]


def cachesim(
    description: Annotated[Path, typer.Argument(metavar="RUN.json", help="A short run of a small network.")],
    ranks: Annotated[int, typer.Option(min=1, max=64, help="MPI ranks, each with caches of its own.")] = 1,
    threads: Annotated[
        int, typer.Option(min=1, max=64, help="Threads, which share their rank's caches.")
    ] = 1,
    ll: Size = None,
    d1: Size = None,
    machine: Annotated[
        str | None,
        typer.Option(help="The caches of a machine profile, a file in machines/ or a path, not this host's."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Simulate the caches during delivery, and compare the misses with those predicted from the counts.

    Needs Valgrind; takes up to a hundred times as long as the run itself.
    """
    from spikemark import cachesim as simulation
    from spikemark import callgrind, machines

    first = None if d1 is None else callgrind.cache(d1, "--d1")
    last = None if ll is None else callgrind.cache(ll, "--ll")
    if machine is not None:
        profile = machines.load(machine)
        first = first or simulation.machine_cache(profile, "d1")
        last = last or simulation.machine_cache(profile, "ll")
    try:
        outcome = simulation.simulate(description, ranks, threads, first, last)
    except simulation.CachesimFailed as reason:
        typer.echo(f"cachesim failed: {reason}", err=True)
        raise typer.Exit(1) from None
    typer.echo(json.dumps(outcome.content(), indent=1) if as_json else text(outcome))


def text(outcome) -> str:
    """Misses by term, and in all."""
    from spikemark.bench import aligned

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
    return "\n".join([
        f"Delivery in simulated caches: D1 {outcome.first.option}, last level {outcome.last.option}"
        f" (bytes, ways, line); {len(outcome.ranks)} x {outcome.threads}",
        aligned(rows, words=1),
        f"{each} last-level misses per synaptic event (simulated{off})",
    ])  # fmt: skip
