"""An interrupted sweep does not wait for Snakemake, but for what Snakemake has started."""

import signal
import subprocess
import sys
import time

import pytest

from spikemark.launch.process import left_over
from spikemark.running import sweeps

#: Ignores Ctrl-C, as Snakemake nearly does, and has a run that needs a moment to end.
SLOW = """
import signal, subprocess, sys, time
run = subprocess.Popen([sys.executable, "-c", sys.argv[1]], stdout=sys.stdout)
signal.signal(signal.SIGINT, signal.SIG_IGN)
run.wait()
time.sleep(600)
"""
RUN = """
import signal, sys, time
signal.signal(signal.SIGINT, lambda *_: (time.sleep(0.5), sys.exit(0)))
print("started", flush=True)
time.sleep(600)
"""


@pytest.fixture
def slow():
    command = [sys.executable, "-c", SLOW, RUN]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "started\n"
        yield program
        program.kill()


def test_it_ends_when_the_runs_have_ended(slow):
    """Well before the time that all of it has, in which the slow one would not end at all."""
    began = time.monotonic()
    sweeps._end_runs(slow)
    assert slow.wait(5) == -signal.SIGKILL
    assert 0.5 <= time.monotonic() - began < sweeps.SNAKEMAKE_ENDING_S / 2
    assert left_over(session=slow.pid) == []
