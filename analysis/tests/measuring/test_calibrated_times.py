"""What `spikemark calibrate` makes of the times of kernels and cycles."""

import numpy as np
import pytest
import synthetic
from edited_record import set_times
from synthetic import compute_times

from spikemark.measuring import kernels, runs
from spikemark.measuring.kernels import SIZES, Round
from spikemark.records import record

UPDATED = ("ignore_and_fire", "lif_exp")


def times(first: float, following: float, spike: float) -> dict:
    """Of a round, ns per item, as the times of delivery make them."""
    found = {("collocate", 8): 5.0, (kernels.EXTERNAL, 4096): 1.5}
    found |= {(f"update_{model}", 4096): 0.5 + i for i, model in enumerate(UPDATED)}
    for size in SIZES:
        mean = size / 16
        found["deliver_drawn", size] = (first * (1 - np.exp(-mean)) + following * mean + spike) / mean
    return found


def test_kernels_give_the_times_of_delivery_that_were_planted():
    rounds = [times(20 + i, 1.5, 7) for i in range(3)]
    found = kernels.of_rounds(rounds)
    assert found["t_first"].value == pytest.approx(21)
    assert found["t_next"].value == pytest.approx(1.5)
    assert found["t_spike"].value == pytest.approx(7)
    low, high = found["t_first"].interval
    assert low < 20 and high > 22
    assert found["t_next"].reference == "mean list lengths 0.25 to 512, fitted within 0 %"
    assert found["collocate"].value == 20  # a spike goes to four ranks
    assert found["external"].value == 1.5
    assert [found[f"update.{model}"].value for model in UPDATED] == [0.5, 1.5]


def kernels_of(**factors) -> list[Round]:
    """Rounds in which the kernels of a node take so many times as long."""
    nodes = {node: [{key: f * ns for key, ns in times(20, 1.5, 7).items()}] for node, f in factors.items()}
    alone = {node: copies[0] for node, copies in nodes.items()}
    return [Round(alone, nodes)] * 3


def test_the_spread_between_nodes_is_that_of_their_kernel_times():
    rounds = kernels_of(n1=0.9, n2=1.0, n3=1.1)
    found = kernels.node_spread(rounds, "n1, n2, n3")
    assert found.value == pytest.approx(0.1)
    assert "n3 takes 1.100 times the mean, n1 0.900" in found.reference
    (line,) = kernels.slow_nodes(rounds)
    assert line == "node n3 is slow: kernels take 1.10 times as long as on the median node"
    assert kernels.slow_nodes(kernels_of(n1=0.99, n2=1.0, n3=1.01)) == []


def test_jitter_is_that_of_the_times():
    found = runs.fluctuation(compute_times(4, 20_000, 1e-4, 0.05, 0.8, 0.1, seed=1))
    assert found.cv == pytest.approx(0.05, rel=0.1)  # not the spread of the ranks
    assert found.correlation_time == pytest.approx(9, rel=0.15)  # (1 + r) / (1 - r)
    assert found.share < 1e-4  # five standard deviations

    none = runs.fluctuation(np.random.default_rng(1).uniform(0.9, 1.1, (2, 1000)))
    assert (none.share, none.factor) == (0, None)


def test_an_empty_cycle_is_the_median_of_its_compute_phases(tmp_path):
    folder = synthetic.write_run(tmp_path / "run", ranks=2, cycles=5)
    cycles = np.zeros_like(np.load(folder / "cycles.npy"))
    cycles[:, :, :3] = 1e-6
    cycles[1, :, 0] = 2e-6
    cycles[0, 3, 1] = 1  # an interrupt
    set_times(folder, cycles)
    assert runs.cycle_s(record.load(folder)) == pytest.approx(3.5e-6)


@pytest.mark.parametrize(("share", "factor"), [(0.1, 1.5), (0.001, 30)])  # a mode, and interrupts
def test_long_cycles_are_told_from_the_others(share, factor):
    rng = np.random.default_rng(1)
    shape = 2, 20_000
    times = rng.normal(1, 0.02, shape) * np.where(rng.random(shape) < share, factor, 1)
    found = runs.fluctuation(times)
    assert found.share == pytest.approx(share, rel=0.2)
    assert found.factor == pytest.approx(factor, rel=0.02)
    assert found.cv == pytest.approx(0.02, rel=0.05)
    assert found.correlation_time == pytest.approx(1, abs=0.1)
