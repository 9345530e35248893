"""A Slurm of its own on this host: several nodes, no system files touched, nothing left behind.

Every node is a `slurmd -N` with a port of its own; TaskProlog gives each rank the name of its node.
"""

import contextlib
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

HERE = Path(__file__).parent
#: The programs that a private Slurm needs, and the Debian packages that hold them.
PROGRAMS = {"slurmctld": "slurmctld", "slurmd": "slurmd", "munged": "munge", "srun": "slurm-client"}
ADMINISTRATORS = ("/usr/sbin", "/sbin", "/usr/local/sbin")
STARTING_S = 30

CONFIGURATION = """\
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmUser={user}
SlurmdUser={user}
TmpFS={folder}/tmp/%n
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
TaskProlog={folder}/task-prolog
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
DefMemPerCPU=500
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0,sched_interval=2
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc={folder}/jobs-completed.txt
MinJobAge=600
InactiveLimit=0
KillWait=15
{nodes}
PartitionName=main Nodes=n[1-{number}] Default=YES MaxTime=INFINITE OverSubscribe=NO State=UP
"""
NODE = (
    "NodeName=n{i} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} Sockets=1"
    " CoresPerSocket={cores} ThreadsPerCore={threads} RealMemory=4000 State=UNKNOWN"
)


def path() -> str:
    """The search path with the folders in which Debian keeps daemons."""
    return os.pathsep.join([os.environ.get("PATH", ""), *ADMINISTRATORS])


def missing() -> list[str]:
    """The Debian packages that a private Slurm lacks here; none if it can be started."""
    return [
        package
        for program, package in PROGRAMS.items()
        if shutil.which(program, path=path()) is None
    ]


@dataclass(frozen=True)
class PrivateSlurm:
    """A running Slurm. Commands find it by `environment`."""

    folder: Path
    name: str
    nodes: tuple[str, ...]

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            # Ranks of all nodes share this host: those of two nodes must not find each other's
            # memory.
            "OMPI_MCA_btl": "self,tcp",
            "OMPI_MCA_pml": "ob1",
            # Without it, 11 of 370 runs on two nodes crashed (a call of address 0), with it none of
            # 200.
            "PMIX_MCA_gds": "hash",
            "OMPI_MCA_btl_tcp_if_include": "lo",  # bridges of containers come and go
            "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }

    def run(self, *command: str | Path, timeout: float = 60, **environment: str):
        """Runs a command on the login node; nothing is checked. After `timeout` its jobs end."""
        try:
            variables = {**without_allocation(), **self.environment, **environment}
            words, streams = [str(part) for part in command], {"capture_output": True, "text": True}
            return subprocess.run(words, env=variables, timeout=timeout, **streams)
        except subprocess.TimeoutExpired:
            self.cancel_all()
            raise

    def cancel_all(self) -> None:
        """Ends all jobs, so that no later test waits for their nodes."""
        user = pwd.getpwuid(os.geteuid()).pw_name
        subprocess.run(
            ["scancel", "--user", user], env={**os.environ, **self.environment}, timeout=60
        )

    def queue(self) -> list[str]:
        """The ids of the jobs that wait or run."""
        return self.run("squeue", "--noheader", "--format=%i").stdout.split()

    def wait_until_empty(self, limit_s: float = 60) -> None:
        """Waits until no job waits or runs."""
        until = time.monotonic() + limit_s
        while self.queue():
            assert time.monotonic() < until, self.run("squeue").stdout
            time.sleep(0.2)


def without_allocation() -> dict[str, str]:
    """The environment of this process without what an allocation has put there."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}


@contextlib.contextmanager
def private_slurm(
    folder: Path, name: str = "toy", nodes: int = 4, cores: int = 2, threads_per_core: int = 1
) -> Iterator[PrivateSlurm]:
    """Starts a Slurm with `nodes` nodes in `folder`, which must be new and have a short name.

    Each node has `cores` cores with `threads_per_core` hardware threads; they may be more than this
    host has, and all nodes share those of this host. Everything that was started is ended
    afterwards.
    """
    for part in (
        "state",
        "log",
        *(f"{kind}/n{i + 1}" for kind in ("spool", "tmp") for i in range(nodes)),
    ):
        (folder / part).mkdir(parents=True)
    _write_configuration(folder, name, nodes, cores, threads_per_core)
    slurm = PrivateSlurm(folder, name, tuple(f"n{i + 1}" for i in range(nodes)))
    try:
        _start(slurm)
        yield slurm
    finally:
        slurm.cancel_all()
        _stop(folder)


def _write_configuration(
    folder: Path, name: str, nodes: int, cores: int, threads_per_core: int
) -> None:
    host = socket.gethostname().split(".")[0]
    ports = _free_ports(nodes + 2)
    each = {
        "host": host,
        "cpus": cores * threads_per_core,
        "cores": cores,
        "threads": threads_per_core,
    }
    lines = [NODE.format(i=i + 1, port=port, **each) for i, port in enumerate(ports[2:])]
    user = pwd.getpwuid(os.geteuid()).pw_name
    given = {
        "name": name,
        "host": host,
        "ports": ports,
        "user": user,
        "folder": folder,
        "number": nodes,
    }
    (folder / "slurm.conf").write_text(CONFIGURATION.format(**given, nodes="\n".join(lines)))
    library = folder / "node-name.so"
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-Wl,-z,initfirst",
        "-o",
        library,
        HERE / "node_name.c",
        "-ldl",
    ]
    subprocess.run(command, check=True)
    prolog = folder / "task-prolog"
    prolog.write_text(f"#!/bin/sh\necho export LD_PRELOAD={library}\n")
    prolog.chmod(0o755)
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o400)


def _free_ports(number: int) -> list[int]:
    """Ports that nothing listens on, none of those that the system takes for outgoing
    connections.
    """
    first = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    found: list[int] = []
    for port in random.sample(range(10_000, max(first, 20_000)), 9_000):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == number:
            return found
    raise RuntimeError(f"no {number} free ports from 10000 to {first}")


def _start(slurm: PrivateSlurm) -> None:
    folder = slurm.folder
    files = {name: folder / f"munge.{name}" for name in ("socket", "pid", "seed", "log")}
    options = [f"--{name}-file={files[name]}" for name in ("pid", "seed", "log")]
    options += [f"--key-file={folder / 'munge.key'}", f"--socket={files['socket']}"]
    there = ("-f", folder / "slurm.conf")
    daemons = [("munged", "--force", *options), ("slurmctld", *there)]
    for command in (*daemons, *(("slurmd", "-N", node, *there) for node in slurm.nodes)):
        done = slurm.run(*command, PATH=path())
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]}: {done.stdout}{done.stderr}")
    until, states = time.monotonic() + STARTING_S, ("sinfo", "--noheader", "--Node", "--format=%T")
    while slurm.run(*states).stdout.split() != ["idle"] * len(slurm.nodes):
        if time.monotonic() > until:
            logs = "\n".join(
                path.read_text()[-2000:] for path in sorted((folder / "log").iterdir())
            )
            raise RuntimeError(
                f"the private Slurm did not start:\n{slurm.run('sinfo').stdout}\n{logs}"
            )
        time.sleep(0.1)


def _stop(folder: Path) -> None:
    """Ends the daemons that were started in `folder`, workers first."""
    names = [*sorted(p.name for p in folder.glob("slurmd.*.pid")), "slurmctld.pid", "munge.pid"]
    for name in names:
        with contextlib.suppress(OSError, ValueError):
            daemon = int((folder / name).read_text())
            os.kill(daemon, 15)
            until = time.monotonic() + 10
            while time.monotonic() < until and _alive(daemon):
                time.sleep(0.05)


def _alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


WELCOME = """\
A private Slurm with {nodes} nodes of {cores} cores, all of them this machine. Try, for example:

    sinfo
    salloc --nodes=2 --exclusive --time=10 spikemark sweep smoke

Type exit, or press Ctrl-D, to leave: that ends the Slurm and everything in it.
"""


def _exit(number: int, frame: FrameType | None) -> None:
    """Ends the program in an orderly way: the daemons end with it."""
    sys.exit(128 + number)


def shell(command: list[str]) -> int:
    """Opens a shell in which the commands of a private Slurm work, and ends Slurm with it.

    Args:
        command: what runs instead of the user's shell; empty for the shell.

    Returns:
        The exit status of the shell or command.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):  # as when the window is closed
        signal.signal(number, _exit)
    cores = max(1, (os.cpu_count() or 1) // 2)
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        private_slurm(Path(folder), cores=cores) as slurm,
    ):
        print(WELCOME.format(nodes=len(slurm.nodes), cores=cores), flush=True)
        words = command or [os.environ.get("SHELL", "/bin/bash")]
        variables = {**without_allocation(), **slurm.environment}
        return subprocess.run(words, env=variables).returncode


if __name__ == "__main__":
    if missing():
        sys.exit(f"needs the packages {' '.join(missing())}")
    if sys.argv[1:2] == ["shell"]:
        sys.exit(shell(sys.argv[2:]))
