"""Slurm: the allocation that this process is in, the queue, and how jobs are submitted and cancelled."""

import contextlib
import functools
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .errors import BadInput
from .reasons import lines

#: Seconds after which a command of Slurm counts as unanswered; the controller may be busy.
LIMIT_S = 60
#: Where an answer is not worth waiting for: is this a cluster, why is this job ended?
SHORT_S = 5
#: How often the limit of a job is asked for, and how many s lie between.
ATTEMPTS, AGAIN_S = 4, 15.0
#: Where slurm.conf lies; the second place is that of nodes without one of their own.
CONFIGURATIONS = (Path("/etc/slurm/slurm.conf"), Path("/run/slurm/conf/slurm.conf"))
#: Fields of a line of the queue, and states of jobs that are no longer in it.
FIELDS = 5
OVER = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL")
#: Variables that Slurm takes for options of a command that is started inside a job.
INHERITED = re.compile(r"SLURM(D|STEPD)?_|SBATCH_|SALLOC_|SRUN_")
#: Those of them that say which job it is, and what concerns the nodes themselves.
OF_THE_JOB = re.compile(
    r"SLURM_(CONF|JOBID|JOB_(?!NUM_NODES$).*|(WORKING_)?CLUSTER.*|NODE_ALIASES|NETWORK|CPU_FREQ_REQ)$|SLURMD_"
)

_CHOSEN: ContextVar[tuple[str, ...]] = ContextVar("chosen", default=())


class SlurmFailed(RuntimeError):
    """A command of Slurm failed; the message is one line that names it and what it said."""


class SlurmSlow(SlurmFailed):
    """A command of Slurm did not answer in time."""


class Job(NamedTuple):
    """A line of the queue. `state` is in the words of Slurm, such as PENDING; `reason` why it waits."""

    id: str
    state: str
    reason: str
    nodes: int
    elapsed_s: float


@dataclass(frozen=True)
class Allocation:
    """The nodes that Slurm has given to this job."""

    cluster: str | None
    job: str
    partition: str | None
    nodes: tuple[str, ...]

    def content(self) -> dict:
        """What is kept beside a record."""
        return {"cluster": self.cluster, "job": self.job, "partition": self.partition, "nodes": [*self.nodes]}


def inside(environment: Mapping[str, str] = os.environ) -> bool:
    """Says whether this process belongs to a job of Slurm and can ask it; in a container it cannot."""
    return bool(environment.get("SLURM_JOB_ID")) and shutil.which("scontrol") is not None


def allocation(environment: Mapping[str, str] = os.environ) -> Allocation | None:
    """The allocation that this process is in, or None. Raises SlurmFailed if Slurm does not answer."""
    if not inside(environment):
        return None
    job = environment["SLURM_JOB_ID"]
    return Allocation(
        environment.get("SLURM_CLUSTER_NAME") or None,
        job,
        environment.get("SLURM_JOB_PARTITION") or None,
        hosts(environment),
    )


def hosts(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """The names of the nodes of the job that this process belongs to. Raises SlurmFailed."""
    return _hosts(environment.get("SLURM_JOB_NODELIST", ""))


@functools.cache  # the nodes of a job stay; asking between two runs would disturb
def _hosts(nodes: str) -> tuple[str, ...]:
    return tuple(_ask("scontrol", "show", "hostnames", nodes).split())


def expanded(nodes: str) -> tuple[str, ...]:
    """The names of nodes in a list as Slurm writes it, such as n[1-3],n7. Raises SlurmFailed for others."""
    return _hosts(nodes)


@contextlib.contextmanager
def only(nodes: Sequence[str]) -> Iterator[None]:
    """Programs that are started meanwhile use only these nodes of the job (`chosen`)."""
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


def ends_s(job: str) -> float | None:
    """When a job reaches its limit, by the monotonic clock; None if it has none, or Slurm says nothing."""
    for attempt in range(ATTEMPTS):  # SLURM_JOB_END_TIME exists only since Slurm 23
        try:
            left = duration_s(_ask("squeue", "--noheader", f"--jobs={job}", "--format=%L").strip())
            return None if left is None else time.monotonic() + left
        except SlurmFailed:
            time.sleep(AGAIN_S if attempt + 1 < ATTEMPTS else 0)
    return None


def duration_s(text: str) -> float | None:
    """Seconds of a duration as Slurm writes it, such as 1-02:30:00, 2:30:00 or 30:00; None for words."""
    found = re.fullmatch(r"(?:(\d+)-)?(?:(\d+):)?(\d+):(\d+)", text)
    if not found:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60.0 + seconds


def available() -> bool:
    """Says whether the commands of Slurm are here."""
    return shutil.which("srun") is not None and shutil.which("sbatch") is not None


def cluster_name() -> str | None:
    """The name of the cluster, ClusterName in slurm.conf; None where no controller of Slurm works.

    The file itself is read where a controller exists but takes long to answer, since results must not be
    named otherwise for a moment.
    """
    if name := os.environ.get("SLURM_CLUSTER_NAME"):
        return name
    if shutil.which("scontrol") is None:
        return None
    try:  # ping tells at once, other commands try again
        content = _ask("scontrol", "ping", limit_s=SHORT_S)
        if " is UP" not in content:
            return None
        content = _ask("scontrol", "show", "config", limit_s=SHORT_S)
    except SlurmSlow:
        content = _configuration()
    except SlurmFailed:
        return None
    found = re.search(r"^ClusterName\s*=\s*(\S+)", content, re.MULTILINE)
    return found[1] if found else None


def _configuration() -> str:
    """The text of slurm.conf; empty where it is not found."""
    named = os.environ.get("SLURM_CONF")
    for path in [Path(named)] if named else CONFIGURATIONS:
        with contextlib.suppress(OSError):
            return path.read_text(errors="replace")
    return ""


def queue(jobs: Sequence[str]) -> dict[str, Job]:
    """Those `jobs` that wait or run, by id. Needs no accounts. Raises SlurmFailed without an answer."""
    if not jobs:
        return {}
    known = {job.id: job for job in _of_user()}
    return {id: known[id] for id in jobs if id in known}


def called(name: str) -> list[Job]:
    """The jobs of this user that wait or run under a name. Raises SlurmFailed without an answer."""
    return _of_user(f"--name={name}")


def _of_user(*options: str) -> list[Job]:
    """Jobs that wait or run. `squeue --jobs` would fail for one that has left the queue for good."""
    told = _ask("squeue", "--noheader", "--me", "--format=%i|%T|%r|%D|%M", *options)
    found = (line.split("|") for line in lines(told))
    jobs = (Job(p[0], p[1], p[2], int(p[3]), duration_s(p[4]) or 0.0) for p in found if len(p) == FIELDS)
    return [job for job in jobs if job.state not in OVER]


def run_time_s(job: str) -> float | None:
    """How long a job has run so far or ran, s; None if nobody remembers."""
    try:
        found = re.search(r"\bRunTime=(\S+)", _ask("scontrol", "show", "job", job, limit_s=SHORT_S))
    except SlurmFailed:
        return None
    return duration_s(found[1]) if found else None


def cores_per_node(partition: str | None) -> int:
    """Physical cores of the smallest node of a partition; of the default one for None. Raises SlurmFailed."""
    where = [f"--partition={partition}"] if partition else []
    found = [line.split() for line in lines(_ask("sinfo", "--noheader", "--format=%P %X %Y", *where))]
    default = [parts for parts in found if parts[0].endswith("*")]
    if not found:
        raise SlurmFailed(f"sinfo: no nodes in partition {partition or 'by default'}")
    chosen = found if partition or not default else default
    return min(int(sockets.rstrip("+")) * int(cores.rstrip("+")) for _, sockets, cores in chosen)


def submit(options: Sequence[str], script: str) -> str:
    """Submits a batch script and returns the id of its job. Raises BadInput with the refusal of Slurm."""
    try:
        said = _ask("sbatch", "--parsable", *options, text=script, environment=without_job(os.environ))
    except SlurmFailed as refused:
        raise BadInput(str(refused)) from None
    return said.strip().split(";")[0]


def known_of(job: str, limit_s: float = LIMIT_S) -> dict[str, str]:
    """What Slurm knows of a job, as `scontrol show job` names it; nothing if it has forgotten the job."""
    try:
        return dict(
            re.findall(r"(?:^|(?<=\s))(\w+)=(\S*)", _ask("scontrol", "show", "job", job, limit_s=limit_s))
        )
    except SlurmFailed:
        return {}


def without_job(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without what a job has put there, but with the place of the configuration."""
    return {
        name: value
        for name, value in environment.items()
        if name == "SLURM_CONF" or not INHERITED.match(name)
    }


def inherited(environment: Mapping[str, str]) -> list[str]:
    """The variables that a new step of the job would take for options of its own."""
    return sorted(name for name in environment if INHERITED.match(name) and not OF_THE_JOB.match(name))


def _ask(
    *command: str,
    text: str | None = None,
    environment: Mapping[str, str] | None = None,
    limit_s: float = LIMIT_S,
) -> str:
    try:
        done = subprocess.run(
            command,
            input=text,
            stdin=subprocess.DEVNULL if text is None else None,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=limit_s,
        )
    except FileNotFoundError:
        raise SlurmFailed(f"{command[0]}: command not found: is this a cluster with Slurm?") from None
    except subprocess.TimeoutExpired:
        raise SlurmSlow(f"{command[0]}: no answer within {limit_s} s") from None
    if done.returncode != 0:
        # A site says first what it misses, such as an account; the last line is the same for all refusals.
        said = "; ".join(re.sub(rf"^{command[0]}: (error: )?", "", line) for line in lines(done.stderr))
        raise SlurmFailed(f"{command[0]}: {said or f'exit status {done.returncode}'}")
    return done.stdout
