"""Programs that end well, badly, too late, or because we are interrupted."""

import contextlib
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from spikemark.core.launch import Launch
from spikemark.core.process import ENDING, Finished, end, started, watch


def shell(script: str, **environment: str) -> Launch:
    return Launch(["sh", "-c", script], environment)


def running(command: str) -> bool:
    return bool(subprocess.run(["pgrep", "-f", command], capture_output=True).stdout)


def test_a_program_is_run_to_its_end_without_input():
    found = watch(shell("cat; echo $SAID; echo why >&2; exit 3", SAID="hello"), 60)
    assert found == Finished(3, "hello\n", "why\n")
    assert found.reason == "why"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("echo first >&2; echo ' last ' >&2; echo >&2; exit 1", "last"),
        ("exit 3", "exit status 3 without a message"),
        ("kill -SEGV $$", "ended by SIGSEGV (segmentation fault)"),
        ("exit 139", "ended by SIGSEGV (segmentation fault)"),  # as a shell or mpirun tells it
    ],
)
def test_a_failure_has_its_reason_in_one_line(script, reason):
    assert watch(shell(script), 60).reason == reason


def test_a_command_that_does_not_exist():
    assert watch(Launch(["no-such-command"]), 60) == Finished(127, "", "no-such-command: command not found")


def test_the_time_limit_ends_the_whole_group():
    found = watch(shell("sleep 47.31 & sleep 47.31"), 0.2)
    assert found == Finished(None, "", "not finished within the time limit of 0.2 s")
    assert not running("sleep 47.31")


def test_an_exception_ends_the_whole_group_and_passes_on():
    with pytest.raises(KeyboardInterrupt), started(["sh", "-c", "sleep 47.32 & sleep 47.32"]):
        until(lambda: running("sleep 47.32"))
        raise KeyboardInterrupt
    assert not running("sleep 47.32")


KILLED = """
import sys
from spikemark.core.process import started
with started(["sh", "-c", sys.argv[1]]) as program:
    program.wait()
"""


def test_a_program_is_told_when_the_process_that_started_it_is_killed(tmp_path):
    """It can end what it has started itself, as mpirun does with its ranks."""
    told, ready = tmp_path / "told", tmp_path / "ready"
    script = f"trap 'touch {told}; kill $!; exit' TERM; sleep 47.33 & touch {ready}; wait"
    process = subprocess.Popen([sys.executable, "-c", KILLED, script])
    until(ready.exists)
    process.kill()
    process.wait()
    until(told.exists)
    until(lambda: not running("sleep 47.33"))


def test_what_a_killed_program_leaves_is_killed(tmp_path):
    """mpirun puts every rank into a group of its own, and a rank may not notice that mpirun is gone."""
    ready = tmp_path / "ready"
    script = f"set -m; sleep 47.34 & touch {ready}; wait"
    with started(["bash", "-c", script]) as program:
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
    with started(["sh", "-c", script], stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == "ready\n"
        end(program, ENDING, 0.2)
        assert program.returncode == -9


def test_an_interruption_while_a_program_is_started_is_not_lost(monkeypatch):
    """Python ignores what is raised while it forks."""
    plain, programs = subprocess.Popen, []

    def interrupted(*arguments, **options):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        programs.append(plain(*arguments, **options))
        return programs[0]

    monkeypatch.setattr(subprocess, "Popen", interrupted)
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), started(["sleep", "600"]):
        pytest.fail("the program is at work")
    assert programs[0].returncode == -signal.SIGTERM
    assert signal.getsignal(signal.SIGINT) is handler
