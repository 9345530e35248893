"""Starts ranks of another machine as single processes on this node, side by side, and waits for them."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

import numpy as np

from spikemark.core.launch import Launch, core_threads
from spikemark.core.mpirun import CROWDED
from spikemark.core.process import Finished, started
from spikemark.records import dry_run

from .plan import Plan

LOOK_S = 0.2
#: Is called with the cycles that the ranks have done together, the warm-up included.
Advance = Callable[[int], None]


def command(program: Path, out: Path, place: Path, wanted: Plan, rank: int, slot: int) -> Launch:
    """How a rank is started that writes its record into the folder `place`; `slot` chooses its cores."""
    command = [str(program), str(out / dry_run.RUN), "--as-rank", str(rank), "--of", str(wanted.ranks)]
    command += [] if wanted.rate_hz is None else ["--rate", repr(wanted.rate_hz)]
    command += ["--out", str(place / str(rank)), "--progress", str(place / f"{rank}.progress")]
    environment = {"OMP_NUM_THREADS": str(wanted.threads)}
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    if wanted.bound:
        own = core_threads()[slot * wanted.threads : (slot + 1) * wanted.threads]
        environment |= {"OMP_PROC_BIND": "true", "OMP_PLACES": ",".join(f"{{{core}}}" for core in own)}
    else:
        environment |= {"OMP_PROC_BIND": "false", **CROWDED}
    return Launch(command, environment)


def watched(starts: list[Launch], wave: list[int], place: Path, advance: Advance | None) -> list[Finished]:
    """Starts programs together and waits for all. The first that fails ends the others."""
    with contextlib.ExitStack() as stack:
        files = [
            tuple(stack.enter_context(open(place / f"{rank}.{name}", "w+")) for name in ("out", "err"))
            for rank in wave
        ]
        programs = [
            stack.enter_context(started(s.command, s.environment, stdout=o, stderr=e))
            for s, (o, e) in zip(starts, files, strict=True)
        ]
        while any(program.poll() is None for program in programs):
            if any(program.returncode for program in programs):
                break
            if advance:
                advance(sum(_cycles_done(place / f"{rank}.progress") for rank in wave))
            time.sleep(LOOK_S)
        failed = [program for program in programs if program.returncode]
        for program in programs:
            if program.returncode is None:
                program.terminate()
                program.wait()
        return [
            Finished(0 if failed and program not in failed else program.returncode, *map(_text, pair))
            for program, pair in zip(programs, files, strict=True)
        ]


def _text(stream: TextIO) -> str:
    stream.flush()
    return Path(stream.name).read_text(errors="replace")


def _cycles_done(file: Path) -> int:
    """Cycles of a rank that are done, the warm-up included; 0 while it builds."""
    with contextlib.suppress(OSError, ValueError):
        done, _ = np.fromfile(file, dtype=np.uint32)
        return int(done)
    return 0
