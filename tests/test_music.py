"""Runs of applications wired as in the study of MUSIC: one network, whatever the exchange and the
ranks.
"""

import program
import pytest

from spikemark.network.presets import music

pytestmark = pytest.mark.slow

WIRINGS = ("A<->B", "A<->B,C<->D", "A->B->C->D")
SMALL = {
    "np": 2,
    "connections": 20,
    "granularity": 4,
    "scale": 1 / 8192,
    "simulate_ms": 60,
    "warmup_ms": 5,
}
#: Ranks and communication of the runs that are compared with one rank.
RUNS = [(2, "point-to-point"), (4, "collective"), (4, "point-to-point")]
EXCHANGE = {"collective": "allgatherv", "point-to-point": "p2p"}


def holders(lane: str, names: list[str], ranks: int) -> set[int]:
    """Ranks that hold an area of the two applications; 2 equal areas of each are dealt in order."""
    areas = [2 * names.index(name) + process for name in lane.split("-") for process in (0, 1)]
    first = {area: area * ranks // (2 * len(names)) for area in range(2 * len(names) + 1)}
    return {
        rank for area in areas for rank in range(first[area], max(first[area + 1], first[area] + 1))
    }


def run(folder, description: dict, ranks: int) -> dict:
    return program.record_of(folder / "out", description=description, ranks=ranks)


@pytest.mark.parametrize("applications", WIRINGS)
def test_one_checksum_for_all_ranks_and_exchanges(applications, tmp_path):
    expected = run(tmp_path, music.describe(**SMALL, applications=applications), ranks=1)
    assert expected["totals"]["spikes"] > 500
    names = sorted({p["name"][0] for p in expected["description"]["network"]["populations"]})
    receivers = {lane["name"][-1] for lane in expected["lanes"]}
    assert expected["totals"]["neurons"] == 256 * len(names)
    assert expected["totals"]["synapses"] == 20 * 256 * len(receivers)
    for ranks, communication in RUNS:
        options = {"applications": applications, "communication": communication}
        record = run(tmp_path, music.describe(**SMALL, **options), ranks=ranks)
        assert record["checksum"] == expected["checksum"], (ranks, communication)
        assert record["totals"]["synaptic_events"] == expected["totals"]["synaptic_events"]
        for lane in record["lanes"]:
            held = holders(lane["name"], names, ranks)
            assert lane["ranks"] == len(held), (ranks, lane["name"])
            assert lane["exchange"] == (EXCHANGE[communication] if len(held) > 1 else "self")


def test_each_connection_has_its_exchange(tmp_path):
    options = SMALL | {"scale": 1 / 32768, "structure": 1.0}
    description = music.describe(**options, applications="A->B->C")
    description["exchange"]["A-B"] = "allgatherv"
    record = run(tmp_path, description, ranks=6)
    assert [lane["exchange"] for lane in record["lanes"]] == ["allgatherv", "p2p"]
    assert [lane["ranks"] for lane in record["lanes"]] == [4, 4]
    # One to one: a message from each of two ranks and window; a collective goes to all of the lane.
    assert [lane["connections"] for lane in record["lanes"]] == [3, 1]
    assert record["lanes"][1]["messages"] == 2 * record["lanes"][1]["windows"]
    assert record["checksum"] == run(tmp_path, description, ranks=1)["checksum"]
