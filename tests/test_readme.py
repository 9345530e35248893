"""The commands of the README and of the tours in docs/ do what they say, and every link leads somewhere."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import blocks

from spikemark.core.places import ELSEWHERE
from spikemark.waiting import PREDICTORS
from spikemark.waiting.whatif import CHANGES, COMBINED

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
FIVE_MINUTES = README[README.index("## Five minutes") : README.index("## Where to go next")]
PAGES = [
    "README.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")),
]


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


PATHS = blocks(FIVE_MINUTES)[0]


@pytest.fixture
def checkout(tmp_path):
    """A folder with the build and the environment of this checkout, to leave files in."""
    (tmp_path / "build").symlink_to(ROOT / "build")
    (tmp_path / ".venv").symlink_to(Path(sys.executable).parents[1])
    return tmp_path


def run(script: list[str], folder: Path) -> subprocess.CompletedProcess:
    """Runs blocks of commands with the paths set as the README sets them; stops at the first that fails."""
    environment = {**os.environ, "OMPI_MCA_rmaps_base_oversubscribe": "1"}  # also on a machine with one core
    return subprocess.run(
        ["bash", "-c", "\n".join(["set -e", PATHS, *script])],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
    )


@pytest.mark.slow
def test_the_five_minutes_run(checkout):
    assert PATHS.startswith("export PATH=")
    done = run(blocks(FIVE_MINUTES)[1:], checkout)
    assert done.returncode == 0, done.stderr
    checksums = re.findall(r"checksum ([0-9a-f]{16})", done.stdout)
    assert len(checksums) == 2
    assert len(set(checksums)) == 1
    assert "structure_aware, D = 10, 2 ranks" in done.stdout
    assert len(re.findall(r"POP efficiencies", done.stdout)) == 2
    said = done.stdout.replace("\n", " ")
    assert re.search(r"jureca-dc: real-time factor 1\.00 is .*supermuc-ng: real-time factor 1\.00 is", said)
    assert "jureca-dc" in (checkout / "machines.html").read_text()


@pytest.mark.slow
def test_a_network_runs_by_hand_and_the_example_is_refused_as_shown(checkout):
    first, python, example, *_ = blocks(page("running.md"))
    done = run([first, python], checkout)
    assert done.returncode == 0, done.stderr
    assert len(set(re.findall(r"checksum ([0-9a-f]{16})", done.stdout))) == 1
    assert len(re.findall(r"waits [\d.]+ us per cycle", done.stdout)) == 3

    command, message = example.split("\n")
    refused = run([command.removeprefix("$ ")], checkout)
    assert refused.returncode == 2
    assert refused.stderr == message + "\n"


@pytest.mark.slow
def test_the_tour_of_waiting_runs(checkout):
    done = run(blocks(page("waiting.md")), checkout)
    assert done.returncode == 0, done.stderr
    assert "mean cycle time" in done.stdout and "structure_aware, D = 10, 2 ranks" in done.stdout
    predicted = json.loads(done.stdout[done.stdout.rindex("\n{\n") :])
    assert list(predicted) == ["iid", "correlated", "replay"]


@pytest.mark.slow
def test_the_tour_to_what_would_help_runs(checkout):
    done = run(blocks(page("waiting-tour.md")), checkout)
    assert done.returncode == 0, done.stderr
    assert len(set(re.findall(r"checksum ([0-9a-f]{16})", done.stdout))) == 1
    for name in ("persistent", "jitter", "drift", "rare", "barrier"):
        assert len(re.findall(rf"  {name} ", done.stdout)) == 2
    assert all(f" {name} " in done.stdout for name in (*CHANGES, *COMBINED))
    found = json.loads(done.stdout[done.stdout.index("\n{\n") : done.stdout.index("\n}\n") + 3])
    assert list(found["changes"]) == ["base", "halve-jitter+double-delay-ratio"]
    base, changed = found["changes"].values()
    assert all(changed[name]["waiting_s"] < base[name]["waiting_s"] for name in PREDICTORS)


def test_every_command_uses_only_files_that_commands_before_it_wrote():
    """The commands work in the order in which they stand."""
    written: set[str] = set()
    used = 0
    for line in "\n".join(blocks(FIVE_MINUTES)[1:]).splitlines():
        outputs = set(re.findall(r"(?:> |--out |--html )(\S+)", line))
        inputs = {
            word for word in line.split() if re.fullmatch(r"out/\S+|\S+\.(json|csv|yaml)", word)
        } - outputs
        assert inputs <= written, line
        written |= outputs
        used += len(inputs)
    assert used >= 5


def test_after_make_demo_every_program_is_there_that_spikemark_starts():
    """`make demo` builds what measures: whoever then calibrates need not build anything."""
    makefile = (ROOT / "Makefile").read_text()
    assert "\ndemo: miniapp " in makefile and "--build build --target measuring " in makefile
    targets = (ROOT / "miniapp" / "bench" / "CMakeLists.txt").read_text()
    named = re.findall(
        r"add_custom_target\(measuring DEPENDS (.*)\)|add_dependencies\(measuring (.*)\)", targets
    )
    built = {name for names in named for part in names for name in part.split()}
    sources = [path.read_text() for path in (ROOT / "analysis" / "spikemark").rglob("*.py")]
    started = {name for text in sources for name in re.findall(r"\"(miniapp\w*|bench_[a-z]+)\"", text)}
    of_all = re.findall(r"add_executable\((\w+) (?!EXCLUDE_FROM_ALL)", targets)
    assert started - set(ELSEWHERE) == built == {"miniapp", *of_all}
    assert re.findall(r"add_executable\((\w+) EXCLUDE_FROM_ALL", targets) == ["bench_offload"]


def test_the_targets_it_names_exist():
    names = set(re.findall(r"`make (\w+)`", README) + re.findall(r"^    make (\w+)", README, re.MULTILINE))
    assert {"demo", "test", "check"} <= names
    makefile = (ROOT / "Makefile").read_text()
    for name in names:
        assert re.search(rf"^{name}:.*## ", makefile, re.MULTILINE), name


def anchors(text: str) -> set[str]:
    """What links may name on a page: its headings as GitHub writes them into addresses."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_places_that_contributors_are_sent_to_exist():
    table = re.findall(r"^\|.*\|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)[2:]
    named = [path for line in table for path in re.findall(r"`([\w/*]+/[\w*]+\.\w+)`", line)]
    assert len(named) > len(table) > 15
    for path in named:
        roots = ("", "miniapp/src/", "analysis/spikemark/")
        assert any(list(ROOT.glob(root + path.replace("NAME", "*"))) for root in roots), path


def test_anchors_are_written_as_github_does():
    assert anchors("# One\n\n## `two`: a, b (Lober et al. 2026)\ntext\n") == {
        "one",
        "two-a-b-lober-et-al-2026",
    }


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_files_and_headings_that_exist(name):
    text = (ROOT / name).read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text()), target


def test_every_page_can_be_reached_from_the_map():
    linked = set(re.findall(r"\]\(([\w-]+\.md)", page("README.md")))
    assert {name.removeprefix("docs/") for name in PAGES if name.startswith("docs/")} - linked == {
        "README.md"
    }
