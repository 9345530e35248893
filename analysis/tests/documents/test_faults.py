"""A slice of what `python -m spikemark.documents faults` counts, and that what is wrong is seen."""

import errno
import signal
import subprocess
import sys

import pytest

from spikemark.documents import faults
from spikemark.documents.faults import called, special
from spikemark.documents.faults.interposed import ALL, COUNTED, ERRORS, KILL, KINDS, SLOW, TAKE_ROOM, Fault
from spikemark.documents.faults.subjects import SUBJECTS
from spikemark.documents.faults.tries import Bench, Outcomes, Said
from spikemark.documents.modelled import TABLES

pytestmark = pytest.mark.slow

PLACEMENT = next(one for one in SUBJECTS if one.name == "`partition` in place of another")
#: A sweep takes long; tests/test_sweep.py interrupts some.
ALONE = [subject for subject in SUBJECTS if "sweep" not in subject.name]
#: Commands that write into a folder that is there.
WITHOUT = ("`spikemark run`", "`tender commit`")
WRITER = """
import os, sys
os.mkdir("new")
with open("new/file", "w") as stream:
    stream.write("0123456789")
    stream.flush()
    os.fsync(stream.fileno())
os.rename("new/file", "new/name")
os.remove("new/name")
"""
#: What a program does to the files above, in order; Python cuts nothing and maps nothing here.
CALLS = ["mkdir", "open", "write", "fsync", "close", "rename", "remove"]


@pytest.fixture(scope="module")
def server():
    with faults.loaded() as found:
        yield found


def written(folder, **environment) -> subprocess.CompletedProcess:
    folder.mkdir()
    command = [sys.executable, "-I", "-S", "-c", WRITER]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_every_call_is_counted_and_can_fail(tmp_path):
    log = tmp_path / "log"
    counted = Fault(COUNTED, str(tmp_path / "none")).environment(tmp_path / "count", log)
    assert written(tmp_path / "none", **counted).returncode == 0
    calls = [line.split()[0] for line in log.read_text().splitlines()]
    assert calls == CALLS and set(calls) < set(KINDS) and set(TAKE_ROOM) < set(KINDS)
    for turn, kind in enumerate(CALLS):
        error, folder = ERRORS[turn % len(ERRORS)], tmp_path / f"{kind}-fails"
        done = written(folder, **Fault(error, str(folder), turn + 1).environment(tmp_path / "count"))
        assert done.returncode == 1 and f"OSError: [Errno {getattr(errno, error)}]" in done.stderr
        folder = tmp_path / f"{kind}-ends"
        done = written(folder, **Fault(KILL, str(folder), calls=(kind,)).environment())
        assert done.returncode == -signal.SIGKILL
        left = folder / "new" / "file"
        expected = {"mkdir": None, "open": None, "write": "01234", "remove": None}.get(kind, "0123456789")
        assert (left.read_text() if left.is_file() else None) == expected
    slow = tmp_path / "slow"
    assert written(slow, **Fault(SLOW, str(slow), 1, ALL).environment()).returncode == 0


@pytest.mark.parametrize("subject", ALONE, ids=[subject.name for subject in ALONE])
def test_a_result_is_absent_or_whole_and_is_gone_on_with(subject, server, tmp_path):
    with Bench(subject, tmp_path, server) as bench:
        assert bench.after and bench.after != bench.before
        for way in (called.one_fails, called.killed):
            found = way(bench, 1)
            assert found.wrong == [] and found.tries == found.absent + found.whole + found.some == 1
        assert bool(subject.output) == (subject.name not in WITHOUT)
        if subject.output:
            assert (bench.place / subject.output).exists()
            found = special.in_its_place(bench)
            assert found.wrong == [] and found.tries >= 2


def test_what_is_wrong_is_seen(server, tmp_path):
    with Bench(PLACEMENT, tmp_path, server) as bench:
        path, whole = bench.place / "placement.json", (bench.place / "placement.json").read_bytes()

        def judged(content, said, **how) -> list[str]:
            bench.anew()
            path.unlink() if content is None else path.write_bytes(content)
            found = Outcomes()
            bench.judge(said, "a test", found, **how)
            return [line.partition("a test: ")[2] for line in found.wrong]

        told = Said(1, "", "spikemark: x: No space left on device\n")
        before = (bench.template / "placement.json").read_bytes()
        assert judged(before, told, words="No space left on device") == judged(whole, Said(0, "", "")) == []
        assert judged(before, told, words="Input/output error")[0].startswith("does not say 'Input/output")
        assert judged(before, Said(0, "", "")) == ["status 0, but not whole"]
        assert judged(before, Said(1, "", "")) == ["says nothing"]
        assert judged(before, Said(1, "", "Traceback\nKeyError: 'x'\n"))[0] == "a traceback: KeyError: 'x'"
        assert judged(before, Said(1, "", "spikemark: a\nspikemark: b\n"))[0].startswith("says more than one")
        assert judged(whole[:-20], told)[0].startswith("neither absent nor whole: ")
        assert judged(whole.replace(b"greedy_swap", b"other_swap"), told) == [
            "placement is neither as before nor whole"
        ]
        assert judged(None, told) == ["placement was there and is lost"]


def test_the_table_is_one_of_the_families():
    assert TABLES["faults"].kind == "counted"
    found = faults.row("x", "y", Outcomes(absent=1, whole=1, some=1, faulty=1, wrong=["y", "z"]))
    assert {column.name for column in faults.COLUMNS} == found.keys() and found["wrong"] == 1


def test_every_try_counts_once():
    found = Outcomes()
    for left, wrong in (("whole", []), ("whole", ["a", "b"]), ("absent", ["c"]), ("some", [])):
        found.add(left, wrong)
    row = faults.row("x", "y", found)
    assert [row[name] for name in ("tries", "absent", "whole", "some", "wrong")] == [4, 0, 1, 1, 2]
    assert found.wrong == ["a", "b", "c"]
    found.only_whole("slow")
    assert (found.tries, found.whole, found.faulty, found.wrong[-1]) == (4, 1, 3, "slow")
