"""Cycle times that cannot be meant in seconds are refused, whoever is handed them."""

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.waiting import PREDICTORS
from spikemark.waiting.budget import budget
from spikemark.waiting.source import source
from spikemark.waiting.usable import LONGEST_CYCLE_S

TIMES_S = np.random.default_rng(1).normal(50e-6, 5e-6, (3, 400))
READERS = {"source": source, "budget": budget} | {name: kind.fit for name, kind in PREDICTORS.items()}


@pytest.mark.parametrize("read", READERS.values(), ids=list(READERS))
def test_microseconds_do_not_pass_as_seconds(read):
    with pytest.raises(BadInput, match=r"s on average; allowed are seconds.*microseconds, multiply.*1e-6"):
        read(1e6 * TIMES_S)


@pytest.mark.parametrize("read", READERS.values(), ids=list(READERS))
def test_slow_cycles_pass(read):
    read(TIMES_S / TIMES_S.mean() * 0.99 * LONGEST_CYCLE_S)
