"""Neurons on ranks: `spikemark.partition`."""

import json
import os
import shlex
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Literal

import numpy as np

from spikemark import machines
from spikemark.core.arguments import public
from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.machines.parts import MachineOfParts
from spikemark.machines.profile import Profile
from spikemark.network import exchanges, placement_file, placement_text
from spikemark.network.placement import ranges
from spikemark.prediction.mini_app import as_json
from spikemark.prediction.partition import graph, routing, shares
from spikemark.prediction.partition.answer import (
    BalancedTable,
    PartitionAnswer,
    PlacementLoads,
    by_method,
)
from spikemark.prediction.partition.graph import Graph
from spikemark.prediction.partition.methods import divide
from spikemark.prediction.partition.routing import Grid
from spikemark.prediction.partition.shares import EqualTimes
from spikemark.prediction.partition.traffic import ExpectedTraffic
from spikemark.records import record
from spikemark.records.record import Run

FilePath = str | PathLike[str]


@public
def partition(
    network: FilePath,
    ranks: int | None = None,
    *,
    method: str | None = None,
    placement: FilePath | None = None,
    out: FilePath | None = None,
    weights: str | None = None,
    weights_from: FilePath | Run | None = None,
    machine: FilePath | Profile | MachineOfParts | None = None,
    on: Mapping[str, int] | None = None,
    threads: int | None = None,
    ranks_per_node: int | None = None,
    rate: float | None = None,
    group: int | None = None,
    levels: str | None = None,
    side: Literal["sender", "receiver"] = "sender",
    merged: bool = False,
    out_table: FilePath | None = None,
    delay_ratio: int = 1,
    seed: int = 1,
) -> PartitionAnswer:
    """Place neurons on ranks evenly, with little traffic.

    Compares all methods, or shows the loads of one method or placement. Numbers are expectations
    over all networks of the description.

    Args:
        network: the file of a run description or of a voxel graph.
        ranks: their number, unless `placement` is a file, or `on` is given.
        method: the only one to use; all are compared by default.
        placement: shown instead: a file that this function wrote, or one of the mini-app's own.
        out: writes the placement to this file.
        weights: share of each rank, such as "1,0.5" or "1x64,0.5x2"; equal by default.
        weights_from: weights in proportion to the speed of each rank in this run.
        machine: weights with which all of its ranks compute equally long, as predicted.
        on: ranks by part, of a machine of parts.
        threads: of a rank of the machine; all cores by default.
        ranks_per_node: ranks that share a node of the machine; as many as fit by default.
        rate: mean firing rate in Hz, for the machine, where the network does not give it.
        group: renumbers ranks so that groups of this size exchange most within themselves.
        levels: routes in levels, such as "4x8": groups of 4 ranks, groups of 8 such groups.
        side: group of the bridges.
        merged: sends a spike to a bridge once, however many ranks behind it need it.
        out_table: writes a forwarding table that balances the bridges to this file.
        delay_ratio: cycles of a window.
        seed: of methods that draw.

    Returns:
        PartitionAnswer: `placement` has the ranges of neurons, `table` the loads of ranks, or a row
        for each method.

    Raises:
        BadInput: for a file that is none of the two, unknown names, arguments that exclude or need
            each other, and where `ranks` is missing.

    Example:
        >>> import json, pathlib, tempfile
        >>> from spikemark import network
        >>> small = network("mam-benchmark", areas=4, neurons_per_area=100, indegree=10)
        >>> file = pathlib.Path(tempfile.mkdtemp(), "network.json")
        >>> _ = file.write_text(json.dumps(small.description))
        >>> answer = partition(file, 4, method="sequential")
        >>> answer.placement.per_rank.tolist()
        [100.0, 100.0, 100.0, 100.0]
    """
    _exclude(method=method, placement=placement)
    _exclude(
        weights=weights,
        weights_from=weights_from,
        machine=machine,
        placement=placement,
    )
    _need("machine", machine, on=on, threads=threads, ranks_per_node=ranks_per_node, rate=rate)
    _need("levels", levels, side=side != "sender", merged=merged, out_table=out_table)
    _need("method", method, machine=machine)
    if out is not None:
        placement_file.check_ending(Path(out))
    neurons = graph.load(Path(network))
    if ranks is None and on:
        ranks = sum(on.values())
    methods: list[ExpectedTraffic] = []
    equal_times = None
    if placement is not None:
        shown, _ = ranges(neurons, os.fspath(placement), ranks)
        traffic = ExpectedTraffic(neurons, shown)
    elif ranks is None:
        expected = "the number of ranks"
        raise BadInput(field="ranks", reason="missing", expected=expected, code="missing")
    elif method is None:
        methods = by_method(neurons, ranks, seed, _weights(weights, weights_from))
        traffic = methods[0]
    else:
        if machine is None:
            weight_of_rank = _weights(weights, weights_from)
        else:
            equal_times = _equal_times(
                neurons, ranks, method, machine, threads, ranks_per_node, on, seed, rate
            )
            weight_of_rank = equal_times.best.weights
        traffic = ExpectedTraffic(neurons, divide(neurons, ranks, method, seed, weight_of_rank))
    if group is not None:
        regrouped = routing.grouped(traffic.placement, traffic.pairs, group)
        traffic = ExpectedTraffic(neurons, regrouped)
    grid = None
    if levels is not None:
        grid = routing.Grid.parsed(levels, traffic.ranks, side, merged)
    loads = PlacementLoads(traffic, delay_ratio, grid, merged)
    balanced = None
    if out_table is not None and grid is not None:
        balanced = _write_balanced_table(Path(out_table), grid, traffic, side)
    proposals = []
    if out is not None:
        placement_file.write(Path(out), traffic.placement.check(neurons.neurons, str(out)))
        proposals = _with_placement(Path(network), neurons, Path(out), traffic.ranks)
    elif methods:
        writes_best = command(
            "partition",
            network,
            ranks=ranks,
            method=traffic.placement.method,
            weights=weights,
            weights_from=_path_of_run(weights_from),
            group=group,
            seed=seed,
            out="placement.json",
        )
        proposals = [writes_best]
    return PartitionAnswer(
        loads,
        seed,
        methods,
        equal_times,
        balanced,
        None if out is None else Path(out),
        proposals,
    )


def _exclude(**arguments: object) -> None:
    """Raises BadInput where more than one of these arguments is given."""
    stated = [name for name, value in arguments.items() if value is not None]
    if len(stated) > 1:
        first, second = stated[:2]
        raise BadInput(
            field=second,
            value=arguments[second],
            reason=f"beside {first}",
            expected="one of them",
            code="conflict",
        )


def _need(name: str, value: object, **arguments: object) -> None:
    """Raises BadInput for an argument that means something only together with `name`."""
    if value is not None:
        return
    for other, other_value in arguments.items():
        if other_value is not None and other_value is not False:
            expected = f"with {name}"
            raise BadInput(field=other, reason="alone", expected=expected, code="conflict")


def _path_of_run(run: FilePath | Run | None) -> FilePath | None:
    return run.path if isinstance(run, Run) else run


def _weights(text: str | None, run: FilePath | Run | None) -> np.ndarray | None:
    """Share of each rank, [rank], as a text gives it or as a run tells it; None for neither."""
    if text is not None:
        return placement_text.weights_of(text, f"weights={text}", shares.LIMITS)
    if run is None:
        return None
    if not isinstance(run, Run):
        run = record.load_run(Path(run))
    return shares.of_run(run)


def _equal_times(
    neurons: Graph,
    ranks: int,
    method: str,
    machine: FilePath | Profile | MachineOfParts,
    threads: int | None,
    ranks_per_node: int | None,
    on: Mapping[str, int] | None,
    seed: int,
    rate_hz: float | None,
) -> EqualTimes:
    """Weights with which all ranks of a machine compute equally long."""
    profile = machine
    if not isinstance(profile, Profile | MachineOfParts):
        profile = machines.load_any(os.fspath(profile))
    return shares.of_machine(
        neurons,
        machines.filled(profile),
        ranks,
        threads,
        ranks_per_node,
        None if on is None else dict(on),
        method,
        seed,
        rate_hz,
    )


def _write_balanced_table(
    file: Path, grid: Grid, traffic: ExpectedTraffic, side: str
) -> BalancedTable:
    """Write a forwarding table; what it makes of the busiest bridge."""
    balanced = grid.balanced(traffic.pairs)
    before = float(grid.hops(traffic.pairs)[1].forwarded.max())
    after = float(balanced.hops(traffic.pairs)[1].forwarded.max())
    assert balanced.table is not None
    exchanges.write_table(file, balanced.table, grid.sizes, side)
    return BalancedTable(file, before, after)


def _with_placement(network: Path, neurons: Graph, placement: Path, ranks: int) -> list[str]:
    """Commands for the placement that was written: it in two levels, and a run of the mini-app."""
    levels = "x".join(str(size) for size in exchanges.most_equal(ranks, 2))
    proposals = [command("partition", network, placement=placement, levels=levels)]
    if neurons.described is not None:
        from_network = os.path.relpath(placement.resolve(), network.resolve().parent)
        setting = json.dumps(placement_text.field_of(from_network))
        file, writes = as_json(network)
        words = ["mpirun", "-n", str(ranks), "miniapp", str(file), "--out", "out/placed"]
        proposals.append(writes + shlex.join([*words, "--set", f"placement={setting}"]))
    return proposals
