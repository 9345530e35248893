"""`spikemark partition`: places a network, or a coarse graph of one, on ranks."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from .options import AsJson, Assumptions, On, RanksPerNode, Rate, Threads
from .output import print_based, print_json, print_lines, print_tables, short
from .partition_balance import Answer, Asked, Balance, Machine, TargetRtf, Within, answer

GraphFile = Annotated[
    Path,
    typer.Argument(
        metavar="GRAPH", help="A run description, or a voxel graph: `spikemark preset voxels` writes both."
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of the method.")]
TimeLimit = Annotated[
    float | None, typer.Option(min=0, metavar="SECONDS", help="Stop an iterative method after this time.")
]
Method = Annotated[str | None, typer.Option(help="Method; without it, the methods are listed.")]


def partition(
    graph: GraphFile,
    ranks: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of ranks; with --balance energy, the largest number [all that fit]."
        ),
    ] = None,
    method: Method = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write the placement: .json or .npz.")
    ] = None,
    group: Annotated[
        int | None,
        typer.Option(
            min=2, help="Renumber ranks so that groups of this size exchange most within themselves."
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="W,W", help="Share of each rank, such as 1,0.5 or 1x64,0.5x2 [equal]."),
    ] = None,
    weights_from: Annotated[
        Path | None,
        typer.Option(metavar="RECORD", help="Weights in proportion to the speed of each rank in this run."),
    ] = None,
    balance: Balance = None,
    machine: Machine = None,
    on: On = None,
    threads: Threads = None,
    ranks_per_node: RanksPerNode = None,
    rate: Rate = None,
    target_rtf: TargetRtf = None,
    within: Within = None,
    seed: Seed = 1,
    time_limit: TimeLimit = None,
    assumptions: Assumptions = False,
    as_json: AsJson = False,
) -> None:
    """Place neurons on ranks evenly, with little traffic.

    Writes the placement and prints its expected traffic. After an interruption, the same command continues.
    Without a method, lists the methods.
    """
    from spikemark.core.errors import BadInput
    from spikemark.network import placement_file
    from spikemark.prediction.partition import divide, grouping, show
    from spikemark.prediction.partition.graph import load
    from spikemark.prediction.partition.methods import METHODS, find

    if method is None:
        return print_lines(f"{entry.name:16} {entry.summary}" for entry in METHODS.values())
    chosen = find(method)
    asked = Asked(balance, machine, on, threads, ranks_per_node, rate, target_rtf, within)
    asked.check({"weights": weights, "weights-from": weights_from, "group": group, "time-limit": time_limit})
    for name, value in (("ranks", ranks if balance is None else 0), ("out", out)):
        if value is None:
            raise BadInput(f"--{name}: missing; see `spikemark partition --help`")
    placement_file.check_ending(out)
    if balance is not None:
        return _balanced(graph, answer(load(graph), ranks, chosen, seed, asked), out, assumptions, as_json)
    grouping.check(ranks, group)
    found = load(graph)
    kept = out.with_name(f".{out.name}.state")
    capacity = _capacity(weights, weights_from, ranks)
    made = divide.divide(found, ranks, chosen, seed, capacity, time_limit, kept, _say)
    placed = made.placement if group is None else grouping.grouped(found, made.placement, group)
    placement_file.write(out, placed.check(found.neurons, str(out)))
    kept.unlink(missing_ok=True)
    _, rows = show.loads(found, placed, show.Asked())
    if as_json:
        about = {"seed": seed, "seconds": made.seconds, "finished": made.finished, "placement": str(out)}
        return print_json(about | show.content(rows, placed, show.Asked(), found))
    print_tables(show.table(rows, show.Asked(), method, found))
    ended = "finished" if made.finished else "ended by the time limit"
    print_lines([f"{short(out)}: {method}, {ended} after {made.seconds:.1f} s"])
    if found.described is not None:
        print_lines([f"to run it: {_running(graph, out, ranks)}"])


def _balanced(graph: Path, found: Answer, out: Path, assumptions: bool, as_json: bool) -> None:
    """Write a balanced placement and print what it is predicted to take."""
    from spikemark.network import placement_file

    placement_file.write(out, found.placement)
    if as_json:
        return print_json(found.content | {"placement": str(out), "ranks": found.placement.ranks})
    print_tables(*found.tables)
    print_based(found.lines, assumptions)
    print_lines([f"to run it: {_running(graph, out, found.placement.ranks)}"])


def _capacity(weights: str | None, weights_from: Path | None, ranks: int):
    """Weights of ranks, [ranks] with mean 1; None for equal ranks."""
    from spikemark.core.errors import BadInput
    from spikemark.prediction.partition.weights import capacity, of_run, read
    from spikemark.records.record import load

    if weights is not None and weights_from is not None:
        raise BadInput("--weights-from: given beside --weights; allowed: one of them")
    if weights is not None:
        return capacity(read(weights, ranks))
    return None if weights_from is None else capacity(of_run(load(weights_from), ranks))


def _running(description: Path, placed: Path, ranks: int) -> str:
    """The command that runs the mini-app on a placement."""
    import json
    import os
    import shlex

    from spikemark.network.placement_field import FILE, FROM_FILE

    if placed.suffix != FILE:
        return f"write it as {FILE}, which is what the mini-app reads"
    file = os.path.relpath(placed.resolve(), description.resolve().parent)
    field = json.dumps({"name": FROM_FILE, "file": file})
    words = ["mpirun", "-n", str(ranks), "miniapp", str(description), "--out", "DIR"]
    return shlex.join([*words, "--set", f"placement={field}"])


def _say(line: str) -> None:
    print(line, file=sys.stderr)
