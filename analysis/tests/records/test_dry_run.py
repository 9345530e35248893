"""The folder of a dry run: what is read back, what all ranks get, and which damage is refused."""

import json
import shutil

import dry_folder
import dry_record
import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.records import dry_rank, dry_run, record
from spikemark.records.imported import run_or_times
from spikemark.records.phases import COMPUTE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        return dry_folder.write(patch, tmp_path_factory.mktemp("dry") / "out", rank_sd=0.05).path


def test_rows_are_those_of_the_ranks_that_ran(folder):
    found = dry_run.load(folder)
    for row, rank in enumerate(found.timed):
        own = dry_rank.load(folder / dry_run.EACH / str(rank))
        parts = [own.phase(name) for name in COMPUTE]
        assert np.array_equal(found.rows[row], np.stack(parts, axis=1))
    times = found.times()
    assert times.shape == (dry_folder.AREAS, dry_folder.CYCLES, len(COMPUTE))
    assert np.array_equal(times[found.timed], found.rows)
    assert found.means() == pytest.approx(times.mean(axis=1, dtype=float), rel=1e-5)
    assert np.array_equal(found.times(cycles=50)[found.timed], found.rows[:, :50])


def test_more_times_than_fit_are_refused(folder, monkeypatch):
    monkeypatch.setattr(dry_run, "MOST_TIMES", dry_folder.AREAS * dry_folder.CYCLES - 1)
    with pytest.raises(BadInput, match="8 ranks x 400 cycles; allowed are 3199 compute times"):
        dry_run.load(folder).times()


def test_as_cycle_times_it_is_one_of_all_ranks_that_says_what_it_is(folder):
    times = run_or_times(folder)
    assert times.compute.shape == (dry_folder.AREAS, dry_folder.CYCLES) and times.delay_ratio == 1
    said = " ".join(times.cautions)
    assert (
        "measured by a dry run of 3 of 8 ranks" in said and "waiting and exchange were not measured" in said
    )
    assert "the other 5 ranks take whole rows" in said


@pytest.mark.parametrize(("schedule", "period"), [("conventional", 1), ("structure_aware", 10)])
def test_ranks_meet_as_the_schedule_says(tmp_path, monkeypatch, schedule, period):
    placement = "round_robin" if schedule == "conventional" else "area"
    run = dry_folder.description(schedule=schedule, placement=placement)
    found = dry_folder.write(monkeypatch, tmp_path / "out", description=run)
    assert found.window == found.meets_every == run_or_times(found.path).delay_ratio == period


def test_the_record_of_one_rank_is_not_taken_for_a_run(folder):
    with pytest.raises(BadInput, match="one rank that ran alone; allowed: a run of all ranks, or the folder"):
        record.load(folder / dry_run.EACH / "0")


def edit(path, **changes):
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | changes))


DAMAGES = {
    "no about": (lambda f: (f / dry_run.ABOUT).unlink(), "dryrun.json: not found"),
    "ranks of another order": (
        lambda f: edit(f / dry_run.ABOUT, sampled=[{"rank": 3, "why": "x", "beside": None}] * 3),
        r"sampled=\[3, 3, 3\]; allowed: ranks below 8, ascending",
    ),
    "fewer ranks than were sampled": (lambda f: edit(f / dry_run.ABOUT, ranks=2), "allowed: ranks below 2"),
    "other cycles": (lambda f: edit(f / dry_run.ABOUT, cycles=7), "asks for float32"),
    "no cycles": (lambda f: (f / "cycles.npy").unlink(), "cycles.npy: not found"),
    "truncated work": (
        lambda f: (f / dry_run.WORK).write_text("rank,synaptic_events,neurons,spikes_sent\n0,1,2,3\n"),
        "work.csv: 1 lines; needed are ranks 0 to 7",
    ),
    "work of nothing": (
        lambda f: (f / dry_run.WORK).write_text("rank\n0\n"),
        "missing column synaptic_events",
    ),
    "a time that is none": (
        lambda f: np.save(f / "cycles.npy", np.full((3, dry_folder.CYCLES, 6), np.nan, np.float32)),
        "a compute time is missing or negative",
    ),
    "other ranks in the table": (
        lambda f: (f / "ranks.csv").write_text("rank\n0\n1\n2\n"),
        r"rank=\[0, 1, 2\]",
    ),
    "a kind": (lambda f: edit(f / dry_run.ABOUT, kind="measured"), "kind='measured'"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_folders_are_refused(folder, tmp_path, name):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    damage, complaint = DAMAGES[name]
    damage(copy)
    with pytest.raises(BadInput, match=complaint):
        _ = dry_run.load(copy).rows


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"kind": "measured"}, "kind='measured'"),
        ({"status": "running"}, "status='running'"),
        ({"ranks": 9}, "dry_run.of=8; allowed are ranks below ranks=9"),
        ({"format_version": 3}, "not a run record of format_version 1 and 2"),
        ({"dry_run": None}, "dry_run"),
    ],
)
def test_damaged_ranks_are_refused(tmp_path, changes, complaint):
    path = dry_record.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    assert dry_rank.load(path).rank == 2
    edit(path / "record.json", **changes)
    with pytest.raises(BadInput, match=complaint):
        dry_rank.load(path)


def test_times_of_a_rank_that_are_not_those_of_its_record_are_refused(tmp_path):
    path = dry_record.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    times = np.load(path / "cycles.npy")
    for wrong, complaint in ((2.0, "time of a rank is"), (-1.0, "a time is a number >= 0")):
        np.save(path / "cycles.npy", np.where(np.isnan(times), times, wrong).astype(np.float32))
        with pytest.raises(BadInput, match=complaint):
            dry_rank.load(path)


def test_a_table_of_another_rank_is_refused(tmp_path):
    path = dry_record.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    (path / "ranks.csv").write_text("rank,neurons\n1,5\n")
    with pytest.raises(BadInput, match="one line of rank 2 is needed"):
        dry_rank.load(path)
