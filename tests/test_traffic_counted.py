"""Expected traffic beside the words that ranks of the mini-app send, for every method of partition."""

import json

import numpy as np
import program
import pytest

from spikemark.network.description import read
from spikemark.prediction.partition import bridges, levels, traffic
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.graph import of_description
from spikemark.prediction.partition.methods import METHODS
from spikemark.prediction.partition.placement import of_rule
from spikemark.presets import voxels
from spikemark.records import record as records

pytestmark = pytest.mark.slow

SEEDS = (4, 5, 6, 7)
OWN = [name for name, method in METHODS.items() if not method.library and name != "space_filling"]
# Every neuron fires once in the measured part, so that words are routes.
OPTIONS = {"voxels": 20, "neurons": 3000, "regions": 4, "indegree": 14, "rate": 100.0, "simulate_ms": 10.0,
           "warmup_ms": 0.0}  # fmt: skip


def divided(described: dict, placement) -> dict:
    """The same network with an area for every rank, so that the placement `area` does what is wanted."""
    network = described["network"]
    ends = np.cumsum([p["size"] for p in network["populations"]])
    parts, names = [], {p["name"]: [] for p in network["populations"]}
    for population, end in zip(network["populations"], ends, strict=True):
        begin = end - population["size"]
        for first, last, rank in zip(placement.first, placement.end, placement.rank, strict=True):
            size = int(min(end, last) - max(begin, first))
            if size > 0:
                name = f"{population['name']}.{first}"
                names[population["name"]].append(name)
                parts.append(population | {"name": name, "area": f"{rank:03}", "size": size})
    projections = [
        p | {"source": names[p["source"]], "target": target}
        for p in network["projections"]
        for target in names[p["target"]]
    ]
    parts.sort(key=lambda p: p["area"])
    return {"network": {"populations": parts, "projections": projections}, "placement": "area"}


@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", OWN)
def test_words_are_as_expected(tmp_path, name, ranks):
    described = voxels.describe(**OPTIONS) | {"exchange": "p2p", "record": {"cycles": False}}
    described["time"]["cycle_ms"] = 1.0
    graph = of_description(read(described))
    placement = divide(graph, ranks, METHODS[name], time_limit_s=2).placement
    hits = traffic.Hits(graph, placement)
    found = traffic.of_hits(hits, placement)
    h = -np.expm1(-hits.miss.toarray())
    spread = hits.there.T @ (h * (1 - h))
    np.fill_diagonal(spread, 0)

    how = {"placement": "round_robin"} if placement.over[0] > 1 else divided(described, placement)
    path = tmp_path / "run.json"
    words = []
    for seed in SEEDS:
        path.write_text(json.dumps(described | how | {"seed": seed}))
        out = tmp_path / str(seed)
        totals = program.record_of(out, description=path, ranks=ranks)["totals"]
        assert totals["spikes"] == graph.neurons
        run = records.load(out)
        assert run.ranks["neurons"].tolist() == found.neurons.tolist()
        words.append(run.ranks["bytes_sent"].to_numpy() / traffic.WORD)
    off = np.mean(words, axis=0) - found.sent
    error = np.sqrt(spread.sum(axis=1) / len(SEEDS))
    assert (np.abs(off) <= 3 * error).all(), (off / error).tolist()
    assert abs(off.sum()) <= 3 * np.sqrt((error**2).sum())


@pytest.mark.parametrize(("sizes", "side", "merge"), [
    ((2, 4), "sender", False), ((2, 4), "sender", True), ((4, 2), "receiver", False),
    ((4, 2), "receiver", True), ((2, 2, 2), "sender", True), ((2, 2, 2), "receiver", True),
])  # fmt: skip
def test_words_of_every_level_are_as_expected(tmp_path, sizes, side, merge):
    """Each rank's words in each hop of multi_level, with bridges on either side, merged or not."""
    described, hits = brain(tmp_path, 8, {"dimensions": sizes, "side": side, "merge": merge})
    found = levels.loads(hits, hits.between(), sizes, side, merge)
    compare(tmp_path, described, [level.sent for level in (found if side == "sender" else found[::-1])])


def test_words_follow_a_forwarding_table(tmp_path):
    """What `spikemark traffic --out-table` writes is what the mini-app reads, and evens out its bridges."""
    sizes = (3, 3)
    described, hits = brain(tmp_path, 9, {"dimensions": sizes, "table": "table.json"})
    pairs = hits.between()
    table = bridges.balanced(pairs, sizes, cap=4)
    bridges.write(tmp_path / "table.json", table)
    away = np.arange(9)[:, np.newaxis] // 3 != np.arange(9) // 3
    at = table.bridge[np.arange(9) // 3] + 3 * (np.arange(9) // 3)[:, np.newaxis]
    at = np.where(away, at, np.arange(9))
    first = np.where(at == np.arange(9)[:, np.newaxis], 0, pairs).sum(axis=1)
    second = np.bincount(at[away], pairs[away], 9)
    compare(tmp_path, described, [first, second])


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
