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

from . import outer
from .layout import Launch, Nodes
from .process import watch

#: Seconds after which a command of Slurm counts as unanswered.
ANSWER_LIMIT_S = 60
#: The same where an answer is not worth a wait.
SHORT_LIMIT_S = 5
#: The number of components of a heterogeneous job; its older name was used before Slurm 20.02.
COMPONENTS = ("SLURM_HET_SIZE", "SLURM_PACK_SIZE")
#: When the allocation ends, s since the Unix epoch: ours, which allocation.sh or a user sets, and
#: Slurm's.
ENDS = ("SPIKEMARK_JOB_ENDS", "SLURM_JOB_END_TIME")


def inside() -> bool:
    """Says whether this process belongs to a job of Slurm and can ask it.

    In a container it cannot.

    Example:
        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, {"SLURM_JOB_ID": ""}):
        ...     inside()
        False
    """
    return bool(os.environ.get("SLURM_JOB_ID")) and outer.slurm_in_reach()


def allocation() -> dict[str, Any] | None:
    """What is recorded of the allocation that this process is in; None outside one.

    Raises BadInput as `nodes`.

    Example:
        >>> allocation() is None or "job" in allocation()  # None outside an allocation
        True
    """
    if not inside():
        return None
    return {
        "cluster": _variable("SLURM_CLUSTER_NAME"),
        "job": _variable("SLURM_JOB_ID"),
        "partition": _variable("SLURM_JOB_PARTITION"),
        "nodes": list(hosts()),
    }


def _variable(name: str) -> str | None:
    """The value of a variable of the environment; None where it is empty or not there."""
    return os.environ.get(name) or None


def hosts() -> tuple[str, ...]:
    """The names of the nodes of the job that this process belongs to. Raises BadInput as `nodes`.

    Of a heterogeneous job, the usual variables say nothing of components but the first.

    Example:
        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, {"SLURM_JOB_NODELIST": "node[01-02]"}):
        ...     with patch(f"{__name__}._expanded", lambda names: ("node01", "node02")):
        ...         hosts()
        ('node01', 'node02')
    """
    for name in COMPONENTS:
        if os.environ.get(name, "1") not in ("", "0", "1"):
            advice = "of a job with several components (salloc … : …), each needs a job of its own"
            raise BadInput(
                field=name, value=os.environ[name], expected=f"1: {advice}", code="conflict"
            )
    names = os.environ.get("SLURM_JOB_NODELIST") or _of_job("NodeList")
    return _expanded(names)


def _of_job(name: str) -> str:
    """What Slurm says of this job, where the variables of the allocation were taken away.

    Snakemake's executor for Slurm does so. Raises BadInput if Slurm does not answer.
    """
    text = _ask("scontrol", "--oneliner", "show", "job", os.environ["SLURM_JOB_ID"], "--details")
    match = re.search(rf"(?:^|\s){name}=(\S+)", text)
    return match[1] if match else ""


def _cpus_of_job() -> str:
    """CPUs on each node of this job, as SLURM_JOB_CPUS_PER_NODE writes them."""
    text = _ask("scontrol", "--oneliner", "show", "job", os.environ["SLURM_JOB_ID"], "--details")
    groups: list[str] = []
    for nodes_of_group, cpus in re.findall(r"\sNodes=(\S+) CPU_IDs=(\S+)", text):
        ranges = [part.partition("-") for part in cpus.split(",")]
        number = sum(int(last or first) - int(first) + 1 for first, _, last in ranges)
        groups.append(f"{number}(x{len(_expanded(nodes_of_group))})")
    return ",".join(groups)


def nodes() -> Nodes:
    """The nodes of the allocation that this process is in, with their cores.

    All of them are taken to have as many hardware threads per core as the first one. Raises
    BadInput if Slurm does not answer, and for a heterogeneous job.

    Example:
        >>> from unittest.mock import patch
        >>> job = {"SLURM_JOB_ID": "17", "SLURM_JOB_CPUS_PER_NODE": "256(x2)"}
        >>> with patch.dict(os.environ, job | {"SLURM_THREADS_PER_CORE": "2"}):
        ...     with patch(f"{__name__}.hosts", lambda: ("node01", "node02")):
        ...         nodes().cores
        (128, 128)
    """
    names = hosts()
    # A job with --hint=nomultithread or --threads-per-core has only these threads of each core.
    per_core = int(os.environ.get("SLURM_THREADS_PER_CORE") or _cpus_per_core(names[0]))
    cpus = _cpus_by_node(os.environ.get("SLURM_JOB_CPUS_PER_NODE") or _cpus_of_job() or "1")
    cpus += [cpus[-1]] * (len(names) - len(cpus))
    cores = tuple(max(1, number // per_core) for number in cpus)
    return Nodes(cores, f"job {os.environ['SLURM_JOB_ID']}", names)


def _cpus_by_node(text: str) -> list[int]:
    """The numbers in a list as Slurm writes it, such as 4(x2),2."""
    cpus: list[int] = []
    for number, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", text):
        cpus += [int(number)] * int(times or 1)
    return cpus


def left_s() -> float | None:
    """Seconds until this job reaches its limit.

    None outside a job, without a limit, or if nobody says.

    Example:
        >>> left_s() is None or left_s() > 0  # None outside a job
        True
    """
    for name in ENDS:
        text = os.environ.get(name)
        if text:
            with contextlib.suppress(ValueError):
                return float(text) - time.time()
    with contextlib.suppress(BadInput, ValueError):  # a job without a limit has no date there
        if inside():
            job = f"--jobs={os.environ['SLURM_JOB_ID']}"
            ends = _ask("squeue", "--noheader", job, "--format=%e", limit_s=SHORT_LIMIT_S)
            return datetime.fromisoformat(ends.strip()).timestamp() - time.time()
    return None


def cluster_name() -> str | None:
    """The name of the cluster, ClusterName in slurm.conf.

    None where no controller of Slurm works.

    Example:
        >>> from unittest.mock import patch
        >>> with patch.dict(os.environ, {"SLURM_CLUSTER_NAME": "jureca"}):
        ...     cluster_name()
        'jureca'
    """
    name = os.environ.get("SLURM_CLUSTER_NAME")
    if name:
        return name
    program = shutil.which("scontrol")
    return _cluster_of(program) if program else None


@functools.cache
def _cluster_of(scontrol: str) -> str | None:
    """The name of the cluster whose controller this program asks: once, though for each of a
    thousand runs somebody wants to know it.
    """
    # ping answers at once; other commands wait for the controller.
    with contextlib.suppress(BadInput):
        if " is UP" in _ask(scontrol, "ping", limit_s=SHORT_LIMIT_S):
            config = _ask(scontrol, "show", "config")
            match = re.search(r"^ClusterName\s*=\s*(\S+)", config, re.MULTILINE)
            return match[1] if match else None
    return None


@functools.cache
def _expanded(names: str) -> tuple[str, ...]:
    """The names of nodes in a list as Slurm writes it, such as n[1-3],n7."""
    return tuple(_ask("scontrol", "show", "hostnames", names).split())


@functools.cache
def _cpus_per_core(node: str) -> int:
    """How many of what Slurm counts as CPUs are a core of a node."""
    text = _ask("scontrol", "--oneliner", "show", "node", node)
    numbers = {key: int(number) for key, number in re.findall(r"(\w+)=(\d+)", text)}
    cores = numbers.get("Sockets", 0) * numbers.get("CoresPerSocket", 0)
    return max(1, numbers.get("CPUTot", 1) // max(cores, 1))


def _ask(*command: str, limit_s: float = ANSWER_LIMIT_S) -> str:
    """What a command of Slurm prints. Raises BadInput with what it said instead."""
    finished = watch(Launch([*command]), limit_s)
    if finished.status != 0:
        message = f"the nodes of this job are unknown: {command[0]}: {finished.reason}"
        raise BadInput(message, code="file")
    return finished.output
