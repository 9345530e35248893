"""A sweep of which all runs are there: what it reads, and how often."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
import swept
import yaml

from spikemark import studies
from spikemark.records import arrays
from spikemark.records.results import Results
from spikemark.running import experiments, sweeps


@pytest.fixture
def opened(monkeypatch) -> Counter:
    """How often each file was opened, by the end of its path."""
    found = Counter()

    def count(path) -> None:
        found["/".join(Path(path).parts[-2:])] += 1

    def open_path(self, *arguments, plain=Path.open, **options):
        count(self)
        return plain(self, *arguments, **options)

    def read(path, plain=arrays.read_npy):
        count(path)
        return plain(path)

    monkeypatch.setattr(Path, "open", open_path)
    monkeypatch.setattr(arrays, "read_npy", read)
    return found


@pytest.fixture
def planted(tmp_path, monkeypatch) -> tuple[str, Results]:
    """An experiment file, and results that hold all of its runs."""
    program = tmp_path / "miniapp"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("SPIKEMARK_MINIAPP", str(program))
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": 10}]
    content = {**swept.PLAIN, "name": "planted", "title": "Planted runs", "grid": grid, "seeds": [1, 2]}
    path = tmp_path / "planted.yaml"
    path.write_text(yaml.safe_dump(content))
    chosen = experiments.load(path)
    results, runs = sweeps.folder(chosen, "here", tmp_path / "results"), experiments.expand(chosen)
    for run in runs:
        swept.write(results, run)
    return str(path), results


def records(opened: Counter) -> dict[str, list[int]]:
    """How often the files of a record were opened, by name."""
    found: dict[str, list[int]] = {}
    for path, times in opened.items():
        found.setdefault(path.split("/")[-1], []).append(times)
    return {name: found[name] for name in ("record.json", "ranks.csv", "cycles.npy")}


ONCE = {"record.json": [1] * 4, "ranks.csv": [1] * 4, "cycles.npy": [1] * 4}


@pytest.mark.parametrize("verb", ["sweep", "report"])
def test_every_record_is_opened_once(verb, planted, opened, spikemark, tmp_path, undrawn):
    path, results = planted
    if verb == "report":
        sweeps.plan(experiments.load(path), experiments.expand(experiments.load(path)), results)
    status, output, errors = spikemark(verb, path, "--machine", "here", "--results", tmp_path / "results")
    assert (status, errors) == (0, ""), output
    assert results.report.is_file() and results.summary.is_file()
    assert records(opened) == ONCE


def test_a_study_takes_the_records_that_its_sweep_read(
    planted, opened, spikemark, tmp_path, monkeypatch, undrawn
):
    path, results = planted
    study = studies.STUDIES["schedules"]
    monkeypatch.setitem(studies.STUDIES, "schedules", type(study)(**{**vars(study), "experiment": path}))
    status, output, errors = spikemark(
        "study", "schedules", "--machine", "here", "--results", tmp_path / "results"
    )
    assert status == 0, output + errors
    assert (results.path / "study.html").is_file()
    assert records(opened) == ONCE


def test_a_run_that_nobody_watches_any_more_is_named_and_nothing_is_measured_beside_it(
    planted, spikemark, tmp_path
):
    path, results = planted
    arguments = ("sweep", path, "--machine", "here", "--results", tmp_path / "results")
    assert spikemark(*arguments)[0] == 0
    run = results.read_plan().runs[0]
    results.unchecked(run.id).mkdir(parents=True)
    command = [sys.executable, "-c", "import time; time.sleep(60)", "--out", str(results.unchecked(run.id))]
    lost = subprocess.Popen(command)
    try:
        status, output, errors = spikemark(*arguments)
    finally:
        lost.kill()
        lost.wait()
    alone = f"run {run.label} still runs here, without the command that started it"
    assert (status, output) == (2, "")
    assert errors == f"spikemark: {results.path}: {alone}; stop it with `kill {lost.pid}`\n"
