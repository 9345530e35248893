"""The folder of a dry run: what is read back, what all ranks get, and which damage is refused."""

import json
import shutil

import dry_folder
import numpy as np
import pytest
from synthetic import edit

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


def about(folder, **changes):
    path = folder / dry_run.ABOUT
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


COLUMNS = ("rank", *dict.fromkeys(dry_run.WORK_OF.values()))
THRICE = [{"rank": 3, "why": "x", "beside": None}] * 3
NO_TIMES = np.full((3, dry_folder.CYCLES, 6), np.nan, np.float32)
#: What is done to a folder, and the complaint.
DAMAGES = [
    (lambda f: (f / dry_run.ABOUT).unlink(), "dryrun.json: not found"),
    (lambda f: about(f, sampled=THRICE), r"sampled=\[3, 3, 3\]"),
    (lambda f: about(f, ranks=2), "sampled="),
    (lambda f: about(f, cycles=7), "asks for float32"),
    (lambda f: about(f, kind="measured"), "kind='measured'"),
    (lambda f: (f / "cycles.npy").unlink(), "cycles.npy: not found"),
    (lambda f: np.save(f / "cycles.npy", NO_TIMES), "a compute time is missing or negative"),
    (lambda f: (f / "ranks.csv").write_text("rank\n0\n1\n2\n"), r"rank=\[0, 1, 2\]"),
    (lambda f: (f / dry_run.WORK).write_text("rank\n0\n"), "missing column synaptic_events"),
    (lambda f: (f / dry_run.WORK).write_text(",".join(COLUMNS) + "\n0,1,2,3\n"), "work.csv: 1 lines"),
]


@pytest.mark.parametrize(("damage", "complaint"), DAMAGES)
def test_damaged_folders_are_refused(folder, tmp_path, damage, complaint):
    copy = shutil.copytree(folder, tmp_path / "copy")
    damage(copy)
    with pytest.raises(BadInput, match=complaint):
        _ = dry_run.load(copy).rows


def test_damaged_ranks_are_refused(tmp_path):
    path = dry_folder.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    assert dry_run.load_rank(path).rank == 2
    whole = (path / "record.json").read_text()
    for name, value, complaint in (
        ("kind", "measured", "kind='measured'"), ("status", "running", "status='running'"),
        ("ranks", 9, "dry_run.of=8"), ("format_version", 4, "format_version=4"), ("dry_run", None, "dry_run"),
    ):  # fmt: skip
        edit(path, **{name: value})
        with pytest.raises(BadInput, match=complaint):
            dry_run.load_rank(path)
        (path / "record.json").write_text(whole)


def test_times_of_a_rank_that_are_not_those_of_its_record_are_refused(tmp_path):
    path = dry_folder.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    times = np.load(path / "cycles.npy")
    for wrong, complaint in ((2.0, "time of a rank is"), (-1.0, "time -1")):
        np.save(path / "cycles.npy", np.where(np.isnan(times), times, wrong).astype(np.float32))
        with pytest.raises(BadInput, match=complaint):
            dry_run.load_rank(path)
