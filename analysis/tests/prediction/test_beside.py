"""A run beside its prediction: `spikemark predict RUN_DIR --machine NAME`."""

import json

import numpy as np
import pytest
from small_machine import Machine
from synthetic import write_run

from spikemark.prediction import beside, model_error
from spikemark.prediction.predict import predict
from spikemark.records import imported, record
from spikemark.records.phases import PARTS


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "mine", ranks=2, cycles=100)


def test_every_part_of_a_run_stands_beside_its_prediction(run):
    """The prediction is that of the description, ranks and threads of the record."""
    read = record.load(run)
    found = beside.beside(read, Machine())
    model_s = read.record.timing.model_s
    same = predict(read.record.description, Machine(), 2, read.record.threads, ranks_per_node=2)
    same = model_error.widened(same)
    assert set(found.took) == {*PARTS, "real_time_factor"}
    for name, took in found.took.items():
        assert found.prediction.figures[name] == same.figures[name]
        spent = read.spent_s(name) if name in PARTS else read.record.timing.real_time_factor * model_s
        assert took.value == pytest.approx(spent / model_s) and took.kind == "measured"
        ratio, made = found.ratio(name), same.figures[name]
        if took.value and made.value:
            assert ratio.value == pytest.approx(took.value / made.value)
            assert ratio.low == pytest.approx(took.value / made.high)
            assert ratio.low <= ratio.value <= ratio.high
        else:
            assert not ratio


def test_a_run_of_one_rank_has_no_ratio_of_waiting(tmp_path):
    found = beside.beside(record.load(write_run(tmp_path / "one", ranks=1, cycles=100)), Machine())
    assert found.prediction.ranks == 1 and not found.ratio("waiting") and found.ratio("update")


def test_the_command_says_where_both_were_and_how_to_read_it(run, spikemark, known):
    status, output, errors = spikemark("predict", run, "--machine", "made-up")
    assert (status, errors) == (0, "")
    said = " ".join(output.split())
    assert "mine: 2 ranks with 1 thread, conventional" in said and "run over prediction" in said
    assert "The run was made on" in said and "the interval of the prediction" in said
    content = json.loads(spikemark("predict", run, "--machine", "made-up", "--json")[1])
    assert list(content["parts"]) == [*PARTS, "real_time_factor"]
    assert content["parts"]["update"]["run"]["kind"] == "measured"


@pytest.mark.parametrize("option", [("--ranks", 4), ("--schedule", "conventional"), ("--simulator", "nest"),
                                    ("--threads", 2), ("--full",), ("--rate", 5)])  # fmt: skip
def test_what_the_run_answers_is_refused(option, run, refusal, known):
    said = refusal("predict", run, "--machine", "made-up", *option)
    assert f"{option[0]}: not for the folder of a run, which is predicted as it ran" in said


def test_a_folder_without_a_record_is_refused(tmp_path, refusal, known):
    assert "record.json" in refusal("predict", tmp_path, "--machine", "made-up")


def test_imported_cycle_times_are_refused(tmp_path, refusal, known):
    about = {"files": ["times.npy"], "unit": "ms", "skipped": 0, "cycle_ms": None}
    np.save(tmp_path / "times.npy", 1 + np.arange(8.0).reshape(2, 4))
    imported.save(tmp_path / "mine", imported.read([tmp_path / "times.npy"], "ms"), about)
    said = refusal("predict", tmp_path / "mine", "--machine", "made-up")
    assert "mine: imported cycle times; allowed with --machine: a network, or a run's folder" in said
