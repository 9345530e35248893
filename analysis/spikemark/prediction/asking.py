"""Predictions for the mini-app, made of what was asked: one option for each number of ranks."""

from collections.abc import Sequence

from spikemark.core.errors import BadInput
from spikemark.machines.parts import MachineOfParts
from spikemark.machines.profile import Profile
from spikemark.network.placement import MAX_PROCESSES
from spikemark.records.dry_run import DryRun

from . import measured, memory
from .layout import MachineLayout, threads_of
from .mini_app import MiniAppOption, mini_app_option
from .question import Question


def mini_app_options(
    network: Question,
    machine: Profile | MachineOfParts,
    *,
    nodes: int | None = None,
    ranks: Sequence[int] = (),
    threads: int | None = None,
    ranks_per_node: int | None = None,
    ranks_by_part: dict[str, int] | None = None,
    dry_run: DryRun | None = None,
) -> list[MiniAppOption]:
    """The predictions for the mini-app, one for each number of ranks.

    Args:
        network: what runs, and how.
        machine: without unknown values.
        nodes: number of nodes.
        ranks: numbers of ranks; by default those of the parts, of the dry run, or of the nodes.
        threads: of a rank; all cores by default.
        ranks_per_node: ranks that share a node.
        ranks_by_part: ranks by part of a machine of parts.
        dry_run: where compute times come from, instead of the machine.

    Raises:
        BadInput: where neither ranks nor nodes are known, or the ranks take other nodes.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.prediction.question import of_preset
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> options = mini_app_options(of_preset("mam-benchmark"), jureca, nodes=2)
        >>> [option.nodes for option in options]
        [2]
    """
    counts = list(ranks)
    if not counts:
        counts = [_number_of_ranks(ranks_by_part, dry_run, nodes, ranks_per_node)]
    if threads is None and dry_run is not None:
        threads = dry_run.about.threads
    if threads is None:
        threads = threads_of(machine, ranks_per_node, ranks_by_part)
        _check_total(ranks, nodes, max(counts), threads, ranks_per_node)
    options = []
    for count in counts:
        counting = memory.beside(network.description, count, threads)
        loads = network.counting.loads(count, threads)
        means = None
        if dry_run is not None:
            measured.check(dry_run, loads.description, ranks=loads.ranks, threads=loads.threads)
            means = dry_run.means()
        layout = MachineLayout.from_machine(machine, count, threads, ranks_per_node, ranks_by_part)
        if nodes is not None and layout.nodes != nodes:
            reason = f"{count} ranks take {layout.nodes}"
            raise BadInput(field="nodes", value=nodes, reason=reason, expected="as many")
        option = mini_app_option(network, machine, loads, layout, means=means, counting=counting)
        options.append(option)
    return options


def _check_total(
    ranks: Sequence[int], nodes: int | None, count: int, threads: int, ranks_per_node: int | None
) -> None:
    """Raises BadInput for more ranks than a network can be placed on with all cores as threads; it
    names nodes where these are asked about, of which the ranks follow.
    """
    most = MAX_PROCESSES // threads
    if count <= most:
        return
    field, value = "ranks", count
    if not ranks and nodes is not None:
        field, value, most = "nodes", nodes, most // (ranks_per_node or 1)
    expected = f"up to {most}, with {threads} threads for each rank"
    raise BadInput(field=field, value=value, expected=expected, code="range")


def _number_of_ranks(
    ranks_by_part: dict[str, int] | None,
    dry_run: DryRun | None,
    nodes: int | None,
    ranks_per_node: int | None,
) -> int:
    """The number of ranks to predict, from the first of these that is given."""
    if ranks_by_part:
        return sum(ranks_by_part.values())
    if dry_run is not None:
        return dry_run.ranks
    if nodes is not None:
        return nodes * (ranks_per_node or 1)
    expected = "numbers of nodes, or of ranks"
    raise BadInput(field="nodes", reason="missing", expected=expected, code="missing")
