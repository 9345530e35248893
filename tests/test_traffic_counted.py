"""Expected traffic beside the words that ranks of the mini-app send, for every method and level."""

import json
import math

import numpy as np
import program
import pytest

from spikemark.models.exchange_times import WORD_BYTES
from spikemark.network import placement_file
from spikemark.network.description import read_description
from spikemark.network.exchanges import ComposedExchange, write_table
from spikemark.network.named_files import located
from spikemark.network.placement import neurons, ranges
from spikemark.network.presets import voxels
from spikemark.prediction.partition.graph import _of_description
from spikemark.prediction.partition.methods import METHODS, divide
from spikemark.prediction.partition.routing import Grid
from spikemark.prediction.partition.traffic import ExpectedTraffic
from spikemark.records import record as records

pytestmark = pytest.mark.slow

# Every neuron fires once in the measured part, so that words are routes.
OPTIONS = {
    "voxels": 20,
    "neurons": 3000,
    "regions": 4,
    "indegree": 14,
    "rate": 100.0,
    "simulate_ms": 10.0,
    "warmup_ms": 0.0,
}
BRAIN = voxels.describe(**OPTIONS) | {"record": {"cycles": False}}
BRAIN["time"]["cycle_ms"] = 1.0
SEEDS = (4, 5)
DRAWS = 2  # networks of each case, others than those of all other cases
#: Methods whose library is absent are left to the tests of the methods.
HERE = [name for name, method in METHODS.items() if method.here]
#: Methods of the day; the others are for the night.
DAY = ("area_group", "round_robin", "greedy_swap")


@pytest.mark.parametrize(
    ("name", "ranks"),
    [
        pytest.param(
            name, 3 + (name == "area_group"), marks=[] if name in DAY else pytest.mark.nightly
        )
        for name in HERE
    ],
)
def test_words_are_as_expected(tmp_path, name, ranks):
    graph = _of_description(read_description(BRAIN))
    placement = divide(graph, ranks, name)
    placement_file.write(tmp_path / "placed.json", placement)
    found = ExpectedTraffic(graph, placement)
    h = -np.expm1(found.unmet.toarray())
    spread = found.there.T @ (h * (1 - h))
    np.fill_diagonal(spread, 0)

    path = tmp_path / "run.json"
    placed = {"name": "from_file", "file": "placed.json"}
    path.write_text(json.dumps(BRAIN | {"exchange": "p2p", "placement": placed}))
    words = []
    for draw in range(DRAWS):
        seed = program.sets(seed=100 * list(METHODS).index(name) + 10 * ranks + draw)
        dealt = program.sets(placement="round_robin")
        usual = program.record_of(tmp_path / "dealt", *seed, *dealt, description=path)
        out = tmp_path / f"{draw}"
        said = program.record_of(out, *seed, description=path, ranks=ranks)
        assert said["totals"]["spikes"] == graph.neurons
        assert said["checksum"] == usual["checksum"]
        assert said["placement"]["method"] == name
        assert said["placement"]["balance"] == pytest.approx(placement.balance)
        run = records.load_run(out)
        assert run.ranks["neurons"].tolist() == placement.per_rank.tolist()
        expected = neurons(
            run.record.described, run.record.described.placement, ranks, run.record.threads
        )
        assert expected.sum(axis=(0, 2)).tolist() == placement.per_rank.tolist()
        words.append(run.ranks["bytes_sent"].to_numpy() / WORD_BYTES)
    off = np.mean(words, axis=0) - found.sent
    error = np.sqrt(spread.sum(axis=1) / DRAWS)
    assert (np.abs(off) <= 3 * error).all(), (off / error).tolist()
    assert abs(off.sum()) <= 3 * np.sqrt((error**2).sum())


@pytest.mark.parametrize(
    ("sizes", "side", "merge", "files"),
    [
        ((2, 3), "sender", False, ()),
        ((3, 2), "receiver", True, ()),
        ((3, 3), "sender", True, ("table", "order")),
        pytest.param((2, 2, 2), "sender", True, (), marks=pytest.mark.nightly),
        pytest.param((3, 3), "receiver", False, ("table",), marks=pytest.mark.nightly),
    ],
)
def test_words_of_every_level_are_as_expected(tmp_path, sizes, side, merge, files):
    """Each rank's words in each hop of multi_level, with bridges on either side, merged or not.

    The mini-app and expectations read one table, and one order of ranks, by whose positions the
    table counts groups and members. Every neuron fires once.
    """
    ranks = math.prod(sizes)
    exchange = {
        "name": "multi_level",
        "parts": "p2p",
        "dimensions": list(sizes),
        "side": side,
        "merge": merge,
    }
    described = BRAIN | {"placement": "area_group", "exchange": exchange}
    network, position = read_description(described), np.arange(ranks)
    hits = ExpectedTraffic(
        _of_description(network), ranges(network.network, "area_group", ranks)[0]
    )
    if "order" in files:
        position, exchange["order"] = np.array([7, 0, 6, 1, 5, 2, 4, 3, 8]), "order.json"
        order = {"kind": "rank_order", "format_version": 1, "order": position.tolist()}
        (tmp_path / "order.json").write_text(json.dumps(order))
    if "table" in files:
        at, exchange["table"] = np.argsort(position), "table.json"
        table = Grid(ranks, sizes, side).balanced(hits.pairs[at][:, at]).table[:, position]
        write_table(tmp_path / "table.json", table, sizes, side)
    composed = ComposedExchange.from_fields("multi_level", located(described, tmp_path)["exchange"])
    found = hits.hops(Grid(ranks, sizes, side, **composed.read_files(ranks)), merge)
    sent = [np.asarray(hop.flow.sum(axis=1)).ravel() for hop in found]
    compare(tmp_path, described, sent if side == "sender" else sent[::-1])


def compare(folder, described: dict, expected: list) -> None:
    """Words that ranks sent in each level, the innermost first, over SEEDS beside what is
    expected.
    """
    words = []
    for seed in SEEDS:
        program.record_of(
            folder / str(seed), description=described | {"seed": seed}, ranks=len(expected[0])
        )
        counted = records.load_run(folder / str(seed)).ranks
        words.append([counted[f"words_level_{k}"].to_numpy() for k in range(1, len(expected) + 1)])
    off = np.mean(words, axis=0) - np.array(expected)
    error = np.sqrt(np.array(expected) / len(SEEDS))  # at most: rare routes are nearly independent
    assert (np.abs(off) <= 3 * error).all(), (off / error).tolist()
    level = np.sqrt(np.sum(expected, axis=1) / len(SEEDS))
    assert (np.abs(off.sum(axis=1)) <= 3 * level).all(), (off.sum(axis=1) / level).tolist()
