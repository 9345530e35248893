"""One command at a time in a folder."""

import os
import subprocess

import pytest

from spikemark.core.errors import BadInput
from spikemark.core.lock import locked


def test_a_second_command_is_refused_until_the_first_ends(tmp_path):
    folder = tmp_path / "results" / "new"
    with locked(folder):
        with pytest.raises(BadInput) as refusal, locked(folder):
            pass
        line = f"{folder}: another sweep or benchmark is running here; wait for it or stop it"
        assert str(refusal.value) == line
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


def test_a_program_that_inherits_the_lock_holds_the_folder(tmp_path):
    with locked(tmp_path) as lock:
        held = subprocess.Popen(["sleep", "60"], pass_fds=(lock,))
    with pytest.raises(BadInput, match="running here"), locked(tmp_path):
        pass
    held.kill()
    held.wait()
    with locked(tmp_path) as lock:
        assert os.fstat(lock).st_ino == (tmp_path / ".lock").stat().st_ino
