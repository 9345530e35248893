"""The page of a sweep tells the command that measured it, or else shows the experiment."""

import shlex
from itertools import pairwise

import pytest
import swept

from spikemark.records.frames import load_folder
from spikemark.report import sweep_page
from spikemark.report.facts import of_sweep
from spikemark.report.measured_by import planned_experiment, sweep_command
from spikemark.running.experiments import changed, load_experiment, parse_settings

CHANGES = [
    {},
    {"repetitions": 2},
    {"seeds": [1, 2], "time.simulate_ms": 20, "title": "a 'quoted' title"},
    {"preset.areas": 3, "set": {"record.cycles": True}},
]


@pytest.mark.parametrize("changes", CHANGES)
def test_the_command_gives_the_same_experiment(tmp_path, changes):
    experiment = changed(load_experiment("smoke"), changes)
    results, _ = swept.planned(tmp_path, experiment)
    words = shlex.split(sweep_command(planned_experiment(results.path)))
    assert words[:3] == ["spikemark", "sweep", "smoke"]
    settings = [after for word, after in pairwise(words) if word == "--set"]
    assert len(words) == 3 + 2 * len(settings)
    again = changed(load_experiment("smoke"), parse_settings(settings))
    assert again.model_dump() == experiment.model_dump()


@pytest.mark.parametrize("seeds", [[1], [1, 2, 3]], ids=len)
def test_the_network_is_said_to_be_drawn_with_several_seeds(tmp_path, seeds):
    results, runs = swept.planned(tmp_path, grid=[{"schedule": "overlapped"}], seeds=seeds)
    for run in runs:
        swept.write(results, run)
    network = of_sweep(load_folder(results.path))["network"]
    assert (f"{len(seeds)} seeds" in network) == (len(seeds) > 1)


def test_an_experiment_without_a_name_of_ours_is_shown(tmp_path):
    results, runs = swept.planned(tmp_path, grid=[{"schedule": "overlapped"}])
    swept.write(results, runs[0])
    frames = load_folder(results.path)
    assert sweep_command(planned_experiment(results.path)) == ""
    assert "sweep FILE" in of_sweep(frames)["measured by"]
    page = results.path / "report.html"
    sweep_page.write(frames, page)
    assert "&#34;grid&#34;: [{&#34;schedule&#34;: &#34;overlapped&#34;}]" in page.read_text()


def test_the_first_screen_has_the_command(tmp_path):
    experiment = changed(load_experiment("smoke"), {"repetitions": 2})
    results, _ = swept.planned(tmp_path, experiment)
    page = results.path / "report.html"
    sweep_page.write(load_folder(results.path), page)
    first_screen = page.read_text().partition("</header>")[0]
    assert "spikemark sweep smoke" in first_screen and "repetitions=2" in first_screen
