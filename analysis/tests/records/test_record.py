"""The reader of run records: what it gives."""

import json

import numpy as np
import pytest
from edited_record import drop_column, edit, refused, set_times
from small_network import describe
from synthetic import overlap, write_run
from synthetic_record import PHASES, RANK_COLUMNS

from spikemark.core.errors import BadInput
from spikemark.records import record


@pytest.mark.parametrize("schedule", ["conventional", "placement_only", "structure_aware"])
def test_reads_what_was_written(tmp_path, schedule):
    run = record.load(write_run(tmp_path, schedule=schedule, ranks=3, cycles=100, delay_ratio=5, threads=2))
    assert run.path == tmp_path
    assert (run.schedule, run.delay_ratio) == (schedule, 5)
    assert run.placement == ("round_robin" if schedule == "conventional" else "area")
    assert run.window == (5 if schedule == "structure_aware" else 1)
    assert isinstance(run.cycles, np.memmap)
    assert run.cycles.shape == (3, 100, len(PHASES))
    parts = sum(run.phase(name).astype(float) for name in ("deliver", "update", "collocate"))
    np.testing.assert_array_equal(run.compute(), parts)
    assert run.compute().dtype == np.float64
    assert run.spikes is None
    assert list(run.ranks.columns) == RANK_COLUMNS
    assert run.ranks["synaptic_events"].sum() == run.record.totals.synaptic_events
    for name, times in run.record.timing.phases.items():
        np.testing.assert_allclose(run.phase(name).sum(axis=1).mean(), times.mean_s, rtol=1e-4)


def test_one_rank_has_a_window_too(tmp_path):
    assert record.load(write_run(tmp_path, schedule="structure_aware", ranks=1, delay_ratio=5)).window == 5


def test_waiting_without_a_barrier_holds_transport_and_says_so(tmp_path):
    """An overlapped run has a phase synchronise of 0: nobody waited there."""
    plain = record.load(write_run(tmp_path, schedule="overlapped", ranks=3, cycles=100))
    assert plain.waiting_phases == ("synchronise",) and plain.waits == "at the barrier"
    waited = plain.spent_s("waiting")
    assert waited > 0 and waited == plain.record.timing.phases["synchronise"].mean_s
    overlap(tmp_path)
    run = record.load(tmp_path)
    assert run.waiting_phases == ("overlap_wait",) and "transport" in run.waits
    assert run.spent_s("waiting") == waited
    np.testing.assert_allclose(run.waiting().sum(axis=1).mean(), waited, rtol=1e-4)
    edit(tmp_path, lambda r: r["lanes"][0].update(ranks=3))  # which meet at a barrier
    both = record.load(tmp_path)
    assert both.waiting_phases == ("synchronise", "overlap_wait") and both.spent_s("waiting") == waited
    times = np.load(tmp_path / "cycles.npy")
    times[:, :, PHASES.index("synchronise")] = np.nan
    set_times(tmp_path, times)
    assert record.load(tmp_path).spent_s("exchange", "waiting") is None
    edit(tmp_path, lambda r: r["lanes"][0].update(ranks=1))
    # no lane has a barrier that was not timed
    assert record.load(tmp_path).spent_s("waiting") == pytest.approx(waited)


def test_delay_ratio_auto_is_read_from_the_lanes(run_dir):
    edit(run_dir, lambda r: r["description"].update(delay_ratio="auto"))
    edit(run_dir, lambda r: r["lanes"].append(r["lanes"][0] | {"name": "far", "period": 7}))
    assert record.load(run_dir).delay_ratio == 7


def test_spikes(run_dir):
    edit(run_dir, lambda r: r["description"]["record"].update(spikes=True))
    assert "spikes.npy: not found" in refused(run_dir)
    spikes = json.loads((run_dir / "record.json").read_text())["totals"]["spikes"]
    np.save(run_dir / "spikes.npy", np.zeros((spikes, 2), np.uint32))
    assert record.load(run_dir).spikes.shape == (spikes, 2)
    np.save(run_dir / "spikes.npy", np.zeros((spikes + 1, 2), np.uint32))
    assert f"holds uint32 [{spikes + 1}, 2]" in refused(run_dir)


def test_a_silent_run_has_an_empty_list_of_spikes(tmp_path):
    description = describe(rate_hz=0)
    description["record"]["spikes"] = True
    write_run(tmp_path, description=description)
    np.save(tmp_path / "spikes.npy", np.zeros((0, 2), np.uint32))
    assert record.load(tmp_path).spikes.shape == (0, 2)


def test_a_run_without_cycles(tmp_path):
    description = describe()
    description["record"]["cycles"] = False
    run = record.load(write_run(tmp_path, description=description))
    assert run.cycles is None
    with pytest.raises(BadInput, match=r"no cycles\.npy"):
        run.compute()


def test_further_fields_are_kept(run_dir):
    edit(run_dir, lambda r: r["timing"].update(novelty=3))
    assert record.load(run_dir).record.timing.novelty == 3


METER = {"name": "instructions", "unit": "count", "source": "papi"}
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


def test_meters_and_energy(run_dir):
    missing = METER | {"value": None, "event": None, "status": "denied", "reason": "permission denied"}
    counted = METER | {"value": 7, "event": "PAPI_TOT_INS", "status": "ok", "reason": None, "phase": "update"}
    edit(run_dir, lambda r: r.update(meters=[missing, counted], energy=ENERGY, energy_reason=None))
    edit(run_dir, lambda r: r["timing"].update(idle_before_s=[1.5, 6.5], counter_read_s=1e-6))
    read = record.load(run_dir).record
    assert [meter.value for meter in read.meters] == [None, 7]
    assert [meter.phase for meter in read.meters] == [None, "update"]
    assert read.energy.channels[0].name == "package-0"
    assert read.timing.idle_before_s == [1.5, 6.5]
    assert read.timing.idle_after_s is None


def test_a_record_from_before_meters_had_values(run_dir):
    old = {"name": "resident_peak", "unit": "byte", "source": "/proc/self/status VmHWM", "status": "ok"}
    edit(run_dir, lambda r: r.update(meters=[old]))
    assert record.load(run_dir).record.meters[0].value is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gross_j": None}, "an energy of null needs a reason"),
        ({"gross_j": -1.0}, "energy.gross_j"),
        ({"status": "guessed"}, "energy.status"),
        ({"coverage": 1.5}, "energy.coverage"),
    ],
)
def test_energy_that_cannot_be_is_refused(change, message, run_dir):
    edit(run_dir, lambda r: r.update(energy=ENERGY | change))
    assert message in refused(run_dir)


def test_further_columns_are_kept(run_dir):
    path = run_dir / "ranks.csv"
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header + ",rack", *(line + ",r1" for line in lines)]) + "\n")
    assert record.load(run_dir).ranks["rack"].tolist() == ["r1"] * 3


def test_unknown_values_are_missing_not_zero(run_dir):
    path = run_dir / "ranks.csv"
    header, *lines = path.read_text().splitlines()
    place = header.split(",").index("peak_bytes")
    cells = [line.split(",") for line in lines]
    for row in cells:
        row[place] = ""
    path.write_text("\n".join([header, *(",".join(row) for row in cells)]) + "\n")
    edit(run_dir, lambda r: r["memory"].update(peak_bytes=None, bytes_per_synapse=None))
    run = record.load(run_dir)
    assert run.ranks["peak_bytes"].isna().all()
    assert run.record.memory.peak_bytes is None


def test_older_records_do_not_tell_external_events_by_rank(run_dir):
    assert record.load(run_dir).ranks["external_events"].tolist() == [0, 0, 0]
    drop_column(run_dir / "ranks.csv", "external_events")
    assert record.load(run_dir).ranks["external_events"].isna().all()
