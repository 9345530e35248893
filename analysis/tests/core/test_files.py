"""Files are written whole, and nothing but a regular file is ever replaced."""

import os
import stat
import threading

import pytest

from spikemark.core.errors import BadInput
from spikemark.core.files import output_file, write_atomically, write_json, write_output

WRITERS = [write_atomically, write_output, lambda path, text: write_json(path, text)]


@pytest.fixture(params=WRITERS)
def write(request):
    return request.param


def test_a_link_is_followed(tmp_path, write):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before")
    link.symlink_to(target)
    write(link, "after")
    assert link.is_symlink() and "after" in target.read_text()


def test_a_link_to_nothing_makes_its_target(tmp_path, write):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write(tmp_path / "link", "after")
    assert (tmp_path / "link").is_symlink() and "after" in (tmp_path / "target").read_text()


def test_a_fifo_is_written_to(tmp_path, write):
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()), daemon=True)
    reader.start()
    write(fifo, "through")
    reader.join(timeout=60)
    assert "through" in read[0] and stat.S_ISFIFO(fifo.stat().st_mode)


@pytest.mark.parametrize("linked", [False, True])
def test_a_device_stays_a_device(tmp_path, write, linked):
    device = tmp_path / "null"
    if linked:
        device.symlink_to(os.devnull)
    else:
        try:
            os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            device.write_text("")
        except PermissionError:  # of an ordinary user, who cannot replace /dev/null either
            device = type(device)(os.devnull)
    write(device, "nothing")
    assert stat.S_ISCHR(device.stat().st_mode)


def test_an_open_file_of_the_process_is_written_to(tmp_path, write):
    with open(tmp_path / "opened", "w+") as opened:
        write(type(tmp_path)(f"/proc/self/fd/{opened.fileno()}"), "through")
        assert "through" in opened.read()


def test_no_folder_is_made_that_was_not_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_output(tmp_path / "missing" / "page.html", "text")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("name", "allowed"), [(".", "a file"), ("missing/page.html", "folder that exists")])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, name, allowed):
    with pytest.raises(BadInput, match=f"^--html: .*; allowed: .*{allowed}"):
        output_file("--html", tmp_path / name)


def test_a_place_that_can_be_written_is_let_pass(tmp_path):
    for path in (None, tmp_path / "page.html", type(tmp_path)(os.devnull)):
        output_file("--html", path)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, write, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"page\.html"):
        write(path, "after")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]
