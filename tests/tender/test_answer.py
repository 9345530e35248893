"""What a bidder hands in: measured by sweeps, complete, with promises; or one line that says why not."""

import json
import shutil
from fnmatch import fnmatch
from statistics import median

import pytest

from spikemark.core.fields import assign
from spikemark.tender import answer, answering, bundle, commitment, manifest, sizes
from spikemark.tender.check import machine
from spikemark.tender.check.answer import check_answer


@pytest.fixture(scope="module")
def measured(small, tmp_path_factory):
    """An answer of the real mini-app, and what the command said."""
    from spikemark.cli import main

    out = tmp_path_factory.mktemp("bidder") / "answer"
    with pytest.raises(SystemExit) as end:
        main.main(["tender", "run", str(small.path), "--out", str(out), "--bidder", "ACME"])
    assert end.value.code == 0
    return out


def record_of(answer, repetition):
    """The record of a repetition."""
    return json.loads((answer / repetition["folder"] / "record.json").read_text())


@pytest.fixture
def copy(measured, tmp_path):
    """An answer that a test may change."""
    return shutil.copytree(measured, tmp_path / "answer")


@pytest.mark.slow
def test_an_answer_holds_every_run_as_the_rules_ask(small, measured):
    content = answer.read(measured)
    manifest.check(measured)
    assert content["bundle_sha256"] == small.sha256 and content["quick"] is True
    assert [run["name"] for run in content["runs"]] == [r.name for r in small.tender.runs if r.measured]
    for run in content["runs"]:
        rule = small.tender.rule(run["name"])
        known = next(t for t in small.read_expected(rule)["times"] if t["model_ms"] == run["model_ms"])
        assert len(run["repetitions"]) == rule.repetitions
        records = [record_of(measured, one) for one in run["repetitions"]]
        for record, one in zip(records, run["repetitions"], strict=True):
            assert record["totals"]["spikes"] == known["spikes"]
            assert record["totals"]["synaptic_events"] == known["synaptic_events"]
            assert one["real_time_factor"] == record["timing"]["real_time_factor"]
            long_enough = record["timing"]["simulate_s"] >= rule.minimum_seconds
            assert long_enough or run["model_ms"] == rule.model_ms[0]
        assert len({record["checksum"] for record in records}) == 1
        started = [record["timing"]["simulate_started_s"] for record in records]
        assert started == sorted(started)
        values = [record["timing"]["real_time_factor"] for record in records]
        assert run["figure"]["real_time_factor"]["value"] == median(values)


@pytest.mark.slow
def test_the_environment_says_how_it_was_built_and_started_with_flags_that_are_allowed(small, measured):
    found = json.loads((measured / answer.ENVIRONMENT).read_text())
    assert set(found["software"]) == set(machine.OF_PROGRAM)
    assert found["software"]["compiler"]["value"]
    assert len(found["nodes"]) == 1 and found["nodes"][0]["kernel"]["value"]
    assert "miniapp" in " ".join(found["software"]["command"]["value"])
    flags = found["software"]["flags"]["value"].split()
    assert flags
    for category in small.tender.categories.values():
        assert [f for f in flags if not any(fnmatch(f, pattern) for pattern in category.flags)] == []


@pytest.mark.slow
def test_the_same_command_measures_nothing_again(spikemark, small, measured):
    work = answering.folder_of_work(measured)
    before = {path: path.stat().st_mtime_ns for path in work.rglob("record.json")}
    status, output, _ = spikemark("tender", "run", small.path, "--out", measured, "--bidder", "Other")
    assert status == 0 and "no offer" in output
    assert {path: path.stat().st_mtime_ns for path in work.rglob("record.json")} == before
    assert answer.read(measured)["bidder"] == "Other"


@pytest.mark.slow
def test_another_category_needs_another_answer(refusal, small, measured):
    said = refusal("tender", "run", small.path, "--out", measured, "--category", "optimised")
    assert "measured for another bundle or category; allowed:" in said


@pytest.mark.slow
def test_a_run_of_the_optimised_category_is_as_it_was_chosen(spikemark, small, tmp_path):
    out = tmp_path / "answer"
    words = ["--category", "optimised", "--run", "bench-small", "--set", "schedule=structure_aware"]
    status, _, errors = spikemark("tender", "run", small.path, "--out", out, *words)
    assert status == 1 and "not measured yet: bench-medium, bench-large" in errors
    assert not out.exists()
    assert spikemark("tender", "run", small.path, "--out", out, "--category", "optimised")[0] == 0
    runs = {run["name"]: run for run in answer.read(out)["runs"]}
    assert runs["bench-small"]["set"] == {"schedule": "structure_aware"}
    assert runs["bench-large"]["set"] == {}
    record = record_of(out, runs["bench-small"]["repetitions"][0])
    assert record["description"]["schedule"] == "structure_aware"


OFFER = ["--nodes", "2", "--price", "1000", "--system", "a machine"]
PROJECTED = ["--machine", "epyc-vm", "--ranks", "4", "--threads", "1", "--ranks-per-node", "2"]


@pytest.mark.slow
def test_measured_projected_and_promised_stand_apart(spikemark, small, copy):
    (copy / manifest.SIGNATURES[0]).write_text("of an earlier manifest")
    words = [*OFFER, *PROJECTED, "--promise", "bench-small.real_time_factor=1e6"]
    status, output, errors = spikemark("tender", "commit", small.path, copy, *words)
    assert status == 0, errors
    content = json.loads((copy / answer.COMMITMENT).read_text())
    manifest.check(copy)
    assert not (copy / manifest.SIGNATURES[0]).exists()
    assert {one["run"] for one in content["measured"]} == {"bench-small", "bench-medium", "bench-large"}
    assert {one["run"] for one in content["projected"]} == {"target"}
    factor, energy = content["projected"]
    assert factor["low"] < factor["value"] < factor["high"] and factor["method"] == "model"
    assert factor["assumes"] and energy["value"] is None and energy["reason"]
    promised = {(one["run"], one["figure"]): one for one in content["committed"]}
    assert promised["bench-small", "real_time_factor"]["value"] == 1e6
    target = {"run": "target", "figure": "real_time_factor", "value": factor["value"], "basis": "projected"}
    assert promised["target", "real_time_factor"] == target | {"better_than_evidence": 0.0}
    page = (copy / commitment.PAGE).read_text()
    assert "Nothing on this page is an offer" in page
    assert "a machine: 2 nodes for 1000.00 EUR" in page
    assert "target: energy per synaptic event: null" in output


@pytest.mark.slow
def test_a_promise_that_is_better_than_the_evidence_says_by_how_much(spikemark, small, copy):
    value = answer.read(copy)["runs"][0]["figure"]["real_time_factor"]["value"]
    promise = f"bench-small.real_time_factor={value / 2!r}"
    assert spikemark("tender", "commit", small.path, copy, *OFFER, "--promise", promise)[0] == 0
    content = json.loads((copy / answer.COMMITMENT).read_text())
    found = next(one for one in content["committed"] if one["run"] == "bench-small")
    assert found["better_than_evidence"] == pytest.approx(0.5)
    assert "50 %" in (copy / commitment.PAGE).read_text()


TARGET = "--promise target.real_time_factor"
IMPOSSIBLE = {
    "--price: 0; allowed": ["--price", "0"],
    "--price: nan; allowed": ["--price", "nan"],
    "--currency: 'euro'": ["--currency", "euro"],
    "--system: ' '": ["--system", " "],
    "--node-power: -1": ["--node-power", "-1"],
    "--node-idle: -1": ["--node-idle", "-1"],
    "--node-idle: 3; allowed: 0 to 2": ["--node-power", "2", "--node-idle", "3"],
    "--promise x: allowed: RUN.FIGURE=VALUE": ["--promise", "x"],
    "--promise bench-small.real_time_factor=0": ["--promise", "bench-small.real_time_factor=0"],
    "--promise other.real_time_factor: allowed: a run of": ["--promise", "other.real_time_factor=1"],
    f"{TARGET}: neither measured nor projected": f"{TARGET}=1".split(),
    "--ranks: only with --machine": ["--ranks", "2"],
    "--ranks: missing": ["--machine", "epyc-vm"],
    "--nodes: 2; target takes 4": ["--machine", "epyc-vm", "--ranks", "4", "--ranks-per-node", "1"],
    "--simulated: ": ["--simulated", "MEASURED"],
    "has no dryrun.json": ["--machine", "epyc-vm", "--dry-run", "."],
    "--set schedule=overlapped: in the category base": ["--set", "schedule=overlapped"],
}


@pytest.mark.slow
@pytest.mark.parametrize("said", IMPOSSIBLE)
def test_an_offer_that_cannot_be_meant_changes_nothing(refusal, small, copy, said):
    before = (copy / manifest.FILE).read_bytes()
    words = [str(copy / "runs/bench-small/1") if word == "MEASURED" else word for word in IMPOSSIBLE[said]]
    assert said in refusal("tender", "commit", small.path, copy, *OFFER, *words)
    assert (copy / manifest.FILE).read_bytes() == before and not (copy / answer.COMMITMENT).exists()


@pytest.mark.slow
def test_an_answer_that_was_changed_or_belongs_to_another_bundle_gets_no_sheet(
    refusal, spikemark, small, copy, tmp_path
):
    other = tmp_path / "other"
    assert spikemark("tender", "new", other, "--quick", "--commit", "HEAD", "--node-memory", "0.03")[0] == 0
    assert bundle.read(other).sha256 != small.sha256
    assert "another bundle" in refusal("tender", "commit", other, copy, *OFFER)
    path = copy / "runs" / "bench-small" / "1" / "record.json"
    path.write_text(path.read_text().replace("0", "1", 1))
    assert "record.json: sha256 is" in refusal("tender", "commit", small.path, copy, *OFFER)


DAMAGED = {
    "kind": "other",
    "runs.0.figure.real_time_factor.value": "fast",
    "runs.0.repetitions.0.folder": "../x",
    "bidder": None,  # taken away
}


@pytest.mark.slow
@pytest.mark.parametrize("field", DAMAGED)
def test_an_answer_with_impossible_fields_is_refused_even_if_its_manifest_fits(refusal, small, copy, field):
    content, value = answer.read(copy), DAMAGED[field]
    assign(content, field, value) if value else content.pop(field)
    (copy / answer.FILE).write_text(json.dumps(content))
    manifest.write(copy, bundle_sha256=small.sha256)
    assert f"answer.json: {field}" in refusal("tender", "commit", small.path, copy, *OFFER)


@pytest.mark.slow
def test_networks_take_the_memory_that_the_rule_says(small, measured):
    for run in answer.read(measured)["runs"]:
        rule = small.tender.rule(run["name"])
        record = record_of(measured, run["repetitions"][0])
        parts = record["memory"]["parts"]
        held = sum(parts.values()) - parts["log"]  # the log grows with the model time, not with the network
        allowed = 1e9 * small.tender.reference_memory_gb * rule.share_of_memory
        areas = len(record["description"]["network"]["populations"])
        step = 1 + sizes.STEP * areas / record["totals"]["neurons"]
        assert held < 1.02 * allowed < 1.05 * step * held  # with a step more neurons it would not fit


@pytest.mark.slow
def test_the_power_of_a_meter_outside_becomes_energy_per_event(spikemark, small, measured, tmp_path):
    records = [json.loads(path.read_text()) for path in (measured / "runs").rglob("record.json")]
    begin = int(min(record["timing"]["simulate_started_s"] for record in records)) - 60
    end = int(max(record["timing"]["simulate_ended_s"] for record in records)) + 60
    meter = tmp_path / "meter.csv"
    lines = [f"{begin + 0.01 * n:.2f},100" for n in range(100 * (end - begin))]
    meter.write_text("\n".join(["time,node1 [W]", *lines, ""]))
    words = ["--out", measured, "--power", meter]
    assert spikemark("tender", "run", small.path, *words)[0] == 0
    for run in answer.read(measured)["runs"]:
        for one in run["repetitions"]:
            record = record_of(measured, one)
            joules = 100 * (record["timing"]["simulate_ended_s"] - record["timing"]["simulate_started_s"])
            per_event = joules / record["totals"]["synaptic_events"]
            assert one["joules_per_synaptic_event"] == pytest.approx(per_event, rel=1e-6)
            assert one["source"] == "meter.csv"
        assert run["figure"]["joules_per_synaptic_event"]["kind"] == "measured"
    assert (measured / "power" / "meter.csv").read_bytes() == meter.read_bytes()
    manifest.check(measured)
    report = check_answer(str(measured), str(small.path))
    assert not [line for line in report.text().splitlines() if "power/" in line or "energy" in line.lower()]


@pytest.mark.slow
def test_power_that_does_not_cover_the_runs_is_refused_and_the_answer_stays(
    spikemark, small, measured, tmp_path
):
    before = (measured / manifest.FILE).read_bytes()
    (tmp_path / "late.csv").write_text("time,node1 [W]\n1,100\n2,100\n3,100\n")
    words = ["--out", measured, "--power", tmp_path / "late.csv"]
    status, output, errors = spikemark("tender", "run", small.path, *words)
    assert status == 2 and "they do not overlap" in errors.splitlines()[-1]
    assert "check it:" not in output  # which is how an answer is announced
    assert (measured / manifest.FILE).read_bytes() == before
