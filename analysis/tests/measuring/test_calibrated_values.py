"""What `spikemark calibrate` makes of the times of kernels, cycles and messages."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from synthetic import compute_times

from spikemark.measuring import kernel_rounds, messages, runs, site
from spikemark.measuring.kernel_rounds import SIZES, KernelRepetition
from spikemark.measuring.site import repeated
from spikemark.models.jitter import Jitter
from spikemark.models.jitter_estimate import scattering

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
    ns = {(kernel_rounds.EXTERNAL, 4096): 1.5}
    ns |= {(f"update_{model}", 4096): 0.5 + i for i, model in enumerate(UPDATED)}
    for size in SIZES:
        mean = size / 16
        ns["deliver_drawn", size] = (first * (1 - np.exp(-mean)) + following * mean + spike) / mean
    return ns


def test_kernels_give_the_times_of_delivery_that_were_planted():
    values = kernel_rounds.of_rounds([times(20 + i, 1.5, 7) for i in range(3)])
    planted = {"t_first": 21, "t_next": 1.5, "t_spike": 7, "external": 1.5}
    planted |= {f"update.{model}": 0.5 + i for i, model in enumerate(UPDATED)}  # four ranks
    assert {name: value.value for name, value in values.items()} == pytest.approx(planted)
    low, high = values["t_first"].interval
    assert low < 20 and high > 22
    assert values["t_next"].reference == "mean list lengths 0.25 to 512, fitted within 0 %"


def kernels_of(**factors) -> list[KernelRepetition]:
    """Rounds in which the kernels of a node take so many times as long."""
    nodes = {
        node: [{key: f * ns for key, ns in times(20, 1.5, 7).items()}]
        for node, f in factors.items()
    }
    return [KernelRepetition({node: copies[0] for node, copies in nodes.items()}, nodes)] * 3


def test_the_spread_between_nodes_is_that_of_their_kernel_times():
    rounds = kernels_of(n1=0.9, n2=1.0, n3=1.1)
    spread = kernel_rounds.node_spread(rounds)
    assert spread.value == pytest.approx(0.1)
    assert "n3 takes 1.100 times the mean, n1 0.900" in spread.reference
    (line,) = kernel_rounds.slow_nodes(rounds)
    assert line.startswith("node n3 is slow: kernels take 1.10 times")
    assert kernel_rounds.slow_nodes(kernels_of(n1=0.99, n2=1.0, n3=1.01)) == []


def test_jitter_is_that_of_the_times():
    jitter = scattering(compute_times(4, 20_000, 1e-4, 0.05, 0.8, 0.1, seed=1)).jitter
    assert jitter.cv == pytest.approx(0.05, rel=0.1)  # not the spread of the ranks
    assert jitter.correlation_time == pytest.approx(9, rel=0.15)  # (1 + r) / (1 - r)
    assert jitter.minor_share < 1e-4  # five standard deviations
    none = scattering(np.random.default_rng(1).uniform(0.9, 1.1, (2, 1000))).jitter
    assert (none.minor_share, none.minor_factor, none.spell_share) == (0, 1, 0)


def test_a_profile_states_what_rounds_show_of_jitter_and_says_what_they_do_not():
    """Spells in all rounds, or in none, or in too few to tell how long they are."""
    spells = Jitter(0.05, spell_share=0.02, spell_factor=1.2, spell_cycles=900.0)
    none = Jitter(0.05)
    stated, unknown = runs.jitter_values([spells] * 3, ranks=2, detail="")
    assert stated["jitter.slow_spells.cycles"].value == 900
    assert unknown.keys() == {"jitter.minor_mode.factor"}
    stated, unknown = runs.jitter_values([none] * 3, ranks=2, detail="")
    share = stated["jitter.slow_spells.share"]
    assert share.value == 0 and share.interval[1] > 0  # not seen, which is not: there are none
    assert {"jitter.slow_spells.factor", "jitter.slow_spells.cycles"} <= unknown.keys()
    stated, unknown = runs.jitter_values([spells, spells, none], ranks=2, detail="")
    assert "jitter.slow_spells.cycles" in unknown
    assert stated["jitter.slow_spells.share"].interval[1] >= 0.02
    assert {"jitter.common.share", "jitter.slow_spells.share"} <= runs.jitter_values(
        [none] * 3, ranks=1, detail=""
    )[1].keys()


@pytest.mark.parametrize(("share", "factor"), [(0.1, 1.5), (0.001, 30)])  # a mode, and interrupts
def test_long_cycles_are_told_from_the_others(share, factor):
    rng, shape = np.random.default_rng(1), (2, 20_000)
    times = rng.normal(1, 0.02, shape) * np.where(rng.random(shape) < share, factor, 1)
    jitter = scattering(times).jitter
    assert jitter.minor_share == pytest.approx(share, rel=0.2)
    assert jitter.minor_factor == pytest.approx(factor, rel=0.02)
    assert jitter.cv == pytest.approx(0.02, rel=0.05)
    assert jitter.correlation_time == pytest.approx(1, abs=0.1)


def test_power_is_what_the_meter_read_or_unknown_with_its_reason():
    read = SimpleNamespace(
        gross_j=100.0, idle_power_w=20.0, duration_s=2.0, source="hwmon", reason=None
    )
    values, unknown = runs.power([read] * 3, None, cores=3)
    assert (values["power.idle"].value, values["power.core"].value) == (20, 10)
    assert unknown.keys() == {"power.card"}
    values, unknown = runs.power([], "no /sys", cores=3)
    reasons = {
        unknown["power.idle"],
        unknown["power.core"],
        values["software.energy_source"].reference,
    }
    assert reasons == {"no /sys"}


def planted(latency=1e-6, rate=1e10, gap=2e-7) -> dict:
    """Times of a pair of ranks."""
    many = {(0, n): 2 * latency + (n - 1) * gap for n in (1, 4, 16, 64)}
    return many | {
        (size, 1): 2 * latency + size / rate for size in (messages.LARGE, messages.LARGEST)
    }


def a_round(nodes=("a", "a"), pairs=None, halves=None, eager=4040):
    return messages.MessageRepetition(
        list(nodes), pairs or {(0, len(nodes) - 1): planted()}, halves or {}, eager
    )


def test_messages_within_a_node_give_latency_bandwidth_gap_and_the_eager_limit():
    values, unknown = messages.values([messages.MessageRound(a_round(), None)] * 3, ONE)
    expected = {"latency_node": 1, "bandwidth_node": 10, "gap": 0.2, "eager": 4040 / 1024}
    assert {name.split(".")[1]: value.value for name, value in values.items()} == pytest.approx(
        expected
    )
    reasons = dict.fromkeys(("latency", "bandwidth", "congestion"), site.ONE_NODE)
    reasons |= dict.fromkeys(("fabric", "topology", "nodes_per_leaf"), messages.FABRIC)
    assert unknown == {f"interconnect.{name}": why for name, why in reasons.items()}
    disturbed = a_round(pairs={(0, 1): planted(gap=-1e-8)}, eager=None)
    _, unknown = messages.values([messages.MessageRound(disturbed, None)] * 3, ONE)
    assert unknown["interconnect.gap"] == messages.DISTURBED and "interconnect.eager" in unknown


def test_of_several_pairs_the_profile_has_the_median_and_the_reference_the_ends():
    pairs = list(itertools.combinations(range(4), 2))
    us = [1, 1.1, 1.2, 1.2, 1.3, 1.4]
    times = {pair: planted(1e-6 * latency_us) for pair, latency_us in zip(pairs, us, strict=True)}
    halves = {
        pair: messages.HalvedTimes(planted(), planted(rate=1e10 / 2)) for pair in ((0, 2), (1, 3))
    }
    four = a_round(("n1", "n2", "n3", "n4"), times, halves, 65480)
    values, _ = messages.values([messages.MessageRound(a_round(), four)] * 3, FOUR)
    expected = {"latency": 1.2, "latency_node": 1, "congestion": 2}
    assert {name: values[f"interconnect.{name}"].value for name in expected} == pytest.approx(
        expected
    )
    words = {
        "latency": "median over 6 pairs of n1, n2, n3, n4: 1 (n1-n2) to 1.4 (n3-n4)",
        "gap": "n1, n2, n3, n4",
        "eager": "from n1 to n4",
    }
    assert all(text in values[f"interconnect.{name}"].reference for name, text in words.items())


def test_what_bench_messages_writes_is_read():
    def row(pair, size, seconds, at_once=1):
        return {
            "repetition": 0,
            "pair": pair,
            "at_once": at_once,
            "bytes": size,
            "messages": 1,
            "rounds": 3,
            "round_s": seconds,
        }

    rows = [row([0, 3], 0, 2e-6), row([0, 3], messages.LARGE, 1e-4)]
    rows += [row([0, 2], messages.LARGE, 2e-4), row([0, 2], messages.LARGE, 4e-4, at_once=2)]
    repetition = messages.repetition_of_json(
        {"nodes": ["a", "b", "c", "d"], "eager_bytes": None, "measurements": rows}
    )
    assert repetition.pairs == {(0, 3): {(0, 1): 2e-6, (messages.LARGE, 1): 1e-4}}
    assert repetition.halves == {(0, 2): ({(messages.LARGE, 1): 2e-4}, {(messages.LARGE, 1): 4e-4})}
