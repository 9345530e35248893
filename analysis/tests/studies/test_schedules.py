"""The study of schedules: waiting of planted runs, the recursion and the predictors beside it."""

import numpy as np
import pytest
from small_network import describe
from studied import carried_out, says_simulated, table

from spikemark.studies import STUDIES, waits


@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks_leave_no_cycle_out(blocks):
    waiting = np.random.default_rng(1).random((3, 20 * blocks + 7))
    found = waits.blocks(waiting)
    assert len(found) == blocks
    sizes = [len(waiting[0]) // blocks] * blocks
    sizes[-1] = len(waiting[0]) - sum(sizes[:-1])
    assert np.average(found, weights=sizes) == pytest.approx(1e6 * waiting.mean())


def test_factor_of_waiting_is_paired():
    """Blocks that wait in proportion have one factor exactly, however much they differ from each other."""
    rng = np.random.default_rng(1)
    small = {(1, 1): rng.exponential(1.0, 10), (2, 1): rng.exponential(1.0, 10), (3, 1): rng.random(4)}
    large = {place: 3 * values for place, values in small.items() if place[0] < 3}
    exact = waits.factor(large, small)
    assert (exact.value, exact.low, exact.high) == pytest.approx((3, 3, 3))
    noisy = waits.factor(large, {k: v * rng.uniform(0.5, 1.5, len(v)) for k, v in small.items()})
    assert noisy.low < noisy.value < noisy.high
    assert not waits.factor(large, {})
    assert not waits.factor({(1, 1): np.zeros(3)}, {(1, 1): np.zeros(3)})


def test_interval_of_the_factor_covers():
    """Planted ratio 2 of means of independent exponential blocks, which 95 % intervals contain as often."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        a, b = {(1, 1): 2 * rng.gamma(4, size=20)}, {(1, 1): rng.gamma(4, size=20)}
        found = waits.factor(a, b)
        held += found.low <= 2 <= found.high
    assert held / 400 == pytest.approx(0.95, abs=0.04)


def skewed(schedule: str, delay_ratio: int, seed: int, correlation: float) -> dict:
    description = describe(areas=2, neurons=20, indegree=4, delay_ratio=10)
    description["inject"] = {"mean_us": 1000, "sd_us": 100, "correlation": correlation, "wait": "sleep"}
    named = {"schedule": schedule, "delay_ratio": delay_ratio, "ranks": 2, "seed": seed}
    label = f"{schedule} {delay_ratio} {seed} {correlation}"
    times = {"cycles": 1000, "mean_s": 1e-3, "cv": 0.1, "ar1": correlation}
    return {"label": label, "description": description, "warnings": [], **named, **times}


@pytest.fixture(scope="module")
def schedules(tmp_path_factory):
    runs = [
        skewed(schedule, ratio, seed, correlation)
        for schedule, ratio in (("conventional", 1), ("structure_aware", 10))
        for seed in (1, 2)
        for correlation in (0.0, 0.9)
    ]
    return carried_out(STUDIES["schedules"], tmp_path_factory.mktemp("schedules"), runs)


def test_recursion_agrees_with_planted_waiting(schedules):
    done, _ = schedules
    rows = table(done, "waiting").rows
    assert len(rows) == 4
    for row in rows:
        assert row["waiting_us_replayed"].value == pytest.approx(row["waiting_us"].value, rel=1e-3)
        assert (
            row["waiting_us_drawn"].low * 0.8 < row["waiting_us"].value < 1.25 * row["waiting_us_drawn"].high
        )


def test_waiting_predicted_from_the_conventional_runs(schedules):
    done, _ = schedules
    independent, drifting = table(done, "held_out").rows  # structure-aware, at either correlation
    for row in (independent, drifting):
        assert row["schedule"] == "structure-aware, D\xa0=\xa010"
        for name in ("correlated", "replay"):
            assert abs(row[f"{name}_error"]) < 15
            assert row[f"{name}_us"].low < row["measured_us"].high
            assert row[f"{name}_us"].high > row["measured_us"].low
    assert abs(independent["iid_error"]) < 15
    assert drifting["iid_error"] < -50


def test_waiting_predicted_from_half_of_the_ranks(schedules, tmp_path):
    """Of two ranks one is too few to say anything of further ones; four of eight are enough."""
    done, _ = schedules
    assert len(table(done, "held_out_ranks").rows) == 4
    assert all(not row["replay_us"] for row in table(done, "held_out_ranks").rows)
    pairs = (("conventional", 1), ("structure_aware", 10))
    runs = [skewed(*pair, seed, 0.9) | {"ranks": 8} for pair in pairs for seed in (1, 2)]
    done, page = carried_out(STUDIES["schedules"], tmp_path, runs)
    for row in table(done, "held_out_ranks").rows:
        for name in ("correlated", "replay"):
            assert abs(row[f"{name}_error"]) < 15
    assert "every second rank" in page.text


def test_schedules_page_has_a_figure_for_each_correlation(schedules):
    _, page = schedules
    assert len(page.images) == 2
    assert "structure-aware" in page.images[0]
    assert "Nothing to compare yet" in page.text  # nothing overlaps in synthetic runs


def test_simulated_runs_keep_their_kind(fake, tmp_path):
    """The same runs on a simulated machine: every column that was measured is simulated."""
    ways = (("conventional", 1), ("structure_aware", 10))
    runs = [skewed(*way, seed, 0.9) | {"ranks": 4} for way in ways for seed in (1, 2)]
    kinds = []
    for on_machine in (False, True):
        done, _ = carried_out(STUDIES["schedules"], tmp_path / str(on_machine), runs, on_machine)
        kinds.append([column.kind for t in done.findings.tables for column in t.columns])
    says_simulated(done)
    assert kinds[1] == [{"measured": "simulated"}.get(kind, kind) for kind in kinds[0]] != kinds[0]
