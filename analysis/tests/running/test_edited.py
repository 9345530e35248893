"""What is said of an experiment that was edited since it was planned, on the terminal and on the page."""

import pytest
import yaml
from swept import PLAIN, planned

from spikemark.running.edited import edited
from spikemark.running.experiments import Experiment


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, None),
        ({"title": "y"}, 'title (planned "x", now "y"). This report'),
        ({"ranks": [2, 4]}, "ranks (planned [2], now [2, 4]); 1 run of the file not in this report, 0 runs"),
        ({"grid": [{"schedule": ["conventional", "placement_only"]}]}, ": grid; 1 run of the file"),
    ],
)
def test_what_differs_is_named_in_one_line(tmp_path, changes, said):
    """Fields that an older plan lacks have their defaults."""
    plan, now = planned(tmp_path / "x" / "here")[0].read_plan(), Experiment.model_validate(PLAIN | changes)
    content = plan.model_dump(mode="json")
    del content["experiment"]["binding"]
    for one in (plan, type(plan).model_validate(content)):
        line = edited(now, one)
        assert line == "" if said is None else said in line and "\n" not in line


def test_the_terminal_and_the_page_say_it(tmp_path, spikemark):
    results, _ = planned(tmp_path / "results" / "x" / "here")
    file = tmp_path / "x.yaml"
    file.write_text(yaml.safe_dump({**PLAIN, "title": "Another title"}))
    _, _, errors = spikemark("report", file, "--results", tmp_path / "results", "--machine", "here")
    assert 'title (planned "x", now "Another title")' in errors
    assert "edited since: the experiment" in results.report.read_text(encoding="utf-8")
