"""The picture of waiting: planted long cycles, slow spells and critical ranks are found again."""

from dataclasses import replace

import numpy as np
import pytest

from spikemark.report import heat
from spikemark.waiting.trace import trace

USUAL_S = 1e-3


def planted(ranks, cycles, seed=1):
    times = np.random.default_rng(seed).normal(USUAL_S, USUAL_S / 100, (ranks, cycles))
    return times.astype(np.float32)


@pytest.mark.parametrize(("ranks", "cycles"), [(2, 100), (7, 5000), (300, 2000)])
def test_the_longest_time_stays_however_much_is_put_together(ranks, cycles):
    times = planted(ranks, cycles)
    rank, cycle = ranks - 1, cycles // 3
    times[rank, cycle] = 40 * USUAL_S
    run = trace(times)
    slowest = heat._slowest_of_windows(run)
    drawn = heat.stretches(run, slowest, 0, len(slowest))
    assert drawn.computing.shape[0] <= heat.MAX_ROWS
    assert drawn.computing.shape[1] <= heat.MAX_STRETCHES
    column = int(np.searchsorted(drawn.edges, cycle, side="right")) - 1
    assert drawn.slowest_rank[column] == rank
    assert drawn.computing.max() == pytest.approx(40 * USUAL_S)
    row = int(np.searchsorted(drawn.rows, rank, side="right")) - 1
    assert np.unravel_index(drawn.computing.argmax(), drawn.computing.shape) == (row, column)
    assert drawn.waiting[:, column].max() == pytest.approx(39 * USUAL_S, rel=0.01)
    assert list(heat.long_windows(slowest)) == [cycle]


def test_waiting_is_what_the_slowest_rank_computed_longer():
    times = planted(3, 200)
    run = trace(times)
    slowest = heat._slowest_of_windows(run)
    drawn = heat.stretches(run, slowest, 40, 60)
    assert drawn.is_zoomed
    expected = times[:, 40:60].max(axis=0) - times[:, 40:60]
    np.testing.assert_allclose(drawn.waiting, expected, atol=1e-9)
    assert (heat._critical_ranks(run, slowest) == times.argmax(axis=0)).all()


def test_slow_spells_are_marked_and_nothing_else():
    times = planted(4, 12_000)
    times[2, 6000:7000] *= 1.5
    run = trace(times)
    slowest = heat._slowest_of_windows(run)
    drawn = heat.stretches(run, slowest, 0, len(slowest))
    is_in_spell = (drawn.edges[:-1] >= 6000) & (drawn.edges[1:] <= 7000)
    assert (drawn.slow == is_in_spell).all() and is_in_spell.sum() == 10


@pytest.mark.slow
def test_a_timeline_names_the_ranks_that_it_leaves_out():
    times = planted(100, 500)
    times[77, 250] = 40 * USUAL_S
    shown = heat.section(trace(times))
    longest = shown.figures[-1]
    assert "of 100 ranks" in longest.caption
    critical = [row for row in longest.table.rows if row["critical"]]
    assert {"cycle": 250, "rank": 77} in [
        {"cycle": row["cycle"], "rank": row["rank"]} for row in critical
    ]
    by_cycle = {row["cycle"] for row in critical}
    assert len(critical) == len(by_cycle) == 2 * heat.BESIDE_CHOSEN + 1
    assert "Rank" in shown.text[0] and "cycle 250" in shown.text[0]


@pytest.mark.slow
def test_one_long_exchange_leaves_the_others_their_colours():
    """The last exchange takes 40 times the usual: colours end before it, and the caption tells."""
    times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 400))
    exchanges = np.linspace(40e-6, 60e-6, 400)
    exchanges[-1] = 1820e-6
    exchange_row = 1e6 * exchanges[None, :]
    assert 55 < heat._end_of_colours(exchange_row) <= 60
    run = replace(trace(times), exchanged=exchanges)
    caption = heat.section(run).figures[0].caption
    assert "1\u202f820\u202fµs" in caption or "1820" in caption, caption
