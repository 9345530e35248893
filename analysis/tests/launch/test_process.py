"""Programs that end well, badly, too late, or because we are interrupted."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from spikemark.core import interrupts
from spikemark.launch import Launch, process
from spikemark.launch.process import ENDING, FinishedProgram, end, running_program, watch


def shell(script: str, **environment: str) -> Launch:
    return Launch(["sh", "-c", script], environment)


def running(command: str) -> bool:
    return bool(subprocess.run(["pgrep", "-f", command], capture_output=True).stdout)


def test_a_program_is_run_to_its_end_without_input():
    found = watch(shell("cat; echo $SAID; echo why >&2; exit 3", SAID="hello"), 60)
    assert found == FinishedProgram(3, "hello\n", "why\n")
    assert found.reason == "why"


REASONS = {  # (what a program does, words of the reason)
    "last line": ("echo first >&2; echo ' last ' >&2; echo >&2; exit 1", "last"),
    "own line": ("echo 'miniapp: seed: 7' >&2; echo 'mpirun: lost a rank' >&2; exit 1", "seed: 7"),
    "a warning is no reason": (
        "echo broken >&2; echo 'miniapp: warning: slow' >&2; exit 1",
        "broken",
    ),
    "silent": ("exit 3", "exit status 3"),
    "signal": ("kill -SEGV $$", "SIGSEGV"),
    "signal as a shell says it": ("exit 139", "SIGSEGV"),
    "signal as mpirun says it": ("echo 'rank 1 exited on signal 11' >&2; exit 1", "SIGSEGV"),
    "signal as srun says it": ("echo 'srun: error: n1: task 3: Killed' >&2; exit 137", "SIGKILL"),
    "memory": (
        "echo 'slurmstepd-n1: error: Detected 1 oom_kill event in StepId=1.0' >&2; exit 1",
        "memory",
    ),
    "limit": (
        (
            "echo '*** STEP 1.0 ON n1 CANCELLED AT 2026-01-01T00:00:00 DUE TO TIME LIMIT ***' >&2;"
            " exit 1"
        ),
        "--time",
    ),
    "job that has ended": ("echo 'srun: error: Slurm job 1 has expired' >&2; exit 1", "job"),
}


@pytest.mark.parametrize("case", REASONS)
def test_a_failure_has_its_reason_in_one_line(case):
    script, words = REASONS[case]
    reason = watch(shell(script), 60).reason
    assert words in reason and "\n" not in reason


def test_the_time_limit_ends_the_whole_group():
    found = watch(shell("echo far; echo wide >&2; sleep 47.31 & sleep 47.31"), 0.5)
    assert (found.status, found.output) == (None, "far\n")  # what it printed before is kept
    assert found.errors.startswith("wide\n")
    assert "0.5 s" in found.reason
    assert not running("sleep 47.31")


def test_an_exception_ends_the_whole_group_and_passes_on():
    with (
        pytest.raises(KeyboardInterrupt),
        running_program(["sh", "-c", "sleep 47.32 & sleep 47.32"]),
    ):
        until(lambda: running("sleep 47.32"))
        raise KeyboardInterrupt
    until(lambda: not running("sleep 47.32"))  # what was killed may need a moment to be gone


INTERRUPTED = """
import sys
from spikemark.core.interrupts import interruptible
from spikemark.launch.process import running_program
interruptible()
with running_program(["sh", "-c", sys.argv[1]], grace_s=0.5) as program:
    program.wait()
"""


def test_a_program_is_told_when_the_process_that_started_it_is_killed(tmp_path):
    """It can end what it has started itself, as mpirun does with its ranks."""
    told, ready = tmp_path / "told", tmp_path / "ready"
    script = f"trap 'touch {told}; kill $!; exit' TERM; sleep 47.33 & touch {ready}; wait"
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, script])
    until(ready.exists)
    process.kill()
    process.wait()
    until(told.exists)
    until(lambda: not running("sleep 47.33"))


def test_a_second_signal_does_not_cut_short_the_ending(tmp_path):
    """As a killed Snakemake sends one for each of its threads."""
    ready = tmp_path / "ready"
    script = f"trap '' TERM; touch {ready}; sleep 47.35"
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED, script])
    until(ready.exists)
    for _ in range(2):
        process.terminate()
        time.sleep(0.1)
    assert process.wait(20) != 0
    until(lambda: not running("sleep 47.35"))


def test_what_a_killed_program_leaves_is_killed(tmp_path):
    """mpirun puts every rank into a group of its own, and a rank may not notice that mpirun is
    gone.
    """
    ready = tmp_path / "ready"
    script = f"set -m; sleep 47.34 & touch {ready}; wait"
    with running_program(["bash", "-c", script]) as program:
        until(ready.exists)
        program.kill()
        program.wait()
    until(lambda: not running("sleep 47.34"))


def until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_program_that_will_not_end_is_killed():
    script = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
    with running_program(["sh", "-c", script], stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == "ready\n"
        end(program, ENDING, 0.2)
        assert program.returncode == -9


def test_an_interruption_while_a_program_is_started_waits_until_it_is_known(tmp_path, monkeypatch):
    """Else the program would stay behind."""
    popen = subprocess.Popen
    started = []

    def interrupted_meanwhile(*words, **options):
        program = popen(*words, **options)
        started.append(program)
        os.kill(os.getpid(), signal.SIGTERM)
        return program

    before = {number: signal.getsignal(number) for number in interrupts.SIGNALS}
    monkeypatch.setattr(process.subprocess, "Popen", interrupted_meanwhile)
    monkeypatch.setattr(interrupts, "received", [])
    try:
        interrupts.interruptible()
        with pytest.raises(KeyboardInterrupt), process.running_program(["sleep", "47.36"]):
            raise AssertionError("the block begins although the command was interrupted")
    finally:
        for number, action in before.items():
            signal.signal(number, action)
    assert started[0].poll() is not None
