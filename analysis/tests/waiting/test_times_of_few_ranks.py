"""Times of a few ranks, equal or disturbed in several ways, get an answer and a page."""

import numpy as np
import pytest
from drifting import EVENTS, befallen, noise

SEEDS = range(6)
WAYS = (
    ("--json",),
    ("--html", "page.html"),
    ("--schedule", "structure_aware", "--delay-ratio", "2"),
)


def some_times(seed) -> np.ndarray:
    """Times in s, [rank, cycle]: of some seeds, nothing varies but for events."""
    random = np.random.default_rng([seed, 101])
    ranks = int(random.choice([2, 3, 4]))
    cycles = int(random.choice([60, 300, 1000]))
    sd = random.choice([0, 0.01, 0.1])
    correlation = random.choice([0, 0.9])
    times = np.maximum(1e-3 * (1 + sd * noise(random, ranks, cycles, correlation, 0.5)), 1e-5)
    for _ in range(int(random.integers(3))):
        times[int(random.integers(ranks))] *= random.uniform(1, 1.2)
    for _ in range(int(random.integers(4))):
        befallen(random, times, int(random.integers(ranks)), str(random.choice(EVENTS)))
    return times


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", SEEDS)
def test_every_answer_is_given_without_a_division_by_nothing(
    seed, tmp_path, monkeypatch, spikemark
):
    monkeypatch.chdir(tmp_path)
    np.save("compute.npy", some_times(seed))
    for options in WAYS:
        status, output, errors = spikemark("waiting", "compute.npy", "--unit", "s", *options)
        assert (status, "nan" in output) == (0, False), (options, errors)


@pytest.mark.filterwarnings("error")
def test_equal_times_in_which_nobody_waits_have_a_page(tmp_path, monkeypatch, spikemark):
    monkeypatch.chdir(tmp_path)
    np.save("compute.npy", np.full((4, 300), 1e-3))
    assert spikemark("waiting", "compute.npy", "--unit", "s", "--html", "page.html")[0] == 0


@pytest.mark.filterwarnings("error")
def test_a_rank_without_any_variation_beside_one_event(tmp_path, monkeypatch, spikemark):
    monkeypatch.chdir(tmp_path)
    times = np.full((2, 1000), 1e-3)
    times[0, 500] += 0.3
    np.save("compute.npy", times)
    status, output, _ = spikemark("waiting", "compute.npy", "--unit", "s", "--json")
    assert status == 0 and "NaN" not in output
