"""The build for Score-P, with a stand-in for it that records what it is told; and the plain build
without.
"""

import os
import subprocess
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from program import MINIAPP, ROOT, record_of, sets

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

STAND_IN = ROOT / "miniapp" / "tests" / "scorep"
OPTIONS = "--user --nocompiler --mpp=mpi --thread=omp"
RUNS = {
    "every cycle": sets(inject__mean_us=2, time__warmup_ms=1),
    "overlapped": sets(schedule="overlapped", delay_ratio=4, exchange="ialltoallv"),
}


class Event(NamedTuple):
    """One line of the stand-in's header."""

    thread: int
    what: str
    name: str
    value: int
    inside: tuple[
        str, ...
    ]  # regions of this thread, and of the first one while that has called the others


@pytest.fixture(scope="module")
def instrumented(tmp_path_factory):
    """The program built with the stand-in, through which all is compiled and linked."""
    folder = tmp_path_factory.mktemp("scorep")
    settings = ["-DSPIKEMARK_SCOREP=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DSPIKEMARK_ARCH="]
    found = {**os.environ, "PATH": f"{STAND_IN}{os.pathsep}{os.environ['PATH']}"}
    calls = {**os.environ, "SCOREP_CALLS": str(folder / "calls")}
    configure = ["-S", ROOT, "-B", folder, "-G", "Ninja", *settings]
    for command, environment in ((configure, found), (["--build", folder], calls)):
        done = subprocess.run(["cmake", *command], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    lines = (folder / "calls").read_text().splitlines()
    parts = [ROOT / "miniapp" / name for name in ("src", "variants")]
    sources = [path for part in parts for path in part.rglob("*.c")]
    # what stands in for variants where these are left out
    written = [path for path in sources if "core_only" not in path.parts]
    assert len(lines) == len(written) + 2  # and the provenance, and the link
    assert all(line.startswith(OPTIONS) for line in lines)
    return folder / "miniapp"


def events_of(path: Path) -> list[Event]:
    """Checks on the way that every thread leaves the regions it has entered, the last one first."""
    events, stacks = [], {}
    for line in path.read_text().splitlines():
        thread, what, name, value = line.split()
        stack = stacks.setdefault(int(thread), [])
        if what == "leave":
            assert stack.pop() == name, line
        events.append(Event(int(thread), what, name, int(value), (*stacks.get(0, ())[:1], *stack)))
        if what == "enter":
            stack.append(name)
    assert not any(stacks.values()), stacks
    return events


@pytest.fixture(scope="module", params=RUNS)
def recorded(request, instrumented, tmp_path_factory):
    """Record, folder of the record, [events of a process], on two ranks with two threads."""
    folder = tmp_path_factory.mktemp("run")
    how = {"program": instrumented, "ranks": 2, "threads": 2, "SCOREP_EVENTS": str(folder / "e")}
    record = record_of(folder / "out", *RUNS[request.param], **how)
    plain = record_of(folder / "plain", *RUNS[request.param], ranks=2, threads=2)
    assert record["checksum"] == plain["checksum"]
    flags = [one["provenance"]["flags"] for one in (record, plain)]
    assert ["-DSPIKEMARK_SCOREP" in flag for flag in flags] == [True, False]
    return record, folder / "out", [events_of(path) for path in sorted(folder.glob("e.*"))]


def test_plain_build_knows_nothing_of_it():
    symbols = subprocess.run(["nm", MINIAPP], capture_output=True, text=True, check=True).stdout
    assert len(symbols) > 1000 and "scorep" not in symbols.lower()


def test_regions_are_the_phases_and_entered_as_often_as_these_are_timed(recorded):
    record, out, processes = recorded
    cycles, timed = (
        record["timing"]["cycles"],
        np.load(out / "cycles.npy") > 0,
    )  # [rank, cycle, phase]
    assert len(processes) == record["ranks"] == 2
    for events in processes:
        assert {e.name for e in events if e.what == "enter"} <= {
            "warmup",
            "simulate",
            *record["phases"],
        }
        for thread in (0, 1):
            own = [e for e in events if e.what == "enter" and e.thread == thread]
            entered = Counter(e.name for e in own if e.inside[:1] == ("simulate",))
            visits = entered["deliver"], entered["update"], entered["thread_wait"]
            assert visits == (cycles + 1, cycles, 2 * cycles + 1)
            assert entered["collocate"] == (cycles if thread == 0 else 0)
            for phase in ("inject", "synchronise", "overlap_wait") if thread == 0 else ():
                assert entered[phase] == timed[0, :, record["phases"].index(phase)].sum(), phase
