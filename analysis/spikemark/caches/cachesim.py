"""Misses of delivery in simulated caches, and those predicted from the counts of the run."""

import contextlib
import fcntl
import json
import re
import shutil
import tempfile
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from spikemark.core import launch, places, reasons
from spikemark.core.errors import BadInput
from spikemark.core.launch import Launch
from spikemark.core.process import watch
from spikemark.machines import Profile
from spikemark.records import record, run_files
from spikemark.records.record_fields import Host

from . import callgrind, model
from .callgrind import Cache
from .delivered import deliveries

SMALLEST = {
    "format_version": 1,
    "time": {"simulate_ms": 0.1},
    "network": {"populations": [{"name": "one", "size": 1, "neuron": {"model": "ignore_and_fire"}}]},
}
WAYS = {"d1": 8, "ll": 16}  # as in most processors, where nothing says how many
UNWANTED = ("cycles", "spikes", "counters", "energy")  # of a record
LIMIT_S = BUILD_LIMIT_S = 3600.0


class CachesimFailed(RuntimeError):
    """Raised if there are no counts; the message is the reason, in one line."""


@dataclass(frozen=True)
class Rank:
    """One rank: the simulated misses, and those predicted, by term of `model.prediction`."""

    simulated: dict[str, int]  # see callgrind.EVENTS
    predicted: dict[str, model.Term]
    events: int
    first_accesses: int

    @property
    def misses(self) -> int:
        """Simulated misses in the last cache."""
        return self.simulated["DLmr"] + self.simulated["DLmw"]

    @property
    def expected(self) -> float:
        return sum(term.misses for term in self.predicted.values())


@dataclass(frozen=True)
class Outcome:
    """All ranks, each of which had caches of its own."""

    first: Cache
    last: Cache
    ranks: list[Rank]
    threads: int
    simulate_ms: float  # length of the measured part

    @property
    def misses(self) -> int:
        return sum(rank.misses for rank in self.ranks)

    @property
    def expected(self) -> float:
        return sum(rank.expected for rank in self.ranks)

    @property
    def events(self) -> int:
        return sum(rank.events for rank in self.ranks)

    def total(self, term: str) -> model.Term:
        terms = [rank.predicted[term] for rank in self.ranks]
        return model.Term(sum(t.visits for t in terms), sum(t.misses for t in terms))

    def content(self) -> dict[str, Any]:
        """The outcome as plain data; counts are those of the measured part."""
        return {
            "kind": "simulated caches",
            "label": "simulated",
            "d1": asdict(self.first),
            "ll": asdict(self.last),
            "threads": self.threads,
            "simulate_ms": self.simulate_ms,
            "synaptic_events": self.events,
            "first_accesses": sum(rank.first_accesses for rank in self.ranks),
            "misses": self.misses,
            "predicted": self.expected,
            "ranks": [
                {"simulated": r.simulated, "predicted": {n: asdict(t) for n, t in r.predicted.items()}}
                for r in self.ranks
            ],
        }


def simulate(
    description: Path,
    ranks: int = 1,
    threads: int = 1,
    first: Cache | None = None,
    last: Cache | None = None,
    simulate_ms: float | None = None,
) -> Outcome:
    """Runs a description under Valgrind, every rank with its own caches, and predicts its misses.

    The caches default to those of this host; `simulate_ms` changes the length of the measured part. Takes up
    to a hundred times as long as the run itself. Raises BadInput if Valgrind is missing or the caches are
    unknown; CachesimFailed if the run fails.
    """
    for name in ("valgrind", "cmake"):
        if not shutil.which(name):
            raise BadInput(f"{name}: command not found: install the package {name} (setup/apt.txt)")
    if not description.is_file():
        raise BadInput(f"{description}: not found: a run description is needed")
    program = build()
    with tempfile.TemporaryDirectory(prefix="cachesim-") as workspace:
        folder = Path(workspace)
        if first is None or last is None:
            host = _host(program, folder)
            first, last = first or host_cache(host, "d1"), last or host_cache(host, "ll")
        valgrind = callgrind.command(first, last, f"{folder}/%q{{OMPI_COMM_WORLD_RANK}}.callgrind")
        valgrind.append(f"--log-file={folder}/%q{{OMPI_COMM_WORLD_RANK}}.log")
        shorter = [] if simulate_ms is None else ["--set", f"time.simulate_ms={simulate_ms:g}"]
        program_and_arguments = [*valgrind, str(program), str(description.resolve()), *shorter]
        _run(program_and_arguments, folder / "record", ranks, threads)
        run = record.load(folder / "record")
        found = [
            Rank(
                callgrind.counts(folder / f"{number}.callgrind"),
                model.prediction(delivery, last.size, last.line),
                int(delivery.events),
                int(delivery.first_accesses),
            )
            for number, delivery in enumerate(deliveries(run))
        ]
    return Outcome(first, last, found, threads, run.record.description["time"]["simulate_ms"])


def build() -> Path:
    """The mini-app with -O2 for any processor of this kind, in build/cachesim: Valgrind lacks AVX-512.

    Builds what is missing or older than its sources, one command at a time: others wait. Raises
    CachesimFailed with the first error.
    """
    root = places.root()
    folder = root / "build" / "cachesim"
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / ".building", "a") as lock:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        _build(root, folder)
    return folder / "miniapp"


def _build(root: Path, folder: Path) -> None:
    configure = ["cmake", "-S", str(root), "-B", str(folder), "-G", "Ninja"]
    configure += ["-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DSPIKEMARK_ARCH="]
    steps = [] if (folder / "build.ninja").is_file() else [configure]
    for step in [*steps, ["cmake", "--build", str(folder), "--target", "miniapp"]]:
        done = watch(Launch(step), BUILD_LIMIT_S)
        if done.status != 0:
            told = f"{done.output}\n{done.errors}"  # the last line is that something failed
            first = (line for line in reasons.lines(told) if re.search(r"\berror: |CMake Error", line))
            said = next(first, None) or reasons.of_program(done.errors or done.output, done.status)
            raise CachesimFailed(f"{' '.join(step[:2])} in {folder}: {said}")


def _host(program: Path, folder: Path) -> Host:
    smallest = folder / "smallest.json"
    smallest.write_text(json.dumps(SMALLEST))
    _run([str(program), str(smallest)], folder / "smallest", 1, 1)
    return record.load(folder / "smallest").record.host


def host_cache(host: Host, name: str) -> Cache:
    """`d1` or `ll`, the largest there is, of a host. Raises BadInput where the record has no size."""
    levels = ("L1d",) if name == "d1" else ("L3", "L2")
    size = next((host.cache_bytes[level] for level in levels if host.cache_bytes.get(level)), None)
    if size is None or size % callgrind.LINE:
        raise BadInput(f"--{name}: this host does not report the size of its cache: give SIZE,WAYS,LINE")
    return callgrind.guessed(size, WAYS[name])


def machine_cache(profile: Profile, name: str) -> Cache:
    """`d1` or `ll`, a slice of the last level, of a machine.

    Raises BadInput where the profile has no size, or one that Valgrind refuses.
    """
    paths = ("node.l1d",) if name == "d1" else ("node.l3", "node.l2")
    size = next((known.value for path in paths if (known := profile.get(path))), None)
    line = profile.get("node.line")
    line = callgrind.LINE if line is None else line.value
    if size is None or size * 1024 % line:
        raise BadInput(f"--{name}: {paths[0]} of {profile.name} is {_size(size)}: give SIZE,WAYS,LINE")
    found = callgrind.guessed(round(size * 1024), WAYS[name], line)
    return callgrind.cache(found.option, f"{profile.name}: {paths[0]}, node.line")


def _size(kib: float | None) -> str:
    return "unknown" if kib is None else f"{kib:g} KiB, not whole lines"


def _run(program: list[str], out: Path, ranks: int, threads: int) -> None:
    plain = [part for name in UNWANTED for part in ("--set", f"record.{name}=false")]
    plain += ["--set", "record.idle_pause_s=0"]
    start = launch.launch("mpirun", [*program, "--out", str(out), *plain], launch.Layout(ranks, threads))
    # Valgrind has no process_vm_readv from rank to rank
    environment = {**start.environment, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    done = watch(replace(start, environment=environment), LIMIT_S)
    if done.status != 0 or not run_files.whole(out):
        if done.refusal is not None:
            raise BadInput(done.refusal)
        raise CachesimFailed(reasons.of_program(done.errors or done.output, done.status))
