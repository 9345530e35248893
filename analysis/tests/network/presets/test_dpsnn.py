"""Preset dpsnn: the published numbers reach the description, on the grid of columns too."""

import math
from collections import Counter, defaultdict

import pytest

from spikemark.network.presets import dpsnn

STATES = list(dpsnn.EFFICACY_MV)

#: Probabilities of the public configuration of Pastorelli et al. 2019, by reach and offset (x, y),
#: y <= x.
PUBLISHED = {
    0.4: {
        (0, 0): 0.595238,
        (1, 0): 0.0488095,
        (1, 1): 0.0172619,
        (2, 0): 0.00416667,
        (2, 1): 0.00238095,
        (2, 2): 0.000595238,
        (3, 0): 0.000595238,
    },
    0.6: {
        (0, 0): 0.344037,
        (1, 0): 0.0650229,
        (1, 1): 0.0326835,
        (2, 0): 0.0123853,
        (2, 1): 0.00825688,
        (2, 2): 0.00309633,
        (3, 0): 0.00240826,
        (3, 1): 0.00172018,
        (3, 2): 0.000688073,
        (3, 3): 0.000344037,
        (4, 0): 0.000344037,
        (4, 1): 0.000344037,
        (4, 2): 0.000344037,
    },
}


def incoming(description: dict) -> dict[str, list[dict]]:
    """Projections by the name of their target."""
    found = defaultdict(list)
    for projection in description["network"]["projections"]:
        found[projection["target"]].append(projection)
    return found


def kind(name: str) -> str:
    return name.rpartition("-")[2]


def synapses(description: dict) -> int:
    sizes = {p["name"]: p["size"] for p in description["network"]["populations"]}
    return sum(p["indegree"] * sizes[p["target"]] for p in description["network"]["projections"])


@pytest.mark.parametrize("state", STATES)
def test_homogeneous_network(state):
    description = dpsnn.describe(state=state)
    sizes = {kind(p["name"]): p["size"] for p in description["network"]["populations"]}
    assert sizes == {"F": 4096, "B": 12288, "I": 4096}
    assert synapses(description) == 20_480 * 1125
    for target, projections in incoming(description).items():
        received = {kind(p["source"][0]): p for p in projections}
        assert {s: p["indegree"] for s, p in received.items()} == {"F": 225, "B": 675, "I": 225}
        place = "FBI".index(kind(target))
        for source, p in received.items():
            assert p["weight"]["mean"] == dpsnn.EFFICACY_MV[state][source][place]
            assert p["weight"]["sd"] == pytest.approx(abs(p["weight"]["mean"]) / 4)
            longest = 20 if source == "I" else 80
            assert p["delay"]["max"] == longest
            assert math.exp(-longest / p["delay"]["mean"]) == pytest.approx(0.05)
    assert description["time"]["resolution_ms"] == description["time"]["cycle_ms"] == 1
    assert description["wire"] == "aer12"


@pytest.mark.parametrize("state", STATES)
def test_external_input_has_the_mean_and_variance_of_spread_efficacies(state):
    description = dpsnn.describe(state=state, resolution_ms=0.1, stimulation=1)
    for p in description["network"]["populations"]:
        place = "FBI".index(kind(p["name"]))
        efficacy, rate = (
            dpsnn.EFFICACY_MV[state]["external"][place],
            (3.16676, 3.16676, 3)[place] * 400,
        )
        events, weight = (
            p["external"]["synapses"] * p["external"]["rate_hz"],
            p["external"]["weight"],
        )
        assert events * weight == pytest.approx(rate * efficacy)
        assert events * weight**2 == pytest.approx(rate * efficacy**2 * (1 + dpsnn.RELATIVE_SD**2))


@pytest.mark.parametrize("reach", PUBLISHED)
def test_the_stencil_is_the_published_one(reach):
    shares = dpsnn.stencil("exponential", reach)
    assert {tuple(sorted(map(abs, offset), reverse=True)) for offset in shares} == set(
        PUBLISHED[reach]
    )
    for (x, y), probability in PUBLISHED[reach].items():
        alike = {
            shares[a * i, b * j] for a, b in ((x, y), (y, x)) for i in (1, -1) for j in (1, -1)
        }
        assert [0.9 * share / sum(shares.values()) for share in alike] == [
            pytest.approx(probability, rel=1e-5)
        ]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kernel", dpsnn.KERNELS)
def test_grid_of_columns(kernel, state):
    width, height, reach = 7, 9, 0.5
    description = dpsnn.describe(
        columns=f"{width}x{height}", kernel=kernel, reach=reach, state=state
    )
    assert [p["area"] for p in description["network"]["populations"][::3]] == [
        f"x{x}y{y}" for y in range(height) for x in range(width)
    ]
    assert {p["size"] for p in description["network"]["populations"]} == {250, 750}
    shares = dpsnn.stencil(kernel, reach)
    for target, projections in incoming(description).items():
        x, y = map(int, target.partition("-")[0][1:].split("y"))
        present = {
            (x + dx, y + dy): share
            for (dx, dy), share in shares.items()
            if 0 <= x + dx < width and 0 <= y + dy < height
        }
        excitatory = 900 * sum(present.values()) / sum(shares.values())
        received = Counter()
        for p in projections:
            kinds = {kind(name) for name in p["source"]}
            columns = {
                tuple(map(int, name.partition("-")[0][1:].split("y"))) for name in p["source"]
            }
            received["I" if kinds == {"I"} else "E"] += p["indegree"]
            place = "FBI".index(kind(target))
            assert {dpsnn.EFFICACY_MV[state][k][place] for k in kinds} == {p["weight"]["mean"]}
            if kinds == {"I"}:
                assert columns == {(x, y)}
                continue
            (share,) = {
                present[column] for column in columns
            }  # a pool is columns of equal probability
            pool = sum(dpsnn.INDEGREES[k] for k in kinds) * len(columns)
            assert abs(p["indegree"] - pool * share / sum(shares.values())) < 1
        assert received["I"] == 225
        assert abs(received["E"] - excitatory) <= 1


def test_kernels_differ_and_fall():
    exponential, gaussian = (dpsnn.stencil(kernel, 1) for kernel in ("exponential", "gaussian"))
    for shares in (exponential, gaussian):
        nearest_first = sorted(shares, key=lambda offset: math.hypot(*offset))
        assert [shares[o] for o in nearest_first] == sorted(shares.values(), reverse=True)
    assert (gaussian[0, 0], gaussian[1, 0], exponential[1, 0]) == (1000, 607, 368)


def test_scale_takes_neurons_and_leaves_indegrees():
    for options in ({}, {"columns": "3x3"}):
        full, small = (dpsnn.describe(**options, scale=scale)["network"] for scale in (1, 0.1))
        assert full["projections"] == small["projections"]
        sizes = [sum(p["size"] for p in network["populations"]) for network in (small, full)]
        assert sizes[0] / sizes[1] == pytest.approx(0.1)


def test_full_is_the_published_run():
    homogeneous, grid = dpsnn.describe(full=True), dpsnn.describe(full=True, columns="24x24")
    assert sum(p["size"] for p in homogeneous["network"]["populations"]) == 20_480
    assert sum(p["size"] for p in grid["network"]["populations"]) == 720_000
    assert (grid["placement"], grid["exchange"]) == ("area_group", "neighbor")
    assert synapses(grid) == pytest.approx(0.8e9, rel=0.02)  # Pastorelli et al. 2019, table 2
    assert homogeneous["time"]["simulate_ms"] == grid["time"]["simulate_ms"] == 10_000
