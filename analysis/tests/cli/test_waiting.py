"""`spikemark fit`, `predict`, `coverage` on synthetic runs."""

import json

import pytest
from synthetic import write_run

from spikemark.waiting import PREDICTORS, coverage


@pytest.fixture(scope="module")
def conventional(tmp_path_factory):
    return str(write_run(tmp_path_factory.mktemp("run"), ranks=4, cycles=2000, ar1=0.5, rank_sd=0.02))


def test_fit_prints_what_was_found(spikemark, conventional):
    status, output, errors = spikemark("fit", conventional)
    assert (status, errors) == (0, "")
    words = ("4 ranks, 2000 cycles", "mean cycle time (µs)", "rank 3 above the mean", "none found")
    for text in (*words, "waiting by replay"):
        assert text in output
    status, output, _ = spikemark("fit", conventional, "--json")
    content = json.loads(output)
    assert content["mean_s"]["value"] == pytest.approx(50e-6, rel=0.05)
    low, high = content["rho_1"]["interval"]
    assert low < 0.5 < high
    assert len(content["rank_effects_s"]) == 4
    assert content["minor_share"] == {
        "value": None,
        "interval": None,
        "reason": "the times have one mode",
    }
    _, asked, _ = spikemark("predict", conventional, "--schedule", "conventional", "--json")
    assert {name: content[name] for name in PREDICTORS} == json.loads(asked)


def test_predict_prints_every_predictor(spikemark, conventional):
    arguments = ("predict", conventional, "--schedule", "overlapped", "--delay-ratio", "10", "--lag", "1")
    status, output, errors = spikemark(*arguments)
    assert (status, errors) == (0, "")
    assert "overlapped, D = 10, 4 ranks, 2000 cycles" in output
    _, printed, _ = spikemark(*arguments, "--json")
    content = json.loads(printed)
    assert list(content) == list(PREDICTORS)
    for name, one in content.items():
        assert name in output
        assert set(one) == {"waiting_s", "runtime_s", "interval"}
        assert one["interval"][0] < one["waiting_s"] < one["interval"][1] < one["runtime_s"]


def test_predict_for_other_ranks(spikemark, conventional):
    found = [
        json.loads(spikemark("predict", conventional, "--schedule", "conventional", "--json", *more)[1])
        for more in ((), ("--ranks", "16"))
    ]
    for name in PREDICTORS:
        assert found[1][name]["waiting_s"] > found[0][name]["waiting_s"]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--schedule", "fast"), "schedule='fast': known are"),
        (("--schedule", "structure_aware", "--delay-ratio", "500"), "needs 10000, 20 windows"),
        (("--schedule", "structure_aware", "--delay-ratio", "0"), "--delay-ratio='0'; allowed: greater than"),
        (("--schedule", "overlapped", "--delay-ratio", "9"), "delay_ratio=9: with lag=1"),
        (("--schedule", "conventional", "--lag", "1"), "lag=1: only the schedule overlapped"),
        (("--schedule", "conventional", "--ranks", "17"), "ranks=17: at most 16, 4 times those"),
    ],
)
def test_bad_questions_are_refused_in_one_line(spikemark, conventional, arguments, complaint):
    status, output, errors = spikemark("predict", conventional, *arguments)
    assert (status, output) == (2, "")
    assert complaint in errors and errors.count("\n") == 1


def test_what_a_reader_must_know_goes_to_the_other_stream(spikemark, tmp_path):
    text = "oversubscribed: 4 ranks x 1 threads on 2 cores of a node; times are no evidence of speed"
    folder = str(write_run(tmp_path, ranks=4, cycles=400, warnings=[text]))
    status, output, errors = spikemark("predict", folder, "--schedule", "conventional", "--json")
    assert status == 0 and json.loads(output)
    assert errors.startswith("warning: ") and text in errors
    status, output, errors = spikemark("predict", folder, "--schedule", "fast")
    assert (status, output, errors.count("\n")) == (2, "", 1)  # a refusal stands alone


def test_coverage_writes_its_table(spikemark, tmp_path, monkeypatch):
    few = [coverage.PLANTED[0]]
    study = coverage.study
    monkeypatch.setattr(coverage, "study", lambda trials, say: study(trials, few, say=say))
    ranks = coverage.study_of_ranks
    monkeypatch.setattr(coverage, "study_of_ranks", lambda trials, say: ranks(trials, (4,), say=say))
    status, output, errors = spikemark("coverage", "--trials", "10", "--write", str(tmp_path / "page.md"))
    assert (status, output) == (0, "")
    assert few[0].name in errors
    page = (tmp_path / "page.md").read_text()
    assert f"| {few[0].name} | {few[0].cycles} | overlapped |" in page
    assert "| unequal ranks, 4 measured | 16 |" in page
