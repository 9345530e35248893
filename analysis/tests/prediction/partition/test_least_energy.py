"""Least energy within a time limit: as good as trying everything, and a part that is off is not paid for."""

import numpy as np
import pytest
import two_parts

from spikemark.core.errors import BadInput
from spikemark.prediction.partition import balance, balance_show, least_energy
from spikemark.prediction.partition.least_energy import Limit

THRIFTY = two_parts.PROFILE.with_(power__idle=10, power__core=1)


@pytest.fixture(scope="module")
def task():
    """A fast part that takes much power, a slow one that takes little; two nodes of four cores each."""
    return two_parts.task(two_parts.machine(1.5, slow=THRIFTY))


def by_hand(task, found, fast: int, slow: int) -> tuple[float, float]:
    """Real-time factor and energy of ranks on parts, with the search's own times."""
    (mix,) = [one for one in found.tried if one.counts == (fast, slow)]
    nodes = [-(-count // 4) for count in (fast, slow)]
    cards = [5 * own if own > 1 or sum(nodes) > 1 else 0 for own in nodes]
    power = nodes[0] * 100 + 10 * fast + nodes[1] * 10 + slow + (sum(cards) if any(nodes) else 0)
    assert mix.power_w == pytest.approx(power, rel=0.05)
    return mix.real_time_factor, power * mix.real_time_factor


def test_every_mix_of_whole_nodes_is_tried(task):
    found = least_energy.search(task, None, None, Limit(times=100))
    assert {mix.counts for mix in found.tried} == {(a, b) for a in (0, 4, 8) for b in (0, 4, 8)} - {(0, 0)}
    assert found.chosen.energy_j == min(mix.energy_j for mix in found.tried)
    assert found.fastest.real_time_factor == min(mix.real_time_factor for mix in found.tried)
    assert list(found.chosen.on) == ["slow"]  # the fast part is off: it would take more than it saves
    for mix in found.tried:
        by_hand(task, found, *mix.counts)


def test_a_tighter_limit_costs_energy(task):
    loose = least_energy.search(task, None, None, Limit(times=100))
    tight = least_energy.search(task, None, None, Limit(times=1))
    assert tight.chosen.counts == loose.fastest.counts
    last = 0.0
    for factor in np.linspace(loose.fastest.real_time_factor, loose.chosen.real_time_factor, 5)[::-1]:
        found = least_energy.search(task, None, None, Limit(real_time_factor=factor * 1.0001))
        assert found.chosen.real_time_factor <= found.limit
        assert found.chosen.energy_j >= last
        last = found.chosen.energy_j
    assert tight.chosen.energy_j > 1.5 * loose.chosen.energy_j


def test_no_mix_is_fast_enough(task):
    with pytest.raises(BadInput, match=r"^--target-rtf=1e-09: no mix is that fast; allowed: from "):
        least_energy.search(task, None, None, Limit(real_time_factor=1e-9))


def test_ranks_are_the_most_that_take_part(task):
    found = least_energy.search(task, 6, None, Limit(times=100))
    assert {mix.counts for mix in found.tried} == {(4, 0), (0, 4), (6, 0), (0, 6)}


def test_ranks_by_part_are_one_mix(task):
    found = least_energy.search(task, None, {"fast": 2, "slow": 4}, Limit(times=1))
    assert found.chosen.on == {"fast": 2, "slow": 4} and len(found.tried) == 1


def test_many_mixes_are_searched_from_coarse_to_fine(task, monkeypatch):
    exact = least_energy.search(task, None, None, Limit(times=1.3))
    monkeypatch.setattr(least_energy, "MOST", 4)
    found = least_energy.search(task, None, None, Limit(times=1.3))
    assert found.chosen.counts == exact.chosen.counts


def test_equal_nodes(task):
    """On a profile, the number of nodes is chosen."""
    alone = two_parts.task(two_parts.PROFILE)
    found = least_energy.search(alone, 12, None, Limit(times=100))
    assert [mix.counts for mix in found.tried] == [(4,), (8,), (12,)]
    assert found.chosen.counts == (4,)
    with pytest.raises(BadInput, match=r"^--ranks: missing; made-up may have any number of nodes"):
        least_energy.search(alone, None, None, Limit(times=2))


def test_unknown_power_is_one_line():
    silent = two_parts.PROFILE.with_(power__core=None)
    machine = two_parts.machine(slow=silent)
    with pytest.raises(BadInput, match=r"^--balance=energy: part slow: made-up: power\.core is unknown"):
        least_energy.search(two_parts.task(machine), None, None, Limit(times=2))
    only = least_energy.search(two_parts.task(machine), None, {"fast": 4}, Limit(times=2))
    assert only.chosen.on == {"fast": 4}


def test_an_unknown_price_does_not_matter(task):
    free = two_parts.machine(1.5, fast=two_parts.PROFILE.with_(price__node_hour=None), slow=THRIFTY)
    found, usual = (
        least_energy.search(one, None, None, Limit(times=2)) for one in (two_parts.task(free), task)
    )
    assert found.chosen.counts == usual.chosen.counts


def test_the_answer_has_intervals(task):
    found = least_energy.search(task, None, None, Limit(times=2))
    for name in ("real_time_factor", "energy_j"):
        figure = found.prediction.figures[name]
        assert figure.low < figure.value < figure.high
        assert figure.value == pytest.approx(getattr(found.chosen, name))
    (line,) = [line for line in balance_show.search_lines(found) if line.startswith("J per simulated s of ")]
    assert line.endswith(found.prediction.figures["energy_j"].kind)


def test_mixes_without_enough_memory_are_left_out(task):
    needed = 1e-9 * balance.balanced(task, 4, {"fast": 4}).best.node_bytes[0]
    little = two_parts.PROFILE.with_(node__memory=0.7 * needed)
    found = least_energy.search(
        two_parts.task(two_parts.machine(fast=little, slow=little)), None, None, Limit(times=9)
    )
    assert found.too_large == 2 and all(sum(mix.nodes.values()) > 1 for mix in found.tried)
    assert "Into the memory of 2 the network does not fit." in balance_show.how_many(found)
