"""Every format that is read, from files as its program writes them; damaged and odd ones get one
line.
"""

import json
import os
import sys
import tracemalloc
from pathlib import Path

import foreign_logs
import numpy as np
import otf2
import pandas as pd
import pytest
from synthetic import compute_times

from spikemark.api.results import read_cycles
from spikemark.records import imported
from spikemark.records.imported import READERS, TABLE_ENDINGS, UNITS, Sums
from spikemark.records.imported.times import _examine

COMPUTE = compute_times(4, 200, mean_s=1e-3, cv=0.1, ar1=0.5, rank_sd=0.03, seed=2)
OPTIONS = {
    "table": {"unit": "s"},
    "otf2": {"called": {"communicate": "MPI_Alltoall", "wait": "MPI_Barrier"}},
}
TIMED = {"structure-aware", "otf2"}
OF_CYCLES = [name for name in READERS if name not in ("nest-sums", "bennch")]
NEST = Path(__file__).parents[2] / "data" / "nest-3.10"


def read(files, name, **more):
    return imported.read_times(files, **OPTIONS.get(name, {}) | more)


@pytest.mark.parametrize("name", READERS)
def test_what_a_program_wrote_is_recognised_and_read(tmp_path, name):
    files = foreign_logs.WRITERS[name](tmp_path, COMPUTE)
    assert name == imported.reader_of(files).name
    found = read(files[::-1], name)
    if isinstance(found, Sums):
        assert found.reader == name
        return
    communicate = foreign_logs.exchanged(COMPUTE)
    np.testing.assert_allclose(found.columns["compute"], COMPUTE, rtol=1e-4)
    np.testing.assert_allclose(found.columns["communicate"], communicate, rtol=0.05, atol=2e-6)
    assert ("wait" in found.columns) == (name in TIMED)
    assert found.cycle_ms == (
        foreign_logs.CYCLE_MS if name in ("nest", "structure-aware") else None
    )
    if name in TIMED:
        np.testing.assert_allclose(found.columns["wait"], communicate - 5e-5, atol=1e-8)
    assert found.meets_every == 1


def test_help_lists_all_of_them(spikemark):
    _, output, _ = spikemark("import", "--help")
    assert all(f"  {name} " in output for name in READERS)
    assert set(READERS) == set(foreign_logs.WRITERS)


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("left", [0, 0.5])
def test_damaged_files_get_one_line_that_names_them(refused, tmp_path, name, left):
    files = foreign_logs.WRITERS[name](tmp_path, COMPUTE)
    whole = files[0].read_bytes()
    files[0].write_bytes(whole[: int(left * len(whole))])
    said = refused(read, files, name, form=name)
    assert files[0].name in said or "cycles" in said
    files[0].unlink()
    assert str(files[0]) in refused(read, files, name, form=name)


@pytest.mark.parametrize("name", OF_CYCLES)
def test_ranks_with_different_numbers_of_cycles_are_refused(refused, tmp_path, name):
    if name == "otf2":
        files = foreign_logs.trace(tmp_path, COMPUTE, less=3)
    elif name == "table":
        lines = [(rank, 1e-3) for rank in range(4) for _ in range(200 - 3 * (rank == 3))]
        files = [tmp_path / "a.csv"]
        np.savetxt(files[0], lines, delimiter=",", header="rank,compute", comments="")
    else:
        files = foreign_logs.WRITERS[name](tmp_path, COMPUTE)
        if name == "nest":
            held = dict(np.load(files[-1]))
            np.savez(files[-1], **{k: v[:-3] if v.ndim else v for k, v in held.items()})
        else:
            files[-1].write_text("".join(files[-1].read_text().splitlines(keepends=True)[:-3]))
    said = refused(read, files, name)
    assert "197" in said and "200" in said


def test_a_file_of_nest_that_is_missing_or_odd_is_named(refused, tmp_path):
    files = foreign_logs.nest(tmp_path, COMPUTE)
    assert "num_processes=4; expected as many files, not 3" in refused(
        imported.read_times, files[1:]
    )
    held = dict(np.load(files[2]))
    held["time_communicate_spike_data"][7] = 1.0
    np.savez(files[2], **held)
    assert "rank 2 in cycle 7" in refused(imported.read_times, files)
    np.savez(files[0], time_update=COMPUTE[0])
    assert "time_communicate_spike_data" in refused(imported.read_times, files, form="nest")


def test_a_log_of_nest_itself_is_read():
    """Four ranks, 400 cycles of 0.1 ms in two calls of Run; see the README beside it."""
    found = read(sorted(NEST.glob("nest-cycles-*.npz")), "nest")
    assert found.columns["compute"].shape == (4, 400) and found.cycle_ms == 0.1
    assert not found.remarks


@pytest.mark.parametrize("apart", [False, True])
def test_six_columns_tell_whether_communication_includes_waiting(refused, tmp_path, apart):
    files = foreign_logs.structure_aware(tmp_path, COMPUTE, apart=apart)
    np.testing.assert_allclose(imported.read_times(files).columns["compute"], COMPUTE, rtol=1e-6)
    rows = np.loadtxt(files[1])
    rows[[3, 5], 2] = 0
    for path in files:
        np.savetxt(path, rows)
    assert "communicate_global" in refused(imported.read_times, files)  # met in no regular cycles


def test_ranks_that_meet_every_tenth_cycle(spikemark, refusal, refused, tmp_path):
    """A structure-aware run: only in every tenth cycle do all ranks exchange."""
    out = tmp_path / "out"
    files = foreign_logs.structure_aware(tmp_path, np.tile(COMPUTE, 2)[:, :398], every=10)
    found = imported.read_times(files)
    assert found.meets_every == 10
    assert spikemark("import", *files, "--out", out)[0] == 0
    steps = np.tile(COMPUTE, 2)[:, :390].reshape(4, -1, 10).sum(axis=2)
    assert imported.load_cycle_times(out).waiting.sum() == pytest.approx(
        (steps.max(axis=0) - steps).mean(axis=0).sum(), rel=1e-4
    )
    assert spikemark("waiting", out)[0] == 0
    assert "schedule" in refusal(
        "waiting", out, "--schedule", "structure_aware", "--delay-ratio", 5
    )
    assert "skip=3" in refused(imported.read_times, files, skip=3)


def test_a_trace_names_its_regions_and_needs_no_common_clock(refused, tmp_path):
    files = foreign_logs.trace(tmp_path, COMPUTE[:, :20], 7.0, barrier=False)
    for called in ({}, {"communicate": "MPI_Gather"}):
        assert "MPI_Alltoall" in refused(imported.read_times, files, None, called)
    assert "column='spikes'" in refused(imported.read_times, files, None, {"spikes": "x"})
    assert "b.otf2" in refused(read, [*files, tmp_path / "b.otf2"], "otf2")
    found = imported.read_times(
        files, None, {"communicate": "MPI_Alltoall,MPI_Barrier", "within": "main"}
    )
    assert found.columns["compute"].shape == (4, 21), "the first call is a cycle, too"
    np.testing.assert_allclose(found.columns["compute"][:, 1:], COMPUTE[:, :20], rtol=1e-5)


def test_a_trace_on_which_the_library_aborts_is_refused(refused, monkeypatch, tmp_path):
    files = foreign_logs.trace(tmp_path, COMPUTE[:, :20])
    monkeypatch.setattr(otf2.reader, "open", lambda path: os._exit(1))
    assert "traces.otf2" in refused(read, files, "otf2")


TIMES = np.random.default_rng(1).gamma(20, 0.05, (11, 40))  # ms; rank 10 comes after rank 2
SPENT = TIMES.max(axis=0) - TIMES + 0.2


def write(path, rank=None):
    """The same times of all ranks or of one, in the format of the name of the file."""
    part = slice(None) if rank is None else rank
    if path.suffix == ".npy":
        np.save(path, TIMES[part])
    elif path.suffix == ".npz":
        np.savez(path, compute=TIMES[part], communicate=SPENT[part])
    else:
        ranks, cycles = np.indices(TIMES.shape)
        columns = {"rank": ranks, "cycle": cycles, "compute": TIMES, "communicate": SPENT}
        columns = {
            k: v[part].reshape(-1)
            for k, v in columns.items()
            if rank is None or k not in ("rank", "cycle")
        }
        table = pd.DataFrame(columns)
        table = table.sample(frac=1, random_state=1) if rank is None else table
        table.to_csv(path, index=False) if path.suffix == ".csv" else table.to_parquet(
            path, index=False
        )
    return path


@pytest.mark.parametrize("suffix", TABLE_ENDINGS)
@pytest.mark.parametrize("each", [False, True])
def test_every_layout_gives_the_same_times(refused, tmp_path, suffix, each):
    if each:
        files = [write(tmp_path / f"log_{rank}{suffix}", rank) for rank in range(len(TIMES))]
    else:
        files = [write(tmp_path / f"all{suffix}")]
    found = imported.read_times(sorted(files, key=str), "ms").columns
    assert list(found) == (["compute"] if suffix == ".npy" else ["compute", "communicate"])
    np.testing.assert_allclose(found["compute"], 1e-3 * TIMES)
    assert str(files[0]) in refused(imported.read_times, [files[0], files[0]], "s")


def test_cycles_that_a_rank_lacks_are_left_out_and_those_that_come_twice_refused(refused, tmp_path):
    path, ranks, cycles = tmp_path / "a.csv", *np.indices(TIMES.shape)
    lines = pd.DataFrame({"rank": ranks.ravel(), "cycle": cycles.ravel(), "compute": TIMES.ravel()})
    lines[(lines["rank"] != 3) | (lines["cycle"] != 7)].to_csv(path, index=False)
    found = imported.read_times([path], "ms")
    np.testing.assert_allclose(found.columns["compute"], 1e-3 * np.delete(TIMES, 7, axis=1))
    assert "1 of 40 cycles" in found.remarks[0]
    pd.concat([lines, lines.iloc[5:6]]).to_csv(path, index=False)
    assert "cycle=5: twice on rank 0" in refused(imported.read_times, [path], "ms")
    lines[(lines["rank"] != 3) | (lines["cycle"] < 9)].to_csv(path, index=False)
    assert "9 of 40" in refused(imported.read_times, [path], "ms")


@pytest.mark.parametrize("unit", UNITS)
def test_units_names_and_cycles_to_skip(tmp_path, unit):
    path = tmp_path / "times.csv"
    pd.DataFrame(
        {"rank": [0, 0, 1, 1], "t": [9.0, 2.0, 9.0, 3.0], "mpi": [4.0, 0.5, 4.0, 1.0]}
    ).to_csv(path)
    found = imported.read_times(
        [path], unit, {"cycle_time": "t", "communicate": "mpi"}, skip=1
    ).columns
    np.testing.assert_allclose(found["compute"], np.array([[1.5], [2.0]]) * UNITS[unit])


ONE = [1.0, 2.0]


CSV = {"a.csv": {"compute": ONE}}


@pytest.mark.parametrize(
    ("files", "options", "words"),
    [
        (CSV, {"unit": "min"}, "unit='min'"),
        (CSV, {"unit": None}, "unit: missing"),
        (CSV, {"form": "excel"}, "format='excel'"),
        (CSV, {"called": {"compute": "t"}}, "column 't'"),
        (CSV, {"called": {"computing": "t"}}, "column='computing'"),
        (CSV, {"skip": 2}, "skip=2"),
        (CSV, {"keep": 3}, "cycles=3"),
        ({}, {}, "FILE: missing"),
        ({"a.txt": {"compute": ONE}}, {}, "format '.txt'"),
        ({"a.csv": {"time": ONE}}, {}, "time"),
        ({"a.csv": {"1.02": ONE, "0.97": ONE}}, {}, "1.02"),
        ({"a.csv": {"cycle_time": ONE}}, {}, "cycle_time"),
        ({"a.csv": {"compute": ["x", "y"]}}, {}, "line 2: compute='x'"),
        ({"a-0.csv": {"compute": ONE}, "a-1.csv": {"compute": [1.0]}}, {}, "a-1.csv has 1 cycles"),
        (
            {"a-0.csv": {"compute": ONE}, "a-1.csv": {"compute": ONE, "wait": ONE}},
            {},
            "a-1.csv: columns",
        ),
        (
            {"a.csv": {"rank": [0, 1], "cycle_time": ONE, "communicate": [0.5, 2.5]}},
            {},
            "communicate=2.5",
        ),
    ],
)
def test_refusals_name_the_file_or_option(refused, tmp_path, files, options, words):
    for name, columns in files.items():
        pd.DataFrame(columns).to_csv(tmp_path / name, index=False)
    assert words in refused(
        imported.read_times, [tmp_path / name for name in files], **{"unit": "s"} | options
    )


@pytest.mark.parametrize(
    "array",
    [
        np.ones((2, 3), complex),
        np.ones((2, 3), bool),
        np.zeros((2, 3), "m8[s]"),
        np.zeros(3, [("a", "f8")]),
        np.array(["x"]),
        np.zeros((0, 3)),
        np.array(1.0),
        np.zeros((1, 2, 3)),
        np.array([1e16]),
    ],
)
def test_arrays_of_anything_but_times_are_refused(refused, tmp_path, array):
    np.save(tmp_path / "a.npy", array)
    assert "a.npy: " in refused(imported.read_times, [tmp_path / "a.npy"], "s")


@pytest.mark.parametrize("value", [[], np.nan, [1, 2], "x", -1])
@pytest.mark.parametrize("name", ["num_processes", "min_delay"])
def test_facts_of_nest_are_single_numbers(refused, tmp_path, name, value):
    files = foreign_logs.nest(tmp_path, COMPUTE[:1], **{name: value})
    assert f"{name}=" in refused(imported.read_times, files)


def test_formats_are_not_mixed_and_options_belong_to_some(refused, tmp_path):
    logs, other = foreign_logs.nest(tmp_path, COMPUTE), foreign_logs.table(tmp_path, COMPUTE)
    assert "times.npz: format table" in refused(imported.read_times, logs + other)
    assert "unit='ms'" in refused(imported.read_times, logs, "ms")
    assert "column" in refused(imported.read_times, logs, None, {"compute": "x"})
    assert "skip" in refused(imported.read_times, foreign_logs.sums(tmp_path, COMPUTE), skip=3)


def columns(compute, **more):
    return {"compute": compute, "communicate": foreign_logs.exchanged(compute)} | more


#: What is odd, by what it is.
ODD = {
    "unit of compute": lambda c: c | {"compute": 10 * c["compute"]},
    "unit of communicate": lambda c: c | {"communicate": 0.1 * c["communicate"]},
    "shifted": lambda c: {name: np.vstack([np.roll(x[:1], 1), x[1:]]) for name, x in c.items()},
    "long start": lambda c: {name: np.hstack([20 * x[:, :3], x[:, 3:]]) for name, x in c.items()},
    "swapped": lambda c: {"compute": c["compute"].T},
    "microseconds": lambda c: {"compute": 1e6 * c["compute"]},
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_odd_gets_one_remark(odd):
    whole = columns(COMPUTE)
    assert (
        _examine(imported.ReadTimes(whole)) == []
        and len(_examine(imported.ReadTimes(ODD[odd](whole)))) == 1
    )


@pytest.mark.parametrize("value", [-1e-9, np.nan, np.inf])
def test_impossible_times_are_refused_and_nothing_is_written(refused, tmp_path, value):
    spoilt = columns(np.array(COMPUTE))
    spoilt["communicate"][1, 5] = value
    assert "of rank 1 in cycle 5" in refused(
        imported.save, tmp_path / "a", imported.ReadTimes(spoilt), {}
    )
    more = columns(COMPUTE, wait=np.ones_like(COMPUTE))
    assert "wait" in refused(imported.save, tmp_path / "a", imported.ReadTimes(more), {})
    assert not (tmp_path / "a").exists()


def test_a_folder_is_read_as_it_was_written_and_nothing_else_is_replaced(
    refused, tmp_path, monkeypatch
):
    out = tmp_path / "out"
    made = imported.save(out, imported.ReadTimes(columns(COMPUTE)), {})
    assert imported.run_or_times(out).about == made.about
    np.testing.assert_allclose(imported.load_cycle_times(out).compute, COMPUTE, rtol=1e-6)
    before = {path.name: path.read_bytes() for path in out.iterdir()}

    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    for broken in ("write_atomically", "write_json"):
        with monkeypatch.context() as inside:
            inside.setattr(sys.modules[imported.CycleTimes.__module__], broken, full)
            with pytest.raises(OSError, match="No space left"):
                imported.save(out, imported.ReadTimes(columns(2 * COMPUTE)), {})
        assert before == {path.name: path.read_bytes() for path in out.iterdir()}
    about = json.loads((out / imported.IMPORT_FILE).read_text())
    (out / imported.IMPORT_FILE).write_text(json.dumps(about | {"ranks": 5}))
    assert "cycles.npy" in refused(imported.load_cycle_times, out)
    (out / imported.IMPORT_FILE).write_text(json.dumps(about | {"columns": ["communicate"]}))
    assert "columns" in refused(imported.load_cycle_times, out)
    (tmp_path / "letter").write_text("dear")
    assert "'letter'" in refused(imported.save, tmp_path, imported.ReadTimes(columns(COMPUTE)), {})


def test_sums_give_the_efficiencies_of_the_whole_run(spikemark, refusal, refused, tmp_path):
    """Beside what the same times give cycle by cycle."""
    waits = (COMPUTE.max(axis=0) - COMPUTE).sum(axis=1)
    files, out = (
        foreign_logs.sums(tmp_path, COMPUTE, time_mpi_synchronization=waits),
        tmp_path / "out",
    )
    (run,) = imported.read_times(files).runs
    totals, runtime = (
        COMPUTE.sum(axis=1),
        (COMPUTE + foreign_logs.exchanged(COMPUTE)).sum(axis=1).max(),
    )
    ideal = COMPUTE.max(axis=0).sum()
    expected = {
        "load_balance": totals.mean() / totals.max(),
        "serialisation": totals.max() / ideal,
        "transfer": ideal / runtime,
        "communication": totals.max() / runtime,
        "parallel": totals.mean() / runtime,
    }
    assert {name: q.value for name, q in run.efficiency.items()} == pytest.approx(expected)
    assert "num_processes=4" in refused(imported.read_times, files[1:])
    assert spikemark("import", *files, "--out", out)[0] == 0
    assert [path.name for path in out.iterdir()] == ["imported.json"]
    content = json.loads(spikemark("waiting", out, "--json")[1])
    assert content["runs"][0]["efficiency"]["parallel"]["value"] == pytest.approx(
        expected["parallel"]
    )
    assert "--schedule: beside sums" in refusal("waiting", out, "--schedule", "overlapped")
    assert f"spikemark waiting {out}" in refusal("report", out)
    first, second = imported.read_times(foreign_logs.bennch(tmp_path, COMPUTE)).runs
    assert (first.ranks, second.ranks, first.model_s) == (4, 8, 1.0)
    assert first.efficiency["load_balance"].value is None
    foreign_logs.sums(tmp_path, COMPUTE, time_communicate_spike_data=np.full(4, 1e3))
    assert str(files[0]) in refused(imported.read_times, files)


@pytest.mark.parametrize("unit", UNITS)
def test_times_in_single_precision_are_those_in_double_rounded_once(unit, tmp_path):
    times = np.random.default_rng(4).normal(1.0, 0.1, (4, 100)).astype(np.float32)
    np.save(tmp_path / "single.npy", times)
    np.save(tmp_path / "double.npy", times.astype(np.float64))
    single = read_cycles(tmp_path / "single.npy", unit=unit).compute
    double = read_cycles(tmp_path / "double.npy", unit=unit).compute
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, double)


def test_times_in_single_precision_need_no_room_for_double(tmp_path):
    times = np.random.default_rng(4).normal(1.0, 0.1, (64, 10_000)).astype(np.float32)
    np.save(tmp_path / "times.npy", times)
    read_cycles(tmp_path / "times.npy", unit="ms")  # imports what it needs
    tracemalloc.start()
    read_cycles(tmp_path / "times.npy", unit="ms")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.75 * times.nbytes, peak / times.nbytes  # double precision takes 2.25
