"""`spikemark budget` on a synthetic run."""

import json

import pytest

from spikemark.waiting.budget import PARTS


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
