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
from spikemark.records.phases import COMPUTE_PARTS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        return dry_folder.write(patch, tmp_path_factory.mktemp("dry") / "out", rank_sd=0.05).path


def test_rows_are_those_of_the_ranks_that_ran(folder):
    found = dry_run.load_dry_run(folder)
    for row, rank in enumerate(found.timed):
        cycles = np.load(folder / dry_run.EACH / str(rank) / "cycles.npy")[0]
        phases = found.sampled[row].record.phases
        parts = [cycles[:, phases.index(name)] for name in COMPUTE_PARTS]
        assert np.array_equal(found.rows[row], np.stack(parts, axis=1))
    times = found.times()
    assert times.shape == (dry_folder.AREAS, dry_folder.CYCLES, len(COMPUTE_PARTS))
    assert np.array_equal(times[found.timed], found.rows)
    assert found.means() == pytest.approx(times.mean(axis=1, dtype=float), rel=1e-5)


def test_as_cycle_times_it_is_one_of_all_ranks_that_says_what_it_is(folder):
    times = run_or_times(folder)
    assert (
        times.compute.shape == (dry_folder.AREAS, dry_folder.CYCLES)
        and times.about.meets_every == 1
    )
    said = " ".join(times.cautions)
    assert (
        "measured by a dry run of 3 of 8 ranks" in said
        and "waiting and exchange were not measured" in said
    )
    assert "the other 5 ranks take whole rows" in said


def about(folder, **changes):
    path = folder / dry_run.DRY_RUN_FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


#: What is done to a folder, and the complaint.
DAMAGES = [
    (lambda f: (f / dry_run.DRY_RUN_FILE).unlink(), "dryrun.json: not found"),
    (lambda f: about(f, ranks=2), "work.csv: expected counts of 2 ranks"),
    (lambda f: about(f, kind="measured"), "kind='measured'"),
    (lambda f: shutil.rmtree(f / "ranks" / "0"), "record.json: not found"),
    (lambda f: (f / dry_run.WORK).write_text("rank\n0\n"), "missing column synaptic_events"),
]


@pytest.mark.parametrize(("damage", "complaint"), DAMAGES)
def test_damaged_folders_are_refused(folder, tmp_path, damage, complaint):
    copy = shutil.copytree(folder, tmp_path / "copy")
    damage(copy)
    with pytest.raises(BadInput, match=complaint):
        dry_run.load_dry_run(copy)


def test_damaged_ranks_are_refused(tmp_path):
    path = dry_folder.write_rank(tmp_path / "rank", dry_folder.description(), 2, 8)
    assert dry_run.load_rank(path).record.dry_run.rank == 2
    whole, times = (path / "record.json").read_text(), np.load(path / "cycles.npy")
    for name, value in {"kind": "measured", "status": "running", "format_version": 4}.items():
        edit(path, **{name: value})
        with pytest.raises(BadInput, match=f"{name}={value!r}"):
            dry_run.load_rank(path)
        (path / "record.json").write_text(whole)
    for wrong, complaint in ((2.0, "time of a rank is"), (-1.0, "time -1")):
        np.save(path / "cycles.npy", np.where(np.isnan(times), times, wrong).astype(np.float32))
        with pytest.raises(BadInput, match=complaint):
            dry_run.load_rank(path)
