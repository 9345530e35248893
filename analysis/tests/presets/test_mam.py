"""The multi-area model: its published statistics, exactly, and the ground state of a short run."""

import numpy as np
import pytest
from short_run import activity

from spikemark.presets import mam, mam_areas


@pytest.fixture(scope="module")
def full() -> dict:
    return mam.describe(full=True)


def table(description: dict) -> tuple[np.ndarray, np.ndarray]:
    """Neurons of each area; synapses by target and source area."""
    populations = description["network"]["populations"]
    areas = list(dict.fromkeys(p["area"] for p in populations))
    place = {p["name"]: areas.index(p["area"]) for p in populations}
    size = {p["name"]: p["size"] for p in populations}
    neurons, synapses = np.zeros(len(areas)), np.zeros((len(areas), len(areas)))
    for p in populations:
        neurons[place[p["name"]]] += p["size"]
    for p in description["network"]["projections"]:
        (source,) = {place[name] for name in p["source"]}
        synapses[place[p["target"]], source] += p["indegree"]["mean"] * size[p["target"]]
    return neurons, synapses


def test_sizes_and_synapses_are_the_published_ones(full):
    neurons, synapses = table(full)
    assert len(neurons) == 32
    assert len(full["network"]["populations"]) == 32 * 8
    assert neurons.mean() == pytest.approx(129_064, abs=1)
    assert neurons.std() / neurons.mean() == pytest.approx(0.198, abs=1e-4)
    assert synapses.sum() / neurons.sum() == pytest.approx(5842, rel=1e-4)
    between = synapses - np.diag(np.diag(synapses))
    assert between.sum() / synapses.sum() == pytest.approx(0.185, abs=1e-4)
    assert np.allclose(between.sum(axis=1) / neurons, 5842 * 0.185, rtol=1e-3)


def test_numbers_of_synapses_between_areas_spread_as_published():
    drawn = mam_areas.sources(np.random.default_rng(5))
    assert np.log(drawn[drawn > 0]).std() == pytest.approx(3.46)
    assert np.median((drawn > 0).sum(axis=1)) == 21
    assert not np.diag(drawn).any()
    np.testing.assert_allclose(drawn.sum(axis=1), 1)


def test_hardly_a_source_area_is_left_out(full):
    _, synapses = table(full)
    sources = (synapses > 0).sum(axis=1) - 1
    assert 18 <= np.median(sources) <= 21  # those with fewer than 1e-4 synapses per neuron are


def test_delays_are_distance_over_speed(full):
    area = {p["name"]: p["area"] for p in full["network"]["populations"]}
    means = {}
    for p in full["network"]["projections"]:
        here, there, delay = area[p["target"]], area[p["source"][0]], p["delay"]
        assert delay["sd"] == pytest.approx(delay["mean"] / 2)
        if here == there:
            assert delay["mean"] == (0.75 if p["source"][0].endswith("I") else 1.5)
            assert "min" not in delay
        else:
            assert delay["min"] == 1
            assert means.setdefault((here, there), delay["mean"]) == delay["mean"]
            assert {name.split("-")[1] for name in p["source"]} == {"L23E", "L5E", "L6E"}
            assert p["weight"]["mean"] > 0
    assert all(means.get((b, a), mean) == mean for (a, b), mean in means.items())
    assert full["delay_ratio"] == 10
    assert full["time"]["cycle_ms"] == 0.1


def test_distances_are_the_published_ones():
    drawn = mam_areas.distances(np.random.default_rng(2))
    pairs = drawn[~np.eye(32, dtype=bool)]
    assert (pairs.min(), pairs.max(), pairs.mean()) == pytest.approx((6, 63, 25.5))
    assert (drawn == drawn.T).all() and not np.diag(drawn).any()


def test_expected_rates_have_the_published_mean_and_a_most_active_area():
    areas = mam_areas.draw(1)
    assert areas.rates_hz @ areas.neurons / areas.neurons.sum() == pytest.approx(2.5)
    of_area = np.bincount(areas.area, areas.rates_hz * areas.neurons) / np.bincount(areas.area, areas.neurons)
    assert of_area.max() > 1.4 * 2.5
    assert (areas.indegrees[:, -1] > 500).all()  # background that theory needs for these rates


def test_scaling_keeps_mean_and_variance_of_the_input(full):
    rates = mam_areas.draw(1).rates_hz
    number = {p["name"]: i for i, p in enumerate(full["network"]["populations"])}

    def moments(description: dict) -> tuple[np.ndarray, np.ndarray]:
        mean, variance = np.zeros((2, len(number)))
        for i, p in enumerate(description["network"]["populations"]):
            outside = p["external"]
            events = outside["rate_hz"] * outside["synapses"]
            mean[i] = p["neuron"]["I_e_pA"] + 0.5e-3 * events * outside["weight"]
            variance[i] = events * outside["weight"] ** 2
        for p in description["network"]["projections"]:
            sources = [number[name] for name in p["source"]]
            sizes = mam_areas.cortex.NEURONS[np.array(sources) % 8]
            events = p["indegree"]["mean"] * rates[sources] @ sizes / sizes.sum()
            mean[number[p["target"]]] += 0.5e-3 * events * p["weight"]["mean"]
            variance[number[p["target"]]] += events * p["weight"]["mean"] ** 2
        return mean, variance

    (full_mean, full_variance), (mean, variance) = moments(full), moments(mam.describe(scale=0.02))
    np.testing.assert_allclose(mean, full_mean, atol=0.1)  # pA; sources that are left out
    np.testing.assert_allclose(variance, full_variance, rtol=0.01)


def test_scale_and_seed_make_the_network():
    neurons, synapses = table(mam.describe(scale=0.02, indegree_scale=0.05))
    assert neurons.sum() == pytest.approx(0.02 * 32 * 129_064, rel=1e-3)
    assert synapses.sum() / neurons.sum() == pytest.approx(0.05 * 5842, rel=0.01)
    again, _ = table(mam.describe(scale=0.02, schedule="conventional"))
    other, _ = table(mam.describe(scale=0.02, seed=2))
    assert (again == neurons).all()
    assert (other != neurons).any()


def test_ground_state_of_the_default_network(tmp_path):
    description = mam.describe(warmup_ms=200.0, simulate_ms=300.0)
    assert description["schedule"] == "structure_aware"
    found = activity(description, tmp_path)
    assert found.mean_hz == pytest.approx(2.5, rel=0.2)
    of_area = (found.rates_hz * found.sizes).reshape(32, 8).sum(axis=1) / found.sizes.reshape(32, 8).sum(
        axis=1
    )
    assert of_area.max() > 1.3 * found.mean_hz
    assert of_area.min() > 0.3 * found.mean_hz
    assert found.per_bin.max() < 4 * found.per_bin.mean()  # asynchronous
