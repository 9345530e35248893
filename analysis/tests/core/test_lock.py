"""One command at a time in a folder."""

import errno
import os
import subprocess
import sys

import pytest

from spikemark.core.errors import BadInput
from spikemark.core.lock import locked, open_locked


def test_a_second_command_is_refused_until_the_first_ends(tmp_path):
    folder = tmp_path / "results" / "new"
    with locked(folder):
        with pytest.raises(BadInput, match=str(folder)), locked(folder):
            pass
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


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_folder_that_cannot_be_written_is_named_and_not_the_lock(tmp_path, monkeypatch, number):
    opened = os.open

    def refuse(path, flags, *mode):
        if flags & os.O_CREAT:
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(OSError) as error, locked(tmp_path):
        pass
    assert (error.value.filename, error.value.errno) == (str(tmp_path), number)
    (tmp_path / ".lock").write_text("")  # of another user
    with open_locked(tmp_path / ".lock") as lock:
        assert lock is not None


def test_a_program_that_inherits_the_lock_holds_it_and_its_end_frees_it(tmp_path):
    with open_locked(tmp_path / "lock") as lock:
        held = subprocess.Popen(["sleep", "60"], pass_fds=(lock,))
    with open_locked(tmp_path / "lock") as lock:
        assert lock is None
    held.kill()
    held.wait()
    with open_locked(tmp_path / "lock") as lock:
        assert lock is not None


def test_a_command_waits_for_the_end_of_another(tmp_path):
    hold = f"""
import time
from pathlib import Path
from spikemark.core.lock import open_locked
with open_locked(Path("{tmp_path}/lock")):
    print("held", flush=True)
    time.sleep(0.5)
    Path("{tmp_path}/over").touch()
"""
    with subprocess.Popen([sys.executable, "-c", hold], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with open_locked(tmp_path / "lock", wait=True):
            assert (tmp_path / "over").exists()
