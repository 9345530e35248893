"""Files are written whole, and nothing but a regular file is ever replaced."""

import os
import stat
import threading

import pytest

from spikemark.core import files
from spikemark.core.errors import BadInput
from spikemark.core.files import (
    output_file,
    whole_folder,
    write_atomically,
    write_json,
    write_output,
)

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


def test_a_fifo_is_written_to(tmp_path, write):
    fifo, read = tmp_path / "fifo", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()), daemon=True)
    reader.start()
    write(fifo, "through")
    reader.join(timeout=60)
    assert "through" in read[0] and stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_device_stays_a_device(tmp_path, write):
    link, device = tmp_path / "link", tmp_path / "null"
    link.symlink_to(os.devnull)
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        device.write_text("")
    except PermissionError:  # of an ordinary user, who cannot replace /dev/null either
        device = link
    for path in (link, device):
        write(path, "nothing")
        assert stat.S_ISCHR(path.stat().st_mode)


@pytest.mark.parametrize(
    ("name", "allowed"), [(".", "a file"), ("missing/page.html", "folder that exists")]
)
def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path, name, allowed):
    with pytest.raises(BadInput, match=f"^--html: .*; expected .*{allowed}"):
        output_file("--html", tmp_path / name)


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, write, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("before")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"page\.html"):
        write(path, "after")
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444])
def test_a_file_keeps_its_permissions_owner_and_group(tmp_path, write, mode):
    path, new = tmp_path / "table.csv", tmp_path / "new.csv"
    path.write_text("before")
    path.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 12, 34)
    before = path.stat()
    write(path, "after")
    after = path.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (
        before.st_mode,
        before.st_uid,
        before.st_gid,
    )
    assert "after" in path.read_text()
    write(new, "new")
    (tmp_path / "plain").touch()
    assert new.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("trades", [True, False])
@pytest.mark.parametrize("there", [None, "empty", "full"])
def test_a_folder_is_replaced_as_a_whole(tmp_path, monkeypatch, trades, there):
    if not trades:
        monkeypatch.setattr(files, "trade", lambda *_: False)
    place = tmp_path / "deep" / "out"
    before = {"times.npy": "before"} if there == "full" else {}
    if there:
        place.mkdir(parents=True)
    for name, text in before.items():
        (place / name).write_text(text)

    def content():
        return {path.name: path.read_text() for path in place.rglob("*")}

    with pytest.raises(OSError, match="out/more") as failed, whole_folder(place) as folder:
        (folder / "times.npy").write_text("half")
        raise OSError(28, "No space left on device", str(folder / "more"))
    assert failed.value.filename == str(place / "more")
    assert content() == before and place.exists() == bool(there)
    with whole_folder(place) as folder:
        (folder / "times.npy").write_text("after")
        assert content() == before
    assert content() == {"times.npy": "after"}
    assert [path.name for path in place.parent.iterdir()] == ["out"]
