"""Every option of every command with values at and beyond the ends of all ranges.

A command answers, or refuses in one line with status 2, within the memory and the processor time of
LIMITS:
no option makes it run forever, take all memory or end in a traceback.
"""

import json
import multiprocessing
import os
import resource
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from small_network import describe
from synthetic import job, write_run

from spikemark.cli import main

VALUES = (
    "0",
    "-1",
    "1000",
    "1e3",
    "1000000000",
    "1000000000000",
    "1000000000000000000",
    "nan",
    "inf",
)
#: Of a command: bytes of memory, s of processor time, s.
MEMORY, PROCESSOR_S, PATIENCE_S = 3 * 2**30, 20, 120
#: What a command needs besides the option; {} is a folder, with a run and a description.
NEEDED = {
    "predict": "mam-benchmark --machine epyc-vm --nodes 1",
    "advise": "mam-benchmark --machine jureca-dc --nodes 2",
    "compare": "jureca-dc epyc-vm --run mam-benchmark --nodes 2",
    "waiting": "{}/run",
    "diff": "{}/run {}/other",
    "partition": "{}/run.json --ranks 2 --out {}/placement.json",
    "anchor": "mam-benchmark --machine jureca-dc --nodes 2 --out {}/anchor",
    "sweep": "smoke --dry-run",
    "simulate": "{}/run.json --machine jureca-dc --ranks 2 --out {}/simulated",
    "dryrun": "{}/run.json --of 4 --sample 2 --out {}/dry",
    "energy": "{}/run",
    "import": "{}/times.csv --unit s --out {}/imported",
    "new": "{}/tender --quick --commit HEAD --node-memory 0.02 --minimum 0.1",
}
#: Options that take names, files or text of their own.
NO_NUMBERS = (
    "run",
    "preset",
    "machine",
    "html",
    "out",
    "results",
    "commit",
    "compute",
    "compute-of",
    "title",
)
#: Values with which a program that is started needs more than the limits of this test, which it
#: says.
PROGRAMS = (("dryrun", "--threads", "1000"), ("simulate", "--ranks", "1000"))


def commands(group: typer.core.TyperGroup) -> Iterator[tuple[tuple[str, ...], list]]:
    """The words and the parameters of each command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            for words, parameters in commands(command):
                yield (name, *words), parameters
        else:
            yield (name,), command.params


def lines(words: tuple[str, ...], parameters: list) -> Iterator[list[str]]:
    """Command lines with one option each; {} is a folder."""
    needed = NEEDED.get(words[-1], "").split()
    for parameter in parameters:
        flag = parameter.opts[0]
        is_number = flag.startswith("--") and not parameter.is_flag and flag[2:] not in NO_NUMBERS
        for value in VALUES if is_number else ():
            rest = list(needed)
            if flag in rest:
                at = rest.index(flag)
                del rest[at : at + 2]
            value = {"--set": f"time.simulate_ms={value}", "--option": f"areas={value}"}.get(
                flag, value
            )
            if (words[-1], flag, value) not in PROGRAMS:
                yield [*words, *rest, flag, *[value] * parameter.nargs]


COMMANDS = {
    " ".join(words): [*lines(words, parameters)]
    for words, parameters in commands(typer.main.get_command(main.app))
    if words[0] == "preset" or words[-1] in NEEDED
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("options")
    (place / "run.json").write_text(json.dumps(describe(areas=2, neurons=100)))
    for name in ("run", "other"):
        write_run(place / name, ranks=2, cycles=100, rank_sd=0.2, launch=job(1))
    rows = [f"{rank},{cycle},0.00{rank + 1}" for cycle in range(50) for rank in range(2)]
    (place / "times.csv").write_text("\n".join(["rank,cycle,compute", *rows]) + "\n")
    return place


def _run(words: list[str], errors: Path) -> None:
    """The command, in a process and a folder of its own, within the limits."""
    os.chdir(errors.parent)  # where options of files that are not known here write numbers
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
    with open(os.devnull, "w") as sys.stdout, errors.open("w") as sys.stderr:
        try:
            main.main(words)
        except Exception:
            traceback.print_exc()


def complaint(words: list[str], folder: Path) -> str | None:
    """What is wrong with how a command ended; None where nothing is."""
    errors = folder / "errors"
    words = [word.replace("{}", str(folder)) for word in words]
    process = multiprocessing.get_context("fork").Process(target=_run, args=(words, errors))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        process.start()
    process.join(PATIENCE_S)
    if process.is_alive():
        process.kill()
        process.join()
        return f"{words}: more than {PATIENCE_S} s"
    said = errors.read_text()
    # Below the line, further faults of the same file have an indented line each.
    has_one_line = sum(not line.startswith("  ") for line in said.splitlines()) == 1
    is_refusal = process.exitcode == 2 and has_one_line
    is_answer = process.exitcode == 0 and "Traceback" not in said
    return None if is_refusal or is_answer else f"{words}: status {process.exitcode}: {said[-300:]}"


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_no_value_of_an_option_ends_in_a_traceback_or_never(name, folder):
    for words in COMMANDS[name]:
        assert complaint(words, folder) is None


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("predict mam-benchmark --machine epyc-vm --nodes 999999999999", "nodes"),
        ("predict mam-benchmark --machine epyc-vm --nodes 999999999", "nodes"),
        ("predict mam-benchmark --machine epyc-vm --nodes 1 --threads 999999999", "threads"),
        ("predict mam-benchmark --machine epyc-vm --ranks 999999999", "ranks"),
        ("dryrun {}/run.json --of 999999999 --sample 2 --out {}/dry", "--of"),
        ("tender new {}/tender --quick --commit HEAD --node-memory 0.02 --minimum 1e18", "minimum"),
    ],
)
def test_sizes_beyond_all_machines_are_refused(line, field, folder, refusal):
    assert field in refusal(*line.replace("{}", str(folder)).split())
