"""The Snakefile as a module of somebody else's workflow, and what Snakemake says of it."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from checkout import MINIAPP, OPEN_MPI, ROOT, run, script

from spikemark.core.errors import BadInput
from spikemark.records.results import Results
from spikemark.running import sweeps
from spikemark.running.experiments import load_experiment

pytestmark = pytest.mark.slow

#: Two experiments of ours, one of them changed, and a rule of the user's own.
WORKFLOW = f"""
module quick:
    snakefile: "{ROOT}/Snakefile"
    config: config["quick"]

module own:
    snakefile: "{ROOT}/Snakefile"
    config: config["own"]

use rule * from quick as quick_*
use rule * from own as own_*

rule compared:
    default_target: True
    input:
        "results/quick/summary.parquet",
        rules.own_report.output,
    output:
        "compared.txt",
    shell:
        "echo {{input}} > {{output}}; env > environment.txt"
"""
QUICK = {
    "experiment": "smoke",
    "ranks": 1,
    "grid": [{"schedule": "conventional"}],
    "set": {"time.simulate_ms": 10},
    "results": "results/quick",
}
GRID = "[{schedule: conventional}]"  #: one run of `smoke` on one rank
OWN = {
    "name": "own",
    "title": "An experiment that stands in the configuration",
    "preset": {"name": "mam-benchmark", "options": {"areas": 2, "neurons_per_area": 50}},
    "set": {"time.simulate_ms": 10},
    "grid": [{"schedule": "structure_aware", "delay_ratio": [1, 5]}],
    "ranks": 2,
    "shuffle_seed": 1,
}


def snakemake(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess:
    """Snakemake in a folder with a workflow of the user's own."""
    command = [sys.executable, "-m", "snakemake", "--cores", "2", *words]
    return run(*command, cwd=folder, **OPEN_MPI, **environment)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    configuration = {"quick": QUICK, "own": OWN}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(configuration))
    return tmp_path


def test_a_workflow_uses_two_experiments_as_modules(folder):
    done = snakemake(folder, "--configfile", "config.yaml")
    assert done.returncode == 0, done.stderr
    (own,) = (folder / "results" / "own").iterdir()
    assert (own / "report.html").is_file() and (folder / "compared.txt").is_file()
    names = [path.name for path in folder.glob("results/**/runs/*")]
    assert len(names) == 3
    for beginning in ("conventional-r1-s1-", "structure_aware-D5-r2-s1-"):
        assert sum(name.startswith(beginning) for name in names) == 1
    # Rules of the user's own have the environment that Snakemake was started in, and a pointer.
    added = {
        line.partition("=")[0] for line in (folder / "environment.txt").read_text().split("\n")
    }
    assert "SPIKEMARK_PARENT" not in added and "PYTHON" not in added
    again = snakemake(folder, "--configfile", "config.yaml", "-n")
    assert again.returncode == 0 and "Nothing to be done" in again.stdout + again.stderr


BAD = {  # what is wrong: the field that the line names
    "unknown": ({**QUICK, "repetition": 2}, "repetition"),
    "value": ({**QUICK, "repetitions": "many"}, "repetitions"),
    "name": ({**QUICK, "experiment": "smok"}, "experiment"),
    "grid": ({**OWN, "grid": [{"delay": 1}]}, "delay"),
    "alike": ({**QUICK, "rank": 1}, "'ranks'"),
    "nested": ({**QUICK, "preset": {"options": {"indegre": 9}}}, "'indegree'"),
    "nothing": ({}, "experiment"),
}


@pytest.mark.parametrize("wrong", [name for name in BAD if BAD[name][0]])
def test_a_bad_configuration_is_refused(wrong, tmp_path):
    """As the Snakefile reads it, without Snakemake, whose start takes three seconds."""
    content, field = BAD[wrong]
    with pytest.raises(BadInput, match=field):
        asked = sweeps.WorkflowConfig(of_module=content).experiment()
        sweeps.planned(asked, Results(tmp_path))


#: One for each module by day.
OF_THE_DAY = {("grid", "quick"), ("nothing", "own")}


@pytest.mark.parametrize(
    ("wrong", "module"),
    [
        pytest.param(*case, marks=() if case in OF_THE_DAY else pytest.mark.nightly)
        for case in itertools.product(BAD, ["quick", "own"])
    ],
)
def test_snakemake_refuses_a_bad_configuration_before_anything_runs(wrong, module, folder):
    content, field = BAD[wrong]
    configuration = {"quick": QUICK, "own": OWN, module: content}
    (folder / "config.yaml").write_text(yaml.safe_dump(configuration))
    done = snakemake(folder, "--configfile", "config.yaml")
    lines = [line for line in (done.stdout + done.stderr).splitlines() if field in line]
    assert done.returncode == 1 and f"module {module}: " in "".join(lines)
    assert not (folder / "results").exists()


def test_a_dry_run_names_each_run_by_schedule_ranks_and_seed(tmp_path):
    words = ["--snakefile", str(ROOT / "Snakefile"), "--config", "experiment=smoke", "-n"]
    done = snakemake(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    printed = done.stdout + done.stderr
    for schedule in ("conventional", "placement_only", "structure_aware-D1", "structure_aware-D10"):
        for ranks in (1, 2):
            assert f"Measure {schedule}-r{ranks}-s1-" in printed
    assert not (tmp_path / "results").exists()


def test_results_lie_where_the_user_stands_for_sweep_and_for_snakemake(tmp_path):
    words = ["sweep", "smoke", "--again", "0"]
    for setting in ("ranks=1", f"grid={GRID}", "time.simulate_ms=10"):
        words += ["--set", setting]
    done = run(sys.executable, "-m", "spikemark", *words, cwd=tmp_path, **OPEN_MPI)
    assert done.returncode == 0, done.stderr
    options = ["--snakefile", str(ROOT / "Snakefile"), "--config", "experiment=smoke"]
    changes = ("ranks=1", f"grid={GRID}", "set={time.simulate_ms: 10}")
    same = snakemake(tmp_path, *options, *changes, "-n")
    assert same.returncode == 0, same.stderr
    assert "Measure" not in same.stdout + same.stderr
    (results,) = (tmp_path / "results" / "smoke").iterdir()
    assert len(list(results.glob("runs/*/record.json"))) == 1


#: What Snakemake asks of conda, and how it starts a command in an environment.
CONDA = """case "$*" in
    "info --json") echo '{"conda_prefix": "FOLDER", "platform": "linux-64", "env_vars": {},
        "conda_version": "24.9.2", "active_prefix": "FOLDER", "channels": []}' ;;
    *channel_priority*) echo '{"channel_priority": "strict"}' ;;
    *--version*) echo "conda 24.9.2" ;;
    "env list"*) echo '{"envs": ["FOLDER/envs/spikemark"]}' ;;
    *) echo 'name: spikemark' ;;
esac"""


def test_conda_is_used_where_it_is_asked_for_and_then_for_every_program(tmp_path):
    """A stand-in for conda: its environment has a Python that notes what it was started for."""
    place = tmp_path / "envs" / "spikemark" / "bin"
    note = f'echo "$*" >> {tmp_path}/started'
    script(place / "python", note, f'exec {sys.executable} "$@"')
    script(tmp_path / "bin" / "conda", CONDA.replace("FOLDER", str(tmp_path)))
    (tmp_path / "bin" / "activate").write_text(f"PATH={place}:$PATH; CONDA_PREFIX={place.parent}")
    words = ["--snakefile", str(ROOT / "Snakefile"), "--config", "experiment=smoke"]
    words += ["ranks=1", f"grid={GRID}"]
    path = f"{tmp_path}/bin:{Path(sys.executable).parent}:/usr/bin:/bin"
    done = snakemake(tmp_path, *words, "--software-deployment-method", "conda", PATH=path)
    assert done.returncode == 0, done.stdout + done.stderr
    started = (tmp_path / "started").read_text()
    for program in ("spikemark.running.sweeps", "spikemark.cli.planned_run", "spikemark report"):
        assert program in started


def test_jobs_ask_for_what_a_run_needs(tmp_path):
    """The sizes of batch jobs, one for each run: nodes, tasks, cores, memory and minutes."""
    from spikemark.running.experiments import expand
    from spikemark.running.job_size import job_size

    chosen = load_experiment("smoke")
    for planned in expand(chosen):
        size = job_size(planned, chosen.time_limit_s)
        command = [MINIAPP, "--explain", tmp_path / "run.json", "--ranks", planned.ranks]
        (tmp_path / "run.json").write_text(json.dumps(planned.description))
        counted = json.loads(run(*command).stdout)
        assert (size.tasks, size.threads) == (planned.ranks, planned.threads)
        assert counted and size.memory_mb > 100 * planned.ranks
        assert size.runtime_min >= chosen.time_limit_s / 60
