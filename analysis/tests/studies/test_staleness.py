"""Pages of studies that no longer describe the code."""

import shutil
from pathlib import Path

import pytest

import spikemark
from spikemark.core import places
from spikemark_studies import lober, staleness, study

NAME = "shehzad"


@pytest.fixture
def checkout(monkeypatch, tmp_path) -> Path:
    """A copy of what a study rests on, which tests may change."""
    shutil.copytree(places.root() / "machines", tmp_path / "machines")
    shutil.copytree(places.root() / "workflows", tmp_path / "workflows")
    package = tmp_path / "spikemark"
    for folder in staleness.MODEL_PACKAGES:
        shutil.copytree(Path(spikemark.__file__).parent / folder, package / folder)
    paper = shutil.copy(staleness.paper_file(NAME), tmp_path)
    monkeypatch.setattr(staleness.spikemark, "__file__", str(package / "__init__.py"))
    monkeypatch.setattr(staleness.places, "root", lambda: tmp_path)
    monkeypatch.setattr(staleness, "paper_file", lambda name: Path(paper))
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "file", "old", "new"),
    [
        ("models", "spikemark/models/loggp.py", "def ", "def renamed_"),
        ("models", "spikemark/prediction/spreads.yaml", "synaptic event: 4", "synaptic event: 5"),
        ("profiles", "machines/bl460c-ddr.yaml", "value: 2.66", "value: 2.67"),
        ("profiles", "spikemark/machines/priors.yaml", "leaf, value: 16", "leaf, value: 17"),
        ("claims", "shehzad.yaml", "within: 0.001", "within: 0.002"),
        (
            "experiments",
            "workflows/experiments/exchange-shehzad.yaml",
            "shuffle_seed: 1",
            "shuffle_seed: 2",
        ),
    ],
)
def test_a_page_tells_which_part_has_changed(checkout, part, file, old, new):
    page = f"# A page\n\n{staleness.comment(NAME)}\n"
    assert staleness.differences(NAME, page) == []
    assert staleness.marked(NAME, page) == page
    edit(checkout / file, old, new)
    assert staleness.differences(NAME, page) == [part]
    marked = staleness.marked(NAME, page)
    first = marked.splitlines()[0]
    assert part in first and f"spikemark study {NAME} --markdown" in first
    assert staleness.marked(NAME, marked) == marked
    edit(checkout / file, new, old)
    assert staleness.marked(NAME, marked) == page


def test_comments_and_docstrings_make_no_page_out_of_date(checkout):
    page = staleness.comment(NAME)
    model = checkout / "spikemark" / "models" / "loggp.py"
    edit(model, '"""', '"""Another first line.\n\n')
    edit(checkout / "machines" / "bl460c-ddr.yaml", "format_version", "# why\nformat_version")
    assert staleness.differences(NAME, page) == []


def test_claims_rest_on_the_modules_that_a_study_imports():
    names = {file.stem for file in staleness._modules(lober)}
    assert {"lober", "claims", "cycles", "jitter_map", "pick", "profiles"} <= names


def test_a_page_without_digests_is_out_of_date():
    assert staleness.differences(NAME, "# A page\n") == list(staleness.PARTS)


@pytest.mark.slow
def test_every_study_has_digests_of_all_parts():
    for name in study.study_names():
        assert list(staleness.digests(name)) == list(staleness.PARTS)
        for profile in study.load_paper(name).profiles:
            assert (places.root() / "machines" / f"{profile}.yaml").is_file()
