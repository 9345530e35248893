"""What `spikemark calibrate` makes of the times of kernels, cycles and messages."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from synthetic import compute_times

from spikemark.measuring import kernels, messages, runs, site
from spikemark.measuring.kernels import SIZES, Round
from spikemark.measuring.site import repeated

ONE, FOUR = site.Site(1, 4), site.Site(4, 4)
UPDATED = ("ignore_and_fire", "lif_exp")


def test_one_more_repetition_falls_into_the_interval_which_holds_what_was_measured():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(2000):
        *some, another = rng.normal(10, 1, 6)
        low, high = repeated(list(some), "ns").interval
        inside += low <= another <= high
    assert 0.93 < inside / 2000 < 0.97
    value = repeated([0.0, 0.0, 3.0], "ns")
    assert value.value == 0 and value.interval[0] == 0 and value.interval[1] > 3
    assert repeated([1.0, 2.0], "ns").interval is None


def times(first: float, following: float, spike: float) -> dict:
    """Of a round, ns per item, as the times of delivery make them."""
    found = {(kernels.EXTERNAL, 4096): 1.5}
    found |= {(f"update_{model}", 4096): 0.5 + i for i, model in enumerate(UPDATED)}
    for size in SIZES:
        mean = size / 16
        found["deliver_drawn", size] = (first * (1 - np.exp(-mean)) + following * mean + spike) / mean
    return found


def test_kernels_give_the_times_of_delivery_that_were_planted():
    found = kernels.of_rounds([times(20 + i, 1.5, 7) for i in range(3)])
    planted = {"t_first": 21, "t_next": 1.5, "t_spike": 7, "external": 1.5}
    planted |= {f"update.{model}": 0.5 + i for i, model in enumerate(UPDATED)}  # four ranks
    assert {name: value.value for name, value in found.items()} == pytest.approx(planted)
    low, high = found["t_first"].interval
    assert low < 20 and high > 22
    assert found["t_next"].reference == "mean list lengths 0.25 to 512, fitted within 0 %"


def kernels_of(**factors) -> list[Round]:
    """Rounds in which the kernels of a node take so many times as long."""
    nodes = {node: [{key: f * ns for key, ns in times(20, 1.5, 7).items()}] for node, f in factors.items()}
    return [Round({node: copies[0] for node, copies in nodes.items()}, nodes)] * 3


def test_the_spread_between_nodes_is_that_of_their_kernel_times():
    rounds = kernels_of(n1=0.9, n2=1.0, n3=1.1)
    found = kernels.node_spread(rounds)
    assert found.value == pytest.approx(0.1)
    assert "n3 takes 1.100 times the mean, n1 0.900" in found.reference
    (line,) = kernels.slow_nodes(rounds)
    assert line.startswith("node n3 is slow: kernels take 1.10 times")
    assert kernels.slow_nodes(kernels_of(n1=0.99, n2=1.0, n3=1.01)) == []


def test_jitter_is_that_of_the_times():
    found = runs.fluctuation(compute_times(4, 20_000, 1e-4, 0.05, 0.8, 0.1, seed=1))
    assert found.cv == pytest.approx(0.05, rel=0.1)  # not the spread of the ranks
    assert found.correlation_time == pytest.approx(9, rel=0.15)  # (1 + r) / (1 - r)
    assert found.share < 1e-4  # five standard deviations
    none = runs.fluctuation(np.random.default_rng(1).uniform(0.9, 1.1, (2, 1000)))
    assert (none.share, none.factor) == (0, None)


@pytest.mark.parametrize(("share", "factor"), [(0.1, 1.5), (0.001, 30)])  # a mode, and interrupts
def test_long_cycles_are_told_from_the_others(share, factor):
    rng, shape = np.random.default_rng(1), (2, 20_000)
    found = runs.fluctuation(rng.normal(1, 0.02, shape) * np.where(rng.random(shape) < share, factor, 1))
    assert found.share == pytest.approx(share, rel=0.2)
    assert found.factor == pytest.approx(factor, rel=0.02)
    assert found.cv == pytest.approx(0.02, rel=0.05)
    assert found.correlation_time == pytest.approx(1, abs=0.1)


def test_power_is_what_the_meter_read_or_unknown_with_its_reason():
    read = SimpleNamespace(gross_j=100.0, idle_power_w=20.0, duration_s=2.0, source="hwmon", reason=None)
    found, unknown = runs.power([read] * 3, None, cores=3)
    assert (found["power.idle"].value, found["power.core"].value) == (20, 10)
    assert unknown.keys() == {"power.card"}
    found, unknown = runs.power([], "no /sys", cores=3)
    reasons = {unknown["power.idle"], unknown["power.core"], found["software.energy_source"].reference}
    assert reasons == {"no /sys"}


def planted(latency=1e-6, rate=1e10, gap=2e-7) -> dict:
    """Times of a pair of ranks."""
    many = {(0, n): 2 * latency + (n - 1) * gap for n in (1, 4, 16, 64)}
    return many | {(size, 1): 2 * latency + size / rate for size in (messages.LARGE, messages.LARGEST)}


def a_round(nodes=("a", "a"), pairs=None, halves=None, eager=4040):
    return messages.Round(list(nodes), pairs or {(0, len(nodes) - 1): planted()}, halves or {}, eager)


def test_messages_within_a_node_give_latency_bandwidth_gap_and_the_eager_limit():
    found, unknown = messages.values([(a_round(), None)] * 3, ONE)
    expected = {"latency_node": 1, "bandwidth_node": 10, "gap": 0.2, "eager": 4040 / 1024}
    assert {name.split(".")[1]: value.value for name, value in found.items()} == pytest.approx(expected)
    reasons = dict.fromkeys(("latency", "bandwidth", "congestion"), site.ONE_NODE)
    reasons |= dict.fromkeys(("fabric", "topology", "nodes_per_leaf"), messages.FABRIC)
    assert unknown == {f"interconnect.{name}": why for name, why in reasons.items()}
    disturbed = a_round(pairs={(0, 1): planted(gap=-1e-8)}, eager=None)
    _, unknown = messages.values([(disturbed, None)] * 3, ONE)
    assert unknown["interconnect.gap"] == messages.DISTURBED and "interconnect.eager" in unknown


def test_of_several_pairs_the_profile_has_the_median_and_the_reference_the_ends():
    pairs = list(itertools.combinations(range(4), 2))
    us = [1, 1.1, 1.2, 1.2, 1.3, 1.4]
    times = {pair: planted(1e-6 * one) for pair, one in zip(pairs, us, strict=True)}
    halves = {pair: (planted(), planted(rate=1e10 / 2)) for pair in ((0, 2), (1, 3))}
    four = a_round(("n1", "n2", "n3", "n4"), times, halves, 65480)
    found, _ = messages.values([(a_round(), four)] * 3, FOUR)
    expected = {"latency": 1.2, "latency_node": 1, "congestion": 2}
    assert {name: found[f"interconnect.{name}"].value for name in expected} == pytest.approx(expected)
    words = {"latency": "median over 6 pairs of n1, n2, n3, n4: 1 (n1-n2) to 1.4 (n3-n4)",
             "gap": "n1, n2, n3, n4", "eager": "from n1 to n4"}  # fmt: skip
    assert all(text in found[f"interconnect.{name}"].reference for name, text in words.items())


def test_what_bench_messages_writes_is_read():
    def row(pair, size, seconds, at_once=1):
        return {"repetition": 0, "pair": pair, "at_once": at_once, "bytes": size, "messages": 1, "rounds": 3,
                "round_s": seconds}  # fmt: skip

    rows = [row([0, 3], 0, 2e-6), row([0, 3], messages.LARGE, 1e-4)]
    rows += [row([0, 2], messages.LARGE, 2e-4), row([0, 2], messages.LARGE, 4e-4, at_once=2)]
    found = messages.read({"nodes": ["a", "b", "c", "d"], "eager_bytes": None, "measurements": rows})
    assert found.pairs == {(0, 3): {(0, 1): 2e-6, (messages.LARGE, 1): 1e-4}}
    assert found.halves == {(0, 2): ({(messages.LARGE, 1): 2e-4}, {(messages.LARGE, 1): 4e-4})}
