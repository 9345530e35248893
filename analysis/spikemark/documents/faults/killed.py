"""Processes that are killed at random times, and disks and clocks that misbehave as a whole."""

import contextlib
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from spikemark.core import places
from spikemark.core.process import naming

from .tries import Bench, Outcomes, Said

TRIES, MOST_TRIES = 3, 4
ROOMS = (1000, 10_000)  # bytes of the longest file
SHARES = (0.2, 0.7)  # of what a result takes on a disk
STEPS_S = (3600, -3600)
STEPS_AFTER_S = 0.3  # in every process
LOOK_S = 0.005


def _program(process: int) -> str:
    """What a process runs: miniapp, mpirun or spikemark; empty where it has ended."""
    with contextlib.suppress(OSError, IndexError):
        words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        names = [Path(os.fsdecode(word)).name for word in words[:3]]
        return names[0] if names[0] in ("miniapp", "mpirun") else "spikemark"
    return ""


def _running(bench: Bench, program: str) -> list[int]:
    return [process for process in naming(str(bench.place)) if _program(process) == program]


def _victims(bench: Bench, target: str, command: int) -> list[int]:
    """The processes to kill; none while there are none."""
    if target == "the command":
        return [command]
    if target == "everything":
        return [command, *naming(str(bench.place))]
    if target == "the command and mpirun":
        found = _running(bench, "mpirun")
        return [command, *found] if found else []
    if target == "its worker":
        return _running(bench, "spikemark")[:1]
    return _running(bench, "mpirun" if target == "mpirun" else "miniapp")[:1]


TARGETS = ("a rank", "mpirun", "its worker", "the command", "the command and mpirun", "everything")


def at_random(bench: Bench, target: str, tries: int = TRIES, seed: int = 1) -> Outcomes:
    """Kills a process of a command at random times; a command that ends before that is begun again."""
    found, rng = Outcomes(), random.Random(f"{target} {seed}")
    began = time.monotonic()
    bench.anew()
    bench.run()
    lasts = time.monotonic() - began
    for _ in range(MOST_TRIES * tries):
        if found.tries == tries:
            break
        bench.anew()
        after = rng.uniform(0, 0.7 * lasts)
        with bench.started() as (command, ended):
            victims = _killed(bench, target, command, after, lasts)
            said = ended()
        if victims:
            bench.judge(said, f"{target} killed after {after:.3f} s", found)
    return found


def _killed(bench: Bench, target: str, command: int, after: float, lasts: float) -> list[int]:
    """Kills what there is of a target after so many seconds, or when there is any; returns what it killed."""
    time.sleep(after)
    until = time.monotonic() + lasts
    while not (victims := _victims(bench, target, command)) and time.monotonic() < until:
        time.sleep(LOOK_S)
    for process in victims:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return victims


def short_files(bench: Bench) -> Outcomes:
    """No file may become longer than a limit, as under a quota."""
    found = Outcomes()
    for room in ROOMS:
        bench.anew()
        bench.judge(bench.run(room=room), f"files of {room} bytes at most", found)
    return found


def stepping_clock(bench: Bench) -> Outcomes:
    """The clock of the system is set forwards and back while the command runs."""
    found, library = Outcomes(), places.root() / "build" / "libstepping_clock.so"
    for step_s in STEPS_S:
        bench.anew()
        clock = {"SPIKEMARK_STEP_S": str(step_s), "SPIKEMARK_STEP_AFTER_S": str(STEPS_AFTER_S)}
        said = bench.run(clock | {"LD_PRELOAD": str(library)}, forked=False)
        bench.judge(said, f"clock set by {step_s} s after {STEPS_AFTER_S} s", found)
    return found


def can_mount(folder: Path) -> bool:
    """Says whether this process may mount a small disk."""
    folder.mkdir(parents=True, exist_ok=True)
    if _mount(folder, "64k").returncode != 0:
        return False
    subprocess.run(["umount", str(folder)], check=True)
    return True


def _mount(folder: Path, size: str, *options: str) -> subprocess.CompletedProcess:
    words = ",".join([f"size={size}", *options])
    return subprocess.run(["mount", "-t", "tmpfs", "-o", words, "tmpfs", str(folder)], capture_output=True)


def small_disk(bench: Bench) -> Outcomes:
    """A disk of its own that has room for a part of the result; there is room when the command goes on."""
    found = Outcomes()
    bench.anew()
    bench.run()
    before, after = _taken(bench.template), _taken(bench.place)
    for share in SHARES:
        bench.anew()
        room = int(before + share * (after - before)) // 4096 * 4096
        with _on_disk(bench, room) as grow:
            said = bench.run()
            grow()
            bench.judge(said, f"a disk with room for {share:.0%} of the result", found)
    return found


@contextlib.contextmanager
def _on_disk(bench: Bench, room: int) -> Iterator[Callable[[], Said | None]]:
    """Lets the place lie on a disk of so many bytes; yields a function that makes it large."""
    subprocess.run(["rm", "-rf", str(bench.place)], check=True)
    bench.place.mkdir()
    mounted = _mount(bench.place, str(room))
    if mounted.returncode != 0:
        raise OSError(mounted.stderr.decode())
    try:
        subprocess.run(["cp", "-a", f"{bench.template}/.", str(bench.place)], check=True)
        yield lambda: subprocess.run(
            ["mount", "-o", "remount,size=256m", str(bench.place)], check=True, capture_output=True
        )
    finally:
        subprocess.run(["umount", "-l", str(bench.place)], check=True)


def _taken(folder: Path) -> int:
    """Bytes on a disk with blocks of 4 kB."""
    return sum(4096 * (1 + path.stat().st_size // 4096) for path in folder.rglob("*"))
