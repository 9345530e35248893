"""`spikemark predict`: two questions, told apart by --machine."""

import json
import re

import pytest
from synthetic import write_run

from spikemark.cli.predict import HEADS, USAGES
from spikemark.waiting import PREDICTORS


def parts(text: str) -> list[set[str]]:
    """The options under each head of the help."""
    _, rest = text.split(f"{HEADS[0]}:")
    return [set(re.findall(r"^  (--[a-z-]+)", part, re.MULTILINE)) for part in rest.split(f"{HEADS[1]}:")]


@pytest.mark.parametrize("arguments", [["--help"], ["--machine", "grace", "--help"]])
def test_help_explains_both_questions(spikemark, arguments):
    status, output, _ = spikemark("predict", *arguments)
    assert status == 0
    assert output.count("Usage: spikemark predict") == len(USAGES)
    run, machine = parts(output)
    assert {"--schedule", "--cycles", "--group-period"} <= run and "--threads" not in run
    assert {"--machine", "--threads", "--preset"} <= machine and "--cycles" not in machine


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
        known = {"waiting_s", "runtime_s", "interval", "runtime_interval", "delay_ratio", "misses_base"}
        known |= {"run_interval", "run_runtime_interval", "schedule", "ranks", "lag", "cycles"}
        assert set(one) == known and one["runtime_interval"][0] <= one["runtime_s"]
        assert one["interval"][0] < one["waiting_s"] < one["interval"][1] < one["runtime_s"]


@pytest.mark.parametrize(
    "words", [("fit",), ("predict", "--schedule", "structure_aware", "--delay-ratio", "5")]
)
def test_each_predictor_is_fitted_once(spikemark, conventional, monkeypatch, words):
    """Also to tell whether it expects the waiting of the run itself."""
    fitted = []
    for name, kind in PREDICTORS.items():

        def fit(run, name=name, fit=kind.fit):
            fitted.append(name)
            return fit(run)

        monkeypatch.setattr(kind, "fit", fit)
    status, _, _ = spikemark(words[0], conventional, *words[1:])
    assert status == 0 and sorted(fitted) == sorted(PREDICTORS)


def test_predict_for_other_ranks(spikemark, conventional):
    found = [
        json.loads(spikemark("predict", conventional, "--schedule", "conventional", "--json", *more)[1])
        for more in ((), ("--ranks", "16"))
    ]
    for name in PREDICTORS:
        assert found[1][name]["waiting_s"] > found[0][name]["waiting_s"]


def test_without_a_delay_ratio_it_is_the_largest_that_the_delays_allow(spikemark, conventional, tmp_path):
    """The runs have delays between areas of 10 cycles and more."""
    asked = ("predict", conventional, "--schedule", "structure_aware")
    status, output, errors = spikemark(*asked)
    assert (status, errors) == (0, "")
    assert "structure_aware, D = 10, 4 ranks" in output and "D = 10: the largest that the delays" in output
    content = json.loads(spikemark(*asked, "--json")[1])
    assert {one["delay_ratio"] for one in content.values()} == {10}
    _, output, _ = spikemark(*asked, "--delay-ratio", "5")
    assert "D = 5: given; the delays of the run allow up to 10" in output
    _, output, errors = spikemark(*asked, "--delay-ratio", "20")
    assert "D = 20" in output and "delay_ratio=20: the delays of the run allow 10 at most" in errors


def test_a_lag_shortens_windows_and_d_stays_a_multiple(spikemark, conventional):
    asked = ("predict", conventional, "--schedule", "overlapped", "--lag", "2")
    assert "overlapped, D = 9, 4 ranks" in spikemark(*asked)[1]


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
def test_bad_questions_are_refused_in_one_line(refusal, conventional, arguments, complaint):
    assert complaint in refusal("predict", conventional, *arguments)


def test_what_a_reader_must_know_goes_to_the_other_stream(spikemark, refusal, tmp_path):
    text = "oversubscribed: 4 ranks x 1 threads on 2 cores of a node; times are no evidence of speed"
    folder = str(write_run(tmp_path, ranks=4, cycles=400, warnings=[text]))
    status, output, errors = spikemark("predict", folder, "--schedule", "conventional", "--json")
    assert status == 0 and json.loads(output)
    assert errors.startswith("warning: ") and text in errors
    assert refusal("predict", folder, "--schedule", "fast")  # which stands alone
