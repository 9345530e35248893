"""Words of every level of the exchange multi_level beside expected traffic, rank by rank."""

import json
from dataclasses import replace

import numpy as np
import program
import pytest

from spikemark.network.composed import Composed
from spikemark.network.description import read
from spikemark.network.named_files import located
from spikemark.prediction.partition import bridges, forwarding, levels, traffic
from spikemark.prediction.partition.graph import of_description
from spikemark.prediction.partition.placement import of_rule
from spikemark.presets import voxels
from spikemark.records import record as records

pytestmark = pytest.mark.slow

SEEDS = (4, 5, 6, 7)
# Every neuron fires once in the measured part, so that words are routes.
OPTIONS = {"voxels": 20, "neurons": 3000, "regions": 4, "indegree": 14, "rate": 100.0, "simulate_ms": 10.0,
           "warmup_ms": 0.0}  # fmt: skip


@pytest.mark.parametrize(("sizes", "side", "merge"), [
    ((2, 4), "sender", False), ((2, 4), "sender", True), ((4, 2), "receiver", False),
    ((4, 2), "receiver", True), ((2, 2, 2), "sender", True), ((2, 2, 2), "receiver", True),
])  # fmt: skip
def test_words_of_every_level_are_as_expected(tmp_path, sizes, side, merge):
    """Each rank's words in each hop of multi_level, with bridges on either side, merged or not."""
    described, hits = brain(tmp_path, 8, {"dimensions": sizes, "side": side, "merge": merge})
    found = levels.loads(hits, hits.between(), sizes, side, merge)
    compare(tmp_path, described, [level.sent for level in (found if side == "sender" else found[::-1])])


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("merge", [False, True])
@pytest.mark.parametrize("side", levels.SIDES)
def test_words_follow_files(tmp_path, side, merge, ordered):
    """What `spikemark traffic --out-table` writes is what the mini-app and expectations read; so is an order
    of ranks, by whose positions the table counts groups and members."""
    sizes, ranks = (3, 3), 9
    fields = {"dimensions": sizes, "side": side, "merge": merge, "table": "table.json"}
    position = np.arange(ranks)
    if ordered:
        position, fields["order"] = np.array([7, 0, 6, 1, 5, 2, 4, 3, 8]), "order.json"
        order = {"kind": "rank_order", "format_version": 1, "order": position.tolist()}
        (tmp_path / "order.json").write_text(json.dumps(order))
    described, hits = brain(tmp_path, ranks, fields)
    pairs, at = hits.between(), np.argsort(position)
    table = bridges.balanced(pairs[at][:, at], sizes, cap=4, side=side)
    bridges.write(tmp_path / "table.json", replace(table, bridge=table.bridge[:, position]))
    composed = Composed.of("multi_level", located(described, tmp_path)["exchange"])
    files = forwarding.read(composed, ranks)
    found = levels.hops(pairs, sizes, side, hits.onto if merge else None, files)
    sent = [np.asarray(hop.flow.sum(axis=1)).ravel() for hop in found]
    compare(tmp_path, described, sent if side == "sender" else sent[::-1])


def brain(folder, ranks: int, fields: dict):
    """A brain that sends in levels, and where its neurons have synapses; every neuron fires once."""
    described = voxels.describe(**OPTIONS) | {"record": {"cycles": False}, "placement": "area_group"}
    described["time"]["cycle_ms"] = 1.0
    exchange = {"name": "multi_level", "parts": "p2p"} | fields
    described["exchange"] = exchange | {"dimensions": list(fields["dimensions"])}
    network = read(described)
    return described, traffic.Hits(of_description(network), of_rule(network, "area_group", ranks))


def compare(folder, described: dict, expected: list) -> None:
    """Words that ranks sent in each level, the innermost first, over SEEDS beside what is expected."""
    ranks, path, words = len(expected[0]), folder / "run.json", []
    for seed in SEEDS:
        path.write_text(json.dumps(described | {"seed": seed}))
        program.record_of(folder / str(seed), description=path, ranks=ranks)
        counted = records.load(folder / str(seed)).ranks
        words.append([counted[f"words_level_{k}"].to_numpy() for k in range(1, len(expected) + 1)])
    off = np.mean(words, axis=0) - np.array(expected)
    error = np.sqrt(np.array(expected) / len(SEEDS))  # at most: rare routes are nearly independent
    assert (np.abs(off) <= 3 * error).all(), (off / error).tolist()
    level = np.sqrt(np.sum(expected, axis=1) / len(SEEDS))
    assert (np.abs(off.sum(axis=1)) <= 3 * level).all(), (off.sum(axis=1) / level).tolist()
