"""No option is ignored: in each mode of a command, each of its options changes what is answered or
written, or is refused by its name.

The commands and their options are those of the command line. A mode is a command line that can be
carried out; to it, one option after the other is added.
"""

import json
import shlex
from collections.abc import Iterator
from pathlib import Path

import dry_folder
import foreign_logs
import machine_file
import numpy as np
import proposed
import pytest
import swept
import synthetic
from compared import run, sweep
from small_network import describe

#: Command lines by command: its modes.
MODES = {
    "predict": [
        "predict network.json --machine made-up.yaml --ranks 4",
        "predict run --machine made-up.yaml",
        "predict mam-benchmark --full --program nest --machine jureca-dc --nodes 8",
        "predict network.json --machine made-up.yaml --compute-from dry",
        "predict --machine made-up.yaml --compute-from dry",
        "predict network.json --machine two-generations --ranks 4",
    ],
    "advise": [
        "advise network.json --machine made-up.yaml --nodes 2",
        "advise mam-benchmark --full --program nest --machine jureca-dc --nodes 8",
    ],
    "compare": [
        "compare made-up.yaml epyc-vm --run network.json --nodes 1",
        "compare jureca-dc supermuc-ng --preset microcircuit --full --program nest --nodes 2",
    ],
    "waiting": [
        "waiting run",
        "waiting times.npz --unit ms",
        "waiting imported",
        "waiting dry",
        "waiting logs/logfile_0",
    ],
    "diff": [
        "diff run slow-run",
        "diff s1 s2",
        "diff --history history",
        "diff --history h --add s1",
    ],
    "partition": [
        "partition network.json --ranks 4",
        "partition network.json --ranks 4 --method random",
        "partition network.json --ranks 4 --method random --machine made-up.yaml",
        "partition network.json --ranks 4 --placement round_robin",
        "partition network.json --ranks 4 --method random --levels 2x2",
    ],
    "anchor": [
        "anchor mam-benchmark --full --machine jureca-dc --out anchors",
        "anchor mam-benchmark --full --machine jureca-dc --runs runs.csv --nodes 8",
    ],
    "sweep": ["sweep demo --dry-run"],
    "report": ["report results/x/here", "report imported", "report results --index"],
    "machine": ["machine", "machine made-up.yaml", "machine made-up.yaml epyc-vm"],
    "schema": ["schema", "schema machine"],
    "import": ["import times.npz --unit ms --out new", "import logs/logfile_0 --out new"],
    "energy": ["energy run", "energy run --machine made-up.yaml"],
    "export": ["export results/x/here --format extra-p", "export run --format timeline"],
    "collect": ["collect results/x/here"],
    "score": ["score runs.csv kept.json"],
    "study": ["study"],
}
#: Modes that answer by the code of another mode, of whose options `make test-nightly` tries all.
TRIED_NIGHTLY = {
    "predict --machine made-up.yaml --compute-from dry",
    "predict network.json --machine two-generations --ranks 4",
    "advise mam-benchmark --full --program nest --machine jureca-dc --nodes 8",
    "compare jureca-dc supermuc-ng --preset microcircuit --full --program nest --nodes 2",
    "waiting imported",
    "waiting dry",
    "waiting logs/logfile_0",
    "diff --history h --add s1",
    "partition network.json --ranks 4 --method random",
    "partition network.json --ranks 4 --placement round_robin",
    "import logs/logfile_0 --out new",
}
#: Commands that start programs for seconds or minutes: test_options_reach_programs.py looks at
#: their options; for the last three, their own tests do.
STARTS_PROGRAMS = {
    "simulate",
    "dryrun",
    "run",
    "calibrate",
    "bench",
    "peers",
    "cachesim",
    "scorep",
    "tender",
    "preset",
}
#: A value for each option, other than its default and other than what a mode has.
VALUES = {
    "--run": "other.json",
    "--preset": "microcircuit",
    "--option": "areas=4",
    "--rate": "3.3",
    "--schedule": "structure_aware",
    "--placement": "area",
    "--delay-ratio": "5",
    "--lag": "2",
    "--exchange": "alltoall",
    "--machine": "epyc-vm",
    "--nodes": "4",
    "--ranks": "8",
    "--threads": "3",
    "--ranks-per-node": "2",
    "--on": "older=2,newer=2",
    "--compute-from": "other-dry",
    "--program": "nest",
    "--anchor": "runs.csv",
    "--target-rtf": "0.37",
    "--times": "imported",
    "--html": "page.html",
    "--markdown": "page.md",
    "--logs": "logs",
    "--badge": "badge.svg",
    "--years": "3",
    "--hours-per-year": "1234",
    "--price-kwh": "0.31",
    "--unit": "us",
    "--column": "compute=busy",
    "--change": "halve-jitter",
    "--group-period": "5",
    "--fail-above": "1%",
    "--history": "history",
    "--add": "s2",
    "--method": "sequential",
    "--out": "written.json",
    "--weights": "1,2,1,1",
    "--weights-from": "run",
    "--group": "3",
    "--levels": "2x2",
    "--side": "receiver",
    "--out-table": "table.json",
    "--seed": "7",
    "--runs": "runs.csv",
    "--version": "3.4",
    "--keep": "predictions.json",
    "--results": "elsewhere",
    "--again": "3",
    "--set": "time.simulate_ms=123",
    "--power": "power.csv",
    "--channel": "node1",
    "--offset": "1.5",
    "--align": "knee",
    "--at-wall": "2",
    "--format": "npy",
    "--skip": "3",
    "--cycles": "100",
    "--cycle-ms": "0.2",
    "--fit": "fitted.yaml",
    "--only": "phases",
    "--output": "exported",
}
#: Where such a value is that of the mode, or would make no difference there.
OTHER_VALUES = {
    ("predict network.json --machine made-up.yaml --ranks 4", "--nodes"): "2",
    ("predict network.json --machine two-generations --ranks 4", "--nodes"): "2",
    ("predict network.json --machine made-up.yaml --compute-from dry", "--ranks"): "4",
    ("predict --machine made-up.yaml --compute-from dry", "--ranks"): "4",
    ("predict network.json --machine made-up.yaml --compute-from dry", "--on"): "older=8",
    ("predict --machine made-up.yaml --compute-from dry", "--on"): "older=8",
}
#: A schedule that needs no D: nothing says what delays the programs of these times have.
for MODE in ("waiting times.npz --unit ms", "waiting imported", "waiting dry"):
    OTHER_VALUES[MODE, "--schedule"] = "conventional"
#: Options that a complaint may name because they make another run.
OF_THE_MINI_APP = {"--set"}
#: Options that only change how much is shown; where nothing more is known they have no effect.
ONLY_SHOWN = {"--json", "--details", "--help"}


#: What modes answer without a further option, by mode.
ANSWERS: dict[str, tuple] = {}


def furnish(folder: Path) -> None:
    """Write what the modes are asked about."""
    rng = np.random.default_rng(1)
    compute = rng.normal(1.0, 0.1, (4, 600)) * [[1.0], [1.0], [1.0], [1.2]]
    exchanged = foreign_logs.exchanged(compute, 0.05)
    np.savez(folder / "times.npz", compute=compute, busy=2 * compute, communicate=exchanged)
    (folder / "network.json").write_text(json.dumps(describe(areas=4)))
    (folder / "other.json").write_text(json.dumps(describe(areas=8)))
    machine_file.write(folder / "made-up.yaml")
    network = describe(areas=4)
    synthetic.write_run(folder / "run", ranks=4, cycles=1000, ar1=0.5, description=network)
    synthetic.write_run(folder / "slow-run", ranks=4, cycles=1000, ar1=0.9, description=network)
    sweep(folder / "s1")
    sweep(folder / "s2", 1.1, seed=1)
    run(folder / "calm")
    (folder / "logs").mkdir()
    foreign_logs.stopwatches(folder / "logs", 0, 1, {"biological_time": 100.0})
    table = "nodes,ranks,threads,real_time_factor\n1,2,64,20\n2,4,64,11\n4,8,64,6.5\n"
    (folder / "runs.csv").write_text(table)
    results, runs = swept.planned(folder / "results" / "x" / "here")
    for planned_run in runs:
        swept.write(results, planned_run)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("options")
    furnish(folder)
    return folder


@pytest.fixture
def carry_out(place, spikemark, monkeypatch):
    """Carries out a command line in the place: status, output, errors, files that it wrote."""
    monkeypatch.chdir(place)
    dry_folder.in_process(monkeypatch, rank_sd=0.02)
    if not (place / "dry").exists():
        for out, network in (("dry", "network.json"), ("other-dry", "other.json")):
            words = ["dryrun", network, "--of", 8, "--sample", 3, "--out", out]
            assert spikemark(*words)[0] == 0
        spikemark("import", "times.npz", "--unit", "ms", "--out", "imported")
        spikemark("diff", "--history", "history", "--add", "s1", "--add", "s2")
        spikemark(*shlex.split(f"{MODES['anchor'][1]} --keep kept.json"))

    def run(words: list[str]):
        before = files(place)
        status, output, errors = spikemark(*words)
        written = files(place).keys() - before.keys()
        for name in sorted(written, reverse=True):
            path = place / name
            path.rmdir() if path.is_dir() else path.unlink()
        return status, output, errors, written

    return run


def files(folder: Path) -> dict[str, None]:
    return {str(path.relative_to(folder)): None for path in sorted(folder.rglob("*"))}


def cases() -> Iterator[tuple[str, str]]:
    """Each mode with each option that is not in it."""
    for name, modes in MODES.items():
        for mode in modes:
            flags = proposed.options(proposed.ROOT.commands[name])
            for option in sorted(flags - ONLY_SHOWN):
                if option.startswith("--") and option not in shlex.split(mode):
                    yield mode, option


def test_every_command_has_its_modes_here():
    assert MODES.keys() | STARTS_PROGRAMS == set(proposed.ROOT.commands)
    assert {mode for modes in MODES.values() for mode in modes} >= TRIED_NIGHTLY


def test_every_option_has_a_value_here():
    lacking = set()
    for mode, option in cases():
        parameters = proposed.command(shlex.split(mode))[0].params
        flags = {
            name for each in parameters if getattr(each, "is_flag", False) for name in each.opts
        }
        if option not in VALUES.keys() | flags and (mode, option) not in OTHER_VALUES:
            lacking.add(option)
    assert not lacking, (
        f"{', '.join(sorted(lacking))}: add a line to VALUES in {__file__}, '--option': a value"
        " that is no default and in no mode; the slow tests of this file then try it"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("mode", [mode for modes in MODES.values() for mode in modes])
def test_a_mode_answers(carry_out, mode):
    status, _, errors, _ = carry_out(shlex.split(mode))
    assert status == 0, errors


def tried() -> Iterator[object]:
    """The same, marked: `make test` tries every option of a command in one mode at least."""
    tried_now = set()
    for mode, option in cases():
        if mode not in TRIED_NIGHTLY:
            tried_now.add((shlex.split(mode)[0], option))
    for mode, option in cases():
        is_nightly = mode in TRIED_NIGHTLY and (shlex.split(mode)[0], option) in tried_now
        marks = [pytest.mark.nightly] if is_nightly else []
        yield pytest.param(mode, option, marks=marks)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("mode", "option"), list(tried()))
def test_an_option_does_something_or_is_refused(carry_out, mode, option):
    words = shlex.split(mode)
    parameters = {name: each for each in proposed.command(words)[0].params for name in each.opts}
    if "--json" in parameters:
        words.append("--json")
    values = []
    if not parameters[option].is_flag:
        values.append(OTHER_VALUES.get((mode, option), VALUES[option]))
    without = ANSWERS.get(mode) or carry_out(words)
    ANSWERS[mode] = without
    with_option = carry_out([*words, option, *values])
    status, _, errors, _ = with_option
    if status == 2:
        names = {option, option.removeprefix("--"), *values}
        if option in ("--preset", "--run"):
            names |= {"NETWORK", "network."}  # the network that the option names, or a field of it
        assert any(name in errors for name in names), errors
        named = set(proposed.OPTION.findall(errors.split("spikemark ")[0])) - OF_THE_MINI_APP
        assert named <= proposed.options(proposed.command(words)[0]), errors
    else:
        assert with_option != without, "the same answer"
