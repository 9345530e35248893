"""The commands of the README and of the tour of waiting do what they say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from spikemark.waiting import PREDICTORS
from spikemark.waiting.changes import CHANGES
from spikemark.waiting.whatif import COMBINED

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text()
WAITING = (ROOT / "docs" / "waiting-tour.md").read_text()


def blocks(part: str) -> list[str]:
    """The indented blocks of a part of the README."""
    found = re.findall(r"(?:^    .*\n|^\n)+", part, re.MULTILINE)
    unindented = ["\n".join(line[4:] for line in block.split("\n")).strip("\n") for block in found]
    return [block for block in unindented if block.strip()]


@pytest.fixture
def checkout(tmp_path):
    """A folder with the build and the environment of this checkout, to leave files in."""
    (tmp_path / "build").symlink_to(ROOT / "build")
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    return tmp_path


def run(script: str, folder: Path) -> subprocess.CompletedProcess:
    environment = {**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # also on a machine with one core
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=600, env=environment
    )


@pytest.mark.slow
def test_the_tour_runs_and_its_example_is_refused_as_shown(checkout):
    tour = blocks(TEXT[TEXT.index("**Run one network yourself**") : TEXT.index("**Sweep.**")])
    example = tour.pop()
    assert len(tour) > 1
    command, message = example.split("\n")
    done = run("\n".join(["set -e", *tour]), checkout)
    assert done.returncode == 0, done.stderr
    checksums = re.findall(r"checksum ([0-9a-f]{16})", done.stdout)
    assert len(checksums) == 2
    assert len(set(checksums)) == 1
    assert len(re.findall(r"waits [\d.]+ us per cycle", done.stdout)) == 3

    exports = [line for line in tour[0].split("\n") if line.startswith("export")]
    refused = run("\n".join([*exports, command.removeprefix("$ ")]), checkout)
    assert refused.returncode == 2
    assert refused.stderr == message + "\n"


@pytest.mark.slow
def test_the_tour_of_waiting_runs(checkout):
    exports = blocks(TEXT[TEXT.index("**Run one network yourself**") :])[0]
    tour = blocks((ROOT / "docs" / "waiting.md").read_text())
    done = run("\n".join(["set -e", exports, *tour]), checkout)
    assert done.returncode == 0, done.stderr
    assert "mean cycle time" in done.stdout and "structure_aware, D = 10, 2 ranks" in done.stdout
    predicted = json.loads(done.stdout[done.stdout.rindex("\n{\n") :])
    assert list(predicted) == ["iid", "correlated", "replay"]


def test_what_it_links_to_is_there():
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (ROOT / target).exists(), target


def test_the_targets_it_names_exist():
    names = set(re.findall(r"`make (\w+)`", TEXT) + re.findall(r"^    make (\w+)", TEXT, re.MULTILINE))
    assert {"demo", "test"} <= names
    makefile = (ROOT / "Makefile").read_text()
    for name in names:
        assert re.search(rf"^{name}:.*## ", makefile, re.MULTILINE), name


@pytest.mark.slow
def test_the_tour_to_what_would_help_runs(checkout):
    paths = [line[4:] for line in TEXT.split("\n") if line.startswith("    export")]
    done = run("\n".join(["set -e", *paths, *blocks(WAITING)]), checkout)
    assert done.returncode == 0, done.stderr
    assert len(set(re.findall(r"checksum ([0-9a-f]{16})", done.stdout))) == 1
    for name in ("persistent", "jitter", "drift", "rare", "barrier"):
        assert len(re.findall(rf"  {name} ", done.stdout)) == 2
    assert all(f" {name} " in done.stdout for name in (*CHANGES, *COMBINED))
    found = json.loads(done.stdout[done.stdout.index("\n{\n") : done.stdout.index("\n}\n") + 3])
    assert list(found) == ["base", "halve-jitter+double-delay-ratio"]
    for name in PREDICTORS:
        assert found["halve-jitter+double-delay-ratio"][name]["waiting_s"] < found["base"][name]["waiting_s"]


def test_what_the_tour_links_to_is_there():
    for target in re.findall(r"\]\(([^)#:]+)\)", WAITING):
        assert (ROOT / "docs" / target).exists(), target
