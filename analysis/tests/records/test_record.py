"""The reader of run records: what it gives, and that it refuses what is not whole and consistent."""

import json

import numpy as np
import pytest
from small_network import describe
from synthetic import PHASES, RANK_COLUMNS, overlap, write_run

from spikemark.core.errors import BadInput
from spikemark.records import record


@pytest.fixture
def run_dir(tmp_path):
    return write_run(tmp_path / "run", ranks=3, threads=2, cycles=100)


def refused(directory) -> str:
    """The complaint about `directory`: one line that names a file in it."""
    with pytest.raises(BadInput) as caught:
        record.load(directory)
    message = str(caught.value)
    assert "\n" not in message
    assert str(directory) in message
    return message


def edit(directory, change) -> None:
    path = directory / "record.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


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
    nothing = {"mean_s": None, "max_s": None, "reason": "record.barrier is false"}
    edit(tmp_path, lambda r: r["timing"]["phases"].update(synchronise=nothing))
    assert record.load(tmp_path).spent_s("exchange", "waiting") is None
    edit(tmp_path, lambda r: r["lanes"][0].update(ranks=1))
    assert record.load(tmp_path).spent_s("waiting") == waited  # no lane has a barrier that was not timed


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


def test_times_that_are_not_numbers_are_refused(run_dir):
    path = run_dir / "cycles.npy"
    times = np.load(path)
    times[1, 7, 0] = np.nan
    np.save(path, times)
    with pytest.raises(BadInput, match=r"cycles\.npy: compute time nan s of rank 1 in cycle 7"):
        record.load(run_dir).compute()


def test_unknown_phase(run_dir):
    with pytest.raises(BadInput, match=r"phase='sleep': .* has deliver, update"):
        record.load(run_dir).phase("sleep")


@pytest.mark.parametrize("name", ["record.json", "cycles.npy", "ranks.csv"])
def test_missing_files(run_dir, name):
    (run_dir / name).unlink()
    assert f"{name}: not found" in refused(run_dir)


def test_missing_directory(tmp_path):
    assert "record.json: not found" in refused(tmp_path / "nowhere")


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_truncated_record(run_dir, share):
    path = run_dir / "record.json"
    text = path.read_text()
    path.write_text(text[: int(share * len(text))])
    assert "record.json: truncated or not JSON at line" in refused(run_dir)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_truncated_cycles(run_dir, share):
    path = run_dir / "cycles.npy"
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    assert "cycles.npy: truncated or not a .npy file" in refused(run_dir)


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (np.zeros((3, 99, 5), np.float32), "float32 [3, 99, 5]"),
        (np.zeros((100, 3, 5), np.float32), "float32 [100, 3, 5]"),
        (np.zeros((3, 100, 5), np.float64), "float64 [3, 100, 5]"),
        (np.zeros((3, 100, 4), np.float32), "float32 [3, 100, 4]"),
    ],
)
def test_cycles_of_another_shape_or_type(run_dir, array, found):
    np.save(run_dir / "cycles.npy", array)
    assert f"cycles.npy: holds {found}; record.json asks for float32 [3, 100, 5]" in refused(run_dir)


def drop_column(path, column):
    place = RANK_COLUMNS.index(column)
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join(row[:place] + row[place + 1 :]) for row in rows) + "\n")


@pytest.mark.parametrize("column", [c for c in RANK_COLUMNS if c != "external_events"])
def test_missing_columns(run_dir, column):
    drop_column(run_dir / "ranks.csv", column)
    assert f"ranks.csv: missing column {column}" in refused(run_dir)


def test_older_records_do_not_tell_external_events_by_rank(run_dir):
    assert record.load(run_dir).ranks["external_events"].tolist() == [0, 0, 0]
    drop_column(run_dir / "ranks.csv", "external_events")
    assert record.load(run_dir).ranks["external_events"].isna().all()


def test_external_events_add_up(run_dir):
    edit(run_dir, lambda r: r["totals"].update(external_events=5))
    assert "external_events adds up to 0; record.json has totals.external_events=5" in refused(run_dir)


def last(start: str):
    """Puts `start` in the place of the rank and the neurons of the last line."""
    return lambda lines: [*lines[:-1], start + lines[-1][lines[-1].index(",", 2) :]]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda lines: lines[:-1], "rank=[0, 1]; record.json has ranks 0 to 2"),
        (lambda lines: [*lines[:-1], lines[-1].rsplit(",", 2)[0]], "truncated"),
        (last("2,many"), "neurons=many: allowed is a whole number >= 0"),
        (last("2,-5"), "neurons=-5: allowed is a whole number >= 0"),
        (last("2,1"), "neurons adds up to"),
        (lambda lines: [], "not a table"),
    ],
)
def test_broken_rank_tables(run_dir, change, complaint):
    path = run_dir / "ranks.csv"
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")
    message = refused(run_dir)
    assert "ranks.csv: " in message
    assert complaint in message


@pytest.mark.parametrize("version", [0, 2, "1", None, True])
def test_unknown_format_versions(tmp_path, version):
    message = refused(write_run(tmp_path, format_version=version))
    assert f"format_version={version!r}; this version of Spikemark reads 1" in message


@pytest.mark.parametrize("status", ["running", "failed", None, 1])
def test_unfinished_runs(tmp_path, status):
    assert f"status={status!r}; only a run with status 'complete'" in refused(
        write_run(tmp_path, status=status)
    )


@pytest.mark.parametrize(
    ("overrides", "complaint"),
    [
        ({"ranks": "3"}, "ranks='3'"),
        ({"ranks": 0}, "ranks=0"),
        ({"checksum": "xyz"}, "checksum='xyz'"),
        ({"totals__spikes": -1}, "totals.spikes=-1"),
        ({"totals__spikes": 1.5}, "totals.spikes=1.5"),
        ({"totals__messages": 1}, "messages adds up to"),
        ({"timing__simulate_s": None}, "timing.simulate_s=None"),
        ({"timing__model_s": 0}, "timing.model_s=0"),
        ({"timing__real_time_factor": 1e6}, "real_time_factor=1000000.0: simulate_s / model_s is"),
        ({"timing__phases__update": {"mean_s": None, "max_s": None}}, "a time of null needs a reason"),
        ({"phases": ["deliver", "update"]}, "are not those of timing.phases"),
        ({"phases": [*PHASES, "deliver"]}, "are not those of timing.phases"),
        ({"lanes": []}, "lanes"),
        ({"warnings": "none"}, "warnings='none'"),
        ({"description": {}}, "description.schedule=None"),
        ({"timing__cycles": 999}, "cycles.npy: holds float32"),
        ({"timing__simulate_s": float("nan")}, "timing.simulate_s=nan"),
    ],
)
def test_impossible_fields(run_dir, overrides, complaint):
    def change(content):
        for key, value in overrides.items():
            *path, last = key.split("__")
            for step in path:
                content = content[step]
            content[last] = value

    edit(run_dir, change)
    assert complaint in refused(run_dir)


ADDED_LATER = ("energy_reason", "kernel", "kind")  # records from before lack them


def test_every_field_of_the_format_is_needed(run_dir):
    whole = json.loads((run_dir / "record.json").read_text())
    for field in record.Record.model_fields:
        (run_dir / "record.json").write_text(json.dumps({k: v for k, v in whole.items() if k != field}))
        if field in ADDED_LATER:
            assert record.load(run_dir)
        else:
            assert field in refused(run_dir)


@pytest.mark.parametrize("content", ["[]", "3", "null", '"complete"'])
def test_other_json(run_dir, content):
    (run_dir / "record.json").write_text(content)
    assert "a run record is one JSON object" in refused(run_dir)


def test_binary_record(run_dir):
    (run_dir / "record.json").write_bytes(b"\xff\xfe\x00")
    assert "record.json: not UTF-8" in refused(run_dir)
