"""Runs that are shorter, quieter or odder than a page expects: it is made all the same, and says so."""

import json

import pytest
from html_page import Page
from planned import grid, write_experiment
from small_network import describe

from spikemark.records.gather import gather
from spikemark.report import build


def check_page(folder) -> None:
    assert build(gather(folder), folder / "report.html")
    text = Page((folder / "report.html").read_text()).text
    assert "not a number" not in text and "nan" not in text.lower().split()


@pytest.mark.parametrize("cycles", [1, 5, 10, 19])
def test_a_page_is_made_of_them(tmp_path, cycles, undrawn):
    folder = write_experiment(tmp_path, grid(cycles=cycles))
    check_page(folder)


def test_a_silent_network_has_a_page(tmp_path, undrawn):
    silent = describe(areas=2, neurons=100, indegree=20, delay_ratio=10)
    for population in silent["network"]["populations"]:
        population["neuron"]["rate_hz"] = 0
    folder = write_experiment(tmp_path, grid(cycles=100, description=silent))
    assert {m.run.record.totals.spikes for m in gather(folder).runs} == {0}
    check_page(folder)


@pytest.mark.parametrize("field", ["time", "exchange", "network", "schedule", "delay_ratio", "record"])
@pytest.mark.parametrize("value", [None, "absent"])
def test_a_description_edited_like_its_plan_leaves_the_run_out(tmp_path, undrawn, field, value):
    folder = write_experiment(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1, 2), cycles=100))
    identity = json.loads((folder / "plan.json").read_text())["runs"][0]["id"]
    paths = folder / "descriptions" / f"{identity}.json", folder / "runs" / identity / "record.json"
    for path in paths:
        content = json.loads(path.read_text())
        at = content.get("description", content)
        at[field] = None
        if value == "absent":
            del at[field]
        path.write_text(json.dumps(content))
    sweep = gather(folder)
    assert list(sweep.unreadable) == [identity] and "\n" not in sweep.unreadable[identity]
    assert field in sweep.unreadable[identity]
    check_page(folder)
