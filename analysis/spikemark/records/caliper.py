"""A run as a profile of Caliper, which Hatchet and Thicket read: seconds by phase and rank.

Format: the split JSON of `cali-query -q "format json-split"`, as Hatchet's reader has it: `nodes`
is a tree of regions, `data` has a line of `columns` for each rank and region, and all further
fields describe the run; Thicket makes a table of these. The reader takes the order of the regions
from the first lines, so these are those of rank 0, in the order of the regions.
"""

import json
from typing import Any

import numpy as np

from .record import Run

ROOT = "simulate"  #: the region of the measured part; phases are regions below it
ROOT_NODE = 0  #: its number among the nodes
PATH = "path"
COLUMNS = {
    "Node order": {"is_value": True},
    PATH: {"is_value": False},  # a number of a node
    "mpi.rank": {"is_value": True},
    "sum#time.duration": {"is_value": True, "attribute.unit": "sec"},  # exclusive
}


def caliper(run: Run) -> tuple[str, list[str]]:
    """The profile of a run as JSON, and remarks about what it leaves out.

    Phases that were not timed are no regions. The region `simulate` has the time of a rank that no
    phase accounts for.

    Raises BadInput for a run without cycles.npy.

    Example:
        >>> from spikemark.records.record import load_run
        >>> text, remarks = caliper(load_run("tests/golden/analysis/records/aware-4"))
        >>> [node["label"] for node in json.loads(text)["nodes"]][:3]
        ['simulate', 'deliver', 'update']
    """
    times_s: dict[str, np.ndarray] = {}  # of each rank, by region
    for name in run.record.phases:
        times_s[name] = run.phase(name).sum(axis=1, dtype=np.float64)
    untimed = [name for name, times in times_s.items() if np.isnan(times).any()]
    for name in untimed:
        del times_s[name]
    rest_s = run.ranks["simulate_s"].to_numpy(dtype=float) - sum(times_s.values())
    regions = {ROOT: np.maximum(rest_s, 0.0), **times_s}
    data: list[list[Any]] = []
    for rank in range(run.record.ranks):
        for node, times in enumerate(regions.values()):
            data.append([node, node, rank, float(times[rank])])
    nodes: list[dict[str, Any]] = [{"label": name, "column": PATH} for name in regions]
    for phase in nodes[1:]:
        phase["parent"] = ROOT_NODE
    content = {
        "data": data,
        "columns": list(COLUMNS),
        "column_metadata": list(COLUMNS.values()),
        "nodes": nodes,
        **_about(run),
    }
    remarks = [f"not timed, and no region: {', '.join(untimed)}"] if untimed else []
    return json.dumps(content) + "\n", remarks


def _about(run: Run) -> dict[str, Any]:
    """What tells the run from others."""
    record = run.record
    return {
        "run": run.path.resolve().name,
        "schedule": record.described.schedule,
        "delay_ratio": run.delay_ratio,
        "ranks": record.ranks,
        "threads": record.threads,
        "seed": record.described.seed,
        "kind": record.kind,
        "real_time_factor": record.timing.real_time_factor,
        "checksum": record.checksum,
        "host": record.host.name,
        "processor": record.host.cpu,
        "commit": record.provenance.commit,
        "started": record.provenance.started,
    }
