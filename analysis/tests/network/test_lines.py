"""What does not fit lines that lists share, against lists that are drawn and laid out here."""

import numpy as np
import pytest

from spikemark.network import lines

SPARE = 12  # bits
DRAWN = 30_000  # lines


def laid_out(mean: float, words: int, filtered: bool) -> float:
    """The share of the spikes that go on from their line to further words.

    Lists have Poisson lengths. A spike enters every list once, with a filter only lists with a
    synapse.
    """
    fill = lines.FILTERED_FILL if filtered else lines.FILL
    each, room = lines.share(fill / (words * mean), SPARE), lines.LINE // words
    lengths = np.random.default_rng(1).poisson(mean, (DRAWN, each))
    ends = lengths.cumsum(axis=1)
    full = ends[:, -1:] > room
    last = (ends < room - 1).sum(
        axis=1, keepdims=True
    )  # list of the last synapse that is in a full line
    goes_on = full & (np.arange(each) >= last)
    entered = lengths > 0 if filtered else np.ones_like(goes_on)
    return float(goes_on[entered].mean())


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("mean", [0.05, 0.36, 0.99, 1.4, 2.9, lines.MAX_MEAN_SYNAPSES - 0.1])
def test_what_does_not_fit_lines(mean, words):
    filtered = mean < 1
    going_on = laid_out(mean, words, filtered)
    assert lines.beyond(mean, words, SPARE, filtered) == pytest.approx(going_on, rel=0.03)


def test_long_lists_and_words_without_bits_to_spare_have_starts():
    assert lines.shares_lines(1000, 1000 * lines.MAX_MEAN_SYNAPSES - 1, 1, lines.MIN_SPARE_BITS)
    assert not lines.shares_lines(1000, 1000 * lines.MAX_MEAN_SYNAPSES, 1, SPARE)
    assert not lines.shares_lines(1000, 0, 1, SPARE)
    assert not lines.shares_lines(1000, 1000, 1, lines.MIN_SPARE_BITS - 1)
    assert not lines.shares_lines(2**30, 2**30, 2, SPARE) and lines.shares_lines(
        2**30, 2**30, 1, SPARE
    )
