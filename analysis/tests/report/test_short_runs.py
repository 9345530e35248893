"""Runs as short as the mini-app takes them: shorter than a window of D cycles, and one window long."""

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
