"""Values of machine profiles that follow from published tables follow from them here, too."""

import numpy as np
import pytest

from spikemark import machines
from spikemark.models import node_power
from spikemark.models.node_power import PowerReading
from spikemark_studies.profiles import above_w
from spikemark_studies.published import simula

#: Rows of Table II to which the power of the servers is fitted, by cores and network.
FITTED = {(1, ""), (2, ""), (16, ""), (32, "ETH"), (32, "IB")}
#: What the fit says of the other rows: power over the published one.
JUDGED = {
    (4, ""): 0.90,
    (8, ""): 0.87,
    (64, "ETH"): 1.29,
    (64, "IB"): 1.30,
}
PARTS_OF_PROFILE = (("socket", "socket"), ("core", "core"), ("core_alone", "core_alone"))
SERVER = {"cores": 16, "sockets": 2}


def row_of(point) -> tuple[int, str]:
    return point.cores, point.note if point.note in ("ETH", "IB") else ""


def physical_points():
    """Rows of Table II without hyper-threads."""
    return [point for point in simula.points(simula.X86) if "HT" not in point.label]


def test_power_of_the_x86_servers_is_fitted_to_named_rows():
    readings = []
    for point in physical_points():
        cores, card = row_of(point)
        nodes = -(-cores // 16)
        if (cores, card) in FITTED:
            readings.append(PowerReading(nodes, cores // nodes, point.power_w, card))
    assert len(readings) == len(FITTED)
    parts = node_power.fitted(readings, **SERVER)
    for name, card in (("dpsnn-westmere-eth", "ETH"), ("dpsnn-westmere-ib", "IB")):
        profile = machines.load(name)
        for path, part in (*PARTS_OF_PROFILE, ("card", card)):
            assert profile.get(f"power.{path}").value == pytest.approx(
                parts[part], rel=1e-3, abs=1e-3
            )
        assert profile.get("power.idle").value == simula.parameter("baseline_server") / 4


def test_the_other_rows_of_table_2_judge_that_power():
    """Their errors as they are: four and eight cores draw more, and four servers less."""
    judged = {}
    for point in physical_points():
        cores, card = row_of(point)
        if (cores, card) in FITTED:
            continue
        machine = "dpsnn-westmere-ib" if card == "IB" else "dpsnn-westmere-eth"
        judged[cores, card] = above_w(machine, cores) / point.power_w
    assert judged == pytest.approx(JUDGED, abs=0.01)


def test_power_of_the_arm_board():
    one_board = [point for point in simula.points(simula.ARM) if point.note.startswith("1 board")]
    cores = np.array([point.cores for point in one_board])
    power_w = np.array([point.energy_j / point.time_s for point in one_board])
    profile = machines.load("jetson-tx1")
    of_core = cores @ power_w / (cores @ cores)
    assert profile.get("power.core").value == pytest.approx(of_core, rel=2e-3)
    assert profile.get("power.idle").value == simula.parameter("baseline_embedded_2boards") / 2
