"""Slurm: the allocation that this process is in, its nodes, and when it ends."""

import contextlib
import functools
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from pathlib import Path

#: Seconds after which a command of Slurm counts as unanswered; shorter where an answer is not worth a wait.
LIMIT_S, SHORT_S = 60, 5
#: Where slurm.conf lies; the second place is that of nodes without one of their own.
CONFIGURATIONS = (Path("/etc/slurm/slurm.conf"), Path("/run/slurm/conf/slurm.conf"))
#: Variables that Slurm takes for options of a command that is started inside a job.
INHERITED = re.compile(r"SLURM(D|STEPD)?_|SBATCH_|SALLOC_|SRUN_")
#: Those of them that say which job it is, and what concerns the nodes themselves.
OF_THE_JOB = re.compile(
    r"SLURM_(CONF|JOBID|JOB_(?!NUM_NODES$).*|(WORKING_)?CLUSTER.*|NODE_ALIASES|NETWORK|CPU_FREQ_REQ)$|SLURMD_"
)
#: When the allocation ends, s since the Unix epoch: ours, which allocation.sh or a user sets, and Slurm's.
ENDS = ("SPIKEMARK_JOB_ENDS", "SLURM_JOB_END_TIME")

_CHOSEN: ContextVar[tuple[str, ...]] = ContextVar("chosen", default=())


class SlurmFailed(RuntimeError):
    """A command of Slurm failed; the message is one line that names it and what it said."""


@dataclass(frozen=True)
class Allocation:
    """The nodes that Slurm has given to this job."""

    cluster: str | None
    job: str
    partition: str | None
    nodes: tuple[str, ...]

    def content(self) -> dict:
        """What is kept beside a record."""
        return {**asdict(self), "nodes": [*self.nodes]}


def inside(environment: Mapping[str, str] = os.environ) -> bool:
    """Says whether this process belongs to a job of Slurm and can ask it; in a container it cannot."""
    return bool(environment.get("SLURM_JOB_ID")) and shutil.which("scontrol") is not None


def allocation(environment: Mapping[str, str] = os.environ) -> Allocation | None:
    """The allocation that this process is in, or None. Raises SlurmFailed if Slurm does not answer."""
    if not inside(environment):
        return None
    cluster, partition = (environment.get(f"SLURM_{n}") for n in ("CLUSTER_NAME", "JOB_PARTITION"))
    return Allocation(cluster or None, environment["SLURM_JOB_ID"], partition or None, hosts(environment))


def hosts(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The names of the nodes of the job that this process belongs to. Raises SlurmFailed."""
    return expanded(environment.get("SLURM_JOB_NODELIST", ""))


@functools.cache
def expanded(nodes: str) -> tuple[str, ...]:
    """The names of nodes in a list as Slurm writes it, such as n[1-3],n7. Raises SlurmFailed for others."""
    return tuple(_ask("scontrol", "show", "hostnames", nodes).split())


@contextlib.contextmanager
def only(nodes: Sequence[str]) -> Iterator[None]:
    """Programs that are started in the block use only these nodes of the job (`chosen`)."""
    before = _CHOSEN.set(tuple(nodes))
    try:
        yield
    finally:
        _CHOSEN.reset(before)


def chosen() -> tuple[str, ...]:
    """The nodes that `only` leaves; none where it leaves all."""
    return _CHOSEN.get()


@functools.cache
def cpus_per_core(node: str) -> int:
    """How many of what Slurm counts as CPUs are a core of a node. Raises SlurmFailed."""
    said = dict(re.findall(r"(\w+)=(\d+)", _ask("scontrol", "--oneliner", "show", "node", node)))
    try:
        return max(1, int(said["CPUTot"]) // (int(said["Sockets"]) * int(said["CoresPerSocket"])))
    except (KeyError, ZeroDivisionError):
        raise SlurmFailed(f"scontrol show node {node}: no numbers of cores") from None


def left_s(environment: Mapping[str, str] = os.environ) -> float | None:
    """Seconds until this job reaches its limit; None outside one, without a limit, or if nobody says."""
    for name in ENDS:
        with contextlib.suppress(ValueError):
            if text := environment.get(name):
                return float(text) - time.time()
    if not inside(environment):
        return None
    try:
        job = f"--jobs={environment['SLURM_JOB_ID']}"
        return duration_s(_ask("squeue", "--noheader", job, "--format=%L", limit_s=SHORT_S).strip())
    except SlurmFailed:
        return None


def duration_s(text: str) -> float | None:
    """Seconds of a duration as Slurm writes it, such as 1-02:30:00, 2:30:00 or 30:00; None for words."""
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60.0 + seconds


def cluster_name() -> str | None:
    """The name of the cluster, ClusterName in slurm.conf; None where no controller of Slurm works.

    The file itself is read where a controller exists but takes long to answer, since results must keep their
    name.
    """
    if name := os.environ.get("SLURM_CLUSTER_NAME"):
        return name
    if shutil.which("scontrol") is None:
        return None
    try:  # ping answers at once, other commands try again
        if " is UP" not in _ask("scontrol", "ping", limit_s=SHORT_S):
            return None
        content = _ask("scontrol", "show", "config", limit_s=SHORT_S)
    except SlurmFailed as failed:
        if not isinstance(failed.__cause__, subprocess.TimeoutExpired):
            return None
        named = os.environ.get("SLURM_CONF")
        places = [Path(named)] if named else CONFIGURATIONS
        content = next((path.read_text(errors="replace") for path in places if path.is_file()), "")
    found = re.search(r"^ClusterName\s*=\s*(\S+)", content, re.MULTILINE)
    return found[1] if found else None


def inherited(environment: Mapping[str, str]) -> list[str]:
    """The variables that a new step of the job would take for options of its own."""
    return sorted(name for name in environment if INHERITED.match(name) and not OF_THE_JOB.match(name))


def _ask(*command: str, limit_s: float = LIMIT_S) -> str:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
        )
    except FileNotFoundError:
        raise SlurmFailed(f"{command[0]}: command not found: is this a cluster with Slurm?") from None
    except subprocess.TimeoutExpired as late:
        raise SlurmFailed(f"{command[0]}: no answer within {limit_s} s") from late
    if done.returncode != 0:
        said = " ".join(done.stderr.split()).removeprefix(f"{command[0]}: ").removeprefix("error: ")
        raise SlurmFailed(f"{command[0]}: {said or f'exit status {done.returncode}'}")
    return done.stdout
