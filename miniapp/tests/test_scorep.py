"""The build for Score-P, with a stand-in for it that records what it is told; and the plain build without."""

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
    inside: tuple[str, ...]  # regions of this thread, and of the first one while that has called the others


@pytest.fixture(scope="module")
def instrumented(tmp_path_factory):
    """The program built with the stand-in, and the command lines that went through it."""
    folder = tmp_path_factory.mktemp("scorep")
    settings = ["-DSPIKEMARK_SCOREP=ON", "-DCMAKE_BUILD_TYPE=Debug", "-DSPIKEMARK_ARCH="]
    found = {**os.environ, "PATH": f"{STAND_IN}{os.pathsep}{os.environ['PATH']}"}
    calls = {**os.environ, "SCOREP_CALLS": str(folder / "calls")}
    configure = ["-S", ROOT, "-B", folder, "-G", "Ninja", *settings]
    for command, environment in ((configure, found), (["--build", folder], calls)):
        done = subprocess.run(["cmake", *command], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    return folder / "miniapp", (folder / "calls").read_text().splitlines()


def events_of(path: Path) -> list[Event]:
    """Checks on the way that every thread leaves the regions it has entered, the last one first."""
    events, stacks = [], {}
    for line in path.read_text().splitlines():
        thread, what, name, value = line.split()
        stack = stacks.setdefault(int(thread), [])
        if what == "leave":
            assert stack.pop() == name, line
        inside = (*stacks.get(0, ())[:1], *stack)
        events.append(Event(int(thread), what, name, int(value), inside))
        if what == "enter":
            stack.append(name)
    assert not any(stacks.values()), stacks
    return events


@pytest.fixture(scope="module")
def recorded(instrumented, tmp_path_factory):
    """{run: (record, folder of the record, [events of a process])}, on two ranks with two threads."""
    found = {}
    for name, arguments in RUNS.items():
        folder = tmp_path_factory.mktemp("run")
        how = {"program": instrumented[0], "ranks": 2, "threads": 2, "SCOREP_EVENTS": str(folder / "e")}
        record = record_of(folder / "out", *arguments, **how)
        found[name] = record, folder / "out", [events_of(path) for path in sorted(folder.glob("e.*"))]
    return found


def test_plain_build_knows_nothing_of_it():
    symbols = subprocess.run(["nm", MINIAPP], capture_output=True, text=True, check=True).stdout
    assert len(symbols) > 1000
    assert "scorep" not in symbols.lower()


def test_all_is_compiled_and_linked_through_it(instrumented):
    _, calls = instrumented
    sources = [line for line in calls if " -c " in line]
    written = [f for folder in ("src", "variants") for f in (ROOT / "miniapp" / folder).rglob("*.c")]
    assert len(sources) == len(written) + 1  # and the provenance
    assert len(calls) == len(sources) + 1  # and the link
    assert all(line.startswith(OPTIONS) for line in calls)


def test_spikes_are_those_of_the_plain_build(recorded, tmp_path):
    for name, (record, _, _) in recorded.items():
        plain = record_of(tmp_path / name, *RUNS[name], ranks=2, threads=2)
        assert record["checksum"] == plain["checksum"]
        assert "-DSPIKEMARK_SCOREP" in record["provenance"]["flags"]
        assert "SCOREP" not in plain["provenance"]["flags"]


def test_regions_are_the_phases(recorded):
    seen = set()
    for record, _, processes in recorded.values():
        assert len(processes) == record["ranks"] == 2
        for events in processes:
            names = {e.name for e in events if e.what == "enter"}
            assert names <= {"warmup", "simulate", *record["phases"]}
            seen |= names
    assert seen == {"warmup", "simulate", *record["phases"]}


def test_regions_are_entered_as_often_as_their_phase_is_timed(recorded):
    for record, out, processes in recorded.values():
        cycles = record["timing"]["cycles"]
        timed = np.load(out / "cycles.npy") > 0  # [rank, cycle, phase]
        for events in processes:
            for thread in (0, 1):
                own = [e for e in events if e.what == "enter" and e.thread == thread]
                entered = Counter(e.name for e in own if e.inside[:1] == ("simulate",))
                visits = entered["deliver"], entered["update"], entered["thread_wait"]
                assert visits == (cycles + 1, cycles, 2 * cycles + 1)
                assert entered["collocate"] == (cycles if thread == 0 else 0)
                if thread == 0:
                    for phase in "inject", "synchronise", "overlap_wait":
                        expected = timed[0, :, record["phases"].index(phase)].sum()
                        assert entered[phase] == expected, phase


def test_counts_are_those_of_the_record(recorded):
    for record, _, processes in recorded.values():
        starts = Counter((e.what, e.name) for events in processes for e in events if "start" in e.what)
        assert starts == {("start", "spikes"): 2, ("start", "synaptic_events"): 2}
        total = Counter()
        for events in processes:
            for event in events:
                if event.what == "count" and event.inside[0] == "simulate":
                    total[event.name] += event.value
                    assert event.inside[-1] == {"spikes": "update", "synaptic_events": "deliver"}[event.name]
        assert total == {name: record["totals"][name] for name in ("spikes", "synaptic_events")}
        assert total["spikes"] > 0
