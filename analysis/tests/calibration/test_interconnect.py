"""What `spikemark calibrate` makes of the times of messages and collectives."""

import itertools

import fake_exchanges
import pytest

from spikemark.bench import exchange_times
from spikemark.calibration import (
    exchanges,
    messages,
    site,
)
from spikemark.machines import fields

SIZES = (4, 16, 64, 256, 1024, 8192)


ALONE, HERE = site.Site(1, 1), site.Site(1, 2)


def planted(latency=1e-6, rate=1e10, gap=2e-7) -> dict:
    """Times of a pair of ranks."""
    many = {(0, n): 2 * latency + (n - 1) * gap for n in (1, 4, 16, 64)}
    return many | {(size, 1): 2 * latency + size / rate for size in (messages.LARGE, messages.LARGEST)}


def a_round(nodes=("a", "a"), pairs=None, halves=None, eager=4040):
    return messages.Round(list(nodes), pairs or {(0, len(nodes) - 1): planted()}, halves or {}, eager)


def test_messages_within_a_node_give_latency_bandwidth_gap_and_the_eager_limit():
    found, unknown = messages.values([a_round()] * 3, [])
    assert {name.split(".")[1]: value.value for name, value in found.items()} == {
        "latency_node": pytest.approx(1),
        "bandwidth_node": pytest.approx(10),
        "gap": pytest.approx(0.2),
        "eager": 4040 / 1024,
    }
    between = ("latency", "bandwidth", "topology", "nodes_per_leaf", "congestion")
    assert unknown.pop("interconnect.fabric") == messages.FABRIC
    assert unknown == {f"interconnect.{name}": messages.ONE_NODE for name in between}
    disturbed = a_round(pairs={(0, 1): planted(gap=-1e-8)}, eager=None)
    _, unknown = messages.values([disturbed] * 3, [])
    assert unknown["interconnect.gap"] == messages.DISTURBED
    assert unknown["interconnect.eager"] == "even an empty message waits for its receiver"


def four_nodes(latencies, crowded=2.0) -> messages.Round:
    """All pairs of four nodes with these latencies (us), and halves that share what one pair has."""
    pairs = list(itertools.combinations(range(4), 2))
    times = {pair: planted(1e-6 * us) for pair, us in zip(pairs, latencies, strict=True)}
    halves = {pair: (planted(), planted(rate=1e10 / crowded)) for pair in ((0, 2), (1, 3))}
    return a_round(("n1", "n2", "n3", "n4"), times, halves, 65480)


def test_of_several_pairs_the_profile_has_the_median_and_the_reference_the_ends():
    found, unknown = messages.values([a_round()] * 3, [four_nodes([1, 1.1, 1.2, 1.2, 1.3, 1.4])] * 3)
    latency = found["interconnect.latency"]
    assert latency.value == pytest.approx(1.2) and found["interconnect.latency_node"].value == pytest.approx(
        1
    )
    assert latency.reference == (
        "half a round trip between nodes, median over 6 pairs of n1, n2, n3, n4: 1 (n1-n2) to 1.4 (n3-n4)"
    )
    assert "n1, n2, n3, n4" in found["interconnect.gap"].reference
    assert found["interconnect.congestion"].value == pytest.approx(2)
    assert "from n1 to n4" in found["interconnect.eager"].reference
    assert unknown["interconnect.topology"] == "latencies of 6 pairs, 1 to 1.4 us, show one level"


@pytest.mark.parametrize(
    ("latencies", "levels"),
    [
        ((1, 2, 2, 2, 2, 1), "two levels, 1 to 1 us (2 pairs) and 2 to 2 us (4)"),
        ((1, 1, 1, 1, 1, 9), "one level"),
    ],
)
def test_levels_of_the_network_are_told_but_not_assumed(latencies, levels):
    found, unknown = messages.values([], [four_nodes(latencies)] * 3)
    assert levels in unknown["interconnect.topology"] == unknown["interconnect.nodes_per_leaf"]
    assert "interconnect.topology" not in found


def test_what_bench_messages_writes_is_read():
    def row(pair, size, seconds, at_once=1, number=1):
        return {"repetition": 0, "pair": pair, "at_once": at_once, "bytes": size, "messages": number,
                "rounds": 3, "round_s": seconds}  # fmt: skip

    rows = [row([0, 3], 0, 2e-6), row([0, 3], messages.LARGE, 1e-4)]
    rows += [row([0, 2], messages.LARGE, 2e-4), row([0, 2], messages.LARGE, 4e-4, at_once=2)]
    found = messages.read({"nodes": ["a", "b", "c", "d"], "eager_bytes": None, "measurements": rows})
    assert found.pairs == {(0, 3): {(0, 1): 2e-6, (messages.LARGE, 1): 1e-4}}
    assert found.halves == {(0, 2): ({(messages.LARGE, 1): 2e-4}, {(messages.LARGE, 1): 4e-4})}


def test_one_core_has_no_messages():
    assert messages.within(ALONE, None, True) is None and messages.between(HERE, None, True) is None
    values, unknown = exchanges.values([{}], ALONE)
    assert not values and unknown["interconnect.tables"] == unknown["interconnect.selector"] == messages.ALONE
    values, unknown = messages.values([], [])
    assert not values and unknown["interconnect.gap"] == messages.ALONE


def test_tables_are_medians_and_say_how_far_repetitions_are_apart():
    def one(factor):
        return exchange_times.repetitions(fake_exchanges.content(noise=0, repetitions=1, lines={
            "alltoall": (factor * 1e-6, 0), "allgather": (factor * 2e-6, 0)}), "raw")[0]  # fmt: skip

    rounds = [{fields.WITHIN: one(f), fields.BETWEEN: one(9 * f)} for f in (1, 2, 1.5)]
    found, unknown = exchanges.values(rounds, site.Site(2, 1))
    table = found["interconnect.tables.alltoall"]
    assert table.value == [(2, size, pytest.approx(1.5)) for size in fake_exchanges.SIZES]
    assert table.reference == "medians; single repetitions are 0.67 to 1.3 times as long"
    assert found["interconnect.tables.barrier"].value == [(2, 0, pytest.approx(0.5))]
    assert found["interconnect.tables_between.alltoall"].value[0][2] == pytest.approx(13.5)
    assert "interconnect.selector" not in found  # of a library that nobody knows
    assert unknown["interconnect.tables_full"] == messages.ALONE
