"""The plan of a sweep: settings of Snakemake's command line, and a disk that is full while it is
written.
"""

import errno
import os
import re
from pathlib import Path

import pytest
from experiment_file import experiment

from spikemark.core.errors import BadInput
from spikemark.records.results import Results
from spikemark.running import experiments, possible, sweeps

FILE = """name: small
title: A small one
preset: {name: mam-benchmark, options: {areas: 2, neurons_per_area: 100, indegree: 1e1}}
set: {time.simulate_ms: 1e2, record.spikes: true}
grid: [{schedule: conventional}]
ranks: 1
repetitions: 2
shuffle_seed: 1
"""


PAGE = (Path(__file__).parents[3] / "docs" / "experiments.md").read_text()


def of_config(file: Path, settings: list[str]) -> experiments.Experiment:
    """The experiment in a file after --configfile, with settings after --config."""
    return experiments.experiment_of_config(experiments.read_config(file, settings), file)


@pytest.fixture
def file(tmp_path):
    (tmp_path / "small.yaml").write_text(FILE)
    return tmp_path / "small.yaml"


def test_settings_change_fields_and_keep_the_rest(file):
    settings = [
        "set={time.simulate_ms: 300}",
        "seeds=[1, 2]",
        "repetitions=1e0",
        "results=x=y",
        "threads=2",
    ]
    changed = of_config(file, [*settings, "preset={options: {areas: 3}}"])
    assert changed.set == {"time.simulate_ms": 300, "record.spikes": True}
    assert (changed.seeds, changed.repetitions, changed.threads) == ([1, 2], 1, [2])
    assert changed.preset.options == {"areas": 3, "neurons_per_area": 100, "indegree": 10.0}
    assert of_config(file, []) == experiments.load_experiment(file)


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ("repetitions=0100", "repetitions='0100'"),
        ("repetitions=1:40", "repetitions='1:40'"),
        ("repetition=1", "repetition=1: unknown"),
        ("set={", "--config set: not YAML"),
        ("time_limit_s=0x10", "time_limit_s='0x10'"),
    ],
)
def test_other_settings_are_refused(file, setting, field):
    with pytest.raises(BadInput) as error:
        of_config(file, [setting])
    assert field in str(error.value)


@pytest.mark.parametrize("number", ["0100", "1:40", "0x10", "1_000", "01e2"])
def test_numbers_of_other_bases_are_refused_in_every_field(file, number):
    for before in ("1e1", "1e2", "repetitions: 2", "ranks: 1", "shuffle_seed: 1"):
        name, _, _ = before.rpartition(" ")
        file.write_text(FILE.replace(before, f"{name} {number}"))
        with pytest.raises(BadInput):
            chosen = experiments.load_experiment(file)
            possible.sift(chosen, experiments.expand(chosen))


def test_a_disk_that_is_full_while_planning_is_named(tmp_path, monkeypatch):
    chosen = experiment()

    def full(path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(
        sweeps, "_measure", lambda *_: monkeypatch.setattr(sweeps, "write_json", full)
    )
    monkeypatch.setattr(sweeps.places, "program", lambda name: name)
    with pytest.raises(OSError) as error:
        sweeps.sweep(
            chosen, experiments.expand(chosen), Results(tmp_path / "here"), lambda outcome: None
        )
    assert error.value.errno == errno.ENOSPC and str(tmp_path) in error.value.filename


EXAMPLES = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.M | re.S)


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_examples_of_the_page_can_be_run(number, tmp_path):
    (tmp_path / "example.yaml").write_text(EXAMPLES[number])
    chosen = experiments.load_experiment(tmp_path / "example.yaml")
    runs = possible.sift(chosen, experiments.expand(chosen)).runs
    assert len(runs) == experiments.number(chosen) and len(EXAMPLES) == 2
