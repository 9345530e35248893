"""docs/experiments.md: every field is there, and its examples are taken."""

import re
from pathlib import Path

import pytest
import yaml

from spikemark.core.yaml_file import parsed
from spikemark.records.experiment_fields import DESCRIPTION_FIELDS, LAYOUT, PLACES, Experiment, Source
from spikemark.records.plan import SimulatedOn
from spikemark.running import experiments

PAGE = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text(encoding="utf-8")
SECTIONS = {"Fields": Experiment, "`preset`": Source, "`machine`": SimulatedOn}
SMALL = {
    "name": "small",
    "title": "Small",
    "preset": {"name": "mam-benchmark"},
    "grid": [{"schedule": "conventional"}],
    "ranks": 1,
    "shuffle_seed": 1,
}


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def rows(heading: str) -> list[list[str]]:
    lines = re.findall(r"^\|.*\|$", section(heading), re.MULTILINE)[2:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def loaded(content: dict, folder: Path) -> Experiment:
    path = folder / "experiment.yaml"
    path.write_text(yaml.safe_dump(content))
    (folder / "network.yaml").write_text("time: {simulate_ms: 100}\n")
    return experiments.load(path)


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_field_is_documented(heading):
    named = [row[0].strip("`") for row in rows(heading)]
    assert sorted(named) == sorted(SECTIONS[heading].model_fields)


@pytest.mark.parametrize("heading", SECTIONS)
def test_what_is_needed_and_what_is_not(heading):
    for name, _, without, _ in rows(heading):
        field = SECTIONS[heading].model_fields[name.strip("`")]
        assert (without == "needed") == field.is_required(), name
        if isinstance(field.default, int | float) and not isinstance(field.default, bool):
            assert without == f"{field.default:g}", name


@pytest.mark.parametrize("heading", SECTIONS)
def test_examples_are_taken(heading, tmp_path):
    for name, *_, example in rows(heading):
        given = parsed(example.strip("`"), Path("page"))
        assert list(given) == [name.strip("`")]
        if heading == "`preset`":
            given = {"preset": {**SMALL["preset"], **given}}
        elif heading == "`machine`":
            given = {"machine": {"profile": "jureca-dc", **given}}
        content = {**SMALL, **given}
        if "description" in given:
            del content["preset"]
        loaded(content, tmp_path)


def test_fields_of_the_grid_are_documented_and_taken(tmp_path):
    found = rows("`grid`")
    named = {name for row in found for name in re.findall(r"`([\w.…]+)`", row[0])}
    assert named >= {*PLACES, *LAYOUT, "preset.…", "machine.…"}
    assert {name.removesuffix(".…") for name in named} >= set(DESCRIPTION_FIELDS)
    for *_, example in found:
        content = {**SMALL, "grid": [yaml.safe_load(example.strip("`"))]}
        if "machine." in example:
            content["machine"] = {"profile": "jureca-dc"}
        loaded(content, tmp_path)


def test_the_whole_experiment_makes_as_many_runs_as_the_page_says(tmp_path):
    (text,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    runs = experiments.expand(loaded(yaml.safe_load(text), tmp_path))
    *_, said = re.findall(r"It makes [\d × ]+ = (\d+) runs", PAGE)
    assert len(runs) == int(said)
