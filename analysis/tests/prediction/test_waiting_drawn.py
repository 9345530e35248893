"""What is not known of a machine's jitter is drawn, and named where an answer hinges on it."""

from dataclasses import replace

import numpy as np
import pytest

from spikemark import machines
from spikemark.machines.priors import filled
from spikemark.models.jitter import Jitter
from spikemark.models.recursion import LaneMeetings
from spikemark.network.presets import mam_benchmark
from spikemark.prediction import draws, meeting, narrowing
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.performance import performance
from spikemark.prediction.workload import Loads, rates_of

RANKS, THREADS = 32, 128
#: What was assumed of all machines before their jitter was drawn: one publication implies the CV.
ONE_PAPER = {
    "cv": 0.026,
    "correlation_time": 7,
    "node_spread": 0.01,
    "minor_mode.share": 0,
    "slow_spells.share": 0,
    "common.share": 0,
}


def jureca():
    return filled(machines.load("jureca-dc"))


def of_one_paper():
    machine = jureca()
    values = dict(machine.values)
    for name, number in ONE_PAPER.items():
        path = f"jitter.{name}"
        values[path] = replace(values[path], value=number, kind="measured", interval=None)
    return replace(machine, values=values)


def predicted(schedule, machine):
    network = mam_benchmark.describe(
        areas=RANKS, neurons_per_area=400_000, indegree=6000, schedule=schedule, placement="area"
    )
    loads = Loads.count(network, RANKS, THREADS, rates_of(network, None).hz)
    layout = MachineLayout.from_machine(machine, RANKS, THREADS, 1)
    return performance(loads, machine, layout)


@pytest.mark.parametrize("schedule", ["conventional", "structure_aware", "overlapped"])
def test_waiting_of_a_machine_without_logs_may_be_a_third_or_three_times_that_of_one_paper(
    schedule,
):
    _, low, high = draws.interval(predicted(schedule, jureca()).parts["waiting"])
    of_paper = np.median(predicted(schedule, of_one_paper()).parts["waiting"])
    assert low < of_paper / 3
    assert high > 3 * of_paper


def test_what_decides_the_waiting_is_the_jitter_as_one_input():
    times = predicted("conventional", jureca())
    (name, share), *_ = narrowing.decides(times.parts["waiting"], times.inputs)
    assert name == f"{jureca().node_identity}/jitter" and 0.3 < share <= 1
    assert narrowing.words_of(name) == f"jitter of {jureca().node_identity}"


@pytest.mark.parametrize(
    "name", ["cv", "minor_share", "minor_factor", "spell_share", "spell_factor", "node_spread"]
)
@pytest.mark.parametrize("window", [1, 10])
def test_less_jitter_never_means_more_waiting(name, window):
    """On random machines; a common share and a shorter correlation mean less."""
    rng = np.random.default_rng(1)
    for _ in range(10):
        jitter = Jitter(
            cv=rng.uniform(0.01, 0.2),
            correlation_time=rng.uniform(1, 20),
            minor_share=rng.uniform(0.001, 0.01),
            minor_factor=rng.uniform(1.1, 5),
            node_spread=rng.uniform(0.001, 0.05),
            common_share=rng.uniform(0, 0.5),
            spell_share=rng.uniform(0.001, 0.1),
            spell_factor=rng.uniform(1.01, 1.3),
            spell_cycles=rng.uniform(100, 5000),
        )
        means = rng.uniform(0.9, 1.1, 16)
        groups = [
            [meeting.SimilarRanks(means, jitter.moved({name: factor}), 4)]
            for factor in (0.5, 1.0, 2.0)
        ]
        less, usual, more = meeting.waiting(groups, [LaneMeetings(window)])
        assert less <= usual * 1.002
        assert usual <= more * 1.002


def test_a_slow_model_is_evaluated_for_joint_values_of_its_inputs_and_not_interpolated():
    recorder = draws.Recorder(together=[("a", "b")])
    normal = {name: recorder.normal(f"machine/{name}") for name in ("a", "b")}
    assert abs(np.corrcoef(*normal.values())[0, 1]) < 0.05
    inputs = {name: np.exp(numbers) for name, numbers in normal.items()}

    def evaluate(settings):
        assert len(settings) == draws.SETTINGS
        return [setting["a"] ** 3 / (0.01 + setting["b"]) for setting in settings]

    results = draws.of_slow_model(evaluate, inputs)
    assert results == pytest.approx(inputs["a"] ** 3 / (0.01 + inputs["b"]), rel=1e-12)


def test_without_doubt_a_slow_model_is_evaluated_once():
    inputs = {"a": np.full(draws.N, 2.0)}
    assert draws.of_slow_model(lambda settings: [len(settings)] * len(settings), inputs) == 1
