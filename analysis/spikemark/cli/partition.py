"""`spikemark partition`: places a network, or a voxel graph, on ranks, and says what the ranks send."""

import json as json_format
import os
import shlex
from pathlib import Path
from typing import Any, Literal

from spikemark.core.errors import BadInput

from .kinds import Count, File, Placement, Positive, Profile, Text, number, registry
from .options import machine_profile, one_of, only_with, ranks_by_part, verb
from .output import answer as show
from .output import bar, short

Method = registry("prediction.partition.methods", "METHODS")


@verb
def partition(
    network: Path, *, ranks: Count, method: Method,
    placement: Placement, out: File, weights: Text, weights_from: File, machine: Profile, on, threads,
    ranks_per_node, rate, group: number(2), levels: Text,
    side: Literal["sender", "receiver"] = "sender", merged: bool = False, out_table: File,
    delay_ratio: Positive = 1, seed, json,
) -> None:  # fmt: skip
    """Place neurons on ranks evenly, with little traffic.

    Compares all methods, or shows the loads of one method or placement: peak, mean and balance of what ranks
    send, receive and forward. Numbers are expectations over all networks of the description.

    NETWORK: A run description, or a voxel graph: `spikemark preset voxels` writes both.
    --ranks: Number of ranks, unless a file or --on gives it.
    --method: Use one method [compare all].
    --placement FILE|NAME: Show a placement instead: a file of this command, or one of the mini-app's own.
    --out FILE.json: Write the placement.
    --weights W,W: Share of each rank, such as 1,0.5 or 1x64,0.5x2 [equal].
    --weights-from RECORD: Weights in proportion to the speed of each rank in this run.
    --machine: Weights with which all ranks of this machine compute equally long, as predicted.
    --group: Renumber ranks so that groups of this size exchange most within themselves.
    --levels AxB…: Route in levels: groups of A ranks, groups of B such groups, …
    --side: Group of the bridges.
    --merged: Send a spike to a bridge once, however many ranks behind it need the spike.
    --out-table FILE.json: Write a forwarding table that balances the bridges.
    --delay-ratio D: Cycles of a window.
    --seed: Seed of the methods.
    """
    from spikemark.network import placement_file
    from spikemark.prediction.partition import answer
    from spikemark.prediction.partition.graph import load
    from spikemark.prediction.partition.levels import (
        Forwarding,
        balanced,
        dimensions,
        grouped,
        hops,
        write_table,
    )
    from spikemark.prediction.partition.methods import divide
    from spikemark.prediction.partition.traffic import Traffic, loads, named
    from spikemark.prediction.partition.weights import of_run, read
    from spikemark.records import record

    one_of(method=method, placement=placement)
    one_of(weights=weights, weights_from=weights_from, machine=machine, placement=placement)
    only_with("--machine", machine, on=on, threads=threads, ranks_per_node=ranks_per_node, rate=rate)
    only_with("--levels", levels, side=side != "sender", merged=merged, out_table=out_table)
    if out is not None:
        placement_file.check_ending(out)
    graph, share, said, lines = load(network), None, {}, []
    if machine is not None:
        place = machine, ranks, on, threads, ranks_per_node
        share, ranks, balance = _levelled(graph, *place, method, seed, rate)
        said["balance"] = balance
        lines.append(f"Slowest rank over the mean, as predicted: {balance['slowest_over_mean']:.3g}"
                     f" ({balance['slowest_over_mean_before']:.3g} with equal weights).")  # fmt: skip
    elif placement is None and ranks is None:
        raise BadInput("--ranks: missing; expected the number of ranks")
    elif weights is not None:
        share = read(weights, ranks)
    elif weights_from is not None:
        share = of_run(record.load(weights_from), ranks)
    compared = placement is None and method is None
    with bar("placing neurons"):
        if compared:
            said["methods"], traffic = answer.compared(graph, ranks, seed, share)
        elif placement is not None:
            traffic = Traffic(graph, named(graph, placement, ranks))
        else:
            traffic = Traffic(graph, divide(graph, ranks, method, seed, share))
        if group is not None:
            traffic = Traffic(graph, grouped(traffic.placement, traffic.pairs, group))
        placed = traffic.placement
        sizes = () if levels is None else dimensions(levels, placed.ranks)
        rows = loads(traffic, delay_ratio, sizes, side, merged)
    if out_table is not None:
        table = balanced(traffic.pairs, sizes, side)
        ways = (None, None), (None, Forwarding(bridge=table))
        hopped = (hops(traffic.pairs, sizes, side, *way)[1] for way in ways)
        before, after = (float(hop.forwarded.max()) for hop in hopped)
        write_table(out_table, table, sizes, side)
        said |= {"table": str(out_table), "forwarded_peak": after, "forwarded_peak_before": before}
        lines.append(f"{short(out_table)}: busiest bridge {before:.4g} routes before, {after:.4g} after")
    if out is not None:
        placement_file.write(out, placed.check(graph.neurons, str(out)))
        said["placement"] = str(out)
    how = {"side": side, "merged": merged, "delay_ratio": delay_ratio, "seed": seed, "levels": list(sizes)}
    lines += _next(network, placed, out, graph.described is not None, compared)
    if compared and levels is None:
        sentences, table = answer.screen(said["methods"], placed.ranks)
    else:
        routed = levels and f"Levels {levels}: bridges on the {side}'s side{', merged' * merged}."
        sentences, table = [], answer.loads_table(rows, placed, graph, delay_ratio, routed or "")
    return show(json, lambda: said | answer.content(rows, placed, graph, **how), sentences, [table], lines)


def _levelled(graph, name, ranks, on, threads, ranks_per_node, method, seed, rate) -> tuple:
    """Weights of ranks by what the machine is predicted to take, the ranks, and what the weights change."""
    from spikemark.prediction import layout
    from spikemark.prediction.partition import weights

    machine, by_part = machine_profile(name, parts=True), ranks_by_part(on)
    ranks = sum(by_part.values()) if ranks is None and by_part else ranks
    if ranks is None or method is None:
        raise BadInput(f"--{'method' if ranks else 'ranks'}: missing; expected with --machine")
    threads = threads or layout.threads_of(machine, ranks_per_node, by_part)
    place = layout.Layout.of(machine, ranks, threads, ranks_per_node, by_part)
    share, before, after = weights.of_machine(graph, machine, place, threads, method, seed, rate)
    said: dict[str, Any] = {"weights": share.tolist(), "compute_s": after.tolist()}
    for end, times in (("", after), ("_before", before)):
        said[f"slowest_over_mean{end}"] = float(times.max() / times.mean())
        said[f"unequal{end}_s"] = float(times.max() - times.mean())
    return share, ranks, said


def _next(network: Path, placed, out: Path | None, runs: bool, compared: bool) -> list[str]:
    """Commands that lead on."""
    command = ["spikemark", "partition", str(network)]
    if out is None:
        words = ["--ranks", str(placed.ranks), "--method", placed.method, "--out", "placement.json"]
        return ["Next: " + shlex.join([*command, *words])] if compared else []
    lines = ["Next: " + shlex.join([*command, "--placement", str(out)]) + " --levels AxB"]
    if runs and out.suffix == ".json":
        file = os.path.relpath(out.resolve(), network.resolve().parent)
        field = "placement=" + json_format.dumps({"name": "from_file", "file": file})
        words = ["mpirun", "-n", str(placed.ranks), "miniapp", str(network), "--out", "DIR", "--set", field]
        lines.append("Next: " + shlex.join(words))
    return lines
