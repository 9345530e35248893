"""Times of delivery that were planted are found again."""

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.models import delivery_time as model
from spikemark.models.delivery_time import DeliveryTimes

TRUTH = DeliveryTimes(first=20e-9, next=1.5e-9, spike=6e-9)


def sweep(rng, empty: float = 0.4, noise: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Counts and times of runs with a million synapses and lists of 1 to 1000; half of the runs
    have spikes without a list.
    """
    lengths = np.repeat([1, 2, 4, 8, 32, 128, 1000], 2)
    first = 1e6 / lengths
    spikes = first / (1 - empty * (np.arange(len(lengths)) % 2) / lengths)
    counts = np.column_stack([first, np.full(len(lengths), 1e6), spikes])
    return counts, TRUTH.predict(counts) * np.exp(noise * rng.standard_normal(len(lengths)))


def test_planted_times():
    counts, seconds = sweep(np.random.default_rng(1))
    found = model.fit(counts, seconds)
    assert [found.first, found.next, found.spike] == pytest.approx([20e-9, 1.5e-9, 6e-9], rel=1e-6)


def test_short_deliveries_count_as_much_as_long_ones():
    """An error of a tenth in the longest delivery must not spoil the others."""
    counts, seconds = sweep(np.random.default_rng(1))
    seconds[0] *= 1.1
    found = model.fit(counts, seconds)
    assert found.predict(counts)[2:] == pytest.approx(seconds[2:], rel=0.05)


def test_without_empty_lists_a_spike_is_part_of_entering():
    counts, seconds = sweep(np.random.default_rng(1), empty=0.0)
    found = model.fit(counts, seconds)
    assert found.spike is None
    assert (found.first, found.next) == pytest.approx((26e-9, 1.5e-9), rel=1e-6)


def test_no_time_is_negative():
    counts, _ = sweep(np.random.default_rng(1))
    found = model.fit(counts, counts @ [30e-9, 1e-9, -5e-9])
    assert found.spike == 0 and found.first > 0 and found.next > 0


@pytest.mark.parametrize(
    "counts, seconds, why",
    [
        ([[10, 100, 10], [20, 200, 20]], [1, 2], "all alike"),
        ([[10, 100, 10], [20, 300, 20]], [1, 0], "above 0"),
        (np.empty((0, 3)), [], "above 0"),
    ],
)
def test_refuses_what_cannot_be_fitted(counts, seconds, why):
    with pytest.raises(BadInput, match=why):
        model.fit(np.array(counts), np.array(seconds))
