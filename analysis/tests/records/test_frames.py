"""From records to frames, with planted faults."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from swept import planned, write
from synthetic import PHASES

from spikemark.records.collect import collect, differing_checksums
from spikemark.records.frames import configurations, load_folder
from spikemark.records.phases import PARTS
from spikemark.records.ratios import ratio
from spikemark.records.runs_table import PART, SWEPT


@pytest.fixture
def measured(tmp_path):
    """Results with six records: three ways to run each of two seeds; and the runs of the plan."""
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": [5, 10]}]
    results, runs = planned(tmp_path, grid=grid, seeds=[1, 2])
    for run in runs:
        write(results, run)
    return results, runs


def test_rows_hold_what_the_records_hold(measured):
    results, runs = measured
    frames = load_folder(results.path)
    assert list(frames.runs["id"]) == [run.id for run in runs]
    for row, run in zip(frames.runs.itertuples(), runs, strict=True):
        record = json.loads((results.run(run.id) / "record.json").read_text())
        assert (row.schedule, row.seed, row.ranks) == (run.description["schedule"], run.seed, 2)
        assert row.delay_ratio == (
            1 if row.schedule == "conventional" else run.description["delay_ratio"]
        )
        assert row.synapses == record["totals"]["synapses"]
        assert row.real_time_factor == record["timing"]["real_time_factor"]
    spent = frames.runs[[PART + part for part in PARTS]].sum(axis=1)
    np.testing.assert_allclose(spent, frames.runs["real_time_factor"], rtol=1e-6)
    assert frames.runs.groupby("network")["seed"].nunique().tolist() == [1, 1]
    assert len(frames.phases) == len(runs) * len(PHASES) and frames.phases["reason"].isna().all()
    assert len(frames.ranks) == 2 * len(runs)
    assert frames.swept == ["schedule", "placement", "delay_ratio"]
    assert len(set(configurations(frames.runs))) == 3


def test_every_placement_of_a_schedule_that_has_several_is_named():
    runs = load_folder(Path("docs/notebooks/data/waiting/jureca-dc")).runs
    aware = runs[runs["schedule"] == "structure_aware"].iloc[:1]
    usual = aware["placement"].iloc[0]
    others = [aware.assign(placement=placement) for placement in ("area_group", "area_group")]
    both = pd.concat([runs, *others], ignore_index=True)
    names = configurations(both)
    assert both.groupby(names)["placement"].nunique().eq(1).all()
    for name, run in zip(names, both.itertuples(), strict=True):
        assert (run.placement in name) == (run.schedule == "structure_aware")
    assert not any(usual in name for name in configurations(runs))


def test_fields_of_the_grid_are_columns(tmp_path):
    results, runs = planned(
        tmp_path,
        grid=[
            {
                "preset.indegree": [8, 10],
                "inject.correlation": [0.0, 0.1],
                "schedule": "conventional",
            }
        ],
    )
    for run in runs:
        write(results, run)
    frames = load_folder(results.path)
    assert frames.swept == [f"{SWEPT}indegree", f"{SWEPT}inject.correlation"]
    assert sorted(frames.runs[f"{SWEPT}indegree"]) == [8, 8, 10, 10]


def test_parquet_holds_the_frames(measured):
    results, _ = measured
    frames = load_folder(results.path)
    assert collect(frames) == []
    for name, frame in {"summary": frames.runs, "phases": frames.phases}.items():
        kept = pd.read_parquet(getattr(results, name))
        pd.testing.assert_frame_equal(kept, frame, check_dtype=False)


def test_what_was_not_measured_is_missing_with_a_reason(measured):
    results, runs = measured
    write(results, runs[0], description={**runs[0].description, "record": {"barrier": False}})
    frames = load_folder(results.path)
    assert pd.isna(frames.runs.set_index("id").loc[runs[0].id, f"{PART}waiting"])
    phase = frames.phases.set_index(["id", "phase"]).loc[(runs[0].id, "synchronise")]
    assert pd.isna(phase["mean_s"]) and "barrier" in phase["reason"]


@pytest.mark.parametrize("gone", [1, 6])
def test_runs_without_a_record_have_no_row(measured, gone):
    results, runs = measured
    for run in runs[:gone]:
        (results.run(run.id) / "record.json").unlink()
    frames = load_folder(results.path)
    assert list(frames.runs["id"]) == [run.id for run in runs[gone:]]
    assert [one.id for one in frames.missing] == [run.id for run in runs[:gone]]
    assert collect(frames) == []


def test_differing_checksums_are_named(measured):
    results, runs = measured
    bad = next(run for run in runs if run.seed == 1 and run.description["delay_ratio"] == 5)
    write(results, bad, checksum="0123456789abcdef")
    (complaint,) = differing_checksums(load_folder(results.path))
    assert "0123456789abcdef" in complaint and bad.label in complaint


def test_a_number_in_another_form_is_the_same_network(tmp_path):
    """Of two ways to run, the grid gives the rate of one as 4, and the description has 4.0."""
    rate = "network.populations.0.neuron.rate_hz"
    grid = [{"schedule": "conventional"}, {"schedule": "placement_only", rate: [4, 16]}]
    results, runs = planned(tmp_path, grid=grid, set={rate: 4.0})
    for run in runs:
        write(results, run)
    rows = load_folder(results.path).runs
    assert rows.groupby("network").size().sort_values().tolist() == [1, 2]
    assert set(rows.groupby("network")["schedule"].nunique()) == {1, 2}


@pytest.mark.parametrize(("option", "value"), [("ranks", 1), ("threads", 3), ("seed", 99)])
def test_record_of_another_run_is_left_out(measured, option, value):
    results, runs = measured
    write(results, runs[2], **{option: value})
    frames = load_folder(results.path)
    assert list(frames.unreadable) == [runs[2].id] and len(frames.runs) == len(runs) - 1
    assert f"{option}={value}" in frames.unreadable[runs[2].id]


def test_damaged_runs_are_left_out_with_one_line(measured):
    results, runs = measured
    id = runs[3].id
    path = results.run(id) / "record.json"
    for damaged in ('{"a":' * 100_000, "\udcff"):
        whole = path.read_text()
        path.write_text(damaged, errors="surrogateescape")
        frames = load_folder(results.path)
        assert list(frames.unreadable) == [id], damaged
        assert str(path) in frames.unreadable[id] and "\n" not in frames.unreadable[id], damaged
        path.write_text(whole)
    assert load_folder(results.path).unreadable == {}


def test_ratios_are_those_of_pairs(measured):
    """By arithmetic: ratios 2, 2 and 2 of three pairs have no scatter; a run without partner is
    left out.
    """
    base = pd.DataFrame(
        {"network": list("abc"), "ranks": 2, "threads": 1, "repetition": 1, "x": [1.0, 2, 3]}
    )
    double = base.assign(x=2 * base["x"])
    found = ratio(double, base, "x")
    assert (found.value, found.low, found.high) == pytest.approx((2, 2, 2))
    assert ratio(double.iloc[:2], base, "x").low is None
    assert not ratio(double, base.assign(network="z"), "x")
    spread = ratio(
        base.assign(x=[1.0, 4, 9]), base, "x"
    )  # 1, 2, 3: mean 6 ** (1 / 3), t(2) = 4.303
    sd = np.std(np.log([1, 2, 3]), ddof=1)
    assert spread.value == pytest.approx(6 ** (1 / 3))
    assert np.log(spread.high / spread.value) == pytest.approx(4.30265 * sd / np.sqrt(3), rel=1e-4)


def test_an_option_that_an_entry_of_the_grid_lacks_has_the_default_of_the_preset(tmp_path):
    grid = [
        {"schedule": "conventional", "preset.size_cv": [0, 0.3]},
        {"schedule": "conventional", "preset.area_rate_cv": 0.3},
    ]
    results, runs = planned(tmp_path, grid=grid)
    for run in runs:
        write(results, run)
    columns = load_folder(results.path).runs[["swept.size_cv", "swept.area_rate_cv"]]
    assert sorted(columns.itertuples(index=False, name=None)) == [(0, 0), (0, 0.3), (0.3, 0)]
