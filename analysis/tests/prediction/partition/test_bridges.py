"""The forwarding table: every word arrives, the busiest bridge is less busy, and the cap holds."""

import json

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.prediction.partition import bridges, levels

SIZES = (4, 5)
RANKS = 20


def uneven(seed: int = 1) -> np.ndarray:
    """Traffic whose destinations differ by far."""
    rng = np.random.default_rng(seed)
    found = rng.lognormal(0, 0.5, (RANKS, RANKS)) * rng.lognormal(0, 1.5, RANKS)
    np.fill_diagonal(found, 0)
    return found


def sent_on(pairs: np.ndarray, table: np.ndarray, side: str) -> np.ndarray:
    """[ranks] what bridges send on for others, word by word."""
    found = np.zeros(RANKS)
    for s in range(RANKS):
        for r in range(RANKS):
            own, away = (s, r) if side == "sender" else (r, s)
            group = own // SIZES[0]
            bridge = group * SIZES[0] + table[group, away]
            if away // SIZES[0] != group and bridge != own:
                found[bridge] += pairs[s, r]
    return found


@pytest.mark.parametrize("side", levels.SIDES)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("cap", [None, 4, 6, 16])
def test_the_table_evens_out_the_bridges(seed, cap, side):
    pairs = uneven(seed)
    found = bridges.balanced(pairs, SIZES, cap, side)
    assert found.forwarded == pytest.approx(sent_on(pairs, found.bridge, side))
    usual = levels.loads(None, pairs, SIZES, side)[1].forwarded
    assert found.before == pytest.approx(usual)
    assert found.forwarded.max() < usual.max()
    assert found.partners.max() <= (4 if cap is None else cap)
    assert found.partners.sum() == found.partners_before.sum() == RANKS * 4  # each rank, by every other group
    own = found.bridge[np.arange(RANKS) // SIZES[0], np.arange(RANKS)]
    assert own.tolist() == [r % SIZES[0] for r in range(RANKS)]
    assert found.bridge.min() >= 0 and found.bridge.max() < SIZES[0]


def test_more_connections_allow_a_lower_peak():
    peaks = [bridges.balanced(uneven(), SIZES, cap).forwarded.max() for cap in (4, 6, 16)]
    assert peaks == sorted(peaks, reverse=True)


@pytest.mark.parametrize("side", levels.SIDES)
def test_the_file_says_what_it_is(side, tmp_path):
    found = bridges.balanced(uneven(), SIZES, side=side)
    bridges.write(tmp_path / "table.json", found)
    given = json.loads((tmp_path / "table.json").read_text())
    assert (given["kind"], given["format_version"], given["dimensions"]) == ("forwarding_table", 1, [4, 5])
    assert given["bridge"] == found.bridge.tolist()
    assert given["side"] == side


@pytest.mark.parametrize(
    ("sizes", "cap", "complaint"),
    [
        ((2, 2, 5), None, "levels=2x2x5: a forwarding table is for two levels whose product is 20"),
        ((), None, "levels=none: a forwarding table"),
        ((3, 7), None, "levels=3x7: a forwarding table"),
        ((4, 5), 3, "cap=3: at least 4, since 4 bridges reach 16 ranks"),
    ],
)
def test_what_has_no_table_is_refused(sizes, cap, complaint):
    with pytest.raises(BadInput, match=complaint):
        bridges.check(sizes, RANKS, cap)
