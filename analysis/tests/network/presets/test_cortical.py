"""Microcircuit and multi-area model: published figures, scaling, a user's own data, a short run."""

import json

import mam_copy
import numpy as np
import program
import pytest
from mam_copy import EVERY
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfcx

from spikemark import activity
from spikemark.core.errors import BadInput
from spikemark.network.presets import cortex, mam, microcircuit


def parts(described: dict) -> tuple[dict, dict]:
    """Populations by name, projections by target and sources."""
    network = described["network"]
    projections = {(p["target"], *np.atleast_1d(p["source"])): p for p in network["projections"]}
    assert len(projections) == len(network["projections"])
    return {p["name"]: p for p in network["populations"]}, projections


def moments(described: dict, rates: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of the input of each population at these rates, in pA and events/s x
    pA^2.
    """
    populations, projections = parts(described)
    mean, variance = {}, {}
    for name, p in populations.items():
        outside = p["external"]
        events = outside["rate_hz"] * outside["synapses"]
        mean[name] = p["neuron"]["I_e_pA"] + 0.5e-3 * events * outside["weight"]
        variance[name] = events * outside["weight"] ** 2
    for (target, *sources), p in projections.items():
        sizes = np.array(
            [cortex.NEURONS[cortex.POPULATIONS.index(s.rpartition("-")[2])] for s in sources]
        )
        events = p["indegree"]["mean"] * sizes @ [rates[s] for s in sources] / sizes.sum()
        mean[target] += 0.5e-3 * events * p["weight"]["mean"]
        variance[target] += events * p["weight"]["mean"] ** 2
    return np.array(list(mean.values())), np.array(list(variance.values()))


def test_the_microcircuit_has_its_published_figures():
    populations, projections = parts(microcircuit.describe(full=True))
    assert sum(p["size"] for p in populations.values()) == 77_169
    synapses = sum(
        p["indegree"]["mean"] * populations[p["target"]]["size"] for p in projections.values()
    )
    assert synapses == pytest.approx(298.88e6, rel=1e-4)  # 0.3 billion: Potjans & Diesmann 2014
    assert len(projections) == 55  # nine of the 64 probabilities are 0
    # K = ln(1 - p) / ln(1 - 1 / (N_pre N_post)) synapses, here of p = 0.1009 on 20 683 x 20 683
    # pairs
    assert projections["L23E", "L23E"]["indegree"]["mean"] == pytest.approx(
        0.106361 * 20683, rel=1e-5
    )
    for i, p in enumerate(populations.values()):
        outside = {
            "rate_hz": 8,
            "synapses": cortex.EXTERNAL_INDEGREES[i],
            "weight": p["external"]["weight"],
        }
        assert p["external"] == outside and outside["weight"] == pytest.approx(87.81, abs=0.005)
        assert (p["area"], p["neuron"]["I_e_pA"]) == ("column", 0)
    for (target, source), p in projections.items():
        factor = -4 if source.endswith("I") else 2 if (target, source) == ("L23E", "L4E") else 1
        assert p["weight"]["mean"] == pytest.approx(87.81 * factor, abs=0.02)
        assert p["weight"]["sd"] == pytest.approx(0.1 * abs(p["weight"]["mean"]))
        mean = 0.75 if source.endswith("I") else 1.5
        assert p["delay"] == {"distribution": "normal", "mean": mean, "sd": mean / 2}


def test_a_current_peaks_where_it_should():
    t = np.linspace(0, 30, 300_001)
    current = cortex.current_pA(0.15)
    potential = (
        current / 250 / (1 / 0.5 - 1 / 10) * (np.exp(-t / 10) - np.exp(-t / 0.5))
    )  # its closed form
    assert potential.max() == pytest.approx(0.15, rel=1e-6)


def test_mean_field_theory_gives_the_published_rates():
    populations, projections = parts(microcircuit.describe(full=True))
    for name, published in microcircuit.RATES.hz.items():
        outside = populations[name]["external"]
        events, weights = [outside["synapses"] * outside["rate_hz"]], [outside["weight"]]
        for (target, source), p in projections.items():
            if target == name:
                events.append(p["indegree"]["mean"] * microcircuit.RATES.hz[source])
                weights.append(p["weight"]["mean"])
        # It knows no correlations, which L23E, far below threshold, lives on; the others are met to
        # a seventh
        found = cortex.rate_of(*cortex.moments(np.array(events), np.array(weights)))
        assert found == pytest.approx(published, rel=0.5 if name == "L23E" else 0.15)


@pytest.mark.parametrize(
    ("events_hz", "tolerance"), [(4000, 1e-9), (8000, 1e-12), (20_000, 1e-12), (90_000, 1e-12)]
)
def test_a_rate_is_that_of_the_integral_which_scipy_finds(events_hz, tolerance):
    for inhibition_hz in (0.0, 500.0, 1000.0):
        events, weights = np.array([events_hz, inhibition_hz]), np.array([87.8, -351.0])
        mean_mv, noise = cortex.moments(events, weights)
        shift = cortex.SHIFT * np.sqrt(cortex.TAU_SYN_MS / cortex.TAU_M_MS)
        ends = (
            np.array([cortex.V_RESET_MV, cortex.V_TH_MV]) - cortex.E_L_MV - mean_mv
        ) / noise**0.5
        passage, _ = quad(lambda x: erfcx(-x), *(ends + shift), epsabs=0, epsrel=1e-13, limit=200)
        expected_hz = 1e3 / (cortex.T_REF_MS + cortex.TAU_M_MS * np.sqrt(np.pi) * passage)
        assert cortex.rate_of(mean_mv, noise) == pytest.approx(expected_hz, rel=tolerance, abs=0)


def test_roots_are_those_that_scipy_finds():
    levels = np.geomspace(1e-3, 1e3, 20)
    found = mam.root(lambda x: np.sinh(x) - levels, np.zeros(20), np.full(20, 10.0))
    for level, place in zip(levels, found, strict=True):
        expected = brentq(lambda x, level=level: np.sinh(x) - level, 0, 10)
        assert place == pytest.approx(expected, rel=1e-9)
    with pytest.raises(ValueError, match="sign"):
        mam.root(lambda x: x - levels, np.zeros(20), np.full(20, 10.0))


def test_mean_field_theory_gives_the_rates_of_the_areas():
    for seed in (1, 2, 3):
        areas = mam.draw(seed)
        events_hz = areas.indegrees * np.append(areas.rates_hz, areas.background_hz)
        found = cortex.rate_of(*cortex.moments(events_hz, areas.weights_pA))
        assert found == pytest.approx(areas.rates_hz, rel=1e-9)


def test_the_areas_have_the_published_statistics():
    full = mam.describe(full=True)
    populations, projections = parts(full)
    areas = list(dict.fromkeys(p["area"] for p in populations.values()))
    place = {name: areas.index(p["area"]) for name, p in populations.items()}
    neurons, synapses = np.zeros(32), np.zeros((32, 32))
    np.add.at(neurons, list(place.values()), [p["size"] for p in populations.values()])
    means = {}
    for (target, *sources), p in projections.items():
        here, (there,), delay = place[target], {place[s] for s in sources}, p["delay"]
        synapses[here, there] += p["indegree"]["mean"] * populations[target]["size"]
        assert delay["sd"] == pytest.approx(delay["mean"] / 2)
        if here == there:
            assert (
                delay["mean"] == (0.75 if sources[0].endswith("I") else 1.5) and "min" not in delay
            )
        else:
            assert (
                delay["min"] == 1
                and means.setdefault((here, there), delay["mean"]) == delay["mean"]
            )
            assert {name.split("-")[1] for name in sources} == {"L23E", "L5E", "L6E"}
            assert p["weight"]["mean"] > 0
    assert all(means.get((b, a), mean) == mean for (a, b), mean in means.items())
    assert (len(populations), full["delay_ratio"], full["time"]["cycle_ms"]) == (32 * 8, 10, 0.1)
    assert neurons.mean() == pytest.approx(129_064, abs=1)
    assert neurons.std() / neurons.mean() == pytest.approx(0.198, abs=1e-4)
    assert synapses.sum() / neurons.sum() == pytest.approx(5842, rel=1e-4)
    between = synapses - np.diag(np.diag(synapses))
    assert np.allclose(between.sum(axis=1) / neurons, 5842 * 0.185, rtol=1e-3)
    rates = mam.rates_hz(full["seed"])
    assert list(rates) == list(populations)
    hz = (
        np.bincount(list(place.values()), [rates[n] * p["size"] for n, p in populations.items()])
        / neurons
    )
    assert neurons @ hz / neurons.sum() == pytest.approx(2.5, rel=1e-3)
    assert hz.std() / hz.mean() == pytest.approx(0.25, rel=0.1) and hz.max() > 1.4 * 2.5


def test_what_is_drawn_has_exactly_the_published_spread():
    drawn = mam.sources(np.random.default_rng(5))
    assert np.log(drawn[drawn > 0]).std() == pytest.approx(3.46)
    assert np.median((drawn > 0).sum(axis=1)) == 21 and not np.diag(drawn).any()
    np.testing.assert_allclose(drawn.sum(axis=1), 1)
    apart = mam.distances(np.random.default_rng(2))
    pairs = apart[~np.eye(32, dtype=bool)]
    assert (pairs.min(), pairs.max(), pairs.mean()) == pytest.approx((6, 63, 25.5))
    assert (apart == apart.T).all() and not np.diag(apart).any()


@pytest.mark.parametrize(
    ("preset", "options", "lost_pA"),
    [
        (microcircuit, {"scale": 0.1}, 1e-6),
        (microcircuit, {"scale": 0.3, "indegree_scale": 0.02}, 1e-6),
        (mam, {"scale": 0.02}, 0.1),  # sources that are left out
    ],
)
def test_scaling_keeps_mean_and_variance_of_the_input(preset, options, lost_pA):
    rates = mam.rates_hz(1) if preset is mam else microcircuit.RATES.hz
    full_mean, full_variance = moments(preset.describe(full=True), rates)
    mean, variance = moments(preset.describe(**options), rates)
    np.testing.assert_allclose(mean, full_mean, atol=lost_pA)
    np.testing.assert_allclose(variance, full_variance, rtol=0.01)  # background synapses are whole


@pytest.mark.slow
def test_ground_state_of_the_default_network(tmp_path):
    description = mam.describe(warmup_ms=200.0, simulate_ms=300.0)
    assert description["schedule"] == "structure_aware"
    description["record"] = {"spikes": True, "cycles": False}
    program.record_of(tmp_path / "out", description=description, threads=2)
    found = activity.recording(description, np.load(tmp_path / "out" / "spikes.npy"))
    rate, areas = (
        activity.population_rate(found, 3.0).hz,
        activity.rates_hz(found, activity.by_area(found)),
    )
    assert rate.mean() == pytest.approx(2.5, rel=0.2) and len(areas) == 32
    assert max(areas.values()) > 1.3 * rate.mean() and min(areas.values()) > 0.3 * rate.mean()
    assert rate.max() < 4 * rate.mean()  # asynchronous


def test_a_copy_of_the_original_is_read_as_it_is(tmp_path):
    mam_copy.write(tmp_path)
    populations, projections = parts(mam.describe(full=True, from_=str(tmp_path)))
    assert list(populations) == [f"{area}-L{kind}" for area, kind in EVERY]  # TH has no layer 4
    assert populations["TH-L5E"]["size"] == 5000
    assert populations["TH-L5E"]["external"] == {"rate_hz": 10, "synapses": 1500, "weight": 88}
    within = projections["V1-L23E", "V1-L4I"]
    assert (within["indegree"]["mean"], within["weight"]["mean"]) == (pytest.approx(100), -966)
    assert within["delay"] == {"distribution": "normal", "mean": 0.75, "sd": 0.375}
    assert projections["TH-L6I", "V1-L23E"]["indegree"]["mean"] == pytest.approx(7)
    between = projections["TH-L6I", "V1-L5E", "V1-L6E"]  # equal in synapses per neuron: one pool
    assert between["indegree"]["mean"] == pytest.approx(12)
    assert between["delay"] == {"distribution": "normal", "mean": 10, "sd": 5, "min": 1}
    assert not any(
        target.startswith("V1") and source.startswith("TH") for target, source, *_ in projections
    )


#: Where the data are spoilt, with what (None: taken out), and what is said.
BAD = [
    (["structure"], None, "'structure' is missing"),
    (["synapses", "TH", "5E", "V1"], None, "'V1' is missing"),
    (["neuron_numbers", "V1", "4E"], "many", "many"),
    (["neuron_numbers", "V1", "4E"], -2, "neuron_numbers"),
    (["synapses", "V1", "4E", "V1"], [1], "integers"),
    (["area_list"], ["V1", "V1"], "area_list"),
]


@pytest.mark.parametrize(("keys", "value", "said"), BAD)
def test_a_wrong_copy_is_refused_in_one_line(tmp_path, keys, value, said):
    mam_copy.write(tmp_path)
    path = tmp_path / "config_files" / "custom_Data_Model_0a1b.json"
    content = inner = json.loads(path.read_text())
    for key in keys[:-1]:
        inner = inner[key]
    inner.pop(keys[-1]) if value is None else inner.update({keys[-1]: value})
    path.write_text(json.dumps(content))
    with pytest.raises(BadInput) as caught:
        mam.describe(from_=str(tmp_path))
    assert said in str(caught.value)
    assert "custom_Data_Model_0a1b.json: " in str(caught.value) and "\n" not in str(caught.value)
