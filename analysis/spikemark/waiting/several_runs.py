"""Several runs of one setup on one machine, whose times are joined: as on the nodes of the first of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network.named_files import with_content
from spikemark.records.record import Run

from .components import Components
from .nodes import Nodes, effects_of_nodes

#: Fields of a description that determine cycle times.
SETUP = ("network", "inject", "placement", "time.resolution_ms", "time.cycle_ms")


def check_together(runs: Sequence[Run]) -> None:
    """Raises BadInput for a run given twice, and for different machines, numbers of ranks or setups."""
    paths = [run.path.resolve() for run in runs]
    twice = next((run.path for i, run in enumerate(runs) if paths[i] in paths[:i]), None)
    if twice is not None:
        raise BadInput(f"{twice}: given twice; each run counts once")
    first = runs[0]
    for field, value in (
        ("kind", lambda run: run.record.kind),
        (("cluster", _cluster) if any(map(_cluster, runs)) else ("host.name", _host_name)),
        ("host.cpu", lambda run: ", ".join(map(str, run.cpus))),
        ("host.nodes", lambda run: run.record.host.nodes),
        ("ranks", lambda run: run.record.ranks),
        ("threads", lambda run: run.record.threads),
    ):
        for run in runs[1:]:
            if value(run) != value(first):
                raise BadInput(
                    f"{field}={value(run)} of {run.path}: {value(first)} elsewhere; one fit, one machine"
                )
    for run, field in ((run, field) for run in runs[1:] for field in SETUP):
        if _asked(run, field) != _asked(first, field):
            raise BadInput(f"{field} of {run.path}: not that of {first.path}; one fit, one setup")


def _asked(run: Run, field: str) -> Any:
    """What the description of a run says of a field; None where it does not."""
    found = with_content(run.record.description)
    for name in field.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _cluster(run: Run) -> str | None:
    return run.cluster


def _host_name(run: Run) -> str:
    return run.record.host.name


def nodes_of(runs: Sequence[Run], times: Sequence[np.ndarray]) -> Nodes | None:
    """The effects of the nodes of runs with these compute times, [rank, cycle] in s each."""
    names = [run.node_of_rank for run in runs]
    if None in names or len({name for each in names for name in each}) == 1:
        return None
    first = Components(times[0])
    error, degrees = first.rank_mean_known
    known = (error / first.mean, degrees) if first.mean > 0 else None
    return effects_of_nodes([each.mean(axis=1, dtype=np.float64) for each in times], names, known)


def on_nodes_of_first(
    runs: Sequence[Run], times: Sequence[np.ndarray], nodes: Nodes | None
) -> tuple[list[np.ndarray], tuple[str, ...]]:
    """The times as they would be on the nodes of the first run, and what is to be said about that."""
    if nodes is None or not nodes.spread:
        reason = "not all of them say where their ranks ran" if nodes is None else nodes.spread.reason
        return list(times), (f"the runs were made on different nodes, whose effect is unknown: {reason}",)
    found = []
    for run, each in zip(runs, times, strict=True):
        pairs = zip(runs[0].node_of_rank, run.node_of_rank, strict=True)
        logarithms = np.array([nodes.applied[wanted] - nodes.applied[own] for wanted, own in pairs])
        found.append((each * np.exp(logarithms)[:, None]).astype(each.dtype))
    return found, (f"the runs were made on different nodes: times are as on those of {runs[0].path}",)
