"""The reader of run records: what it gives, and how it refuses what is not whole and consistent."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from edited_record import edit, refused, set_times
from small_network import describe
from synthetic import PHASES, RANK_COLUMNS, overlap, write_run

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.records import phases, record, run_files, schema

MINI_APP = places.root() / "miniapp"


@pytest.fixture
def run_dir(tmp_path):
    return write_run(tmp_path / "run", ranks=3, threads=2, cycles=100)


@pytest.mark.parametrize("schedule", ["conventional", "placement_only", "structure_aware"])
def test_reads_what_was_written(tmp_path, schedule):
    run = record.load_run(
        write_run(tmp_path, schedule=schedule, ranks=3, cycles=100, delay_ratio=5, threads=2)
    )
    assert (run.path, run.schedule, run.delay_ratio, run.spikes) == (tmp_path, schedule, 5, None)
    assert run.placement == ("round_robin" if schedule == "conventional" else "area")
    assert run.window == (5 if schedule == "structure_aware" else 1)
    assert isinstance(run.cycles, np.memmap) and run.cycles.shape == (3, 100, len(PHASES))
    parts = sum(run.phase(name).astype(float) for name in ("deliver", "update", "collocate"))
    np.testing.assert_array_equal(run.compute(), parts)
    assert list(run.ranks.columns) == RANK_COLUMNS and run_files.foreign(tmp_path) == []
    assert run.ranks["synaptic_events"].sum() == run.record.totals.synaptic_events
    for name, times in run.record.timing.phases.items():
        np.testing.assert_allclose(run.phase(name).sum(axis=1).mean(), times.mean_s, rtol=1e-4)


def test_what_belongs_to_no_run_is_named_in_order(tmp_path):
    for name in ("notes.txt", ".hidden", *run_files.FILES):
        (tmp_path / name).touch()
    assert run_files.foreign(tmp_path) == [".hidden", "notes.txt"]
    assert run_files.foreign(tmp_path / "nowhere") == [] and not run_files.is_complete(
        tmp_path / "nowhere"
    )


def test_waiting_without_a_barrier_holds_transport_and_says_so(tmp_path):
    """An overlapped run has a phase synchronise of 0: nobody waited there."""
    plain = record.load_run(write_run(tmp_path, schedule="overlapped", ranks=3, cycles=100))
    assert plain.waiting_phases == ("synchronise",)
    waited = plain.spent_s("waiting")
    assert waited > 0 and waited == plain.record.timing.phases["synchronise"].mean_s
    overlap(tmp_path)
    run = record.load_run(tmp_path)
    assert run.waiting_phases == ("overlap_wait",)
    assert run.spent_s("waiting") == waited
    np.testing.assert_allclose(run.waiting().sum(axis=1).mean(), waited, rtol=1e-4)
    edit(tmp_path, lambda r: r["lanes"][0].update(ranks=3))  # which meet at a barrier
    both = record.load_run(tmp_path)
    assert (
        both.waiting_phases == ("synchronise", "overlap_wait") and both.spent_s("waiting") == waited
    )
    times = np.load(tmp_path / "cycles.npy")
    times[:, :, PHASES.index("synchronise")] = np.nan
    set_times(tmp_path, times)
    assert record.load_run(tmp_path).spent_s("exchange", "waiting") is None
    edit(
        tmp_path, lambda r: r["lanes"][0].update(ranks=1)
    )  # no lane has a barrier that was not timed
    assert record.load_run(tmp_path).spent_s("waiting") == pytest.approx(waited)


def test_spikes_and_cycles_that_were_or_were_not_recorded(run_dir, tmp_path):
    edit(run_dir, lambda r: r["description"]["record"].update(spikes=True))
    assert "spikes.npy: not found" in refused(run_dir)
    spikes = json.loads((run_dir / "record.json").read_text())["totals"]["spikes"]
    for more in (1, 0):
        np.save(run_dir / "spikes.npy", np.zeros((spikes + more, 2), np.uint32))
        if more:
            assert f"holds uint32 [{spikes + 1}, 2]" in refused(run_dir)
    assert record.load_run(run_dir).spikes.shape == (spikes, 2)
    description = describe()
    description["record"]["cycles"] = False
    run = record.load_run(write_run(tmp_path / "none", description=description))
    assert run.cycles is None
    with pytest.raises(BadInput, match=r"no cycles\.npy"):
        run.compute()


ENERGY = {
    "source": "powercap",
    "status": "ok",
    "gross_j": 12.5,
    "idle_power_w": 40.0,
    "net_j": -3.0,
    "duration_s": 0.4,
    "readings": 4,
    "coverage": 1,
    "nodes": 1,
    "sampling_cost": 1e-4,
    "reason": None,
    "channels": [{"node": 0, "name": "package-0", "event": "/sys/x", "unit": "J", "gross_j": 12.5}],
}


def test_memory_that_is_not_known_is_missing(run_dir):
    edit(run_dir, lambda r: r["memory"].update(peak_bytes=None, bytes_per_synapse=None))
    path = run_dir / "ranks.csv"
    pd.read_csv(path, dtype=str).assign(peak_bytes=None).to_csv(path, index=False)
    run = record.load_run(run_dir)
    assert run.ranks["peak_bytes"].isna().all() and run.record.memory.peak_bytes is None


@pytest.mark.filterwarnings("error")
def test_files_beside_the_record_are_optional_and_checked(tmp_path):
    one = record.load_run(write_run(tmp_path / "one", ranks=2))
    assert one.record.host.per_node is None and one.node_of_rank == ["synthetic"] * 2
    assert one.launched is None
    assert one.simulation is None
    assert record.load_run(write_run(tmp_path / "two", ranks=2, host__nodes=2)).node_of_rank is None
    assert schema.LaunchRecord.model_validate({}).model_dump(mode="json")["command"] == []
    (tmp_path / "one" / run_files.SIMULATION).write_text('{"machine": "jureca-dc"}')
    assert record.load_run(tmp_path / "one").simulation == {"machine": "jureca-dc"}
    for name, text, complaint in (
        ("simulation.json", "{", "truncated"),
        ("simulation.json", "[]", "holds list"),
        ("launch.json", "[1]", "holds list"),
        ("launch.json", '{"allocation": {}}', "allocation.job"),
    ):
        path = write_run(tmp_path / complaint.replace(" ", "-") / name) / name
        path.write_text(text)
        said = refused(path.parent)
        assert name in said and complaint in said


def test_phases_are_those_of_the_mini_app():
    """In its list and in the same order; FORMAT.md says what each is."""
    header = (MINI_APP / "src" / "measurement" / "phases.h").read_text()
    assert tuple(re.findall(r"^ +PHASE\((\w+)\)", header, re.MULTILINE)) == phases.PHASES
    said = re.findall(r"^- `(\w+)`: ", (MINI_APP / "FORMAT.md").read_text(), re.MULTILINE)
    assert [name for name in said if name in phases.PHASES] == [*phases.PHASES]


@pytest.mark.parametrize("phase", PHASES)
def test_times_that_cannot_be_or_are_not_those_of_the_record_are_refused(run_dir, phase):
    path, at = run_dir / "cycles.npy", PHASES.index(phase)
    whole = np.load(path)
    for value in (np.nan, np.inf, -1.0, 1e9):
        times = whole.copy()
        times[1, 7, at] = value
        np.save(path, times)
        wanted = f"cycles.npy: {phase} time {value} s of rank 1 in cycle 7"
        assert (f"{phase}: the mean time of a rank is" if value == 1e9 else wanted) in refused(
            run_dir
        )
    whole[:, 0, at] += [0.001, 0.002, 0.003]
    set_times(run_dir, whole)
    record.load_run(run_dir)
    whole[[0, 2], 0, at] += [0.003, -0.003]  # another rank is the slowest; the mean is the same
    np.save(path, whole)
    assert f"{phase}: the largest time of a rank is" in refused(run_dir)


JSON, NPY = "record.json: truncated or not JSON at line", "cycles.npy: truncated or not a .npy file"
SHARES = (0.0, 0.001, 0.3, 0.9, 0.999)
#: File, what becomes of its content (a share of it, other bytes, or None: it is missing), and the
#: complaint.
DAMAGES = [
    *((name, None, f"{name}: not found") for name in ("record.json", "cycles.npy", "ranks.csv")),
    *(
        (name, share, said)
        for name, said in (("record.json", JSON), ("cycles.npy", NPY))
        for share in SHARES
    ),
    *(
        ("record.json", content, "record.json: holds")
        for content in (b"[]", b"3", b"null", b'"complete"')
    ),
    ("record.json", b"\xff\xfe\x00", "record.json: not UTF-8"),
    ("ranks.csv", b"", "ranks.csv: truncated"),
    ("ranks.csv", b"rank\n0\n", "ranks.csv: missing column"),
    ("ranks.csv", 0.9, "ranks.csv: truncated"),
]


@pytest.mark.parametrize(("name", "change", "complaint"), DAMAGES)
def test_damaged_files(run_dir, name, change, complaint):
    path = run_dir / name
    whole = path.read_bytes()
    if change is None:
        path.unlink()
    else:
        path.write_bytes(change if isinstance(change, bytes) else whole[: int(change * len(whole))])
    assert complaint in refused(run_dir)


@pytest.mark.parametrize(
    ("row", "column", "cell", "complaint"),
    [
        (2, "rank", "1", "rank=[0, 1, 1]; record.json has ranks 0 to 2"),
        (0, "rank", "", "rank=nan: expected"),
        (2, "neurons", "many", "neurons=many:"),
        (2, "neurons", "-5", "neurons=-5:"),
        (2, "neurons", "1", "neurons adds up to"),
        (1, "spikes", "1e300", "spikes=1e300:"),
        (1, "spikes", "1.5", "spikes=1.5:"),
        (0, "build_s", "inf", "build_s=inf"),
        (0, "simulate_s", "-inf", "simulate_s=-inf"),
        (0, "messages", "[1]", "messages=[1]:"),
    ],
)
def test_cells_that_cannot_be_are_named(run_dir, row, column, cell, complaint):
    path = run_dir / "ranks.csv"
    table = pd.read_csv(path, dtype=str)
    table.loc[row, column] = cell
    table.to_csv(path, index=False)
    said = refused(run_dir)
    assert "ranks.csv: " in said and complaint in said


IMPOSSIBLE = [
    *(({"format_version": v}, f"format_version={v!r}") for v in (0, 4, "1", None, True)),
    *(({"status": v}, f"status={v!r}") for v in ("running", "failed", None, 1)),
    ({"ranks": "3"}, "ranks='3'"),
    ({"ranks": 0}, "ranks=0"),
    ({"checksum": "xyz"}, "checksum='xyz'"),
    ({"totals__spikes": -1}, "totals.spikes=-1"),
    ({"totals__spikes": 1.5}, "totals.spikes=1.5"),
    ({"totals__messages": 1}, "messages adds up to"),
    ({"timing__model_s": 0}, "timing.model_s=0"),
    ({"timing__simulate_s": None}, "timing.simulate_s=None"),
    ({"timing__simulate_s": float("nan")}, "timing.simulate_s=nan"),
    ({"phases": ["deliver", "update"]}, "are not those of timing.phases"),
    ({"phases": [*PHASES, "deliver"]}, "are not those of timing.phases"),
    ({"lanes": []}, "lanes"),
    ({"warnings": "none"}, "warnings='none'"),
    ({"description": {}}, "description.schedule=None"),
    ({"timing__cycles": 999}, "holds float32"),
    ({"energy": ENERGY | {"gross_j": -1.0}}, "energy.gross_j"),
    ({"meters": [{"name": "x"}]}, "meters.0."),
    ({"energy": ENERGY | {"status": "guessed"}}, "energy.status"),
    ({"energy": ENERGY | {"coverage": 1.5}}, "energy.coverage"),
]


@pytest.mark.parametrize(("overrides", "complaint"), IMPOSSIBLE)
def test_impossible_fields(run_dir, overrides, complaint):
    edit(run_dir, **overrides)
    assert complaint in refused(run_dir)


#: Records from before lack the first; `spikemark run` adds `energy`.
ADDED_LATER = ("energy_reason", "kind", "placement", "energy")


def test_every_field_of_the_format_is_needed(run_dir):
    whole = json.loads((run_dir / "record.json").read_text())
    for field in record.Record.model_fields:
        (run_dir / "record.json").write_text(
            json.dumps({k: v for k, v in whole.items() if k != field})
        )
        if field in ADDED_LATER:
            assert record.load_run(run_dir), field
        else:
            assert field in refused(run_dir)


@pytest.mark.parametrize("threads", [1, 2])
def test_records_of_format_1_compute_as_long_as_before(tmp_path, threads):
    """Delivery and update held the waiting of threads, which is no part of its own."""
    now = record.load_run(write_run(tmp_path / "now", ranks=2, threads=threads, cycles=100))
    folder = write_run(tmp_path / "then", ranks=2, threads=threads, cycles=100)
    at, times = PHASES.index("thread_wait"), np.load(folder / "cycles.npy")
    times[:, :, PHASES.index("update")] += times[:, :, at]
    np.save(folder / "cycles.npy", np.delete(times, at, axis=2))

    def older(content):
        content["format_version"] = 1
        content["phases"].remove("thread_wait")
        wait, update = (
            content["timing"]["phases"].pop("thread_wait"),
            content["timing"]["phases"]["update"],
        )
        update |= {name: update[name] + wait[name] for name in ("mean_s", "max_s")}

    edit(folder, older)
    then = record.load_run(folder)
    np.testing.assert_allclose(then.compute(), now.compute(), rtol=1e-5)
    assert not then.phase("thread_wait").any() and then.spent_s("thread_wait") == 0
    assert any(text.startswith("format 1") for text in then.record.warnings) == (threads > 1)
