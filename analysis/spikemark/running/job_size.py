"""What a batch job of one run asks for, where the workflow submits a job for each run."""

import json
import math
from dataclasses import dataclass
from functools import cache

from spikemark.core.errors import BadInput
from spikemark.prediction import memory

from .experiments import RunSpec
from .sweeps import nodes_of

#: Times the memory that the mini-app counts that a job asks for.
MEMORY_MARGIN = 1.2
#: MPI and the programs themselves, MB per rank.
RANK_MB = 300
#: Python and Snakemake on the first node of a job, MB.
SNAKEMAKE_MB = 500
#: Minutes of a job beside those of its run.
MARGIN_MIN = 5


@dataclass(frozen=True)
class JobSize:
    """A batch job for one run. All nodes are alike, so the fullest one decides."""

    nodes: int  #: number of nodes
    tasks: int  #: MPI ranks
    threads: int  #: cores of each rank
    memory_mb: int  #: of a node
    runtime_min: int  #: after which Slurm ends it
    #: Nobody else is on its nodes, as times need it.
    options: str = "--exclusive"

    @property
    def launcher(self) -> str:
        """What starts several ranks; empty for one, which Snakemake takes for no MPI."""
        return "srun" if self.tasks > 1 else ""


def job_size(run: RunSpec, time_limit_s: float) -> JobSize:
    """The job for a run that is stopped after `time_limit_s`.

    Memory is that which the mini-app counts. Raises BadInput where the mini-app is not built.
    """
    nodes = nodes_of(run)
    ranks_of_fullest = math.ceil(run.ranks / nodes)
    description = json.dumps({**run.description, "seed": 0})
    rank_mb = MEMORY_MARGIN * _largest_rank_mb(description, run.ranks, run.threads) + RANK_MB
    return JobSize(
        nodes=nodes,
        tasks=run.ranks,
        threads=run.threads,
        memory_mb=SNAKEMAKE_MB + math.ceil(ranks_of_fullest * rank_mb),
        runtime_min=math.ceil(time_limit_s / 60) + MARGIN_MIN,
    )


@cache
def _largest_rank_mb(description: str, ranks: int, threads: int) -> float:
    """Memory of the largest rank, MB; the seed makes no difference that would matter."""
    counted = memory.of_run(json.loads(description), ranks, threads)
    if counted.most.size == 0:
        raise BadInput(field="ranks", value=ranks, reason="the mini-app counts no memory")
    return float(counted.most.max()) / 1e6
