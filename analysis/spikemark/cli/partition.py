"""`spikemark partition`: places a network, or a voxel graph, on ranks, and says what the ranks send."""

import json as json_format
import os
import shlex
from pathlib import Path
from typing import Literal

from spikemark.core.errors import BadInput

from .kinds import Count, File, Placement, Positive, Profile, Text, number, registry
from .options import machine_profile, one_of, only_with, ranks_by_part, verb
from .output import answer as show
from .output import bar, short


@verb
def partition(
    network: Path, *, ranks: Count, method: registry("prediction.partition.methods", "METHODS"),
    placement: Placement, out: File, weights: Text, weights_from: File, machine: Profile, on, threads,
    ranks_per_node, rate, group: number(2), levels: Text, side: Literal["sender", "receiver"] = "sender",
    merged: bool = False, out_table: File, delay_ratio: Positive = 1, seed, json,
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
    """
    from spikemark.network import exchanges, placement_file
    from spikemark.network.placement import ranges
    from spikemark.prediction.partition import answer, graph, methods, routing, shares, traffic
    from spikemark.records import record

    one_of(method=method, placement=placement)
    one_of(weights=weights, weights_from=weights_from, machine=machine, placement=placement)
    only_with("--machine", machine, on=on, threads=threads, ranks_per_node=ranks_per_node, rate=rate)
    only_with("--levels", levels, side=side != "sender", merged=merged, out_table=out_table)
    only_with("--method", method, machine=machine)
    if out is not None:
        placement_file.check_ending(out)
    by_part, units, share, said, lines = ranks_by_part(on), graph.load(network), None, {}, []
    ranks = sum(by_part.values()) if ranks is None and by_part else ranks
    if placement is None and ranks is None:
        raise BadInput("--ranks: missing; expected the number of ranks")
    if weights is not None:
        share = placement_file.weights_of(weights, f"--weights={weights}", shares.LIMITS)
    elif weights_from is not None:
        share = shares.of_run(record.load(weights_from))
    elif machine is not None:
        place = machine_profile(machine, parts=True), ranks, threads, ranks_per_node, by_part
        share, said["balance"], *lines = shares.of_machine(units, *place, method, seed, rate)
    compared = placement is None and method is None
    with bar("placing neurons"):
        if compared:
            found, sentences, table = answer.compared(units, ranks, seed, share)
            said["methods"] = {row["method"]: row for row in table.rows}
        elif placement is not None:
            found = traffic.Traffic(units, ranges(units, placement, ranks)[0])
        else:
            found = traffic.Traffic(units, methods.divide(units, ranks, method, seed, share))
        if group is not None:
            found = traffic.Traffic(units, routing.grouped(found.placement, found.pairs, group))
        grid = None if levels is None else routing.Grid.parsed(levels, found.ranks, side, merged)
        loads = answer.Loads(found, delay_ratio, grid, merged)
    if out_table is not None:
        evened = grid.balanced(found.pairs)
        before, after = (float(one.hops(found.pairs)[1].forwarded.max()) for one in (grid, evened))
        exchanges.write_table(out_table, evened.table, grid.sizes, side)
        said |= {"table": str(out_table), "forwarded_peak": after, "forwarded_peak_before": before}
        lines.append(f"{short(out_table)}: busiest bridge {before:.4g} routes before, {after:.4g} after")
    quoted = shlex.quote(str(network))
    if out is not None:
        placement_file.write(out, found.placement.check(units.neurons, str(out)))
        said["placement"] = str(out)
        lines.append(f"Next: spikemark partition {quoted} --placement {shlex.quote(str(out))} --levels AxB")
    elif compared:
        how = f"--ranks {ranks} --method {found.placement.method} --out placement.json"
        lines.append(f"Next: spikemark partition {quoted} {how}")
    if out is not None and units.described is not None:
        field = placement_file.field_of(os.path.relpath(out.resolve(), network.resolve().parent))
        setting = shlex.quote("placement=" + json_format.dumps(field))
        lines.append(f"Next: mpirun -n {found.ranks} miniapp {quoted} --out DIR --set {setting}")
    if not compared or grid is not None:
        sentences, table = [], loads.table()
    return show(json, lambda: said | loads.content(seed), sentences, [table], lines)
