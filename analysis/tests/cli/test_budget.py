"""`spikemark budget` on a synthetic run."""

import json

import pytest
from synthetic import write_run

from spikemark.waiting.budget import PARTS
from spikemark.waiting.show_budget import TOGETHER


def test_every_part_has_its_interval_and_kind(spikemark, conventional):
    content = json.loads(spikemark("budget", conventional, "--json")[1])
    parts = content["parts"]
    assert list(parts) == [*PARTS, "barrier"]
    assert sum(part["value"] for part in parts.values()) == pytest.approx(content["waiting_s"])
    for part in (*parts.values(), content["common_mode"], content["transport"]):
        low, high = part["interval"]
        assert low <= part["value"] <= high and part["unit"] == "s"
    assert content["transport"]["kind"] == "measured" and parts["jitter"]["kind"] == "modelled"


def test_people_see_the_same(spikemark, conventional):
    status, output, errors = spikemark("budget", conventional, "--delay-ratio", "20")
    assert (status, errors) == (0, "")
    for words in (*PARTS, "barrier", "common mode", "averages out over 20 cycles", "POP efficiencies: load"):
        assert words in output
    said = " ".join(output.split())
    assert "all ranks slow at once: mean minus median, no waiting" in said and TOGETHER in said
    assert "how much longer a mean cycle is than a usual one" in TOGETHER


EIGHT = [node for node in ("n1", "n2", "n3", "n4") for _ in range(2)]


def test_a_slow_node_is_named_with_its_share(spikemark, tmp_path):
    run = write_run(tmp_path, ranks=8, cycles=2000, cv=0.02, nodes=EIGHT, slower={"n3": 1.2})
    status, output, errors = spikemark("budget", run)
    assert (status, errors) == (0, "")
    assert "slow node: n3 takes 2" in output and "lasting differences between nodes: " in output
    found = json.loads(spikemark("budget", run, "--json")[1])["nodes"]
    assert found["slow"] == ["n3"]
    assert list(found["slower"]) == ["n1", "n2", "n3", "n4"]
    low, high = found["slower"]["n3"]["interval"]
    assert low < 0.2 < high
    low, high = found["share"]["interval"]
    assert 0 < low <= found["share"]["value"] <= high
    assert found["waiting"]["unit"] == "s"


def test_nothing_is_said_of_nodes_where_all_ranks_are_on_one(spikemark, conventional):
    assert json.loads(spikemark("budget", conventional, "--json")[1])["nodes"] is None
    assert "node" not in spikemark("budget", conventional)[1]
