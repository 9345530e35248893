"""What the page of a sweep holds of each run: its settings, values and place."""

import json

import pytest

from spikemark.records.frames import load_folder
from spikemark.report.run_pages import FIRST, run_pages

RESULTS = "docs/notebooks/data/waiting/jureca-dc"


@pytest.fixture
def frames(request):
    return load_folder(request.config.rootpath / RESULTS)


def test_rows_hold_the_values_of_runs(frames):
    pages = run_pages(frames)
    rows = {row[0]: row for row in pages.rows}
    assert rows.keys() == set(frames.runs["id"]) == frames.records.keys()
    heads = [column.name for column in pages.columns]
    for run in frames.runs.to_dict("records"):
        row = rows[run["id"]]
        assert (frames.path / row[1] / "record.json").is_file()
        value = row[FIRST + heads.index("real_time_factor")]
        assert value == pytest.approx(run["real_time_factor"], rel=1e-5)


def test_what_all_runs_share_is_said_once(frames):
    pages = run_pages(frames)
    frames.runs["seed"] = [1, 1, 2]
    changed = run_pages(frames)
    assert pages.shared["seed"] == "1" and "seed" not in changed.shared
    assert "seed" in {column.name for column in changed.columns if column.use == "set"}


def test_data_cannot_end_its_element(frames):
    frames.runs["host"] = ["</script><script>alert(1)", "a", "b"]
    text = run_pages(frames).data()
    assert "<" not in text
    assert "</script><script>alert(1)" in str(json.loads(text)["rows"])


def test_schedules_have_the_colours_of_all_other_figures(frames):
    colours = run_pages(frames).colours
    assert colours["conventional"] == "conventional"
    assert {colour for name, colour in colours.items() if name.startswith("structure-aware")} == {
        "structure-aware"
    }


def test_a_folder_without_runs_has_no_pages(frames):
    assert run_pages(frames.with_runs(frames.runs.iloc[:0])) is None
