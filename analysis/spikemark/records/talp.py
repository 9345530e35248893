"""A run as TALP reports one, for TALP-Pages: how much of the time of the processors was useful.

Format: the JSON of TALP, a part of DLB, version 3.8 (src/talp/talp_types.h there), with one region,
`Global`, the measured part. Efficiencies are those of POP: with the mean and the largest useful
time of a rank,

    parallel efficiency = communication efficiency x load balance
                        = largest useful / elapsed x mean useful / largest useful

(Garcia-Gasulla et al., "A generic performance analysis technique applied to different CFD methods
for HPC", Int. J. Comput. Fluid Dyn. 34, 2020). Useful is what ranks compute; waiting and exchange
are time in MPI.
"""

import json
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.version import __version__

from .record import Run

REGION = "Global"
NANOSECONDS = 1e9
#: TALP-Pages chooses its reader by the first two numbers.
DLB_VERSION = f"3.8, format of DLB, written by Spikemark {__version__}"
NO_COUNTERS = 0  #: of cycles and instructions, as TALP writes them without PAPI
DIGITS = 3  #: behind the point of an efficiency; TALP writes two


def talp(run: Run) -> tuple[str, list[str]]:
    """The report of TALP on a run as JSON, and remarks about what it leaves out.

    Raises BadInput for a run without cycles.npy, and for one with several threads on a rank: phases
    are timed on the first thread alone, while TALP counts the time of every processor.

    Example:
        >>> from spikemark.records.record import load_run
        >>> text, remarks = talp(load_run("tests/golden/analysis/records/aware-4"))
        >>> json.loads(text)["Application"]["Global"]["mpiLoadBalance"]
        0.994
    """
    record = run.record
    if record.threads > 1:
        raise BadInput(
            field="threads",
            value=record.threads,
            reason="phases are timed on the first thread of a rank alone",
            expected="a run with one thread on each rank",
            file=run.path,
        )
    useful_s = run.compute().sum(axis=1)
    elapsed_s = max(record.timing.simulate_s, float(useful_s.max()))
    nodes = record.host.nodes
    processors = {"numCpus": record.ranks, "numNodes": nodes, "numMpiRanks": record.ranks}
    content = {
        "dlbVersion": DLB_VERSION,
        "timestamp": record.provenance.started,
        "metadata": {
            "gitCommit": record.provenance.commit or "unknown",
            "run": run.path.resolve().name,
            "schedule": record.described.schedule,
            "delayRatio": run.delay_ratio,
            "kind": record.kind,
            "processor": record.host.cpu,
        },
        "resources": processors | {"numAvailableCpus": record.ranks, "numGpus": 0},
        "Application": {
            REGION: processors | _metrics(useful_s, elapsed_s, run.ranks["node"]),
        },
    }
    remarks = ["no counters of cycles and instructions: TALP-Pages compares times only"]
    return json.dumps(content, indent=1) + "\n", remarks


def _metrics(useful_s: np.ndarray, elapsed_s: float, nodes: pd.Series) -> dict[str, Any]:
    """The metrics of the region.

    Args:
        useful_s: computing of each rank, [rank] in s.
        elapsed_s: wall-clock time.
        nodes: number of the node of each rank.
    """
    mpi_s = elapsed_s - useful_s
    largest_s = float(useful_s.max())
    mean_s = float(useful_s.mean())
    by_node = pd.Series(useful_s).groupby(nodes.to_numpy()).mean()
    busiest_node_s = float(by_node.max())
    times = {
        "elapsedTime": elapsed_s,
        "usefulTime": useful_s.sum(),
        "mpiTime": mpi_s.sum(),
        "minMpiNormdProc": elapsed_s - largest_s,
        "minMpiNormdNode": elapsed_s - busiest_node_s,
    }
    efficiencies = {
        "parallelEfficiency": mean_s / elapsed_s,
        "mpiParallelEfficiency": mean_s / elapsed_s,
        "mpiCommunicationEfficiency": largest_s / elapsed_s,
        "mpiLoadBalance": mean_s / largest_s,
        "mpiLoadBalanceIn": busiest_node_s / largest_s,
        "mpiLoadBalanceOut": mean_s / busiest_node_s,
    }
    ranks = len(useful_s)
    return {
        "numOmpThreads": ranks,
        "avgCpus": float(ranks),
        "numGpus": 0,
        "cycles": NO_COUNTERS,
        "instructions": NO_COUNTERS,
        "numMeasurements": ranks,
        **{name: round(NANOSECONDS * seconds) for name, seconds in times.items()},
        "mpiWorkerIdleTime": 0,
        "ompLoadImbalanceTime": 0,
        "ompSchedulingTime": 0,
        "ompOutsideParallelTime": 0,
        **{name: round(value, DIGITS) for name, value in efficiencies.items()},
        "ompParallelEfficiency": 1.0,
        "ompLoadBalance": 1.0,
        "ompSchedulingEfficiency": 1.0,
        "ompCoverageEfficiency": 1.0,
    }
