"""The target `scorep` of the workflow, with stand-ins for the instrumented mini-app."""

import json

import pytest
from checkout import MINIAPP, experiment, records, run, script, snakemake, spikemark

from spikemark.core import sha256
from spikemark.core.files import write_json
from spikemark.running import sweeps
from spikemark.running.experiments import expand, load_experiment

pytestmark = [pytest.mark.slow, pytest.mark.nightly]


@pytest.fixture
def planned(tmp_path):
    """One run of two repetitions for each of two seeds, in a plan."""
    file, results = experiment(
        tmp_path, grid=[{"schedule": "conventional"}], ranks=2, seeds=[1, 2], repetitions=2
    )
    chosen, runs = load_experiment(file), expand(load_experiment(file))
    sweeps.plan(chosen, runs, results)
    write_json(results.experiment, chosen.model_dump(mode="json", exclude_unset=True))
    return results, runs


def program(folder, *last: str):
    """Runs as the mini-app, then does what is in `last`."""
    return script(folder / "instrumented", f'"{MINIAPP}" "$@" || exit', *last)


def scorep(results, miniapp, *options: str):
    profile = ("--workflow-profile", "profiles/default")
    given = {"SPIKEMARK_MINIAPP_SCOREP": str(miniapp)}
    return snakemake(results.experiment, results, *profile, *options, "--", "scorep", **given)


def test_one_run_of_each_combination_beside_the_timed_ones(planned, tmp_path):
    results, runs = planned
    (one,) = (run for run in runs if (run.seed, run.repetition) == (1, 1))
    writes = 'mkdir -p "$SCOREP_EXPERIMENT_DIRECTORY" && cd "$_" && touch profile.cubex traces.otf2'
    miniapp = program(tmp_path, writes, "env | grep SCOREP_ENABLE > settings")
    done = scorep(results, miniapp)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [path.name for path in (results.path / "scorep").iterdir()] == [one.id]
    beside = results.scorep(one.id)
    found = {path.name for path in beside.iterdir()}
    assert found == {
        "record",
        "launch.json",
        "profile.cubex",
        "traces.otf2",
        "settings",
        sha256.SUMS_FILE,
    }
    assert run("sha256sum", "--check", sha256.SUMS_FILE, cwd=beside).returncode == 0
    settings = (beside / "settings").read_text().split()
    assert sorted(settings) == ["SCOREP_ENABLE_PROFILING=true", "SCOREP_ENABLE_TRACING=true"]
    folders = (results.run(one.id), beside / "record")
    timed, instrumented = (json.loads((folder / "record.json").read_text()) for folder in folders)
    assert (
        timed["checksum"] == instrumented["checksum"] and timed["timing"] != instrumented["timing"]
    )
    before, written = records(results), (beside / "record" / "record.json").stat().st_mtime_ns
    assert scorep(results, miniapp).returncode == 0
    assert (
        records(results) == before
        and (beside / "record" / "record.json").stat().st_mtime_ns == written
    )


def test_sweep_does_not_run_it(planned):
    done = snakemake(planned[0].experiment, planned[0], "--dry-run", "--executor", "dryrun")
    assert done.returncode == 0, done.stderr
    said = done.stdout + done.stderr
    for run_spec in planned[1]:
        assert f"Measure {run_spec.id}" in said
    assert "Score-P" not in said and "scorep" not in said


def test_a_missing_program_is_named_and_one_that_is_not_instrumented_fails(planned, tmp_path):
    results, runs = planned
    done = scorep(results, tmp_path / "nowhere", "--dry-run")
    assert done.returncode != 0 and "Missing input files" not in done.stdout + done.stderr
    said = (done.stdout + done.stderr).splitlines()
    (line,) = [line for line in said if "docs/energy-and-traces.md" in line]
    assert line.strip().startswith(f"{tmp_path / 'nowhere'}: no program; build it as")
    given = {"SPIKEMARK_MINIAPP_SCOREP": str(program(tmp_path))}
    done = spikemark("run", results.path, runs[0].id, "--scorep", **given)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 1 and "Score-P wrote no profile.cubex" in line
    assert results.failure(f"{runs[0].id}.scorep").read_text().splitlines()[0] in line
    assert not results.scorep(runs[0].id).exists() and not results.run(runs[0].id).exists()
