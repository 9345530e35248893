"""Power of a node: planted parts are recovered, and energy of a run takes the same sum."""

import numpy as np
import pytest

from spikemark.models.node_power import NodePower, PowerReading, fitted, sockets_awake

PLANTED = {"socket": 31.0, "core": 4.5, "core_alone": 12.0, "ETH": 9.0, "IB": 3.0}


def test_planted_parts_are_recovered():
    power = NodePower(0.0, PLANTED["socket"], PLANTED["core"], core_alone_w=PLANTED["core_alone"])
    readings = []
    for nodes, busy, card in ((1, 1, ""), (1, 12, ""), (2, 12, "ETH"), (4, 12, "IB"), (1, 5, "")):
        watts = nodes * (power.watts(busy, cores=12, sockets=2) + PLANTED.get(card, 0.0))
        readings.append(PowerReading(nodes, busy, watts, card))
    assert fitted(readings, cores=12, sockets=2) == pytest.approx(PLANTED, rel=1e-4)


@pytest.mark.parametrize(("cores", "sockets"), [(16, 2), (12, 2), (64, 1), (6, 3), (7, 2)])
def test_a_busy_core_more_never_draws_less_and_no_socket_is_missed(cores, sockets):
    awake = [sockets_awake(busy, cores, sockets) for busy in range(cores + 1)]
    assert (awake[0], awake[1], awake[-1]) == (0, 1, sockets)
    assert (np.diff(awake) >= 0).all()


@pytest.mark.parametrize("alone", [4.0, 10.0, 40.0])
def test_a_busy_core_more_draws_more_and_the_full_node_its_cores(alone):
    power = NodePower(100.0, 30.0, 4.0, core_alone_w=alone)
    watts = [power.watts(busy, cores=16, sockets=2) for busy in range(1, 17)]
    assert (np.diff(watts) > 0).all()
    assert watts[0] == pytest.approx(130.0 + alone)
    assert watts[-1] == pytest.approx(160.0 + 16 * 4.0)
