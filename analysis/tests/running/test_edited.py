"""What is said of an experiment that was edited since it was planned, on the terminal and on the page."""

import pytest
import yaml
from swept import PLAIN, planned

from spikemark.cli.main import main
from spikemark.running.edited import edited
from spikemark.running.experiments import Experiment


@pytest.fixture
def plan(tmp_path):
    return planned(tmp_path / "x" / "here")[0].read_plan()


def now(**changes) -> Experiment:
    return Experiment.model_validate({**PLAIN, **changes})


def test_nothing_is_said_where_nothing_was_edited(plan):
    assert edited(now(), plan) == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"title": "y"}, 'title (planned "x", now "y"). This report'),
        ({"ranks": 4}, "ranks (planned [2], now [4]); 1 run of the file not in this report, 1 run of this"),
        ({"ranks": [2, 4]}, "ranks (planned [2], now [2, 4]); 1 run of the file not in this report, 0 runs"),
        ({"grid": [{"schedule": ["conventional", "placement_only"]}]}, ": grid; 1 run of the file"),
        ({"set": {"time.simulate_ms": 20}}, "set (planned {}, now "),
    ],
)
def test_what_differs_is_named_in_one_line(plan, changes, said):
    line = edited(now(**changes), plan)
    assert said in line and "\n" not in line and line.endswith("`spikemark sweep` plans it again")


def test_a_plan_from_before_a_field_was_added_has_its_default(plan):
    content = plan.model_dump(mode="json")
    del content["experiment"]["binding"]
    assert edited(now(), type(plan).model_validate(content)) == ""


def test_the_terminal_and_the_page_say_it(tmp_path, capsys):
    results, _ = planned(tmp_path / "results" / "x" / "here")
    file = tmp_path / "x.yaml"
    file.write_text(yaml.safe_dump({**PLAIN, "title": "Another title"}))
    with pytest.raises(SystemExit):
        main(["report", str(file), "--results", str(tmp_path / "results"), "--machine", "here"])
    assert 'title (planned "x", now "Another title")' in capsys.readouterr().err
    assert "edited since: the experiment" in results.report.read_text(encoding="utf-8")
