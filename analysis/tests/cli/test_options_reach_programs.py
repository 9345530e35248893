"""No option of a command that starts programs is ignored: what is started differs, or the option is
refused by its name, before anything has started.

In place of each function that starts programs stands one that notes its arguments and raises
`Started`. As in `test_no_option_is_ignored`, a mode is a command line that can be carried out, and
one option after the other is added to it.
"""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import machine_file
import numpy as np
import proposed
import pytest
import synthetic
from small_network import describe

from spikemark.cli import planned_run
from spikemark.core import places
from spikemark.measuring import cachesim, calibrate, exchanges, kernels, peers
from spikemark.running import dry_run, sweeps
from spikemark.running.simulation import smpirun

pytestmark = pytest.mark.slow

#: Command lines by command: its modes.
MODES = {
    "simulate": [
        "simulate network.json --machine made-up.yaml --ranks 4",
        "simulate network.json --machine made-up.yaml --ranks 4 --compute run",
        "simulate network.json --machine two-generations --ranks 4",
    ],
    "dryrun": ["dryrun network.json --of 4"],
    "run": ["run results some-run"],
    "calibrate": ["calibrate"],
    "bench": ["bench", "bench --exchange"],
    "peers": ["peers"],
    "cachesim": [
        "cachesim network.json --d1 32768,8,64 --ll 1048576,16,64",
        "cachesim run --machine jureca-dc",
    ],
    "sweep": ["sweep smoke"],
}
#: A value for each option, other than its default and other than what a mode has.
VALUES = {
    "--again": "3",
    "--bytes": "4,64",
    "--compute": "run",
    "--compute-of": "other.json",
    "--correlation": "0.37",
    "--cv": "0.37",
    "--d1": "65536,8,64",
    "--filter": "clock",
    "--launcher": "srun",
    "--ll": "2097152,16,64",
    "--machine": "epyc-vm",
    "--min-time": "0.37",
    "--name": "other",
    "--nodes": "2",
    "--on": "older=2,newer=2",
    "--out": "elsewhere",
    "--patience": "7",
    "--ranks": "2",
    "--ranks-here": "2",
    "--ranks-per-node": "2",
    "--rate": "3.3",
    "--repetitions": "7",
    "--results": "elsewhere",
    "--sample": "2",
    "--seed": "7",
    "--set": "time.simulate_ms=20",
    "--simulate-ms": "7",
    "--threads": "2",
}
#: Where such a value would make no difference, or be impossible.
OTHER_VALUES = {
    ("calibrate", "--out"): "elsewhere.yaml",
    ("peers", "--threads"): "1",
    ("simulate network.json --machine made-up.yaml --ranks 4 --compute run", "--set"): "seed=7",
}
#: Options that only change how an answer is shown.
ONLY_SHOWN = {"--json", "--details", "--help"}
#: What starts programs: where it is looked up, and its name.
STARTERS = [
    (smpirun, "run"),
    (dry_run, "carry_out"),
    (planned_run, "carry_out"),
    (calibrate, "calibrate"),
    (exchanges, "bench"),
    (kernels, "bench"),
    (peers, "compare"),
    (cachesim, "simulate"),
    (sweeps, "sweep"),
]


class Started(BaseException):
    """A program was about to start, with this as its description."""


def written(value: object) -> str:
    """An argument as text in which equal ones are equal; temporary folders have no name."""
    if isinstance(value, np.ndarray):
        return f"{value.shape} {value.astype(float).sum()!r}"
    if isinstance(value, Path):
        return "" if "simulating-" in value.name else str(value)
    if callable(value):
        return ""
    if hasattr(value, "__dict__"):
        fields = {name: written(field) for name, field in vars(value).items()}
        return f"{type(value).__name__} {fields}"
    if isinstance(value, dict):
        return str({name: written(part) for name, part in value.items()})
    if isinstance(value, list | tuple):
        return str([written(part) for part in value])
    return repr(value)


def start(*arguments: object, **options: object) -> None:
    """Stands in for what starts programs."""
    out = [str(each.parent) for each in arguments if isinstance(each, Path)]
    raise Started(written([*arguments, options, out]))


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with what the modes are asked about."""
    folder = tmp_path_factory.mktemp("programs")
    (folder / "network.json").write_text(json.dumps(describe(areas=4)))
    (folder / "other.json").write_text(json.dumps(describe(areas=8)))
    machine_file.write(folder / "made-up.yaml")
    network = describe(areas=4)
    cycles = round(network["time"]["simulate_ms"] / network["time"]["cycle_ms"])
    synthetic.write_run(folder / "run", ranks=4, cycles=cycles, description=network)
    return folder


@pytest.fixture
def carry_out(place, spikemark, monkeypatch):
    """Carries out a command line: what would have started; or status and errors."""
    monkeypatch.chdir(place)
    monkeypatch.setattr(smpirun, "version", lambda: "none")
    monkeypatch.setattr(places, "program", lambda name: Path("/nowhere") / name)
    for module, name in STARTERS:
        monkeypatch.setattr(module, name, start)

    def run(words: list[str]) -> tuple[int, str]:
        try:
            status, _, errors = spikemark(*words)
        except Started as started:
            return 0, str(started)
        return status, errors

    return run


def cases() -> Iterator[tuple[str, str]]:
    """Each mode with each option that it has not."""
    for name, modes in MODES.items():
        for mode in modes:
            flags = proposed.options(proposed.ROOT.commands[name])
            for option in sorted(flags - ONLY_SHOWN - {*shlex.split(mode)}):
                if option.startswith("--"):
                    yield mode, option


@pytest.mark.parametrize("mode", [mode for modes in MODES.values() for mode in modes])
def test_a_mode_starts_something(carry_out, mode):
    status, arguments = carry_out(shlex.split(mode))
    assert (status, arguments != "") == (0, True), arguments


@pytest.mark.parametrize(("mode", "option"), list(cases()))
def test_an_option_changes_what_is_started_or_is_refused(carry_out, mode, option):
    words = shlex.split(mode)
    parameters = {name: each for each in proposed.command(words)[0].params for name in each.opts}
    values = []
    if not parameters[option].is_flag:
        values.append(OTHER_VALUES.get((mode, option), VALUES.get(option, "1")))
    status, outcome = carry_out([*words, option, *values])
    assert (status, outcome) != carry_out(words), "the same is started"
    if status:
        assert status == 2, outcome
        assert option in outcome or option.removeprefix("--") in outcome, outcome
