"""The wait budget against planted parts: recovered alone and together, adding up, in any unit and order."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from synthetic import describe, write_run

from spikemark.core.errors import BadInput
from spikemark.records import record
from spikemark.waiting import whatif
from spikemark.waiting.budget import PARTS, budget, efficiency
from spikemark.waiting.observed import Observed
from spikemark.waiting.planted import MEAN_S, RANK_EFFECTS_S, RANKS, SD_S, ar1

D = 10
SHARE = 0.01  # of rare long cycles
ALONE = {"persistent": (1, 0, 0), "jitter": (0, 1, 0), "drift": (0, 0, 1), "rare": (0.1, 0.1, 0, 20)}
TOGETHER = {
    "persistent and jitter": (1, 1, 0),
    "all": (1, 1, 1),
    "little of each but jitter": (0.2, 1, 0.3),
    "all and rare": (1, 1, 0.5, 20),
}


def pieces(scales, cycles, seed, correlation=0.8) -> dict[str, np.ndarray]:
    """The drift is constant within windows of D cycles; `correlation` is that of consecutive windows."""
    rng = np.random.default_rng(seed)
    persistent, jitter, drift, rare = (*scales, 0)[:4]
    return {
        "persistent": persistent * RANK_EFFECTS_S[:, None] * np.ones(cycles),
        "jitter": jitter * SD_S * rng.standard_normal((RANKS, cycles)),
        "drift": drift * SD_S * np.repeat(ar1(correlation, (RANKS, cycles // D), rng), D, axis=1),
        "rare": rare * SD_S * (rng.random((RANKS, cycles)) < SHARE),
    }


def planted(scales, cycles=8_000, seed=0) -> np.ndarray:
    return 2 * MEAN_S + sum(pieces(scales, cycles, seed).values())


def truth(scales) -> dict[str, float]:
    """What each piece adds, mean over all orders of adding."""
    parts = pieces(scales, 200_000, 99, correlation=0.0)
    found = dict.fromkeys(PARTS, 0.0)
    for order in permutations(PARTS):
        times, before = np.zeros((RANKS, 1)), 0.0
        for name in order:
            times = times + parts[name]
            waiting = float((times.max(axis=0) - times.mean(axis=0)).mean())
            found[name] += (waiting - before) / 24
            before = waiting
    return found


@pytest.mark.parametrize("scales", [*ALONE.values(), *TOGETHER.values()], ids=[*ALONE, *TOGETHER])
def test_planted_parts_are_recovered_within_their_intervals(scales):
    expected, trials, cycles = truth(scales), 7, 8_000
    held = dict.fromkeys(PARTS, 0)
    for seed in range(trials):
        found = budget(planted(scales, cycles, seed))
        for name, part in found.parts.items():
            if name in PARTS:
                low, high = (x / cycles for x in part.interval)
                held[name] += low - 1e-3 * SD_S <= expected[name] <= high + 1e-3 * SD_S
                assert high - low < 0.6 * SD_S
    assert min(held.values()) >= trials - 1, held


@pytest.mark.parametrize("name", ALONE)
def test_a_part_alone_takes_nearly_all(name):
    found = budget(planted(ALONE[name]))
    assert found.parts[name].value > 0.85 * found.waiting_s


@pytest.mark.parametrize("schedule", ["conventional", "placement_only", "structure_aware"])
def test_the_parts_add_up_to_the_waiting_of_the_record(tmp_path, schedule):
    run = record.load(write_run(tmp_path, schedule=schedule, ranks=4, cycles=2000, ar1=0.8, rank_sd=0.03))
    found = budget(run)
    assert found.waiting_s == pytest.approx(run.record.timing.phases["synchronise"].mean_s, rel=1e-5)
    assert sum(part.value for part in found.parts.values()) == pytest.approx(found.waiting_s, rel=1e-9)
    assert abs(found.parts["barrier"].value) < 1e-4 * found.waiting_s
    assert found.transport.value == pytest.approx(run.record.timing.phases["exchange"].mean_s, rel=1e-5)
    assert all(part.interval[0] <= part.value <= part.interval[1] for part in found.parts.values())


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), order=st.permutations(range(RANKS)), unit=st.sampled_from([1e-3, 7.0, 1e4]))
def test_neither_the_order_of_ranks_nor_the_unit_matters(seed, order, unit):
    times = planted((1, 1, 1), 1000, seed)
    one, other = budget(times), budget(unit * times[list(order)])
    for name in PARTS:
        assert other.parts[name].value == pytest.approx(unit * one.parts[name].value, abs=1e-9 * unit)
        ends = [unit * x for x in one.parts[name].interval]
        assert other.parts[name].interval == pytest.approx(ends, rel=1e-4, abs=1e-9 * unit)


def test_meeting_less_often_averages_jitter_away_and_no_drift():
    for scales, name, factor in (((0, 1, 0), "jitter", 10**-0.5), ((0, 0, 1), "drift", 1.0)):
        times = planted(scales)
        often, seldom = budget(Observed(times, 1)), budget(Observed(times, 10))
        assert seldom.parts[name].value == pytest.approx(factor * often.parts[name].value, rel=0.05)


def test_what_ranks_share_costs_time_and_makes_nobody_wait():
    times = planted((1, 1, 0), 10_000)
    slow = np.random.default_rng(5).random(10_000) < 0.1
    shared = budget(times + 10 * SD_S * slow)
    plain = budget(times).parts
    for name in PARTS:
        assert shared.parts[name].value == pytest.approx(plain[name].value, rel=1e-6, abs=1e-12)
    low, high = shared.common_mode.interval
    assert low < SD_S * 10_000 < high
    assert shared.common_mode.value == pytest.approx(10 * SD_S * slow.sum(), rel=0.1)
    assert budget(times).common_mode.value < 0.02 * shared.common_mode.value


def test_what_the_compute_times_do_not_explain_is_the_barriers():
    times = planted((1, 1, 0), 4000)
    late = 1e-6 * np.random.default_rng(3).lognormal(0, 1, 4000)
    implied = times.max(axis=0) - times.mean(axis=0)
    found = budget(Observed(times, 1, implied + late, np.full(4000, 2e-6)))
    assert found.parts["barrier"].value == pytest.approx(late.sum())
    low, high = found.parts["barrier"].interval
    assert low < 4000 * 1e-6 * np.exp(0.5) < high
    assert found.waiting_s == pytest.approx((implied + late).sum())


def test_efficiencies_by_hand():
    compute = np.tile([[3.0, 1.0], [2.0, 2.0]], 20)  # totals 80, 80; slowest 3, then 2
    uneven = np.tile([[3.0, 3.0], [1.0, 1.0]], 20)  # totals 120, 40
    for times, balance, serial in ((compute, 1.0, 80 / 100), (uneven, 80 / 120, 1.0)):
        ideal = times.max(axis=0).sum()
        waiting = times.max(axis=0) - times.mean(axis=0)
        found = efficiency(Observed(times, 1, waiting, np.full(40, 0.5)))
        assert found["load_balance"] == pytest.approx(balance)
        assert found["serialisation"] == pytest.approx(serial)
        assert found["transfer"] == pytest.approx(ideal / (ideal + 20))
        product = found["load_balance"] * found["serialisation"] * found["transfer"]
        assert found["parallel"] == pytest.approx(product) == pytest.approx(80 / (ideal + 20))


def test_what_has_no_budget_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"ranks=1: there is nobody to wait for"):
        budget(record.load(write_run(tmp_path / "one", ranks=1, cycles=100)))
    barrier = {"cycles": True, "spikes": False, "barrier": False}

    network = {**describe(areas=2), "record": barrier}
    with pytest.raises(BadInput, match=r"record\.barrier=true"):
        budget(record.load(write_run(tmp_path / "two", cycles=100, description=network)))
    with pytest.raises(BadInput, match=r"cycles=19: a budget needs at least 20"):
        budget(np.ones((2, 19)))
    with pytest.raises(BadInput, match=r"compute time of nan"):
        budget(np.full((2, 30), np.nan))
    lagged = record.load(write_run(tmp_path / "three", cycles=100))
    lagged.record.lanes[0].__dict__["lag"] = 1
    with pytest.raises(BadInput, match=r"all ranks meet at one barrier"):
        budget(lagged)


@pytest.mark.parametrize("ratio", [51, 100, 101, 10**6, 10**30])
@pytest.mark.filterwarnings("error")
def test_a_budget_needs_two_windows(ratio, tmp_path):
    run = record.load(write_run(tmp_path, cycles=100))
    allowed = "100 cycles are less than two windows; allowed are 2 to 50"
    with pytest.raises(BadInput, match=f"^delay_ratio={ratio}: {allowed}$"):
        budget(run, ratio)
    assert budget(run, 50).delay_ratio == 50


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("ratio", "taken"), [(1, 10), (20, 20), (50, 50), (60, 10), (200, 10)])
def test_a_d_of_the_description_counts_where_the_run_has_two_windows_of_it(tmp_path, ratio, taken):
    run = record.load(write_run(tmp_path, cycles=100, delay_ratio=ratio))
    assert budget(run).delay_ratio == taken
    now = whatif.situation([run])
    assert now.told_apart == taken
    assert whatif.whatif(now)[0].refused is None
