"""Times of exchanges: by hand for small groups, growth, tables of the profile."""

from dataclasses import replace

import numpy as np
import pytest
from small_machine import Machine, Value

from spikemark.errors import BadInput
from spikemark.prediction import exchange, loads, rates
from spikemark.prediction.inputs import Inputs
from spikemark.prediction.network import Interconnect, Traffic
from spikemark.presets import mam_benchmark

NETWORK = mam_benchmark.describe(areas=8, neurons_per_area=600, indegree=40)


def net(machine=None, nodes=2):
    return Interconnect.of(Inputs(machine or Machine()), nodes)


def dense(ranks, size, each=1):
    other = 1.0 - np.eye(ranks)
    return Traffic(size * other, other, np.arange(ranks) // each)


def test_two_ranks_by_hand():
    """Latency, then a gap or bytes over bandwidth; above the eager threshold one more latency."""
    assert net().messages(dense(2, 1200)) == pytest.approx(1.5e-6 + 0.3e-6)
    assert net().messages(dense(2, 120_000)) == pytest.approx(2 * 1.5e-6 + 120_000 / 12e9)


def test_ranks_of_a_node_share_its_card():
    size = 1_000_000
    apart, together = dense(8, size), dense(8, size, each=4)
    assert net().messages(apart) == pytest.approx(3e-6 + 7 * size / 12e9)
    assert net().messages(together) == pytest.approx(3e-6 + 16 * size / 12e9)


def test_small_messages_to_many_go_by_log_of_the_ranks():
    times = [net().alltoall(dense(ranks, 4)) for ranks in (4, 16, 64, 256)]
    assert (np.diff(times) > 0).all()
    assert times[-1] < 256 * 0.3e-6  # less than one message to each
    assert times[-1] == pytest.approx(8 * (1.8e-6 + 128 * 4 / 12e9))


def test_a_barrier_takes_a_latency_for_every_doubling():
    assert net().barrier(dense(64, 1)) == pytest.approx(6 * 1.5e-6)
    assert net().barrier(dense(64, 1, each=16)) == pytest.approx(4 * 0.4e-6 + 2 * 1.5e-6)


def test_tables_of_the_profile_come_first():
    rows = ((8, 4, 10.0), (8, 4096, 40.0), (32, 4, 30.0), (32, 4096, 120.0))
    values = {**Machine().values, "interconnect.tables.alltoall": Value(rows, "us", "literature")}
    known = net(Machine(values=values))
    assert known.alltoall(dense(8, 4)) == pytest.approx(10e-6)
    assert known.alltoall(dense(32, 4096)) == pytest.approx(120e-6)
    assert known.alltoall(dense(16, 4)) == pytest.approx(1e-6 * np.sqrt(300))
    assert known.alltoall(dense(8, 128)) == pytest.approx(20e-6)
    assert known.alltoall(dense(8, 8192)) == pytest.approx(80e-6)
    assert known.alltoall(dense(64, 4)) > known.alltoall(dense(32, 4))


@pytest.mark.parametrize("name", exchange.EXCHANGES)
def test_every_exchange_grows_with_ranks_and_bytes(name):
    lane = replace(loads.read(NETWORK, 8, 1, rates.of(NETWORK).hz).lanes[0], exchange=name)
    exchange.check(lane)

    def time(ranks, size):
        return exchange.seconds(net(), lane, [dense(ranks, size)])

    assert 0 < time(4, 100) < time(16, 100) < time(64, 100)
    assert time(16, 100) < time(16, 100_000)
    assert exchange.seconds(net(), lane, []) == 0


def test_one_exchange_of_many_cycles_is_cheaper_than_many():
    found = loads.read(NETWORK, 8, 1, rates.of(NETWORK).hz, "structure_aware")
    far = found.lanes[1]
    assert (far.name, far.period) == ("far", 10)
    rare = exchange.groups(found, 1, 1)
    often = [Traffic(t.bytes / 10, t.messages, t.node) for t in rare]
    assert exchange.seconds(net(), far, rare) < 10 * exchange.seconds(net(), far, often)
    assert exchange.groups(found, 0, 1) == []  # near: every rank alone


def test_a_back_end_without_a_model_is_refused():
    lane = loads.read({**NETWORK, "exchange": "two_level"}, 8, 1, rates.of(NETWORK).hz).lanes[0]
    with pytest.raises(BadInput, match="exchange='two_level': no model of its time; there is one of"):
        exchange.check(lane)
