"""What a bidder hands in: measured by sweeps, complete, with promises; or one line that says why not."""

import json
import shutil
from statistics import median

import pytest

from spikemark.core.errors import BadInput
from spikemark.tender import answer, answering, bundle, commitment, figures, manifest, sizes
from spikemark.tender.measure import Chosen

REPETITION = {"real_time_factor": 1.0, "joules_per_synaptic_event": None, "reason": "no meter"}


def test_the_figure_of_a_run_is_the_median_with_the_extremes():
    made = [{**REPETITION, "real_time_factor": value} for value in (3.0, 1.0, 2.0, 9.0)]
    found = figures.of_repetitions(made)["real_time_factor"]
    assert (found["value"], found["low"], found["high"]) == (2.5, 1.0, 9.0)
    assert found["kind"] == "measured"


def test_a_figure_that_one_repetition_lacks_is_null_with_its_reason():
    made = [{**REPETITION, "joules_per_synaptic_event": 1e-7, "reason": None}, REPETITION]
    found = figures.of_repetitions(made)
    assert (found["joules_per_synaptic_event"], found["reason"]) == (None, "no meter")


def test_layout_and_settings_survive_being_kept():
    chosen = Chosen(answering.Layout(4, 2, 2, "cyclic", "cores"), {"schedule": "structure_aware"})
    assert Chosen.of(json.loads(json.dumps(chosen.content()))) == chosen


REFUSED = {
    "category='other'; allowed: base, optimised": ["--category", "other"],
    "--set schedule=structure_aware: in the category base allowed: nothing": [
        *("--set", "schedule=structure_aware")
    ],
    "--set network.populations.0.size=1: in the category optimised": [
        *("--category", "optimised", "--set", "network.populations.0.size=1")
    ],
    "--set time.simulate_ms=1: in the category optimised": [
        *("--category", "optimised", "--set", "time.simulate_ms=1")
    ],
    "--set seed=2: in the category optimised": ["--category", "optimised", "--set", "seed=2"],
    "run='nothing'; allowed: bench-small": ["--run", "nothing"],
    "--power: nothing.csv is not a file": ["--power", "nothing.csv"],
    "profile 'nothing' not found": ["--profile", "nothing"],
    "delay_ratio": ["--category", "optimised", "--set", "delay_ratio=0"],
    "--set x: allowed is FIELD=VALUE": ["--set", "x"],
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_the_rules_do_not_allow_is_refused_before_anything_is_measured(
    refusal, small, tmp_path, monkeypatch, said
):
    monkeypatch.chdir(tmp_path)
    assert said in refusal("tender", "run", small.path, "--out", "answer", *REFUSED[said])
    assert not (tmp_path / "answer").exists()


def test_a_folder_that_is_no_answer_is_not_touched(refusal, small, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    assert "is no answer to a tender; allowed:" in refusal("tender", "run", small.path, "--out", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_changed_sources_are_refused(small, monkeypatch):
    monkeypatch.setattr("spikemark.tender.source.differing", lambda *_: ["docs/x.md", "miniapp/src/a.c"])
    with pytest.raises(BadInput, match=r"source: 1 file .*first miniapp/src/a\.c; allowed: none"):
        answering.check_sources(small)


@pytest.fixture(scope="module")
def measured(small, tmp_path_factory):
    """An answer of the real mini-app, and what the command said."""
    from spikemark.cli import main

    out = tmp_path_factory.mktemp("bidder") / "answer"
    with pytest.raises(SystemExit) as end:
        main.main(["tender", "run", str(small.path), "--out", str(out), "--bidder", "ACME"])
    assert end.value.code == 0
    return out


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
        records = [
            json.loads((measured / one["folder"] / "record.json").read_text()) for one in run["repetitions"]
        ]
        for record, one in zip(records, run["repetitions"], strict=True):
            assert record["totals"]["spikes"] == known["spikes"]
            assert record["totals"]["synaptic_events"] == known["synaptic_events"]
            assert one["real_time_factor"] == record["timing"]["real_time_factor"]
            long_enough = record["timing"]["simulate_s"] >= rule.minimum_seconds
            assert long_enough or run["model_ms"] == rule.model_ms[0]
        assert len({record["checksum"] for record in records}) == 1
        assert [r["timing"]["simulate_started_s"] for r in records] == sorted(
            r["timing"]["simulate_started_s"] for r in records
        )
        values = [record["timing"]["real_time_factor"] for record in records]
        assert run["figure"]["real_time_factor"]["value"] == median(values)


@pytest.mark.slow
def test_the_environment_says_how_it_was_built_and_started(measured):
    found = json.loads((measured / answer.ENVIRONMENT).read_text())
    assert found["software"]["compiler"]["value"] and found["software"]["flags"]["value"]
    assert len(found["nodes"]) == 1 and found["nodes"][0]["kernel"]["value"]
    assert "miniapp" in " ".join(found["software"]["command"]["value"])


@pytest.mark.slow
def test_flags_of_this_build_are_allowed_in_both_categories(small, measured):
    from fnmatch import fnmatch

    flags = json.loads((measured / answer.ENVIRONMENT).read_text())["software"]["flags"]["value"].split()
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
    record = json.loads((out / runs["bench-small"]["repetitions"][0]["folder"] / "record.json").read_text())
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
    assert promised["target", "real_time_factor"] == {
        "run": "target", "figure": "real_time_factor", "value": factor["value"], "basis": "projected",
        "better_than_evidence": 0.0,
    }  # fmt: skip
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
    "--promise target.real_time_factor: neither measured nor projected": [
        *("--promise", "target.real_time_factor=1")
    ],
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
    "kind": lambda content: content.update(kind="other"),
    "runs.0.figure.real_time_factor.value": lambda content: content["runs"][0]["figure"][
        "real_time_factor"
    ].update(value="fast"),
    "runs.0.repetitions.0.folder": lambda content: content["runs"][0]["repetitions"][0].update(folder="../x"),
    "bidder": lambda content: content.pop("bidder"),
}


@pytest.mark.slow
@pytest.mark.parametrize("field", DAMAGED)
def test_an_answer_with_impossible_fields_is_refused_even_if_its_manifest_fits(refusal, small, copy, field):
    content = answer.read(copy)
    DAMAGED[field](content)
    (copy / answer.FILE).write_text(json.dumps(content))
    manifest.write(copy, bundle_sha256=small.sha256)
    assert f"answer.json: {field}" in refusal("tender", "commit", small.path, copy, *OFFER)


@pytest.mark.parametrize("text", ["[]", "{}", '{"bundle_sha256": 1, "category": "base", "runs": {"x": 3}}'])
def test_choices_that_cannot_be_read_are_refused(refusal, small, tmp_path, text):
    work = tmp_path / "answer-work"
    work.mkdir()
    (work / answering.CHOICES).write_text(text)
    said = refusal("tender", "run", small.path, "--out", tmp_path / "answer")
    assert "choices.json: not what `tender run` wrote; delete it" in said


@pytest.mark.slow
def test_networks_take_the_memory_that_the_rule_says(small, measured):
    for run in answer.read(measured)["runs"]:
        rule = small.tender.rule(run["name"])
        record = json.loads((measured / run["repetitions"][0]["folder"] / "record.json").read_text())
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
            record = json.loads((measured / one["folder"] / "record.json").read_text())
            joules = 100 * (record["timing"]["simulate_ended_s"] - record["timing"]["simulate_started_s"])
            per_event = joules / record["totals"]["synaptic_events"]
            assert one["joules_per_synaptic_event"] == pytest.approx(per_event, rel=1e-6)
            assert one["source"] == "meter.csv"
        assert run["figure"]["joules_per_synaptic_event"]["kind"] == "measured"
    assert (measured / "power" / "meter.csv").read_bytes() == meter.read_bytes()
    manifest.check(measured)


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
