"""What `spikemark calibrate` makes of the times of messages and collectives."""

import itertools

import pytest

from spikemark.measuring import messages


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
    between = ("latency", "bandwidth", "congestion")
    for name in ("fabric", "topology", "nodes_per_leaf"):
        assert unknown.pop(f"interconnect.{name}") == messages.FABRIC
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
    assert unknown["interconnect.topology"] == messages.FABRIC


def test_what_bench_messages_writes_is_read():
    def row(pair, size, seconds, at_once=1, number=1):
        return {"repetition": 0, "pair": pair, "at_once": at_once, "bytes": size, "messages": number,
                "rounds": 3, "round_s": seconds}  # fmt: skip

    rows = [row([0, 3], 0, 2e-6), row([0, 3], messages.LARGE, 1e-4)]
    rows += [row([0, 2], messages.LARGE, 2e-4), row([0, 2], messages.LARGE, 4e-4, at_once=2)]
    found = messages.read({"nodes": ["a", "b", "c", "d"], "eager_bytes": None, "measurements": rows})
    assert found.pairs == {(0, 3): {(0, 1): 2e-6, (messages.LARGE, 1): 1e-4}}
    assert found.halves == {(0, 2): ({(messages.LARGE, 1): 2e-4}, {(messages.LARGE, 1): 4e-4})}
