"""The commands of docs/clusters.md do what the page says."""

import json
import shutil
from pathlib import Path

import pytest
from pages import blocks, section
from site_programs import ROOT, programs

from spikemark.records import record
from spikemark.records.results import Results

PAGE = (ROOT / "docs" / "clusters.md").read_text()
#: Lines that need what only some sites have: accounting, modules.
SITES = ("sacctmgr ", "module ")


@pytest.fixture
def checkout(tmp_path):
    """A copy of this checkout as far as `spikemark` needs it, for commands that write into results/."""
    folder = tmp_path / "checkout"
    for name in ("analysis", "workflows", "machines"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("tests", "__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    (folder / "build").symlink_to(ROOT / "build")
    return folder


def script(*headings: str) -> list[str]:
    """The commands under some headings, for a cluster that is called toy."""
    found = [block.replace("CLUSTER", "toy") for name in headings for block in blocks(section(PAGE, name))]
    assert found
    return found


def test_looking_around_works_without_rights(slurm):
    first, *_ = script("## 1. Look around")
    tried = [line for line in first.splitlines() if not line.startswith(SITES)]
    done = [slurm.run("bash", "-c", line) for line in tried]
    assert [one.returncode for one in done] == [0] * len(tried)
    said = "".join(one.stdout + one.stderr for one in done)
    assert all(word in said for word in ("main*", "pmix", "ClusterName", "AcctGatherEnergyType"))


@pytest.fixture
def run(slurm, checkout):
    """Returns a function that runs lines of the shell in the copy, none of which may fail."""
    found = programs(checkout) | {"PYTHONPATH": str(checkout / "analysis"), "SALLOC_PARTITION": "main"}

    def lines(*lines: str) -> str:
        script = "\n".join(["set -e", f"cd {checkout}", *lines])
        done = slurm.run("bash", "-c", script, timeout=300, **found)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return lines


def test_runs_on_one_node_and_on_two(run, checkout):
    said = run(*script("## 3. One node", "## 4. Two nodes"))
    agreed = [json.loads(line)["checksums_agree"] for line in said.splitlines() if line[:1] == "{"]
    assert agreed == [True] * 8

    results = Results(checkout / "results" / "two-nodes" / "toy")
    for run in results.read_plan().runs:
        on_each = run.fields["ranks_per_node"]
        assert record.load(results.run(run.id)).record.host.nodes == 2 // on_each


def test_a_campaign_of_a_smaller_experiment(run, checkout):
    said = run(*(block.replace(" demo", " smoke") for block in script("## 5. A campaign")))
    assert "8 runs on 1 node" in said
    assert "submitted: all missing runs" in said
    assert said.count(str(Path("results", "smoke", "toy", "report.html"))) == 2
