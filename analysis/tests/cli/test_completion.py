"""What a shell offers while a command is typed, asked for as shells do: by variables of the environment."""

import os
import subprocess
import sys

import pytest

from spikemark import machines
from spikemark.cli import completion
from spikemark.cli.main import COMPLETION
from spikemark.network.placement import PLACEMENTS
from spikemark.network.schedules import SCHEDULES
from spikemark.prediction.partition.methods import METHODS
from spikemark.presets import PRESETS
from spikemark.report.export import FORMATS
from spikemark.studies import STUDIES
from spikemark.waiting import PREDICTORS
from spikemark.waiting.whatif import CHANGES


@pytest.fixture
def offered(spikemark, monkeypatch):
    """Returns a function that completes the last word of a line as bash does."""

    def ask(line: str) -> list[str]:
        words = f"spikemark {line}"
        monkeypatch.setenv(COMPLETION, "complete_bash")
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - (not words.endswith(" "))))
        status, output, errors = spikemark()
        assert (status, errors) == (0, "")
        return output.split()

    return ask


def test_names_that_are_listed_again_are_those_of_the_registries():
    assert tuple(STUDIES) == completion.STUDIES
    assert tuple(PREDICTORS) == completion.PREDICTORS
    assert tuple(METHODS) == completion.METHODS
    assert tuple(CHANGES) == completion.CHANGES
    assert tuple(FORMATS) == completion.FORMATS


VALUES = {
    "budget run --js": ["--json"],
    "predict run --schedule ": [*SCHEDULES],
    "predict --machine jur": ["jureca-dc"],
    "predict --machine grace --preset ": [*PRESETS],
    "predict --machine grace --placement ": [*PLACEMENTS],
    "compare jur": ["jureca-dc"],
    "compare rtx-4": ["rtx-4090"],
    "predict --machine rtx-4": [],  # knows CPU cores only
    "compare grace --price jur": ["jureca-dc="],
    "machine ": [*machines.all_names()],
    "machine simula-b": ["simula-bath"],
    "predict --machine simula-b": ["simula-bath"],
    "advise --machine simula-b": [],  # knows equal nodes only
    "simulate run.json --machine epyc-v": ["epyc-vm"],
    "sweep smo": ["smoke"],
    "sweep smoke --profile ": ["here", "laptop", "slurm"],
    "sweep smoke --machine ": [],  # the name of a results folder
    "study ": [*STUDIES],
    "preset mam-": ["mam-benchmark"],
    "whatif run --predictor ": [*PREDICTORS],
    "whatif run --change double": ["double-delay-ratio", "double-ranks"],
    "export folder --format ": [*FORMATS],
    "budget ou": [],  # a path: the shell looks for files
}


@pytest.mark.parametrize("line", VALUES)
def test_options_and_values_are_completed(offered, line):
    assert sorted(offered(line)) == sorted(VALUES[line])


def test_commands_are_completed_but_not_those_that_nobody_types(offered):
    found = offered("")
    assert {"predict", "compare", "sweep", "preset"} <= set(found)
    assert not {"run", "work"} & set(found)


def test_a_line_that_would_be_refused_offers_nothing_and_says_nothing(offered):
    assert offered("predict --machine grace --cycles 9 ") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_the_command(shell):
    script = subprocess.run(
        [sys.executable, "-m", "spikemark"],
        env={**os.environ, COMPLETION: f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"{COMPLETION}=complete_{shell}" in script and "spikemark" in script
