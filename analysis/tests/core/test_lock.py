"""One command at a time in a folder."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading

import pytest

from spikemark.core import lock
from spikemark.core.errors import BadInput
from spikemark.core.lock import locked


def test_a_second_command_is_refused_until_the_first_ends(tmp_path):
    folder = tmp_path / "results" / "new"
    with locked(folder):
        with pytest.raises(BadInput) as refusal, locked(folder, lambda: "run A"):
            pass
        since = r"20\d\d-\d\d-\d\d \d\d:\d\d, at run A"
        named = rf"`.*` is running here since {since} \(process {os.getpid()}\)"
        advice = f"; wait for it, or stop it with `kill {os.getpid()}`"
        assert re.fullmatch(f"{folder}: {named}{advice}", str(refusal.value))
        with locked(tmp_path / "other"):
            pass
    with locked(folder):
        pass


def test_a_folder_in_which_nothing_was_kept_is_gone(tmp_path):
    with pytest.raises(BadInput, match="why"), locked(tmp_path / "new"):
        raise BadInput("why")
    assert not (tmp_path / "new").exists()
    with locked(tmp_path / "new"):
        (tmp_path / "new" / "kept").touch()
    assert (tmp_path / "new" / "kept").exists()


def test_a_program_that_inherits_the_lock_holds_the_folder(tmp_path, monkeypatch):
    with locked(tmp_path) as descriptor:
        held = subprocess.Popen(["sleep", "60"], pass_fds=(descriptor,))
    monkeypatch.setattr(lock, "PATIENCE_S", 0.1)
    with pytest.raises(BadInput, match="running here"), locked(tmp_path):
        pass
    held.kill()
    held.wait()
    with locked(tmp_path) as descriptor:
        assert os.fstat(descriptor).st_ino == (tmp_path / ".lock").stat().st_ino


HOLDER = """
import subprocess, sys, time
from pathlib import Path
from spikemark.core.lock import locked
with locked(Path(sys.argv[1])) as lock:
    child = subprocess.Popen(["sleep", "60"], pass_fds=(lock,)) if len(sys.argv) > 2 else None
    print(child.pid if child else 0, flush=True)
    time.sleep(60)
"""


def holder(*arguments) -> tuple[subprocess.Popen, int]:
    """A process that holds a folder, and the program that it started, which holds it, too."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, *map(str, arguments)], stdout=subprocess.PIPE, text=True
    )
    with process.stdout:
        return process, int(process.stdout.readline())


def test_the_lock_of_a_killed_process_is_taken_over(tmp_path):
    process, _ = holder(tmp_path)
    with pytest.raises(BadInput, match=f"process {process.pid}"), locked(tmp_path):
        pass
    process.kill()
    process.wait()
    with locked(tmp_path):
        assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()


@pytest.fixture
def outlived(tmp_path):
    """The ids of a process that was killed in the folder, and of its program, which still runs."""
    process, child = holder(tmp_path, "and a program")
    process.kill()
    process.wait()
    yield process.pid, child
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def test_programs_that_outlived_their_command_are_named(tmp_path, monkeypatch, outlived):
    pid, child = outlived
    monkeypatch.setattr(lock, "PATIENCE_S", 0.1)
    with pytest.raises(BadInput) as refusal, locked(tmp_path, lambda: "run A"):
        pass
    ended = rf"`.*` was running here since 20\d\d-\d\d-\d\d \d\d:\d\d \(process {pid}\) and has ended"
    advice = f"programs that it started still run, at run A; stop them with `kill {child}`"
    assert re.fullmatch(f"{tmp_path}: {ended}; {advice}", str(refusal.value))


@pytest.mark.parametrize("silent_s", [0.1, 60])
def test_programs_that_outlived_their_command_are_given_time_to_end(
    tmp_path, outlived, monkeypatch, capsys, silent_s
):
    """Whoever waits is told for whom, if it takes long."""
    monkeypatch.setattr(lock, "SILENT_S", silent_s)
    end = threading.Timer(0.5, os.kill, (outlived[1], signal.SIGKILL))
    end.start()
    with locked(tmp_path):
        assert json.loads((tmp_path / ".lock").read_text())["pid"] == os.getpid()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == (silent_s < 0.5)
    for line in lines:
        assert f"(process {outlived[0]}) and has ended; programs that it started still run" in line
        assert line.endswith("; waiting for them to end")


def test_another_process_that_got_the_number_of_the_killed_one_is_not_blamed(tmp_path, monkeypatch, outlived):
    monkeypatch.setattr(lock, "PATIENCE_S", 0.1)
    about = json.loads((tmp_path / ".lock").read_text())
    other = subprocess.Popen(["sleep", "60"])
    (tmp_path / ".lock").write_text(json.dumps({**about, "pid": other.pid}))
    try:
        with pytest.raises(BadInput) as refusal, locked(tmp_path):
            pass
    finally:
        other.kill()
        other.wait()
    assert str(refusal.value).endswith(f"stop them with `kill {outlived[1]}`")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '{"command": "spikemark sweep x", "pid": 7, "host": "far", "since": "then"}',
            "(process 7 on far)",
        ),
        ("", "another command is running here; wait for it or stop it"),
        ('{"command": 1}', "another command is running here; wait for it or stop it"),
        ("[1]", "another command is running here; wait for it or stop it"),
    ],
)
def test_a_holder_of_another_host_and_an_unknown_one(tmp_path, content, words):
    with locked(tmp_path):
        (tmp_path / ".lock").write_text(content)
        with pytest.raises(BadInput) as refusal, locked(tmp_path):
            pass
    assert words in str(refusal.value)
    assert "stop it" in str(refusal.value)
