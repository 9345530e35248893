"""bench_noise: what it measures on every core, planted noise, and what it refuses."""

import contextlib
import json
import os
import subprocess
import sys
import time

import program
import pytest

pytestmark = pytest.mark.slow

BENCH = program.ROOT / "build" / "bench_noise"
BUSY_S, EVERY_S = 0.005, 0.1
#: Keeps a core busy for BUSY_S every EVERY_S from the given time on, and prints when it did.
BUSY = f"""
import os, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
begin, n = float(sys.argv[2]), int(sys.argv[3])
for i in range(n):
    while time.monotonic() < begin + i * {EVERY_S}:
        time.sleep(max(0, begin + i * {EVERY_S} - time.monotonic()))
    now = time.monotonic()
    while time.monotonic() < now + {BUSY_S}:
        pass
"""


def bench(*arguments):
    return program.start(*arguments, program=BENCH)


def test_every_core_is_looked_at():
    done = bench("--seconds", 0.1, "--list", 3)
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert (content["kind"], content["format_version"]) == ("noise", 1)
    assert [core["core"] for core in content["cores"]] == sorted(os.sched_getaffinity(0))
    for core in content["cores"]:
        assert core["bound"] is True
        detour, fwq = core["detour"], core["fwq"]
        assert detour["threshold_s"] > detour["usual_gap_s"] > 0
        assert 0 <= detour["switched_s"] <= detour["lost_s"] <= detour["seconds"]
        assert len(detour["longest"]) <= 3 and detour["switched"] <= detour["detours"]
        assert 0 < fwq["shortest_s"] <= fwq["median_s"] <= fwq["q99_s"] <= fwq["largest_s"]
        assert all(count["count"] > 0 for count in core["counts"])


def test_it_writes_a_file_named_by_the_node(tmp_path):
    done = program.start("--seconds", 0.02, "--out", tmp_path, program=BENCH, SLURMD_NODENAME="n7")
    assert done.returncode == 0 and not done.stdout
    assert json.loads((tmp_path / "n7.json").read_text())["node"] == "n7"


def first_in_line(priority):
    """Lets this process run before all others, if that is allowed; else they may hide what is planted."""
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))


@pytest.mark.alone
def test_planted_noise_is_found_on_its_core_at_its_times():
    core, periods = sorted(os.sched_getaffinity(0))[-1], 10
    begin = time.monotonic() + 0.5
    command = [sys.executable, "-c", BUSY, str(core), str(begin), str(periods)]
    with subprocess.Popen(command, preexec_fn=lambda: first_in_line(20)) as busy:
        looking = [str(BENCH), "--seconds", "2", "--list", "1000"]
        done = subprocess.run(looking, capture_output=True, check=True, preexec_fn=lambda: first_in_line(10))
        busy.wait()
    content = json.loads(done.stdout)
    found = {one["core"]: one["detour"] for one in content["cores"]}
    detours = [d for d in found[core]["longest"] if d[2]]
    looked = found[core]["seconds"]
    began = content["began_s"] - content["monotonic_to_epoch_s"]
    times = [t for t in (begin + i * EVERY_S for i in range(periods)) if began < t < began + looked - EVERY_S]

    def at(detour):
        """Which planted time a detour belongs to; the scheduler may let both take turns for a while."""
        return next((t for t in times if t - 0.002 < detour[0] < t + 3 * BUSY_S), None)

    lost = dict.fromkeys([None, *times], 0.0)
    for detour in detours:
        lost[at(detour)] += detour[1]
    lost.pop(None)
    assert sum(0.2 * BUSY_S < one < 3 * BUSY_S for one in lost.values()) >= 0.8 * len(times) > 0
    assert 0.4 * BUSY_S * len(times) < sum(lost.values()) < 2.5 * BUSY_S * len(times)
    busiest = [p for p in content["processes"] if p["core"] == core and p["pid"] == busy.pid]
    assert busiest and busiest[0]["used_s"] >= 0.02


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--seconds", "0"), "--seconds: allowed: 0.01 to 3600"),
        (("--seconds",), "--seconds: allowed: 0.01 to 3600"),
        (("--quantum-us", "x"), "--quantum-us: allowed: 1 to 1000000"),
        (("--times", "1"), "--times: allowed: 2 to 1000000"),
        (("--bytes", "4"), "unknown option; see bench_noise --help"),
    ],
)
def test_bad_input_is_one_line(arguments, complaint):
    done = bench(*arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"bench_noise: {complaint}\n")


def test_a_folder_that_is_not_there(tmp_path):
    done = bench("--out", tmp_path / "none")
    assert done.returncode == 2 and "none" in done.stderr and not done.stdout
