"""`spikemark tender accept`: the buyer's own run with a secret seed."""

from pathlib import Path
from typing import Annotated

import typer

from .options import RanksPerNode, Where
from .output import fail, print_lines, say, short


def accept(
    bundle: Annotated[
        Path, typer.Argument(metavar="BUNDLE", help="Folder that `spikemark tender new` wrote.")
    ],
    seed: Annotated[int, typer.Option(min=0, max=2**53, help="Secret seed of the network.")],
    expect: Annotated[
        Path, typer.Option(metavar="FILE.json", help="Expected results, as --prepare wrote them.")
    ],
    prepare: Annotated[
        bool, typer.Option("--prepare", help="Run the network here and write --expect, before delivery.")
    ] = False,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the runs.")] = Path("acceptance"),
    answer: Annotated[
        Path | None, typer.Option(metavar="ANSWER", help="Compare the real-time factor with its commitment.")
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, max=10, help="Share by which the machine may be slower than promised.")
    ] = 0.05,
    name: Annotated[
        str | None, typer.Option("--run", help="Run of the bundle.", show_default="the smallest")
    ] = None,
    model_ms: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="MS", help="Simulated time, with --prepare.", show_default="the shortest allowed"
        ),
    ] = None,
    ranks: Annotated[
        int | None,
        typer.Option(min=1, help="MPI ranks.", show_default="one for each area, if there are cores"),
    ] = None,
    threads: Annotated[int, typer.Option(min=1, help="Threads of a rank.")] = 1,
    ranks_per_node: RanksPerNode = None,
    profile: Where = "here",
) -> None:
    """Run a network that only the buyer knows, and compare its spikes and time with what was promised.

    First, on any machine: --prepare computes the checksum. Then, on the delivered machine, the same command
    without --prepare. The exit status is 0 if the machine is accepted, 1 if not.
    """
    from spikemark.core.errors import BadInput
    from spikemark.core.layout import Layout
    from spikemark.running import ways
    from spikemark.tender import acceptance
    from spikemark.tender.bundle import read
    from spikemark.tender.measure import NotMeasured

    if prepare and answer is not None:
        raise BadInput("--answer: only without --prepare")
    if not prepare and model_ms is not None:
        raise BadInput("--model-ms: only with --prepare")
    rules, way = read(bundle), ways.find(profile)
    layout = None if ranks is None else Layout(ranks, threads, ranks_per_node)
    asked = acceptance.Asked(seed, name, model_ms, layout)
    try:
        if prepare:
            made = acceptance.prepare(rules, asked, expect, out, way, say)
            print_lines(
                [f"{made['run']} with the secret seed: checksum {made['checksum']}, kept in {short(expect)}"]
            )
            return
        found = acceptance.accept(rules, asked, expect, out, way, say, answer, tolerance)
    except NotMeasured as reason:
        fail(f"{reason}; the same command tries again")
    figure, promised = found["figure"], found["promised"]
    beside = "nothing was promised" if promised is None else f"promised {promised:.4g}"
    spread = f"({figure['low']:.4g} to {figure['high']:.4g})"
    verdict = "ACCEPTED" if found["accepted"] else "NOT ACCEPTED"
    print_lines([
        f"{verdict}: {found['run']}, {found['repetitions']} repetitions",
        f"real-time factor {figure['value']:.4g} {spread}, measured; {beside}",
        *found["reasons"],
    ])  # fmt: skip
    raise typer.Exit(0 if found["accepted"] else 1)
