"""Planted noise, from a real run to the budget: a busy process on the core of one rank is found and named."""

import json
import os
import subprocess
import sys

import numpy as np
import program
import pytest

from spikemark.core import mpirun
from spikemark.core.launch import core_threads
from spikemark.core.layout import Layout, Nodes
from spikemark.records import record
from spikemark.waiting.budget import budget
from spikemark.waiting.split import Split

pytestmark = [pytest.mark.slow, pytest.mark.alone]

BUSY_S, EVERY_S = 0.005, 0.1
#: Keeps a core busy for BUSY_S every EVERY_S until it is ended, and prints when it began, by the
#: Unix epoch. It comes before all others, if that is allowed.
BUSY = f"""
import os, sys, time
os.sched_setaffinity(0, {{int(sys.argv[1])}})
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(20))
except PermissionError:
    pass
while True:
    now = time.time()
    print(now, flush=True)
    while time.time() < now + {BUSY_S}:
        pass
    time.sleep({EVERY_S - BUSY_S})
"""


def test_a_busy_process_on_the_core_of_a_rank(tmp_path):
    core, out = core_threads()[-1], tmp_path / "run"
    wanted = {"record__kernel": "true", "schedule": "conventional"}
    wanted |= {"inject__mean_us": 100, "time__simulate_ms": 1000}
    command = [str(program.MINIAPP), str(program.EXAMPLE), "--out", str(out), *program.sets(**wanted)]
    start = mpirun.start(command, Layout(2, binding="cores"), Nodes((2,), "this host"))
    with subprocess.Popen([sys.executable, "-c", BUSY, str(core)], stdout=subprocess.PIPE, text=True) as busy:
        subprocess.run(start.command, env=start.applied(os.environ), check=True, capture_output=True)
        busy.kill()
        planted = [float(line) for line in busy.stdout.read().split()]
    run = record.load(out)
    found = budget(run).causes
    shares = {cause.name: cause.share for cause in found.causes}
    assert shares["processes"].value > 0.5
    assert found.causes[-1].name == "not seen" and found.blind
    assert any(line.startswith("python") and f"hardware thread {core}" in line for line in found.processes)

    rank = run.record.host.binding.index([core])
    lost = Split(run.compute(), 10).rare[rank]
    whole = np.nansum(run.cycles[rank], axis=1, dtype=np.float64)
    begin = run.record.timing.simulate_started_s + np.cumsum(whole) - whole
    long = begin[lost > 0.2 * BUSY_S]
    within = [t for t in planted if begin[0] + EVERY_S < t < begin[-1] - EVERY_S]
    hit = [t for t in within if np.any(np.abs(long - t) < 2 * BUSY_S)]
    computing = run.compute()[rank].sum() / whole.sum()  # what falls into its waiting makes no cycle long
    assert len(hit) > 0.5 * computing * len(within) > 0
    assert json.loads((out / "record.json").read_text())["kernel"]["nodes"][0]["sampling_cost"] < 0.2
