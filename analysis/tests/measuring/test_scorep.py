"""`spikemark scorep` on files as Score-P writes them, made from the cycle log of a synthetic
run.
"""

import json
import os
import random
import shutil

import fake_scorep
import numpy as np
import otf2
import pytest
from edited_record import edit
from synthetic import write_run

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.measuring.scorep import DIFFERS, check
from spikemark.measuring.scorep_files import files
from spikemark.records import record


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return record.load_run(
        write_run(tmp_path_factory.mktemp("run"), ranks=2, cycles=100, rank_sd=0.3)
    )


def instrumented(run, folder, sums=False, **faults):
    """A folder as the workflow leaves it."""
    shutil.copytree(run.path, folder / "record")
    fake_scorep.write(run, folder, **faults)
    if sums:
        sha256.write(folder, files(folder))
    return folder


@pytest.fixture(scope="module")
def measured(run, tmp_path_factory):
    return instrumented(run, tmp_path_factory.mktemp("scorep"))


def test_times_counts_and_waits_are_those_of_the_log(run, measured):
    """The last rank of a barrier waits no time; it leaves with the others."""
    comparison = check(measured)
    assert comparison.complaints == []
    for time in comparison.times.itertuples():
        expected = run.phase(time.phase)[time.rank].sum(dtype=float)
        assert time.log_s == pytest.approx(expected)
        assert time.seen_s == pytest.approx(expected, rel=1e-3)  # whole nanoseconds
        assert time.visits == (
            0 if time.phase == "thread_wait" else 100 + (time.phase == "deliver")
        )
    in_barrier = fake_scorep.IN_BARRIER * np.array(run.phase("synchronise"), dtype=float)
    waits = (in_barrier - in_barrier.min(axis=0)).sum(axis=1)
    assert list(comparison.ranks["barrier_s"]) == pytest.approx(in_barrier.sum(axis=1), rel=1e-2)
    assert list(comparison.ranks["waited_s"]) == pytest.approx(waits, rel=1e-2)


def test_what_differs_is_named(run, tmp_path, spikemark):
    status, output, errors = spikemark("scorep", instrumented(run, tmp_path, slower=1.2))
    assert status == 1 and DIFFERS in output
    assert [line for line in errors.splitlines() if line.startswith("rank 0, deliver: ")]


def test_little_more_is_no_difference_but_a_microsecond_a_visit_is(run, tmp_path):
    """In cycles of 4 us, delivery that takes 0.9 us longer is no instrument's error."""
    assert check(instrumented(run, tmp_path / "little", slower=1.04)).complaints == []
    short = record.load_run(write_run(tmp_path / "run", ranks=2, cycles=100, mean_s=4e-6))
    slower = 1 + 0.9e-6 * 100 / float(short.phase("deliver")[0].sum())
    comparison = check(instrumented(short, tmp_path / "scorep", slower=slower))
    assert len(comparison.complaints) == 1
    assert comparison.times.set_index(["rank", "phase"])["verdict"][0, "deliver"] == DIFFERS


FILES = ["profile.cubex", "traces.def", "traces/0.evt", "traces/1.def"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("left", [None, 0, 1 / 3])
def test_missing_and_truncated_files_get_one_line(measured, tmp_path, refusal, name, left):
    folder = tmp_path / "scorep"
    shutil.copytree(measured, folder)
    if name == "profile.cubex":
        (folder / "traces.otf2").unlink()
    path = folder / name
    if left is None:
        path.unlink()
    else:
        os.truncate(path, int(left * path.stat().st_size))
    line = refusal("scorep", folder)
    inside = left is None and name != "profile.cubex"  # otf2 misses them
    assert line.startswith(f"{folder / 'traces.otf2' if inside else path}: ")
    assert ("truncated" if inside or left is not None else ": not found") in line


def test_a_busy_host_is_warned_of(run, tmp_path):
    folder = instrumented(run, tmp_path / "scorep")
    edit(
        folder / "record",
        lambda r: r["warnings"].append("foreign load: others kept 1.2 cores busy"),
    )
    assert [text for text in check(folder).warnings if "foreign" in text]


@pytest.mark.parametrize("lost", ["profile.cubex", "traces.otf2"])
def test_one_of_profile_and_trace_is_enough(run, tmp_path, spikemark, refusal, lost):
    folder = instrumented(run, tmp_path)
    (folder / lost).unlink()
    comparison = check(folder)
    assert comparison.complaints == []
    assert comparison.ranks["waited_s"].isna().all() == (lost == "traces.otf2")
    assert json.loads(spikemark("scorep", folder, "--json")[1])["agrees"] is True
    for name in ("profile.cubex", "traces.otf2"):
        (folder / name).unlink(missing_ok=True)
    assert refusal("scorep", folder).startswith(f"{folder / 'profile.cubex'}: not found")


def test_no_changed_byte_and_no_lost_or_new_file_is_accepted(run, tmp_path, refusal):
    """Most of such changes give other times, visits or counts, and some of them hardly other
    ones.
    """
    folder = instrumented(run, tmp_path / "scorep", sums=True)
    assert check(folder).warnings == run.cautions
    rng, parts = random.Random(20), files(folder)
    names = {path.name for path in parts}
    assert {"profile.cubex", "traces.otf2", "traces.def", "0.evt", "1.def"} <= names
    for number in range(40 * len(parts)):
        path = parts[number % len(parts)]
        content = path.read_bytes()
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(changed)
        with pytest.raises(BadInput) as refused:
            check(folder)
        assert (
            str(refused.value)
            == f"{path}: its bytes have changed since the run ended, by SHA256SUMS"
        )
        path.write_bytes(content)
    for path in parts:
        path.rename(tmp_path / "away")
        assert refusal("scorep", folder) == f"{path}: not found; SHA256SUMS lists it"
        (tmp_path / "away").rename(path)
    shutil.copy(folder / "traces" / "1.evt", folder / "traces" / "9.evt")
    assert refusal("scorep", folder).startswith(f"{folder / 'traces' / '9.evt'}: not in SHA256SUMS")


def test_a_clock_that_runs_backwards_is_refused(run, tmp_path, refusal):
    """As after a change of one byte of a time, in a trace without check sums."""
    folder = instrumented(run, tmp_path)
    with otf2.reader.open(str(folder / "traces.otf2")) as trace:
        times = [
            event.time for location, event in trace.events if location.group.name == "MPI Rank 0"
        ]
    path, later = folder / "traces" / "0.evt", times[len(times) // 2]
    old, new = (time.to_bytes(8, "little") for time in (later, later + (1 << 40)))
    assert path.read_bytes().count(old) == 1
    path.write_bytes(path.read_bytes().replace(old, new))
    assert f": the clock of rank 0 runs backwards, from {later + (1 << 40)} to " in refusal(
        "scorep", folder
    )
