"""`spikemark scorep` on files as Score-P writes them, made from the cycle log of a synthetic run."""

import json
import os
import shutil

import fake_scorep
import numpy as np
import pytest
from edited_record import edit
from synthetic import write_run

from spikemark.measuring.scorep import DIFFERS, check
from spikemark.records import record


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return record.load(write_run(tmp_path_factory.mktemp("run"), ranks=2, cycles=100, rank_sd=0.3))


@pytest.fixture(scope="module")
def measured(run, tmp_path_factory):
    return _measured(run, tmp_path_factory.mktemp("scorep"))


def _measured(run, folder, **faults):
    """A folder as the workflow leaves it."""
    shutil.copytree(run.path, folder / "record")
    return fake_scorep.write(run, folder, **faults)


def test_region_times_are_those_of_the_log(run, measured):
    found = check(measured)
    assert found.complaints == []
    for time in found.times.itertuples():
        expected = run.phase(time.phase)[time.rank].sum(dtype=float)
        assert time.log_s == pytest.approx(expected)
        assert time.profile_s == pytest.approx(expected)
        assert time.trace_s == pytest.approx(expected, rel=1e-3)  # whole nanoseconds
        assert time.visits == (0 if time.phase == "thread_wait" else 100 + (time.phase == "deliver"))
    for one in found.counts.itertuples():
        assert one.record == one.profile == one.trace == run.ranks[one.count][one.rank] > 0


def test_waiting_at_barriers_lasts_until_the_last_rank_comes(run, measured):
    """The last rank of a barrier waits no time; it leaves with the others."""
    in_barrier = fake_scorep.IN_BARRIER * np.array(run.phase("synchronise"), dtype=float)
    expected = (in_barrier - in_barrier.min(axis=0)).sum(axis=1)
    for one in check(measured).ranks.itertuples():
        assert one.barrier_s == pytest.approx(in_barrier[one.rank].sum())
        assert one.waited_s == pytest.approx(expected[one.rank], rel=1e-2)


def test_times_that_differ_are_named(run, tmp_path, spikemark):
    assert check(_measured(run, tmp_path / "little", slower=1.04)).complaints == []
    status, output, errors = spikemark("scorep", _measured(run, tmp_path / "much", slower=1.2))
    assert status == 1
    assert DIFFERS in output
    assert [line for line in errors.splitlines() if line.startswith("rank 0, deliver: ")]


def test_counts_that_differ_are_named(run, tmp_path, spikemark):
    status, output, errors = spikemark("scorep", _measured(run, tmp_path / "lost", lost=1))
    assert status == 1 and output
    assert [line for line in errors.splitlines() if line.startswith("rank 0, spikes: ")]


FILES = ["profile.cubex", "traces.otf2", "traces.def", "traces/0.evt", "traces/1.def"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("left", [None, 0, 1 / 3, 1 / 2])
def test_missing_and_truncated_files_get_one_line(measured, tmp_path, refusal, name, left):
    folder = tmp_path / "scorep"
    shutil.copytree(measured, folder)
    path = folder / name
    if left is None:
        path.unlink()
    else:
        os.truncate(path, int(left * path.stat().st_size))
    line = refusal("scorep", folder)
    inside = left is None and (path.parent != folder or path.name == "traces.def")  # otf2 misses them
    named = folder / "traces.otf2" if inside else path
    assert line.startswith(f"{named}: ")
    assert (": truncated" if inside or left is not None else ": not found") in line


def test_a_difference_of_a_microsecond_a_visit_is_found(tmp_path):
    """In cycles of 4 us, delivery that takes 0.9 us longer is no instrument's error."""
    run = record.load(write_run(tmp_path / "run", ranks=2, cycles=100, mean_s=4e-6))
    slower = 1 + 0.9e-6 * 100 / float(run.phase("deliver")[0].sum())
    found = check(_measured(run, tmp_path / "scorep", slower=slower))
    assert len(found.complaints) == 1
    assert found.times.set_index(["rank", "phase"])["verdict"][0, "deliver"] == DIFFERS


def test_a_busy_host_is_warned_of(run, tmp_path):
    folder = _measured(run, tmp_path / "scorep")
    assert not [text for text in check(folder).warnings if "foreign" in text]
    edit(folder / "record", lambda r: r["warnings"].append("foreign load: others kept 1.2 cores busy"))
    assert [text for text in check(folder).warnings if "foreign" in text]


@pytest.mark.parametrize("missing", ["profile.cubex", "traces.otf2"])
def test_one_of_profile_and_trace_is_enough(run, tmp_path, spikemark, missing):
    folder = _measured(run, tmp_path / "scorep")
    (folder / missing).unlink()
    (folder / "scorep.cfg").unlink()
    found = check(folder)
    assert found.complaints == [] and f"no {missing}" in found.warnings
    assert found.ranks["waited_s"].isna().all() == (missing == "traces.otf2")
    assert json.loads(spikemark("scorep", folder, "--json")[1])["agrees"] is True


def test_a_file_that_score_p_was_to_write_must_be_there(run, tmp_path, refusal):
    folder = _measured(run, tmp_path / "scorep")
    (folder / "traces.otf2").unlink()
    assert refusal("scorep", folder).startswith(f"{folder / 'traces.otf2'}: not found")
    (folder / "scorep.cfg").write_text("SCOREP_ENABLE_PROFILING=true\nSCOREP_ENABLE_TRACING=false\n")
    assert "no traces.otf2" in check(folder).warnings
    (folder / "profile.cubex").unlink()
    (folder / "scorep.cfg").unlink()
    assert refusal("scorep", folder).startswith(f"{folder / 'profile.cubex'}: not found")


def test_a_profile_of_tuples_is_refused(run, tmp_path, refusal):
    folder = _measured(run, tmp_path / "tuple", kind="TAU_ATOMIC")
    assert "TAU_ATOMIC" in refusal("scorep", folder)
