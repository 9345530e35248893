"""What a network did: planted spike trains, whose rates, irregularity, rhythms and states are
known.
"""

import numpy as np
import pytest

from spikemark import activity
from spikemark.core.errors import BadInput

H_MS = 0.5
NEURONS = {"A-E": 300, "A-I": 100, "B-E": 200, "B-I": 0}


def describe(simulate_ms: float, warmup_ms: float = 100.0) -> dict:
    neuron = {"model": "ignore_and_fire"}
    populations = [
        {"name": n, "area": n[0], "size": s, "neuron": neuron} for n, s in NEURONS.items()
    ]
    time = {"resolution_ms": H_MS, "warmup_ms": warmup_ms, "simulate_ms": simulate_ms}
    return {"format_version": 1, "time": time, "network": {"populations": populations}}


def recorded(fired: np.ndarray) -> activity.Recording:
    """`fired`: boolean [step, neuron] of the measured part."""
    description = describe(H_MS * len(fired))
    step, gid = np.nonzero(fired)
    return activity.recording(description, np.column_stack([gid, step + 200]).astype(np.uint32))


def poisson(seconds: float, rate_hz, seed: int = 1) -> activity.Recording:
    """Independent spikes; `rate_hz(t)` with t [step] in s, or a number."""
    steps = round(1e3 * seconds / H_MS)
    t = 1e-3 * H_MS * np.arange(steps)
    rates = np.broadcast_to(rate_hz(t) if callable(rate_hz) else rate_hz, steps)
    draws = np.random.default_rng(seed).random((steps, sum(NEURONS.values())), dtype=np.float32)
    return recorded(draws < (1e-3 * H_MS * rates)[:, None])


def test_rates_are_by_population_and_by_area():
    fired = np.zeros((1000, 600), dtype=bool)  # 0.5 s
    fired[::100, 0:300] = True  # A-E: 10 spikes each
    fired[::500, 400:600] = True  # B-E: 2 spikes each
    recording = recorded(fired)
    assert activity.rates_hz(recording) == {"A-E": 20, "A-I": 0, "B-E": 4}
    assert activity.rates_hz(recording, activity.by_area(recording)) == {"A": 15, "B": 4}


def test_poisson_trains_are_irregular():
    recording = poisson(20, 10)
    for irregularity in activity.isi_cv(recording).values():
        assert irregularity.cv == pytest.approx(1, abs=0.03)
    assert activity.isi_cv(recording)["A-I"].neurons == 100


def test_the_cv_of_known_intervals():
    fired = np.zeros((1000, 600), dtype=bool)
    fired[[0, 10, 40, 50, 80], 7] = True  # intervals 10, 30, 10, 30: mean 20, SD 10
    fired[[0, 10, 20], 8] = True  # two intervals: too few
    fired[[5, 6, 7, 8, 9], 301] = True  # of another population
    found = activity.isi_cv(recorded(fired))
    assert found["A-E"] == activity.Irregularity(0.5, 1)
    assert found["A-I"] == activity.Irregularity(0, 1)
    assert found["B-E"] == activity.Irregularity(None, 0)


def test_population_rate_over_time():
    fired = np.zeros((101, 600), dtype=bool)
    fired[3, :300] = True
    fired[100] = True  # in a last bin that is cut off
    rate = activity.population_rate(recorded(fired), 5.0)  # 10 steps
    np.testing.assert_allclose(rate.hz, [100] + [0] * 9)
    rate = activity.population_rate(recorded(fired), 5.0, ["A-E", "A-I"])
    assert (rate.hz[0], rate.neurons) == (150, 400)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_rhythm_is_found(seed):
    recording = poisson(10, lambda t: 5 * (1 + 0.9 * np.sin(2 * np.pi * 2 * t)), seed)
    rate = activity.population_rate(recording, 5.0)
    found = activity.spectrum(rate)
    assert found.peak_hz == pytest.approx(2, abs=found.frequencies_hz[0])
    assert found.prominence > 100
    states = activity.up_down_states(rate)
    assert states.reason is None
    assert states.frequency_hz == pytest.approx(2, rel=0.02)
    assert states.up_ms.mean() + states.down_ms.mean() == pytest.approx(500, rel=0.05)


def test_durations_of_up_and_down_states():
    recording = poisson(6, lambda t: np.where(t % 0.8 < 0.2, 30, 0.5))
    states = activity.up_down_states(activity.population_rate(recording, 5.0))
    assert states.frequency_hz == pytest.approx(1 / 0.8, rel=0.02)
    np.testing.assert_allclose(states.up_ms, 200, atol=40)
    np.testing.assert_allclose(states.down_ms, 600, atol=40)
    assert states.bimodality > 0.9
    np.testing.assert_allclose((states.ups_ms[:, 0] + 400) % 800, 400, atol=40)


def test_bad_input_is_named():
    recording = poisson(1, 5)

    def refused(words, wrong, *arguments):
        with pytest.raises(BadInput, match=words):
            wrong(*arguments)

    refused(r"bin_ms=0\.7", activity.population_rate, recording, 0.7)
    refused("bin_ms=2000", activity.population_rate, recording, 2000)
    refused("^population='C'", activity.population_rate, recording, 5.0, ["C"])
    refused("10 bins of 100 ms", activity.spectrum, activity.population_rate(recording, 100.0))
    for spikes, words in (
        ([[5, 200], [600, 201]], "gid 5 to 600"),
        ([[5, 199]], "step 199 to 199"),
    ):
        refused(words, activity.recording, describe(100), np.array(spikes, dtype=np.uint32))
