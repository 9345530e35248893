"""Where a simulated run may be written: nothing that somebody may want to keep gives way to it."""

import json
import os
from pathlib import Path

import pytest

from spikemark.core import files
from spikemark.core.errors import BadInput
from spikemark.records import run_files
from spikemark.running.simulation import folder


def write(path: Path, kind: str, *more: str) -> Path:
    """A folder with the record of a run of this kind, and more files."""
    path.mkdir()
    (path / "record.json").write_text(json.dumps({"kind": kind}))
    for name in more:
        (path / name).write_text(name)
    return path


def content(path: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in path.iterdir()}


@pytest.fixture
def new(tmp_path):
    return write(tmp_path / "new", "simulated", "ranks.csv")


@pytest.mark.parametrize(
    ("kind", "more", "complaint"),
    [
        ("simulated", ["notes.txt"], "contains 'notes.txt', which belongs to no run"),
        ("measured", ["notes.txt"], "contains 'notes.txt', which belongs to no run"),
        ("measured", ["ranks.csv", "cycles.npy"], "contains a measured run"),
    ],
)
def test_a_measured_run_and_files_of_others_stay(tmp_path, new, kind, more, complaint):
    out = write(tmp_path / "out", kind, *more)
    before = content(out)
    for action in (lambda: folder.check(out), lambda: folder.put(new, out)):
        with pytest.raises(BadInput, match=complaint):
            action()
        assert content(out) == before and new.is_dir()


@pytest.mark.parametrize("record", ["{", "[]", "{}", '"simulated"'])
def test_a_record_that_does_not_say_what_it_is_stays(tmp_path, record):
    out = write(tmp_path / "out", "simulated")
    (out / "record.json").write_text(record)
    with pytest.raises(BadInput, match="contains a measured run"):
        folder.check(out)


def test_what_is_no_folder_or_no_whole_run_stays(tmp_path, new):
    (tmp_path / "file").write_text("dear")
    (tmp_path / "link").symlink_to(write(tmp_path / "run", "simulated"))
    (tmp_path / "nowhere").symlink_to(tmp_path / "missing")
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "cycles.npy").write_text("")
    for name, complaint in (("file", "not a folder"), ("link", "not a folder"), ("nowhere", "not a folder"),
                            ("part", "without its record.json")):  # fmt: skip
        with pytest.raises(BadInput, match=complaint):
            folder.put(new, tmp_path / name)
    assert new.is_dir() and (tmp_path / "file").read_text() == "dear"


@pytest.mark.parametrize("trades", [True, False])
@pytest.mark.parametrize("there", [[], ["cycles.npy"], sorted(run_files.FILES)])
def test_an_earlier_simulated_run_gives_way_with_all_its_files(tmp_path, new, there, trades, monkeypatch):
    if not trades:
        monkeypatch.setattr(files, "trade", lambda *_: False)
    out = tmp_path / "out"
    if there:
        write(out, "simulated", *(name for name in there if name != "record.json"))
    else:
        out.mkdir()
    expected = content(new)
    folder.put(new, out)
    assert content(out) == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_run_is_in_its_place_at_any_time(tmp_path, new, monkeypatch):
    out = write(tmp_path / "out", "simulated", "cycles.npy")
    expected = content(new)
    monkeypatch.setattr(folder.os, "rename", lambda *_: pytest.fail("a name would be missing in between"))
    folder.put(new, out)
    assert content(out) == expected


def test_what_appeared_meanwhile_stays(tmp_path, new, monkeypatch):
    out = write(tmp_path / "out", "simulated")
    expected = content(new)

    def trade(a, b, plain=files.trade):
        (out / "notes.txt").write_text("dear") if not (new / "notes.txt").exists() else None
        return plain(a, b)

    monkeypatch.setattr(files, "trade", trade)
    with pytest.raises(BadInput, match=r"'notes\.txt', which belongs to no run"):
        folder.put(new, out)
    assert (out / "notes.txt").read_text() == "dear" and content(new) == expected


def test_the_old_run_stands_again_where_the_new_one_cannot_be_moved(tmp_path, new, monkeypatch):
    out = write(tmp_path / "out", "simulated", "cycles.npy")
    before, rename = content(out), os.rename

    def fails(source, target):
        if Path(source) == new:
            assert not out.exists()
            raise OSError("disk full")
        rename(source, target)

    monkeypatch.setattr(files, "trade", lambda *_: False)  # a system that cannot
    monkeypatch.setattr(folder.os, "rename", fails)
    with pytest.raises(OSError, match="disk full"):
        folder.put(new, out)
    assert content(out) == before and sorted(p.name for p in tmp_path.iterdir()) == ["new", "out"]


def test_the_workspace_is_gone_whatever_happens(tmp_path):
    with pytest.raises(KeyboardInterrupt), folder.workspace(tmp_path / "a" / "out") as place:
        (place / "file").write_text("")
        raise KeyboardInterrupt
    assert list((tmp_path / "a").iterdir()) == []
