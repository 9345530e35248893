"""What a bidder asks for: figures of runs, choices, and one line for what the rules do not allow."""

import json

import pytest

from spikemark.core.errors import BadInput
from spikemark.tender import answering, figures
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
    "schedule=structure_aware: in the category base allowed: nothing": ["--set", "schedule=structure_aware"],
    **{
        f"--set {field}: in the category optimised": ["--category", "optimised", "--set", field]
        for field in ("network.populations.0.size=1", "time.simulate_ms=1", "seed=2")
    },
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


@pytest.mark.parametrize("text", ["[]", "{}", '{"bundle_sha256": 1, "category": "base", "runs": {"x": 3}}'])
def test_choices_that_cannot_be_read_are_refused(refusal, small, tmp_path, text):
    work = tmp_path / "answer-work"
    work.mkdir()
    (work / answering.CHOICES).write_text(text)
    said = refusal("tender", "run", small.path, "--out", tmp_path / "answer")
    assert "choices.json: not what `tender run` wrote; delete it" in said
