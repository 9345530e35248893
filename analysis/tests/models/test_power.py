"""Integrals, levels and steps of power on planted traces."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_power import Planted

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import plateau
from spikemark.measuring.meter import knee
from spikemark.measuring.run_timeline import Timeline
from spikemark.models import power
from spikemark.models.power import PowerTrace, Sampling, total

PLANTED, FILE = Planted(), Path("power.csv")


def timeline(planted=PLANTED, zero=0.0) -> Timeline:
    edges = (planted.edges + zero).tolist()
    return Timeline((edges[4], edges[5]), (edges[2], edges[3]))


def trace(interval_s=0.5, noise=0.0, seed=1, planted=PLANTED) -> PowerTrace:
    times = planted.times(interval_s)
    noise = noise * np.random.default_rng(seed).standard_normal(len(times))
    return PowerTrace(times, power_w=planted.watts(times) + noise)


def counter(interval_s=0.5, start=0.0) -> PowerTrace:
    times = PLANTED.times(interval_s) + start
    return PowerTrace(times, counter_j=1000 + PLANTED.joule(times))


intervals = st.lists(st.floats(0.01, 2.0), min_size=2, max_size=30)


@given(intervals, st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.data())
def test_energy_adds_up_over_any_parts(steps, a, b, c, data):
    times = np.cumsum(steps)
    powers = data.draw(st.lists(st.floats(0, 500), min_size=len(times), max_size=len(times)))
    made = PowerTrace(times, power_w=np.array(powers))
    counted = PowerTrace(times, counter_j=np.cumsum(powers))
    low, middle, high = (times[0] + x * (times[-1] - times[0]) for x in sorted((a, b, c)))
    for one in (made, counted):
        parts = one.energy_j(low, middle) + one.energy_j(middle, high)
        assert parts == pytest.approx(one.energy_j(low, high), abs=1e-6)
        assert one.energy_j(low, high) >= -1e-9
    ends = made.energy_j(times[0], times[-1])
    assert ends == pytest.approx(np.trapezoid(powers, times), abs=1e-6)
    assert counted.energy_j(times[0], times[-1]) == pytest.approx(sum(powers[1:]), abs=1e-6)


@given(st.integers(1, 4), st.integers(0, 2**31), st.booleans())
@settings(max_examples=40)
def test_channels_read_at_different_times_sum_exactly(channels, seed, cumulative):
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(channels):
        times = np.sort(rng.uniform(0, 10, 20))
        values = rng.uniform(0, 100, 20)
        kind = {"counter_j": np.cumsum(values)} if cumulative else {"power_w": values}
        parts.append(
            PowerTrace(
                np.concatenate([[-1.0], times, [11.0]]),
                **{name: np.concatenate([[v[0]], v, [v[-1]]]) for name, v in kind.items()},
            )
        )
    whole = total(parts)
    low, high = np.sort(rng.uniform(0, 10, 2))
    assert whole.energy_j(low, high) == pytest.approx(
        sum(p.energy_j(low, high) for p in parts), abs=1e-6
    )


def test_a_counter_knows_the_energy_and_its_interval_holds_it():
    for interval_s in (0.1, 0.7, 3.0):
        found = power.energy(counter(interval_s), *timeline().measured)
        assert found.low <= PLANTED.gross_j <= found.high
        assert found.high - found.low <= 4 * interval_s * PLANTED.busy_w
    assert found.high > found.low


def test_intervals_of_sampled_power_hold_the_truth_as_often_as_they_say():
    held = []
    for seed in range(200):
        made = trace(0.5, noise=8, seed=seed)
        span = (timeline().measured[0] + 1, timeline().measured[1] - 1)
        found = power.energy(made, *span)
        held.append(found.low <= PLANTED.busy_w * (span[1] - span[0]) <= found.high)
    assert 0.9 <= np.mean(held) <= 0.99


@given(st.floats(0, 1), st.sampled_from([0.3, 0.7, 1.5]))
@settings(max_examples=40)
def test_a_step_at_the_ends_is_within_the_interval(phase, interval_s):
    """Without noise, all that is open is where between two readings the power stepped."""
    times = PLANTED.times(interval_s) + phase * interval_s
    edges = PLANTED.edges
    found = power.energy(PowerTrace(times, power_w=PLANTED.watts(times)), edges[3], edges[5])
    truth = PLANTED.busy_w * (edges[5] - edges[3])
    assert found.low - 1e-6 <= truth <= found.high + 1e-6
    assert found.high - found.low <= 6 * interval_s * (PLANTED.busy_w - PLANTED.idle_w)


def test_gaps_cost_coverage():
    whole = trace(0.5)
    start, end = timeline().measured
    keep = (whole.time_s < start + 4) | (whole.time_s > start + 9)
    found = Sampling.from_traces(
        [PowerTrace(whole.time_s[keep], power_w=whole.power_w[keep])], start, end
    )
    assert found.coverage == pytest.approx(1 - 5.5 / 20, abs=0.05)
    assert found.longest_s == pytest.approx(5.5, abs=0.5)
    assert found.interval_s == pytest.approx(0.5)
    full = Sampling.from_traces([whole], start, end)
    assert (full.coverage, full.longest_s) == (pytest.approx(1), pytest.approx(0.5))
    assert full.readings in (40, 41)
    worst = Sampling.from_traces(
        [whole, PowerTrace(whole.time_s[::4], power_w=whole.power_w[::4])], start, end
    )
    assert worst.interval_s == pytest.approx(2) and worst.readings < full.readings


@given(
    st.integers(0, 2**31),
    st.floats(0, 4),
    st.integers(8, 60),
    st.integers(8, 60),
    st.floats(30, 200),
)
@settings(max_examples=40)
def test_a_planted_step_is_found_where_it_is(seed, noise, first, second, height):
    rng = np.random.default_rng(seed)
    signal = np.concatenate([np.full(first, 100.0), np.full(second, 100 + height)])
    signal += noise * rng.standard_normal(len(signal))
    found = power.segments(signal)
    assert [(s.first, s.last) for s in found] == [(0, first), (first, first + second)]


@given(
    st.integers(0, 2**31), st.floats(-1e4, 1e4), st.floats(0, 5), st.sampled_from([0.1, 0.5, 1.0])
)
@settings(max_examples=40)
def test_the_knee_places_the_run_whatever_the_clock(seed, offset, noise, interval_s):
    made = trace(interval_s, noise, seed).moved(offset)
    placed = knee(made, timeline(), FILE)
    assert placed.busy[0] - timeline().busy[0] == pytest.approx(offset, abs=0.51 * interval_s)
    assert placed.duration_s == pytest.approx(PLANTED.measured_s)


def test_two_like_steps_are_refused():
    one = trace(0.5)
    twice = PowerTrace(np.arange(2 * len(one.time_s)) * 0.5, power_w=np.tile(one.power_w, 2))
    with pytest.raises(BadInput, match=r"may begin at .* or at "):
        knee(twice, timeline(), FILE)
    flat = PowerTrace(one.time_s, power_w=np.full(len(one.time_s), 100.0))
    with pytest.raises(BadInput, match="no step up"):
        knee(flat, timeline(), FILE)


class TestPlateau:
    def test_is_the_pause(self):
        for made in (trace(0.25, noise=2), counter(0.25)):
            found = plateau(made, timeline())
            assert found.low <= PLANTED.idle_w <= found.high
            assert found.value == pytest.approx(PLANTED.idle_w, abs=1.5)

    def test_leaves_out_what_has_not_settled(self):
        made = trace(0.1, noise=0.5)
        start = timeline().idle_before[0]
        slow = np.where((made.time_s >= start) & (made.time_s < start + 1.5), 30.0, 0.0)
        found = plateau(PowerTrace(made.time_s, power_w=made.power_w + slow), timeline())
        assert found.value == pytest.approx(PLANTED.idle_w, abs=0.5)

    def test_without_a_pause_is_the_level_before_the_run(self):
        without = Timeline(timeline().measured)
        assert plateau(trace(0.5, noise=1), without).value == pytest.approx(
            PLANTED.outside_w, abs=1
        )
        flat = PowerTrace(trace().time_s, power_w=np.full(len(trace().time_s), 100.0))
        assert plateau(flat, without).value is None

    def test_needs_readings(self):
        for found in (plateau(trace(4.0), timeline()), plateau(trace(), Timeline((0.2, 10.0)))):
            assert found.value is None and "expected 3" in found.reason
