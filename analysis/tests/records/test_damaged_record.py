"""The reader of run records refuses what is not whole and consistent."""

import json

import numpy as np
import pytest
from edited_record import drop_column, edit, refused, set_times
from synthetic import write_run
from synthetic_record import PHASES, RANK_COLUMNS

from spikemark.core.errors import BadInput
from spikemark.records import record

NOTHING = {"mean_s": None, "max_s": None, "reason": "not timed"}


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 1e30])
def test_times_that_cannot_be_are_refused(run_dir, phase, value):
    path, at = run_dir / "cycles.npy", PHASES.index(phase)
    times = np.load(path)
    times[1, 7, at] = value
    np.save(path, times)
    said = refused(run_dir)
    if 0 <= value < np.inf:
        assert f"{phase}: the mean time of a rank is" in said and "timing.phases has" in said
    else:
        assert f"cycles.npy: {phase} time {value} s of rank 1 in cycle 7; a time is a number >= 0" in said


@pytest.mark.parametrize("phase", PHASES)
def test_times_are_those_that_the_record_sums_up(run_dir, phase):
    """A slowest rank that another one has taken the place of keeps the mean."""
    path, at = run_dir / "cycles.npy", PHASES.index(phase)
    times = np.load(path)
    times[:, 0, at] += [0.001, 0.002, 0.003]
    set_times(run_dir, times)
    record.load(run_dir)
    times[0, 0, at] += 0.003
    times[2, 0, at] -= 0.003
    np.save(path, times)
    assert f"{phase}: the largest time of a rank is" in refused(run_dir)


def test_a_phase_that_was_not_timed_has_no_times(run_dir):
    edit(run_dir, lambda r: r["timing"]["phases"].update(exchange=NOTHING))
    assert "exchange time " in refused(run_dir) and "says that it was not timed" in refused(run_dir)


@pytest.mark.parametrize("name", ["build_s", "simulate_s"])
@pytest.mark.parametrize("value", ["inf", "-inf"])
def test_seconds_of_ranks_are_finite(run_dir, name, value):
    path = run_dir / "ranks.csv"
    head, first, *rest = path.read_text().splitlines()
    fields = first.split(",")
    fields[RANK_COLUMNS.index(name)] = value
    path.write_text("\n".join([head, ",".join(fields), *rest]) + "\n")
    assert f"ranks.csv: {name}={value}" in refused(run_dir)


def test_unknown_phase(run_dir):
    with pytest.raises(BadInput, match=r"phase='sleep': .* has deliver, update"):
        record.load(run_dir).phase("sleep")


def cut(share: float):
    """Keeps a share of a file."""
    return lambda content: content[: int(share * len(content))]


def instead(content: bytes):
    return lambda _: content


SHARES = (0.0, 0.001, 0.3, 0.9, 0.999)
JSON, NPY = "record.json: truncated or not JSON at line", "cycles.npy: truncated or not a .npy file"
#: File, what becomes of its content (None: it is missing), and the complaint.
DAMAGES = [
    *((name, None, f"{name}: not found") for name in ("record.json", "cycles.npy", "ranks.csv")),
    *(("record.json", cut(share), JSON) for share in SHARES),
    *(("cycles.npy", cut(share), NPY) for share in SHARES),
    *(("record.json", instead(content), "a run record is one JSON object")
      for content in (b"[]", b"3", b"null", b'"complete"')),
    ("record.json", instead(b"\xff\xfe\x00"), "record.json: not UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "complaint"), DAMAGES)
def test_damaged_files(run_dir, name, change, complaint):
    path = run_dir / name
    if change is None:
        path.unlink()
    else:
        path.write_bytes(change(path.read_bytes()))
    assert complaint in refused(run_dir)


def test_missing_directory(tmp_path):
    assert "record.json: not found" in refused(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("array", "found"),
    [
        (np.zeros((3, 99, 6), np.float32), "float32 [3, 99, 6]"),
        (np.zeros((100, 3, 6), np.float32), "float32 [100, 3, 6]"),
        (np.zeros((3, 100, 6), np.float64), "float64 [3, 100, 6]"),
        (np.zeros((3, 100, 4), np.float32), "float32 [3, 100, 4]"),
    ],
)
def test_cycles_of_another_shape_or_type(run_dir, array, found):
    np.save(run_dir / "cycles.npy", array)
    assert f"cycles.npy: holds {found}; record.json asks for float32 [3, 100, 6]" in refused(run_dir)


@pytest.mark.parametrize("column", [c for c in RANK_COLUMNS if c != "external_events"])
def test_missing_columns(run_dir, column):
    drop_column(run_dir / "ranks.csv", column)
    assert f"ranks.csv: missing column {column}" in refused(run_dir)


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


UNREADABLE = [
    *(({"format_version": v}, f"format_version={v!r}; this version of Spikemark reads 1 and 2")
      for v in (0, 3, "1", None, True)),
    *(({"status": v}, f"status={v!r}; only a run with status 'complete'")
      for v in ("running", "failed", None, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "complaint"), UNREADABLE)
def test_unknown_versions_and_unfinished_runs(tmp_path, fields, complaint):
    assert complaint in refused(write_run(tmp_path, **fields))


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
        ({"timing__simulate_s": float("nan")}, "timing.simulate_s: nan is not allowed"),
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


ADDED_LATER = ("energy_reason", "kernel", "kind", "placement")  # records from before lack them


def test_every_field_of_the_format_is_needed(run_dir):
    whole = json.loads((run_dir / "record.json").read_text())
    for field in record.Record.model_fields:
        (run_dir / "record.json").write_text(json.dumps({k: v for k, v in whole.items() if k != field}))
        if field in ADDED_LATER:
            assert record.load(run_dir)
        else:
            assert field in refused(run_dir)
