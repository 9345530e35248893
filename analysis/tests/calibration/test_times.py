"""What `spikemark calibrate` makes of the times of kernels and cycles."""

import subprocess

import numpy as np
import pytest
import synthetic
from edited_record import set_times
from synthetic import compute_times

from spikemark.bench import kernels
from spikemark.calibration import (
    cycle_time,
    jitter,
    kernel_times,
    node_spread,
)
from spikemark.calibration.kernel_runs import Round
from spikemark.core import places
from spikemark.machines import fields
from spikemark.records import record

SIZES = (4, 16, 64, 256, 1024, 8192)
UPDATED = ("ignore_and_fire", "lif_exp")


def times(first: float, following: float, spike: float) -> dict:
    """Of a round, ns per item, as the times of delivery make them."""
    found = {("collocate", 8): 5.0, (kernel_times.EXTERNAL, 4096): 1.5}
    found |= {(f"update_{model}", 4096): 0.5 + i for i, model in enumerate(UPDATED)}
    found |= {
        ("deliver_ring", size): following + more for size, more in ((5, 0), (30, 0.5), (200, 1.25), (1600, 7))
    }
    found |= {("update_between", size): 0.5 + more for size, more in ((30, 0.25), (64, 0.5), (200, 1))}
    for size, more in ((256, 2), (1024, 1), (8192, 0.25)):
        found |= {("deliver_near", size): 1 + following, ("deliver_far", size): 1 + following + more}
    found |= {("collocate_between", ranks): 6 + 100 / ranks for ranks in (4, 64)}
    for size in SIZES:
        mean = size / 16
        found["deliver_drawn", size] = (first * (1 - np.exp(-mean)) + following * mean + spike) / mean
        if size in kernel_times.CLOSES.values():
            found["deliver_close", size] = found["deliver_drawn", size] - 8 / mean
    return found


def test_kernels_give_the_times_of_delivery_that_were_planted():
    rounds = [times(20 + i, 1.5, 7) for i in range(3)]
    found = kernel_times.of_rounds(rounds, SIZES)
    assert found["t_first"].value == pytest.approx(21)
    assert found["t_next"].value == pytest.approx(1.5)
    assert found["t_spike"].value == pytest.approx(7)
    low, high = found["t_first"].interval
    assert low < 20 and high > 22
    assert found["t_next"].reference == "mean list lengths 0.25 to 512, fitted within 0 %"
    assert found["collocate"].value == 20  # a spike goes to four ranks
    assert found["external"].value == 1.5
    assert found["t_ring_1"].value == 0.5
    assert (found["t_ring_8"].value, found["t_ring_67"].value) == (1.25, 7)
    assert [found[f"t_row_{mb}"].value for mb in (1, 3, 8)] == [0.25, 0.5, 1]
    assert [found[f"t_far_{length}"].value for length in (16, 64, 512)] == [32, 64, 128]  # of a list
    assert [found[f"t_close_{length}"].value for length in (16, 64, 512)] == pytest.approx([8, 8, 8])
    assert found["t_leave"].value == pytest.approx(100) and found["t_route"].value == pytest.approx(6)
    assert [found[f"update.{model}"].value for model in UPDATED] == [0.5, 1.5]


def test_every_kernel_time_that_a_profile_may_have_is_measured():
    found = {path.split(".")[0] for path in kernel_times.of_rounds([times(20, 1.5, 7)] * 3, SIZES)}
    assert found | {"cycle"} == {name for name, _, _ in fields.KERNELS}  # the latter from runs (cycle_time)


@pytest.mark.parametrize("sizes", [SIZES, (4, 64, 1024, 8192)], ids=["thorough", "quick"])
def test_a_round_runs_the_kernels_that_are_read(sizes):
    """The pattern and the names of bench_kernels belong together."""
    command = [places.program("bench_kernels"), "--benchmark_list_tests=true"]
    command += [f"--benchmark_filter={kernel_times.pattern(sizes)}"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    parts = [kernels.NAME.fullmatch(name) for name in listed]
    found = {(part["kernel"], int(part["size"])) for part in parts}
    assert found >= {("clock", 1), ("triad", 64)}
    made_up = {key: ns for key, ns in times(20, 1.5, 7).items() if key in found}
    whole = kernel_times.of_rounds([times(20, 1.5, 7)] * 3, SIZES)
    assert kernel_times.of_rounds([made_up] * 3, sizes).keys() == whole.keys()


def kernels_of(**factors) -> list[Round]:
    """Rounds in which the kernels of a node take so many times as long."""
    nodes = {node: [{key: f * ns for key, ns in times(20, 1.5, 7).items()}] for node, f in factors.items()}
    alone = {node: copies[0] for node, copies in nodes.items()}
    return [Round(alone, nodes)] * 3


def test_the_spread_between_nodes_is_that_of_their_kernel_times():
    rounds = kernels_of(n1=0.9, n2=1.0, n3=1.1)
    found = node_spread.value(rounds)
    assert found.value == pytest.approx(0.1)
    assert "n3 takes 1.100 times the mean, n1 0.900" in found.reference
    (line,) = node_spread.slow(rounds)
    assert line == "node n3 is slow: kernels take 1.10 times as long as on the median node"
    assert node_spread.slow(kernels_of(n1=0.99, n2=1.0, n3=1.01)) == []


def test_jitter_is_that_of_the_times():
    found = jitter.fluctuation(compute_times(4, 20_000, 1e-4, 0.05, 0.8, 0.1, seed=1))
    assert found.cv == pytest.approx(0.05, rel=0.1)  # not the spread of the ranks
    assert found.correlation_time == pytest.approx(9, rel=0.15)  # (1 + r) / (1 - r)
    assert found.share < 1e-4  # five standard deviations

    none = jitter.fluctuation(np.random.default_rng(1).uniform(0.9, 1.1, (2, 1000)))
    assert (none.share, none.factor) == (0, None)


def test_an_empty_cycle_is_the_median_of_its_compute_phases(tmp_path):
    folder = synthetic.write_run(tmp_path / "run", ranks=2, cycles=5)
    cycles = np.zeros_like(np.load(folder / "cycles.npy"))
    cycles[:, :, :3] = 1e-6
    cycles[1, :, 0] = 2e-6
    cycles[0, 3, 1] = 1  # an interrupt
    set_times(folder, cycles)
    assert cycle_time.seconds(record.load(folder)) == pytest.approx(3.5e-6)
    found = cycle_time.values([(1e-6, 2e-6 + 1e-8 * i) for i in range(3)])
    assert found["kernels.one_core.cycle"].value == pytest.approx(1000)
    assert found["kernels.full_node.cycle"].value == pytest.approx(2010)


@pytest.mark.parametrize(("share", "factor"), [(0.1, 1.5), (0.001, 30)])  # a mode, and interrupts
def test_long_cycles_are_told_from_the_others(share, factor):
    rng = np.random.default_rng(1)
    shape = 2, 20_000
    times = rng.normal(1, 0.02, shape) * np.where(rng.random(shape) < share, factor, 1)
    found = jitter.fluctuation(times)
    assert found.share == pytest.approx(share, rel=0.2)
    assert found.factor == pytest.approx(factor, rel=0.02)
    assert found.cv == pytest.approx(0.02, rel=0.05)
    assert found.correlation_time == pytest.approx(1, abs=0.1)
