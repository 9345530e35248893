"""From records to tables, with planted faults."""

import copy
import json

import pandas as pd
import pytest
from swept import planned, write
from synthetic_record import PHASES

from spikemark.core.errors import BadInput
from spikemark.records import collect
from spikemark.records.gather import gather
from spikemark.records.matching import difference, load_planned


@pytest.fixture
def measured(tmp_path):
    """Results with six records: three ways to run each of two seeds; and the runs of the plan."""
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": [5, 10]}]
    results, runs = planned(tmp_path, grid=grid, seeds=[1, 2])
    for run in runs:
        write(results, run)
    return results, runs


def test_one_row_per_run(measured):
    results, runs = measured
    collection = collect.collect(gather(results.path))
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
    collect.collect(gather(results.path))
    table = pd.read_parquet(results.phases)
    assert len(table) == len(runs) * len(PHASES)
    assert table["reason"].isna().all()


def test_what_was_not_measured_is_missing_with_a_reason(measured):
    results, runs = measured
    write(results, runs[0], description={**runs[0].description, "record": {"barrier": False}})
    collection = collect.collect(gather(results.path))
    row = collection.runs.set_index("id").loc[runs[0].id]
    assert pd.isna(row["phase_synchronise_mean_s"])
    phases = collection.phases.set_index(["id", "phase"]).loc[(runs[0].id, "synchronise")]
    assert pd.isna(phases["mean_s"])
    assert "barrier" in phases["reason"]


def test_missing_runs_are_no_complaint(measured):
    results, runs = measured
    (results.run(runs[0].id) / "record.json").unlink()
    collection = collect.collect(gather(results.path))
    assert len(collection.runs) == len(runs) - 1
    assert collection.complaints == []


def test_nothing_measured_gives_empty_tables(measured):
    results, runs = measured
    for run in runs:
        (results.run(run.id) / "record.json").unlink()
    collection = collect.collect(gather(results.path))
    assert len(collection.runs) == len(collection.phases) == 0
    assert "checksum" in pd.read_parquet(results.summary)


def test_differing_checksums_are_named(measured):
    results, runs = measured
    bad = next(run for run in runs if run.seed == 1 and run.description["delay_ratio"] == 5)
    write(results, bad, checksum="0123456789abcdef")
    (complaint,) = collect.collect(gather(results.path)).complaints
    assert "CHECKSUMS DIFFER" in complaint
    assert "0123456789abcdef in 1 run such" in complaint
    assert bad.label in complaint


def test_truncated_record_is_left_out_and_named(measured):
    results, runs = measured
    path = results.run(runs[1].id) / "record.json"
    path.write_text(path.read_text()[:500])
    collection = collect.collect(gather(results.path))
    assert runs[1].id not in set(collection.runs["id"])
    assert len(collection.runs) == len(runs) - 1
    (complaint,) = collection.complaints
    assert runs[1].label in complaint
    assert "record.json" in complaint


@pytest.mark.parametrize(("option", "value"), [("ranks", 1), ("threads", 3), ("seed", 99)])
def test_record_of_another_run_is_left_out(measured, option, value):
    results, runs = measured
    write(results, runs[2], **{option: value})
    collection = collect.collect(gather(results.path))
    assert runs[2].id not in set(collection.runs["id"])
    (complaint,) = collection.complaints
    assert f"{option}={value}" in complaint


def fields(value, path=()):
    """Paths of everything in a description."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        yield (*path, name)
        yield from fields(part, (*path, name))


def changed(description, path, value):
    description = copy.deepcopy(description)
    at = description
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return description


def test_every_planned_field_must_be_in_the_record(measured):
    """A record of another description is of another run, whichever field it is that differs."""
    results, runs = measured
    planned = results.read_plan().run(runs[2].id)
    path = results.run(planned.id) / "record.json"
    written = json.loads(path.read_text())
    paths = list(fields(runs[2].description))
    assert ("network", "projections", 1, "delay", "mean") in paths
    for field in paths:
        path.write_text(
            json.dumps({**written, "description": changed(written["description"], field, "other")})
        )
        with pytest.raises(BadInput) as refusal:
            load_planned(results, planned)
        assert f"{'.'.join(map(str, ('description', *field)))}='other'; the plan says" in str(refusal.value)
        assert "\n" not in str(refusal.value)
    path.write_text(json.dumps(written))
    assert load_planned(results, planned).record.ranks == 2


DIFFERENCES = [
    (1, 1.0, None),
    (0.1, 0.1000000000000001, None),
    (1.23456789012345678, 1.23456789012346, None),  # 15 digits, as the mini-app writes it
    (0.1, 0.10000001, "x=0.10000001; the plan says 0.1"),
    (2**53, 2**53 + 1, f"x={2**53 + 1}; the plan says {2**53}"),
    (10**400, 1.0, "x=1.0; the plan says 1000"),
    (1, True, "x=True; the plan says 1"),
    (True, 1, "x=1; the plan says True"),
    ("1", 1, "x=1; the plan says '1'"),
    ({"a": 1}, {"a": 1, "b": 2}, None),
    ({"a": {"b": 1}}, {"a": {}}, "x.a.b is missing; the plan says 1"),
    ([1, {"a": 2}], [1, {"a": 3}], "x.1.a=3; the plan says 2"),
    ([1], [1, 2], "x=[1, 2]; the plan says [1]"),
    ({}, [], "x=[]; the plan says {}"),
]


@pytest.mark.parametrize(("planned", "found", "complaint"), DIFFERENCES)
def test_difference(planned, found, complaint):
    said = difference(planned, found, "x")
    assert (said or "").startswith(complaint) if complaint else said is None


def test_auto_stands_for_any_delay_ratio(measured):
    results, runs = measured
    planned = results.read_plan().run(runs[0].id)
    path = results.description(planned.id)
    path.write_text(json.dumps({**json.loads(path.read_text()), "delay_ratio": "auto"}))
    assert load_planned(results, planned).delay_ratio == runs[0].description["delay_ratio"]


FAULTS = {
    "description cut": ("description", lambda text: text[:200], "truncated"),
    "description a list": ("description", lambda text: "[]", "not a run description"),
    "description deep": ("description", lambda text: "[" * 100_000, "nested"),
    "description missing": ("description", None, "not found"),
    "record deep": ("record", lambda text: '{"a":' * 100_000, "nested"),
    "record with a deep description": (
        "record",
        lambda text: text.replace(
            '"description": {', '"description": {"a": ' + "[" * 150 + "]" * 150 + ",", 1
        ),
        "nested more than 100",
    ),
    "record with a long number": (
        "record",
        lambda text: text.replace("{", '{"a": ' + "1" * 5000 + ",", 1),
        "a",
    ),
    "record not UTF-8": ("record", lambda text: "\udcff", "not UTF-8"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_table_and_page_leave_out_the_same_runs(measured, fault):
    results, runs = measured
    which, damage, reason = FAULTS[fault]
    id = runs[3].id
    path = results.description(id) if which == "description" else results.run(id) / "record.json"
    if damage:
        path.write_text(damage(path.read_text()), errors="surrogateescape")
    else:
        path.unlink()
    collection = collect.collect(gather(results.path))
    (complaint,) = collection.complaints
    assert reason in complaint and "\n" not in complaint
    assert complaint.endswith("; a sweep rewrites it" if which == "description" else "to measure it again")
    sweep = gather(results.path)
    assert list(sweep.unreadable) == [id]
    assert sweep.unreadable[id] in complaint
    assert [m.planned.id for m in sweep.runs] == list(collection.runs["id"])
    assert len(sweep.runs) == len(runs) - 1


def test_the_page_leaves_out_a_record_of_another_run(measured):
    results, runs = measured
    write(results, runs[2], seed=99)
    assert "seed=99" in gather(results.path).unreadable[runs[2].id]


def test_table_that_breaks_its_contract_is_refused(measured):
    table = collect.collect(gather(measured[0].path)).runs
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
        collect.collect(gather(tmp_path))
