"""The preset music-cells: who receives from whom, by structure and wiring, and what it refuses."""

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spikemark.presets import music_cells
from spikemark.presets.music_lattice import Lattice, reach

WIRINGS = {
    "A<->B": ["A-B", "B-A"],
    "A<->B,C<->D": ["A-B", "B-A", "C-D", "D-C"],
    "A->B->C->D": ["A-B", "B-C", "C-D"],
    "A->A": ["A-A"],
    "A -> B , B->A": ["A-B", "B-A"],
}


def areas_of(description: dict) -> dict[str, str]:
    return {p["name"]: p["area"] for p in description["network"]["populations"]}


def received(description: dict) -> dict[str, set[str]]:
    """The areas that each area receives from."""
    areas, found = areas_of(description), defaultdict(set)
    for projection in description["network"]["projections"]:
        found[areas[projection["target"]]] |= {areas[name] for name in projection["source"]}
    return dict(found)


def synapses(description: dict) -> dict[str, int]:
    """Synapses of each application."""
    sizes = {p["name"]: p["size"] for p in description["network"]["populations"]}
    found = defaultdict(int)
    for projection in description["network"]["projections"]:
        found[projection["target"][0]] += projection["indegree"] * sizes[projection["target"]]
    return dict(found)


@pytest.mark.parametrize("applications", WIRINGS)
@pytest.mark.parametrize("communication", ["collective", "point-to-point"])
def test_each_connection_is_a_lane_with_its_exchange(applications, communication):
    description = music_cells.describe(applications=applications, communication=communication, np=2)
    lanes = {lane["name"]: lane for lane in description["schedule"]}
    assert list(lanes) == WIRINGS[applications]
    exchange = {"collective": "allgatherv", "point-to-point": "p2p"}[communication]
    assert description["exchange"] == dict.fromkeys(lanes, exchange)
    for name, lane in lanes.items():
        source, target = name.split("-")
        assert (lane["from"], lane["to"]) == ([f"{source}/0", f"{source}/1"], [f"{target}/0", f"{target}/1"])
    receivers = {name[-1] for name in lanes}
    names = sorted({p["name"][0] for p in description["network"]["populations"]})
    share = 4096 // len(names)
    assert synapses(description) == dict.fromkeys(sorted(receivers), 1000 * share)
    pairs = {(a[0], b[0]) for b, sources in received(description).items() for a in sources}
    assert pairs == {tuple(name.split("-")) for name in lanes}


def test_structure_says_how_far():
    def sources(**options):
        return received(music_cells.describe(applications="A->B", np=16, **options))

    every = {f"A/{p}" for p in range(16)}
    assert sources(structure=0) == {f"B/{p}": every for p in range(16)}
    assert sources(structure=1) == {f"B/{p}": {f"A/{p}"} for p in range(16)}
    nine = sources(structure=0.5)
    assert {len(areas) for areas in nine.values()} == {9}
    assert nine["B/0"] == {f"A/{p}" for p in (15, 12, 13, 3, 0, 1, 7, 4, 5)}  # on a torus of 4 x 4
    assert {len(areas) for areas in sources(structure=0.75, granularity=16).values()} == {9}
    assert {len(areas) for areas in sources(structure=0.2).values()} == {16}


@given(
    side=st.integers(1, 24),
    processes=st.integers(1, 64),
    structure=st.floats(0, 1),
    tiles=st.integers(1, 40),
)
@pytest.mark.slow
@settings(max_examples=60)  # each takes up to a second
def test_patches_and_windows(side, processes, structure, tiles):
    """Patches cover the torus; a window that reaches one patch on each side meets nine at most."""
    rows = next(r for r in range(int(processes**0.5), 0, -1) if processes % r == 0)
    granularity = max(side, processes // rows)
    lattice = Lattice("A", granularity**2 + tiles, processes, granularity)
    owned = defaultdict(list)
    for place in lattice.tiles():
        owned[lattice.process(*place)].append(place)
    assert sorted(owned) == list(range(processes))
    assert sum(lattice.size(*place) for place in lattice.tiles()) == lattice.cells
    sides = [len({p[k] for p in places}) for places in owned.values() for k in (0, 1)]
    assert all(len(p) == len({r for r, _ in p}) * len({c for _, c in p}) for p in owned.values())  # oblong
    far = reach(structure, granularity)
    for places in list(owned.values())[:3]:
        met = {name.split("/")[1] for place in places for name in lattice.window(*place, structure)}
        if far <= min(sides):
            assert len(met) <= 9
        if far == 0:
            assert len(met) == 1
        if 2 * far + 1 >= granularity:
            assert len(met) == processes
    window = lattice.window(0, 0, structure)
    assert len(window) == len(set(window)) == min(2 * far + 1, granularity) ** 2


def test_published_numbers():
    def cells(description):
        return sum(p["size"] for p in description["network"]["populations"])

    one, ten = music_cells.describe(full=True), music_cells.describe(full=True, cells="10k")
    assert (cells(one), cells(ten)) == (2_097_152, 262_144)
    assert synapses(one) == dict.fromkeys("AB", 1000 * 2_097_152 // 2)
    assert synapses(ten) == dict.fromkeys("AB", 10_000 * 262_144 // 2)
    assert cells(music_cells.describe()) == 4096
    assert cells(music_cells.describe(full=True, scale=0.25)) == 2_097_152 / 4
    for description in (one, ten):
        assert {p["neuron"]["rate_hz"] for p in description["network"]["populations"]} == {30}
        delays = [p["delay"] for p in description["network"]["projections"]]
        assert all(delay == {"distribution": "constant", "mean": 1.0} for delay in delays)
        assert (description["time"]["cycle_ms"], description["time"]["simulate_ms"]) == (1.0, 200.0)
