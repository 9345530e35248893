"""The networks of preset dpsnn behave as intended: rate when awake, slow waves, neighbours only."""

import numpy as np
import program
import pytest

from spikemark.activity import UpDown, population_rate, spectrum, up_down_states
from spikemark.network.presets import dpsnn
from spikemark.records.recording import Recording, recording

pytestmark = pytest.mark.slow


def activity(folder, change=lambda network: None, **options) -> Recording:
    """The spikes of the preset with these options, after a change of its network."""
    description = dpsnn.describe(**options)
    change(description["network"])
    program.record_of(folder / "out", "--set", "record.spikes=true", description=description)
    return recording(description, np.load(folder / "out" / "spikes.npy"))


def mean_rate_hz(folder, **options) -> float:
    plain = dpsnn.describe(**options) | {"record": {"cycles": False}}
    record = program.record_of(folder / "out", description=plain)
    return record["totals"]["spikes"] / record["totals"]["neurons"] / record["timing"]["model_s"]


# The in-degree is the published one, so the rate hardly depends on the number of neurons.
@pytest.mark.parametrize(
    ("resolution_ms", "neurons", "weight_classes"),
    [
        (1.0, 1250, 16),
        pytest.param(1.0, 4000, 16, marks=pytest.mark.nightly),
        pytest.param(1.0, 1250, 0, marks=pytest.mark.nightly),
        pytest.param(0.1, 1250, 16, marks=pytest.mark.nightly),
    ],
)
def test_the_awake_network_fires_at_the_published_rate(
    resolution_ms, neurons, weight_classes, tmp_path
):
    options = {"resolution_ms": resolution_ms, "neurons": neurons, "weight_classes": weight_classes}
    assert mean_rate_hz(tmp_path, **options, simulate_ms=4000) == pytest.approx(
        dpsnn.AWAKE_HZ, rel=0.05
    )


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", dpsnn.KERNELS)
def test_awake_columns_fire_at_about_this_rate_too(kernel, tmp_path):
    rate = mean_rate_hz(
        tmp_path, columns="4x4", neurons_per_column=100, kernel=kernel, simulate_ms=2000
    )
    assert rate == pytest.approx(dpsnn.AWAKE_HZ, rel=0.1)


def foreground(recorded: Recording) -> UpDown:
    return up_down_states(population_rate(recorded, 5, ["network-F"]))


@pytest.mark.nightly
def test_slow_waves_alternate_between_up_and_down_states(tmp_path):
    recorded = activity(tmp_path, state="sw", neurons=5000, simulate_ms=12_000)
    found = foreground(recorded)
    assert found.reason is None
    assert 0.45 < found.frequency_hz < 0.75
    assert found.down_over_up < 0.3
    assert found.down_ms.std() < 0.25 * found.down_ms.mean()  # a rhythm, not single events
    everyone = spectrum(population_rate(recorded, 5), parts=2)
    slow = everyone.frequencies_hz < 2
    at = everyone.frequencies_hz[slow][np.argmax(everyone.density[slow])]
    assert at == pytest.approx(found.frequency_hz, abs=everyone.frequencies_hz[0])
    assert everyone.density[slow].max() == everyone.density.max()


@pytest.mark.nightly
def test_the_awake_state_has_no_up_and_down_states(tmp_path):
    recorded = activity(tmp_path, state="aw", neurons=2500, simulate_ms=8000)
    found = foreground(recorded)
    assert found.frequency_hz is None
    assert "one mode" in found.reason


@pytest.mark.nightly
def test_slow_waves_need_both_adaptation_and_stimulation(tmp_path):
    options = {"state": "sw", "neurons": 2500, "simulate_ms": 6000}
    assert foreground(activity(tmp_path, **options, stimulation=1)).frequency_hz is None

    def no_adaptation(network):
        for population in network["populations"]:
            population["neuron"]["g_c_mV_per_ms"] = 0.0

    assert foreground(activity(tmp_path, no_adaptation, **options)).frequency_hz is None


def neighbours(description: dict, ranks: int) -> int:
    """The most other ranks that any rank has synapses to, with columns in equal stripes over
    ranks.
    """
    areas = list(dict.fromkeys(p["area"] for p in description["network"]["populations"]))
    rank = {area: place * ranks // len(areas) for place, area in enumerate(areas)}
    pairs = {
        (rank[source.rpartition("-")[0]], rank[p["target"].rpartition("-")[0]])
        for p in description["network"]["projections"]
        for source in p["source"]
    }
    return max(sum(a == sender and b != sender for a, b in pairs) for sender in range(ranks))


@pytest.mark.parametrize("kernel", dpsnn.KERNELS)
def test_ranks_of_a_grid_talk_to_neighbours_only(kernel, tmp_path):
    options = {"columns": "2x24", "neurons_per_column": 20, "kernel": kernel}
    description = dpsnn.describe(**options, warmup_ms=0, simulate_ms=20)
    record = program.record_of(tmp_path / "out", description=description, ranks=4)
    (lane,) = record["lanes"]
    assert lane["connections"] == neighbours(description, 4) == 2
    assert lane["wire"] == "aer12"
    assert record["totals"]["synapses"] > 0
