"""The workflow manager must not disturb what it starts."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
JOBS = 4
SNAKEFILE = f"""
rule all:
    input:
        expand("{{n}}.done", n=range({JOBS})),
rule one:
    output:
        "{{n}}.done",
    resources:
        machine=1,
    shell:
        "sleep 1.2; touch {{output}}"
"""


def test_no_work_while_a_job_runs(tmp_path):
    """The manager looks for jobs at the start and when one has ended, and not in between."""
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    profile = ["--profile", ROOT / "workflows" / "profiles" / "laptop", "--workflow-profile", "none"]
    command = [
        sys.executable,
        "-m",
        "spikemark.running.workflow",
        "--directory",
        tmp_path,
        "--verbose",
        *profile,
    ]
    where = ["--snakefile", tmp_path / "Snakefile", "--scheduler", "greedy"]
    done = subprocess.run([*command, *where], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert len(list(tmp_path.glob("*.done"))) == JOBS
    assert said.count("Ready jobs") == JOBS + 1  # and for the rule that asks for all


def test_a_workflow_that_fails_says_so(tmp_path):
    (tmp_path / "Snakefile").write_text('rule one:\n    output: "x"\n    shell: "exit 3"\n')
    command = [sys.executable, "-m", "spikemark.running.workflow", "--cores", "1", "--directory", tmp_path]
    done = subprocess.run([*command, "--snakefile", tmp_path / "Snakefile"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "exit 3" in done.stdout + done.stderr
