"""Sweeps from end to end with the real mini-app on tiny networks, as people type them."""

import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd
import program
import pytest
import yaml
from checkout import (
    EXPERIMENTS,
    MINIAPP,
    ROOT,
    experiment,
    records,
    run,
    script,
    snakemake,
    spikemark,
    until,
    workflow,
)

from spikemark.launch.process import left_over
from spikemark.records.results import Results
from spikemark.running.experiments import expand, load_experiment

pytestmark = pytest.mark.slow

NAMES = sorted(path.stem for path in EXPERIMENTS.glob("*.yaml"))
SMOKE = EXPERIMENTS / "smoke.yaml"
CONVENTIONAL = [{"schedule": "conventional"}]
WITHOUT_REPORT = ("--until", "measure")  #: which takes most of the time of few short runs
#: A shell ignores SIGINT for what it starts in the background, and so may what runs the tests.
INTERRUPTED = ["env", "--default-signal=INT"]
#: Seconds for the end of an interrupted sweep while all cores are busy; on idle ones it takes 0.4.
A_MOMENT_S = 2.0


def sweep(file, root: Path, *options, **how) -> subprocess.CompletedProcess:
    return spikemark("sweep", file, "--machine", "here", "--results", root, *options, **how)


def started(command: list[str], **environment: str) -> subprocess.Popen:
    """A command that a Ctrl-C reaches, and nobody else in its group."""
    streams = {
        "stdout": subprocess.DEVNULL,
        "stderr": subprocess.DEVNULL,
        "start_new_session": True,
    }
    return subprocess.Popen([*INTERRUPTED, *command], env={**os.environ, **environment}, **streams)


@pytest.mark.parametrize("every", [8, pytest.param(1, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", NAMES)
def test_the_miniapp_accepts_every_description(name, every, tmp_path):
    """By day every eighth; test_experiments.py asks of all of them whether they are possible."""
    descriptions = {
        str([run.fields, run.ranks, run.threads]): run for run in expand(load_experiment(name))
    }
    tried = [*descriptions.values()][::every]

    def explained(spec):
        path = tmp_path / f"{spec.id}.json"
        path.write_text(json.dumps(spec.description))
        return spec, program.start("--explain", path, "--ranks", spec.ranks)

    with ThreadPoolExecutor() as pool:
        for spec, done in pool.map(explained, tried):
            assert done.returncode == 0, f"{spec.label}: {done.stderr}"


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    """The finished sweep of `smoke`: what it printed, and its results."""
    root = tmp_path_factory.mktemp("results")
    done = sweep("smoke", root, "--again", "0")
    assert done.returncode == 0, done.stdout + done.stderr
    return done, Results(root / "smoke" / "here")


def test_a_sweep_measures_in_order_collects_and_reports(smoke):
    done, results = smoke
    runs, lines = expand(load_experiment("smoke")), done.stdout.splitlines()
    found = [line.partition("] ")[2].partition("  ")[0] for line in lines if line.startswith("[")]
    assert found == [run.label for run in runs]
    began = {
        run.id: json.loads((results.run(run.id) / "launch.json").read_text())["began_s"]
        for run in runs
    }
    assert sorted(began, key=began.get) == [run.id for run in runs] == list(began)
    assert lines[-2] == str(results.report) and results.report.is_file()
    table = pd.read_parquet(results.summary)
    assert len(table) == 8 and table["checksum"].nunique() == 1
    assert list((results.path / "unchecked").iterdir()) == []


@pytest.mark.parametrize("engine", ["sweep", "snakemake"])
def test_no_change_of_code_times_or_parameters_measures_a_record_again(engine, smoke, tmp_path):
    """A new title draws the report again; then there is nothing to do for the same command."""
    _, results = smoke
    before, now, other = records(results), time.time(), tmp_path / "miniapp"
    shutil.copy(MINIAPP, other)
    touched = [
        ROOT / "Snakefile",
        *ROOT.glob("workflows/**/*.smk"),
        *ROOT.glob("analysis/spikemark/running/*.py"),  # of all files, each process compiles anew
        ROOT / "analysis" / "spikemark" / "cli" / "planned_run.py",
    ]
    touched += [results.plan, results.experiment, *results.path.glob("descriptions/*")]
    times = {path: path.stat() for path in touched}
    title = f"Another by {engine}"
    content = yaml.safe_load(SMOKE.read_text()) | {"title": title, "time_limit_s": 50}
    environment = {"SPIKEMARK_MINIAPP": str(other)}
    (tmp_path / "other.yaml").write_text(yaml.safe_dump(content))
    try:
        for path in touched:
            os.utime(path, (now + 5, now + 5))
        if engine == "sweep":
            root = results.path.parents[1]
            done = sweep(tmp_path / "other.yaml", root, "--again", "0", **environment)
        else:
            done = snakemake(tmp_path / "other.yaml", results, **environment)
    finally:
        for path, was in times.items():
            if path.is_relative_to(ROOT):
                os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert done.returncode == 0, done.stderr
    assert records(results) == before and title in results.report.read_text()
    if engine == "snakemake":
        second = snakemake(tmp_path / "other.yaml", results, "-n")
        assert second.returncode == 0 and "rule " not in second.stdout + second.stderr


@pytest.mark.nightly
def test_only_a_deleted_record_is_measured_again_and_forcerun_measures_all(smoke):
    _, results = smoke
    before = records(results)
    gone = sorted(before)[0]
    shutil.rmtree(results.run(gone))
    plan = sweep("smoke", results.path.parents[1], "--dry-run")
    lines = [line.split() for line in plan.stdout.splitlines()]
    states = {words[1]: words[0] for words in lines if words[0] in ("done", "missing")}
    assert states == {run: "missing" if run == gone else "done" for run in before}
    assert snakemake(SMOKE, results).returncode == 0
    after = records(results)
    assert [run for run in before if after[run] != before[run]] == [gone]
    assert snakemake(SMOKE, results, "--forcerun", "measure").returncode == 0
    assert all(measured > after[run] for run, measured in records(results).items())


def test_config_changes_fields_and_unknown_ones_are_refused(tmp_path):
    file, results = experiment(tmp_path, ranks=1)  # of four runs
    changes = ("repetitions=2", "seeds=[1,2,3]", "set={time.simulate_ms: 3e0}")
    done = snakemake(file, results, *changes, "-n")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert {int(words[1]) for words in lines if words[:1] == ["measure"]} == {2 * 3 * 4}
    done = snakemake(file, results, "repetition=2", "-n")
    assert done.returncode == 1 and "repetition=" in done.stdout + done.stderr
    without = run(sys.executable, "-m", "snakemake")
    assert without.returncode == 1 and all(n in without.stdout + without.stderr for n in NAMES)
    assert not results.plan.exists()


def test_the_workflow_is_clean_and_its_report_has_the_page(smoke, tmp_path):
    done = run(sys.executable, "-m", "snakemake", "--lint", "--configfile", SMOKE)
    assert done.returncode == 0, done.stderr
    done = snakemake(SMOKE, smoke[1], "--report", str(tmp_path / "snakemake.html"))
    assert done.returncode == 0, done.stderr
    assert "report.html" in (tmp_path / "snakemake.html").read_text()


@pytest.mark.parametrize("engine", ["sweep", "snakemake"])
def test_a_failed_run_is_named_and_the_rest_goes_on(engine, tmp_path):
    file, results = experiment(tmp_path, ranks=1, grid=[{"record.cycles": [False, True]}])
    refuses = 'grep -q \'"cycles": false\' "$1" && echo record.cycles: refused >&2 && exit 2'
    program = script(tmp_path / "refusing", refuses, f'exec "{MINIAPP}" "$@"')
    environment = {"SPIKEMARK_MINIAPP": str(program)}
    if engine == "sweep":
        done = sweep(file, tmp_path, "--again", "0", **environment)
    else:
        done = snakemake(file, results, **environment)
    assert done.returncode == 1
    bad, good = sorted(
        expand(load_experiment(file)), key=lambda run: run.description["record"]["cycles"] is True
    )
    assert set(records(results)) == {good.id}
    reason = results.failure(bad.id).read_text().splitlines()[0]
    assert "record.cycles" in reason and reason in done.stdout + done.stderr
    assert results.report.is_file()  # with the failure; `all` still lacks the record
    before = records(results)
    if engine == "sweep":
        planned = snakemake(file, results, *WITHOUT_REPORT, "-n", **environment).stdout
        assert f"Measure {bad.id}" in planned and f"Measure {good.id}" not in planned
    else:
        again = snakemake(file, results, *WITHOUT_REPORT, **environment)
        assert again.returncode == 1 and records(results) == before


@pytest.fixture
def endless(tmp_path):
    """An experiment of two runs, and a mini-app that notes its starts and never ends."""
    file, results = experiment(tmp_path, ranks=1, grid=CONVENTIONAL, repetitions=2)
    program = script(
        tmp_path / "endless", f"echo >> {tmp_path}/started", f"exec -a endless-{tmp_path} sleep 600"
    )
    yield file, results, {"SPIKEMARK_MINIAPP": str(program)}
    for process in left_over(naming=str(tmp_path)):
        os.kill(process, signal.SIGKILL)


ENDS = {  # (program, signal)
    "Ctrl-C of a sweep": ("spikemark\0sweep", signal.SIGINT),
    "Ctrl-C of Snakemake": ("its group", signal.SIGINT),
    "kill -9 of Snakemake": ("snakemake", signal.SIGKILL),
    "kill -9 of a run": ("spikemark.cli.planned_run", signal.SIGKILL),
}


@pytest.mark.parametrize(
    "end",
    [pytest.param(end, marks=pytest.mark.nightly if "Snakemake" in end else ()) for end in ENDS],
)
def test_what_is_interrupted_or_killed_leaves_nothing_and_goes_on(end, endless, tmp_path):
    file, results, environment = endless
    program, sign = ENDS[end]
    command = [sys.executable, "-m", "spikemark", "sweep", str(file), "--machine", "here"]
    command = (
        [*command, "--results", str(tmp_path)] if "sweep" in program else workflow(file, results)
    )
    with started(command, **environment) as job:
        until((tmp_path / "started").exists)
        if sign == signal.SIGINT:  # as a terminal sends it
            os.killpg(job.pid, sign)
        else:
            there = [
                p
                for p in left_over(naming=program)
                if os.readlink(f"/proc/{p}/cwd") == str(results.path)
            ]
            assert there
            for process in there:
                os.kill(process, sign)
        if program == "spikemark.cli.planned_run":  # then the next one begins, as after any failure
            until(lambda: (tmp_path / "started").read_text().count("\n") == 2)
            os.killpg(job.pid, signal.SIGINT)
        job.wait(50)  # less than the time limit of a run
    until(
        lambda: (
            not left_over(naming=f"endless-{tmp_path}") and not left_over(naming=str(results.path))
        )
    )
    assert job.returncode != 0 and records(results) == {}
    assert not any(results.path.glob("failed/*"))
    done = snakemake(file, results, *WITHOUT_REPORT)
    assert done.returncode == 0, done.stderr
    assert len(records(results)) == 2


@pytest.mark.nightly
def test_ctrl_c_takes_a_moment_and_one_line_while_all_cores_are_busy(endless, tmp_path):
    file, _, environment = endless
    command = [sys.executable, "-m", "spikemark", "sweep", str(file), "--machine", "here"]
    command += ["--results", str(tmp_path)]
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spin) for _ in range(len(os.sched_getaffinity(0)))]
    try:
        with subprocess.Popen(
            [*INTERRUPTED, *command],
            env={**os.environ, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as job:
            until((tmp_path / "started").exists)
            began = time.monotonic()
            os.killpg(job.pid, signal.SIGINT)
            errors = job.communicate(timeout=50)[1]
            assert time.monotonic() - began < A_MOMENT_S
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert job.returncode == 130
    assert len(errors.splitlines()) == 1 and "interrupted" in errors


def test_two_experiments_at_once_never_overlap(tmp_path):
    spans, jobs = [], []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        made = experiment(tmp_path / name, ranks=1, grid=CONVENTIONAL, repetitions=4)
        jobs.append((started(workflow(*made, *WITHOUT_REPORT)), made[1]))
    assert [job.wait(300) for job, _ in jobs] == [0, 0]
    for path in (path for _, results in jobs for path in results.path.glob("runs/*/launch.json")):
        launch = json.loads(path.read_text())
        spans.append((launch["began_s"], launch["began_s"] + launch["wall_s"]))
    assert len(spans) == 8
    assert all(first[1] <= second[0] + 0.01 for first, second in itertools.pairwise(sorted(spans)))


def test_a_thousand_runs_are_planned_within_seconds_and_waiting_costs_nothing(endless, tmp_path):
    """While a run lasts, Snakemake with a thousand more to make is idle."""
    file, results = experiment(tmp_path, ranks=1, seeds=list(range(1, 63)), repetitions=4)
    with started(workflow(file, results), **endless[2]) as job:
        until((tmp_path / "started").exists, 120)
        assert len(results.read_plan().runs) == 992
        began, used = time.monotonic(), cpu_s(job.pid)
        assert used < 30
        time.sleep(4)
        assert cpu_s(job.pid) - used < 0.2 * (time.monotonic() - began)
        os.killpg(job.pid, signal.SIGINT)
        job.wait(50)


def cpu_s(process: int) -> float:
    """User and system time of a process and of its children that have ended, s."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def test_a_run_by_hand(smoke):
    """A record that is there is left alone; nothing is measured for a Snakemake that is gone."""
    _, results = smoke
    before = records(results)
    there = next(iter(before))
    for run_id, status, lines, more in (
        (there, 0, 0, {}),
        ("none", 2, 1, {}),
        (there, 130, 1, {"SPIKEMARK_PARENT": "1"}),
    ):
        done = spikemark("run", results.path, run_id, **more)
        assert (done.returncode, len(done.stderr.splitlines())) == (status, lines), done.stderr
    assert records(results) == before


def test_a_run_that_would_not_end_before_its_job_is_left_to_the_next_one(smoke, tmp_path):
    """It ends the batch script, as Slurm does at the limit; the run has not failed."""
    _, results = smoke
    gone = next(iter(records(results)))
    shutil.move(results.run(gone), tmp_path / "kept")
    with subprocess.Popen(["sleep", "60"]) as batch:
        soon = {"SPIKEMARK_JOB_ENDS": str(time.time() + 10), "SPIKEMARK_BATCH": str(batch.pid)}
        done = spikemark("run", results.path, gone, **soon)
        assert batch.wait(10) == -signal.SIGTERM
    assert (
        done.returncode == 75 and not results.measured(gone) and not results.failure(gone).exists()
    )
    assert (
        spikemark("run", results.path, gone, SPIKEMARK_JOB_ENDS=str(time.time() + 3600)).returncode
        == 0
    )
    assert results.measured(gone)


@pytest.mark.nightly
@pytest.mark.parametrize("number", [0, 1])
def test_an_experiment_of_the_page_reaches_its_report(number, tmp_path):
    page = (ROOT / "docs" / "experiments.md").read_text()
    examples = re.findall(r"^```yaml\n(name: .*?)^```", page, re.M | re.S)
    assert len(examples) == 2
    file = tmp_path / "experiment.yaml"
    file.write_text(examples[number])
    quick = ["--set", "time.simulate_ms=5", "--set", "seeds=1", "--set", "repetitions=1"]
    done = sweep(file, tmp_path, *quick, "--again", "0")
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*/here/report.html"))) == 1
