"""The preset music-cells: who receives from whom, by structure and wiring."""

from collections import defaultdict

import pytest

from spikemark.network.presets import music

WIRINGS = {
    "A<->B": ["A-B", "B-A"],
    "A<->B,C<->D": ["A-B", "B-A", "C-D", "D-C"],
    "A->B->C->D": ["A-B", "B-C", "C-D"],
    "A->A": ["A-A"],
    "A -> B , B->A": ["A-B", "B-A"],
}


def synapses(description: dict) -> dict[str, int]:
    """Synapses of each application."""
    sizes = {p["name"]: p["size"] for p in description["network"]["populations"]}
    found = defaultdict(int)
    for projection in description["network"]["projections"]:
        found[projection["target"][0]] += projection["indegree"] * sizes[projection["target"]]
    return dict(found)


@pytest.mark.parametrize("applications", WIRINGS)
@pytest.mark.parametrize("communication", music.COMMUNICATION)
def test_each_connection_is_a_lane_with_its_exchange(applications, communication):
    description = music.describe(applications=applications, communication=communication, np=2)
    lanes = {lane["name"]: lane for lane in description["schedule"]}
    assert list(lanes) == WIRINGS[applications]
    exchange = {"collective": "allgatherv", "point-to-point": "p2p"}[communication]
    assert description["exchange"] == dict.fromkeys(lanes, exchange)
    for name, lane in lanes.items():
        source, target = name.split("-")
        assert (lane["from"], lane["to"]) == (
            [f"{source}/0", f"{source}/1"],
            [f"{target}/0", f"{target}/1"],
        )
    assert synapses(description) == dict.fromkeys(sorted({name[-1] for name in lanes}), 1000 * 2048)
    projections = description["network"]["projections"]
    assert {(s[0], p["target"][0]) for p in projections for s in p["source"]} == {
        tuple(name.split("-")) for name in lanes
    }


@pytest.mark.parametrize("structure", [0, 0.3, 0.5, 0.8, 1])
@pytest.mark.parametrize(("processes", "granularity"), [(1, 3), (4, 8), (6, 12), (7, 9), (64, 24)])
def test_patches_and_windows(processes, granularity, structure):
    """Patches cover the torus; a window that reaches one patch on each side meets nine at most."""
    owners, owned = music.owners_of(processes, granularity), defaultdict(list)
    for place, owner in owners.items():
        owned[owner].append(place)
    assert list(owned) == list(range(processes)) and len(owners) == granularity**2
    sides = [len({p[k] for p in places}) for places in owned.values() for k in (0, 1)]
    assert all(
        len(p) == len({r for r, _ in p}) * len({c for _, c in p}) for p in owned.values()
    )  # oblong
    far = music.reach(structure, granularity)
    for places in list(owned.values())[:3]:
        met = {
            owners[source] for place in places for source in music.window(place, far, granularity)
        }
        assert len(met) <= (9 if far <= min(sides) else processes)
        assert len(met) == 1 or far > 0
        assert len(met) == processes or 2 * far + 1 < granularity
    window = music.window((0, 0), far, granularity)
    assert len(window) == len(set(window)) == min(2 * far + 1, granularity) ** 2


@pytest.mark.parametrize(
    ("options", "cells", "connections"),
    [
        ({"full": True}, 2 * 2_097_152, 1000),
        ({"full": True, "cells": "10k"}, 524_288, 10_000),
        ({"full": True, "cells": "10k", "applications": "A<->B,C<->D"}, 1_048_576, 10_000),
        ({"full": True, "scale": 0.25}, 1_048_576, 1000),
        ({"granularity": 9, "scale": 0.001}, 2 * 2097, 1000),  # 81 tiles: some have a cell more
        ({}, 4096, 1000),
    ],
)
def test_published_numbers(options, cells, connections):
    description = music.describe(**options)
    populations, projections = (
        description["network"]["populations"],
        description["network"]["projections"],
    )
    assert sum(p["size"] for p in populations) == cells
    assert sum(synapses(description).values()) == cells * connections
    assert {p["neuron"]["rate_hz"] for p in populations} == {30}
    assert all(p["delay"] == {"distribution": "constant", "mean": 1.0} for p in projections)
    assert (description["time"]["cycle_ms"], description["time"]["simulate_ms"]) == (1.0, 200.0)
