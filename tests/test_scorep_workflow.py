"""The target `scorep` of the workflow, with stand-ins for the instrumented mini-app."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from spikemark.core import sha256
from spikemark.records.results import Results
from spikemark.running import sweeps
from spikemark.running.experiments import expand, load

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
MINIAPP = ROOT / "build" / "miniapp"


@pytest.fixture
def planned(tmp_path):
    """One run of two repetitions for each of two seeds, in a plan."""
    content = yaml.safe_load((ROOT / "workflows" / "experiments" / "smoke.yaml").read_text())
    content.update(grid=[{"schedule": "conventional"}], ranks=2, seeds=[1, 2], repetitions=2)
    (tmp_path / "x.yaml").write_text(yaml.safe_dump(content))
    chosen, results = load(tmp_path / "x.yaml"), Results(tmp_path / "x" / "here")
    runs = expand(chosen)
    sweeps.plan(chosen, runs, results)
    return results, runs


def program(folder: Path, last: str) -> Path:
    """Runs as the mini-app, then does what is in `last`."""
    path = folder / "instrumented"
    path.write_text(f'#!{shutil.which("bash")}\n"{MINIAPP}" "$@" || exit\n{last}\n')
    path.chmod(0o755)
    return path


def scorep(results: Results, miniapp: Path, *options: str) -> subprocess.CompletedProcess:
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        ROOT / "Snakefile",
        "--directory",
        results.path,
    ]
    profile = [
        "--profile",
        ROOT / "workflows" / "profiles" / "laptop",
        "--workflow-profile",
        "none",
        "--nolock",
    ]
    return subprocess.run(
        [*command, *profile, *options, "scorep"],
        env={**os.environ, "SPIKEMARK_MINIAPP_SCOREP": str(miniapp)},
        capture_output=True,
        text=True,
    )


def test_one_run_of_each_combination_beside_the_timed_ones(planned, tmp_path):
    results, runs = planned
    (one,) = (run for run in runs if (run.seed, run.repetition) == (1, 1))
    write = 'mkdir -p "$SCOREP_EXPERIMENT_DIRECTORY" && cd "$_" && touch profile.cubex traces.otf2'
    write += " && env | grep SCOREP_ENABLE > settings"
    done = scorep(results, program(tmp_path, write))
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in (results.path / "scorep").iterdir()] == [one.id]
    found = {path.name for path in results.scorep(one.id).iterdir()}
    assert found == {"record", "launch.json", "profile.cubex", "traces.otf2", "settings", sha256.NAME}
    checked = subprocess.run(["sha256sum", "--check", sha256.NAME], cwd=results.scorep(one.id))
    assert checked.returncode == 0
    settings = (results.scorep(one.id) / "settings").read_text().split()
    assert sorted(settings) == ["SCOREP_ENABLE_PROFILING=true", "SCOREP_ENABLE_TRACING=true"]
    timed, instrumented = (
        json.loads((folder / "record.json").read_text())
        for folder in (results.run(one.id), results.scorep(one.id) / "record")
    )
    assert timed["checksum"] == instrumented["checksum"]
    assert timed["timing"] != instrumented["timing"]
    before = {path: path.stat().st_mtime_ns for path in results.path.glob("*/*/**/record.json")}
    again = scorep(results, program(tmp_path, write))
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_sweep_does_not_run_it(planned):
    results, _ = planned
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--snakefile",
        ROOT / "Snakefile",
        "--directory",
        results.path,
    ]
    done = subprocess.run([*command, "--dry-run", "--executor", "dryrun"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    assert ("rule measure:" in said, "rule scorep" in said) == (True, False)


def test_missing_program_is_named_before_anything_runs(planned, tmp_path):
    done = scorep(planned[0], tmp_path / "nowhere", "--dry-run")
    assert done.returncode != 0
    (line,) = [line for line in (done.stdout + done.stderr).splitlines() if "docs/scorep.md" in line]
    assert line.strip().startswith(f"{tmp_path / 'nowhere'}: no executable file; build it as")
    assert "Missing input files" not in done.stdout + done.stderr


def test_program_that_is_not_instrumented_is_a_failure(planned, tmp_path):
    results, runs = planned
    miniapp = program(tmp_path, "")
    command = [sys.executable, "-m", "spikemark", "run", results.path, runs[0].id, "--scorep"]
    environment = {**os.environ, "SPIKEMARK_MINIAPP_SCOREP": str(miniapp)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"Score-P wrote no profile.cubex: is {miniapp} instrumented?" in line
    assert results.failure(f"{runs[0].id}.scorep").read_text().splitlines()[0] in line
    assert not results.scorep(runs[0].id).exists()
    assert not results.run(runs[0].id).exists()
