"""`spikemark scorep` on files as Score-P writes them, made from the cycle log of a synthetic run."""

import json
import os
import shutil

import fake_scorep
import numpy as np
import pytest
from small_network import describe
from synthetic import write_run

from spikemark.core.errors import BadInput
from spikemark.records import record
from spikemark.scorep import profile, trace
from spikemark.scorep.check import check


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
    for rank, one in enumerate(found.ranks):
        for name, time in one.phases.items():
            expected = run.phase(name)[rank].sum(dtype=float)
            assert time.log_s == pytest.approx(expected)
            assert time.profile_s == pytest.approx(expected)
            assert time.trace_s == pytest.approx(expected, rel=1e-3)  # whole nanoseconds
            assert time.visits == (0 if name == "thread_wait" else 100 + (name == "deliver"))
        for name, count in one.counts.items():
            assert count.record == count.profile == count.trace == run.ranks[name][rank] > 0


def test_waiting_at_barriers_lasts_until_the_last_rank_comes(run, measured):
    """The last rank of a barrier waits no time; it leaves with the others."""
    in_barrier = fake_scorep.IN_BARRIER * np.array(run.phase("synchronise"), dtype=float)
    expected = (in_barrier - in_barrier.min(axis=0)).sum(axis=1)
    for one in check(measured).ranks:
        assert one.barrier.profile_s == pytest.approx(in_barrier[one.rank].sum())
        assert one.barrier.trace_s == pytest.approx(in_barrier[one.rank].sum(), rel=1e-2)
        assert one.waited_s == pytest.approx(expected[one.rank], rel=1e-2)


def test_it_prints_times_and_agreement(spikemark, measured):
    status, output, errors = spikemark("scorep", measured)
    assert (status, errors) == (0, "")
    for text in ("of it waiting", "allowed: 5", "  deliver: agrees", "  synaptic_events: agrees"):
        assert text in output
    status, output, _ = spikemark("scorep", measured, "--json")
    content = json.loads(output)
    assert (status, content["agrees"], content["tolerance"]["share"]) == (0, True, 0.05)
    assert [one["rank"] for one in content["ranks"]] == [0, 1]
    assert content["ranks"][1]["phases"]["update"]["agrees"] is True


def test_times_that_differ_are_named(run, tmp_path, spikemark):
    assert check(_measured(run, tmp_path / "little", slower=1.04)).complaints == []
    status, output, errors = spikemark("scorep", _measured(run, tmp_path / "much", slower=1.2))
    assert status == 1
    assert "deliver: DIFFERS" in output
    (line,) = errors.splitlines()
    assert line.startswith("rank 0, deliver: Score-P differs from the cycle log by")


def test_counts_that_differ_are_named(run, tmp_path, spikemark):
    status, output, errors = spikemark("scorep", _measured(run, tmp_path / "lost", lost=1))
    assert (status, "spikes: DIFFERS" in output) == (1, True)
    (line,) = errors.splitlines()
    assert line.startswith("rank 0, spikes: the record has")


def test_phase_that_was_not_timed_is_not_compared(tmp_path):
    """Without a barrier of its own the run does not know the time at it, nor does it make up one."""
    description = describe(areas=2, delay_ratio=10) | {"record": {"barrier": False}}
    run = record.load(write_run(tmp_path / "run", ranks=2, cycles=10, description=description))
    times = np.nan_to_num(run.cycles)
    found = check(_measured(record.Run(run.path, run.record, run.ranks, times, None), tmp_path / "scorep"))
    assert [one.phases["synchronise"].log_s for one in found.ranks] == [None, None]
    assert found.complaints == []


def test_record_may_lie_beside_the_files(run, measured, tmp_path):
    shutil.copytree(measured, tmp_path / "flat")
    for file in (tmp_path / "flat" / "record").iterdir():
        file.rename(tmp_path / "flat" / file.name)
    (tmp_path / "flat" / "record").rmdir()
    assert check(tmp_path / "flat").complaints == []


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


@pytest.mark.parametrize("name", ["traces.def", "traces/1.def"])
def test_definitions_truncated_anywhere_get_one_line(measured, tmp_path, refusal, name):
    """Not even the end marks may be missing: otf2 takes what its memory holds of the last file for them."""
    folder = tmp_path / "scorep"
    shutil.copytree(measured, folder)
    file = folder / name
    whole = file.read_bytes()
    for size in {*range(0, len(whole), 7), len(whole) - 1, len(whole) - 2}:
        file.write_bytes(whole[:size])
        assert refusal("scorep", folder) == f"{file}: truncated: it does not end with the marks of OTF2"


def test_other_number_of_ranks_gets_one_line(run, tmp_path):
    one = fake_scorep.write(run, tmp_path, ranks=1)
    for read, name in (profile.read, "profile.cubex"), (trace.read, "traces.otf2"):
        with pytest.raises(BadInput, match=f"{name}: contains 1 ranks; the run had ranks 0 to 1"):
            read(one / name, 2)


def test_files_of_another_program_get_one_line(run, tmp_path, monkeypatch):
    monkeypatch.setattr("spikemark.scorep.profile.MEASURED", "main_loop")
    monkeypatch.setattr("spikemark.scorep.seen.MEASURED", "main_loop")
    with pytest.raises(
        BadInput, match="rank 0 has no region 'main_loop': the program was not built with SPIKEMARK_SCOREP"
    ):
        check(_measured(run, tmp_path / "other"))


def test_folder_without_a_record_gets_one_line(measured, tmp_path, refusal):
    shutil.copytree(measured, tmp_path / "alone")
    shutil.rmtree(tmp_path / "alone" / "record")
    assert "record.json: not found" in refusal("scorep", tmp_path / "alone")
