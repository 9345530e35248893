"""Slurm: the allocation that this process is in, its nodes, and when it ends."""

import contextlib
import functools
import os
import re
import shutil
import time
from datetime import datetime
from typing import Any

from spikemark.core.errors import BadInput

from .layout import Launch, Nodes
from .process import watch

#: Seconds after which a command of Slurm counts as unanswered; shorter where an answer is not worth a wait.
LIMIT_S, SHORT_S = 60, 5
#: Variables that Slurm takes for options of a command that is started inside a job.
INHERITED = re.compile(r"SLURM(D|STEPD)?_|SBATCH_|SALLOC_|SRUN_")
#: Those of them that say which job it is, and what concerns the nodes themselves.
OF_THE_JOB = re.compile(
    r"SLURM_(CONF|JOBID|JOB_(?!NUM_NODES$).*|(WORKING_)?CLUSTER.*|NODE_ALIASES|NETWORK|CPU_FREQ_REQ)$|SLURMD_"
)
#: When the allocation ends, s since the Unix epoch: ours, which allocation.sh or a user sets, and Slurm's.
ENDS = ("SPIKEMARK_JOB_ENDS", "SLURM_JOB_END_TIME")


def inside() -> bool:
    """Says whether this process belongs to a job of Slurm and can ask it; in a container it cannot."""
    return bool(os.environ.get("SLURM_JOB_ID")) and shutil.which("scontrol") is not None


def allocation() -> dict[str, Any] | None:
    """What is kept of the allocation that this process is in, or None. Raises BadInput as `nodes`."""
    if not inside():
        return None
    names = {"cluster": "CLUSTER_NAME", "job": "JOB_ID", "partition": "JOB_PARTITION"}
    found = {field: os.environ.get(f"SLURM_{name}") or None for field, name in names.items()}
    return {**found, "nodes": list(hosts())}


def hosts() -> tuple[str, ...]:
    """The names of the nodes of the job that this process belongs to. Raises BadInput as `nodes`."""
    return _expanded(os.environ.get("SLURM_JOB_NODELIST", ""))


def nodes() -> Nodes:
    """The nodes of the allocation that this process is in, with their cores.

    All of them are taken to have as many hardware threads per core as the first one. Raises BadInput if
    Slurm does not answer.
    """
    names = hosts()
    # A job with --hint=nomultithread or --threads-per-core has only these threads of each core.
    per_core = int(os.environ.get("SLURM_THREADS_PER_CORE") or _cpus_per_core(names[0]))
    cpus: list[int] = []
    for number, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", os.environ.get("SLURM_JOB_CPUS_PER_NODE", "1")):
        cpus += [int(number)] * int(times or 1)  # as in 4(x2),2
    cpus += [cpus[-1]] * (len(names) - len(cpus))
    return Nodes(tuple(max(1, n // per_core) for n in cpus), f"job {os.environ['SLURM_JOB_ID']}", names)


def left_s() -> float | None:
    """Seconds until this job reaches its limit; None outside one, without a limit, or if nobody says."""
    for name in ENDS:
        with contextlib.suppress(ValueError):
            if text := os.environ.get(name):
                return float(text) - time.time()
    with contextlib.suppress(BadInput, ValueError):  # a job without a limit has no date there
        if inside():
            job = f"--jobs={os.environ['SLURM_JOB_ID']}"
            ends = _ask("squeue", "--noheader", job, "--format=%e", limit_s=SHORT_S)
            return datetime.fromisoformat(ends.strip()).timestamp() - time.time()
    return None


def cluster_name() -> str | None:
    """The name of the cluster, ClusterName in slurm.conf; None where no controller of Slurm works."""
    if name := os.environ.get("SLURM_CLUSTER_NAME"):
        return name
    with contextlib.suppress(BadInput):  # ping answers at once; other commands wait for the controller
        if shutil.which("scontrol") and " is UP" in _ask("scontrol", "ping", limit_s=SHORT_S):
            found = re.search(r"^ClusterName\s*=\s*(\S+)", _ask("scontrol", "show", "config"), re.MULTILINE)
            return found and found[1]
    return None


def inherited() -> tuple[str, ...]:
    """The variables that a new step of the job would take for options of its own."""
    return tuple(sorted(name for name in os.environ if INHERITED.match(name) and not OF_THE_JOB.match(name)))


@functools.cache
def _expanded(names: str) -> tuple[str, ...]:
    """The names of nodes in a list as Slurm writes it, such as n[1-3],n7."""
    return tuple(_ask("scontrol", "show", "hostnames", names).split())


@functools.cache
def _cpus_per_core(node: str) -> int:
    """How many of what Slurm counts as CPUs are a core of a node."""
    said = dict(re.findall(r"(\w+)=(\d+)", _ask("scontrol", "--oneliner", "show", "node", node)))
    cores = int(said.get("Sockets", 0)) * int(said.get("CoresPerSocket", 0))
    return max(1, int(said.get("CPUTot", 1)) // max(cores, 1))


def _ask(*command: str, limit_s: float = LIMIT_S) -> str:
    """What a command of Slurm prints. Raises BadInput with what it said instead."""
    done = watch(Launch([*command]), limit_s)
    if done.status != 0:
        raise BadInput(f"the nodes of this job are unknown: {command[0]}: {done.reason}")
    return done.output
