"""The folder of a dry run: what is read back, what all ranks get, and which damage is refused."""

import json
import shutil

import dry_folder
import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.records import dry_run
from spikemark.records.imported import run_or_times
from spikemark.records.phases import COMPUTE


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        return dry_folder.write(patch, tmp_path_factory.mktemp("dry") / "out", rank_sd=0.05).path


def test_rows_are_those_of_the_ranks_that_ran(folder):
    found = dry_run.load(folder)
    for row, rank in enumerate(found.timed):
        own = dry_run.load_rank(folder / dry_run.EACH / str(rank))
        parts = [own.cycles[:, own.record.phases.index(name)] for name in COMPUTE]
        assert np.array_equal(found.rows[row], np.stack(parts, axis=1))
    times = found.times()
    assert times.shape == (dry_folder.AREAS, dry_folder.CYCLES, len(COMPUTE))
    assert np.array_equal(times[found.timed], found.rows)
    assert found.means() == pytest.approx(times.mean(axis=1, dtype=float), rel=1e-5)
    assert np.array_equal(found.times(cycles=50)[found.timed], found.rows[:, :50])


def test_as_cycle_times_it_is_one_of_all_ranks_that_says_what_it_is(folder):
    times = run_or_times(folder)
    assert times.compute.shape == (dry_folder.AREAS, dry_folder.CYCLES) and times.about.meets_every == 1
    said = " ".join(times.cautions)
    assert (
        "measured by a dry run of 3 of 8 ranks" in said and "waiting and exchange were not measured" in said
    )
    assert "the other 5 ranks take whole rows" in said


def edit(path, **changes):
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | changes))


DAMAGES = {
    "no about": (lambda f: (f / dry_run.ABOUT).unlink(), "dryrun.json: not found"),
    "ranks of another order": (
        lambda f: edit(f / dry_run.ABOUT, sampled=[{"rank": 3, "why": "x", "beside": None}] * 3),
        r"sampled=\[3, 3, 3\]",
    ),
    "fewer ranks than were sampled": (lambda f: edit(f / dry_run.ABOUT, ranks=2), "sampled="),
    "other cycles": (lambda f: edit(f / dry_run.ABOUT, cycles=7), "asks for float32"),
    "no cycles": (lambda f: (f / "cycles.npy").unlink(), "cycles.npy: not found"),
    "truncated work": (
        lambda f: (f / dry_run.WORK).write_text("rank,synaptic_events,neurons,spikes_sent\n0,1,2,3\n"),
        "work.csv: 1 lines",
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
        ({"ranks": 9}, "dry_run.of=8"),
        ({"format_version": 4}, "format_version=4"),
        ({"dry_run": None}, "dry_run"),
    ],
)
def test_damaged_ranks_are_refused(tmp_path, changes, complaint):
    path = dry_folder.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    assert dry_run.load_rank(path).rank == 2
    edit(path / "record.json", **changes)
    with pytest.raises(BadInput, match=complaint):
        dry_run.load_rank(path)


def test_times_of_a_rank_that_are_not_those_of_its_record_are_refused(tmp_path):
    path = dry_folder.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    times = np.load(path / "cycles.npy")
    for wrong, complaint in ((2.0, "time of a rank is"), (-1.0, "time -1")):
        np.save(path / "cycles.npy", np.where(np.isnan(times), times, wrong).astype(np.float32))
        with pytest.raises(BadInput, match=complaint):
            dry_run.load_rank(path)
