"""From records to tables, with planted faults."""

import json

import pandas as pd
import pytest
from synthetic import write_run

from spikemark import collect, sweep
from spikemark.errors import BadInput
from spikemark.experiment import Experiment, expand
from spikemark.results import Results

PRESET = {"name": "mam-benchmark", "options": {"areas": 2, "neurons_per_area": 60, "indegree": 10}}


@pytest.fixture
def measured(tmp_path):
    """Results with six records: three ways to run each of two seeds; and the runs of the plan."""
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": [5, 10]}]
    chosen = Experiment(name="x", title="x", preset=PRESET, grid=grid, ranks=2, seeds=[1, 2], shuffle_seed=1)
    results, runs = Results(tmp_path), expand(chosen)
    sweep.plan(chosen, runs, results)
    for run in runs:
        write(results, run)
    return results, runs


def write(results, run, **options):
    description = run.description
    options = {"ranks": run.ranks, "seed": run.seed, "cycles": 100, **options}
    ways = {name: description[name] for name in ("schedule", "delay_ratio")}
    return write_run(results.run(run.id), description=description, **ways, **options)


def test_one_row_per_run(measured):
    results, runs = measured
    collection = collect.collect(results)
    assert collection.complaints == []
    table = pd.read_parquet(results.summary)
    pd.testing.assert_frame_equal(table, collection.runs)
    assert list(table["id"]) == [run.id for run in runs]
    for row, run in zip(table.itertuples(), runs, strict=True):
        record = json.loads((results.run(run.id) / "record.json").read_text())
        assert (row.schedule, row.seed, row.ranks) == (run.description["schedule"], run.seed, 2)
        assert row.delay_ratio == run.description["delay_ratio"]
        assert row.total_synapses == record["totals"]["synapses"]
        assert row.real_time_factor == record["timing"]["real_time_factor"]
        assert row.phase_deliver_mean_s == record["timing"]["phases"]["deliver"]["mean_s"]
        assert json.loads(row.fields) == run.fields
    assert table.groupby("network")["seed"].nunique().tolist() == [1, 1]


def test_one_row_per_run_and_phase(measured):
    results, runs = measured
    collect.collect(results)
    table = pd.read_parquet(results.phases)
    assert len(table) == len(runs) * 5
    assert table["reason"].isna().all()


def test_what_was_not_measured_is_missing_with_a_reason(measured):
    results, runs = measured
    description = {**runs[0].description, "record": {"barrier": False}}
    ways = {name: description[name] for name in ("schedule", "delay_ratio")}
    write_run(
        results.run(runs[0].id), description=description, ranks=2, seed=runs[0].seed, cycles=100, **ways
    )
    collection = collect.collect(results)
    row = collection.runs.set_index("id").loc[runs[0].id]
    assert pd.isna(row["phase_synchronise_mean_s"])
    phases = collection.phases.set_index(["id", "phase"]).loc[(runs[0].id, "synchronise")]
    assert pd.isna(phases["mean_s"])
    assert "barrier" in phases["reason"]


def test_missing_runs_are_no_complaint(measured):
    results, runs = measured
    (results.run(runs[0].id) / "record.json").unlink()
    collection = collect.collect(results)
    assert len(collection.runs) == len(runs) - 1
    assert collection.complaints == []


def test_nothing_measured_gives_empty_tables(measured):
    results, runs = measured
    for run in runs:
        (results.run(run.id) / "record.json").unlink()
    collection = collect.collect(results)
    assert len(collection.runs) == len(collection.phases) == 0
    assert "checksum" in pd.read_parquet(results.summary)


def test_differing_checksums_are_named(measured):
    results, runs = measured
    bad = next(run for run in runs if run.seed == 1 and run.description["delay_ratio"] == 5)
    write(results, bad, checksum="0123456789abcdef")
    (complaint,) = collect.collect(results).complaints
    assert "CHECKSUMS DIFFER" in complaint
    assert "0123456789abcdef in 1 runs" in complaint
    assert bad.label in complaint


def test_truncated_record_is_left_out_and_named(measured):
    results, runs = measured
    path = results.run(runs[1].id) / "record.json"
    path.write_text(path.read_text()[:500])
    collection = collect.collect(results)
    assert runs[1].id not in set(collection.runs["id"])
    assert len(collection.runs) == len(runs) - 1
    (complaint,) = collection.complaints
    assert runs[1].label in complaint
    assert "record.json" in complaint


@pytest.mark.parametrize(("option", "value"), [("ranks", 1), ("threads", 3), ("seed", 99)])
def test_record_of_another_run_is_left_out(measured, option, value):
    results, runs = measured
    write(results, runs[2], **{option: value})
    collection = collect.collect(results)
    assert runs[2].id not in set(collection.runs["id"])
    (complaint,) = collection.complaints
    assert f"{option}={value}" in complaint


def test_table_that_breaks_its_contract_is_refused(measured):
    table = collect.collect(measured[0]).runs
    for name, value in {
        "ranks": 0,
        "checksum": "short",
        "simulate_s": -1.0,
        "id": table["id"].iloc[1],
    }.items():
        broken = table.copy()
        broken.loc[0, name] = value
        with pytest.raises(Exception, match=name):
            collect.runs_contract().validate(broken)


def test_no_plan(tmp_path):
    with pytest.raises(BadInput, match=r"no plan\.json"):
        collect.collect(Results(tmp_path))
