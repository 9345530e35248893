#!/usr/bin/env python
"""Measures the speed of the commands, and prints the table in docs/trust.md.

    .venv/bin/python tests/speed.py [--rounds 5]

The commands run in turns, `--rounds` times, after one round that is not counted and leaves compiled
modules behind. The table has medians, and the smallest and largest value. Run it on a quiet
machine: it says so if other programs took more than a tenth of a core. The speed beside
NEST is measured by `make peers`.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml
from checkout import OPEN_MPI

CHECKOUT = Path(__file__).resolve().parents[1]
SPIKEMARK = Path(sys.executable).with_name("spikemark")
EXPERIMENTS = CHECKOUT / "workflows" / "experiments"
FULL = ("--preset", "mam", "--full")
ON_32_NODES = (*FULL, "--machine", "jureca-dc", "--nodes", "32")

#: What is timed, by the words of the table: the arguments of `spikemark`, and the goal in seconds.
COMMANDS = {
    "start (`--version`)": (("--version",), 0.3),
    "`predict`, mini-app": (("predict", *ON_32_NODES), 0.7),
    "`predict`, NEST": (("predict", *ON_32_NODES, "--program", "nest"), 0.7),
    "`compare`, mini-app": (("compare", "jureca-dc", "supermuc-ng", *FULL), 5.0),
    "`compare`, NEST": (("compare", "jureca-dc", "supermuc-ng", *FULL, "--program", "nest"), 5.0),
    "`advise`, mini-app": (("advise", "--machine", "jureca-dc", *FULL), 5.0),
    "`advise`, NEST": (("advise", "--machine", "jureca-dc", *FULL, "--program", "nest"), 5.0),
}

SWEEP_RUNS = (1, 41)  #: of the two sweeps that are compared
SWEEP_GOAL_S = 0.3  #: of a run, beside the program itself

WAITING_RANKS, WAITING_CYCLES = 512, 100_000
WAITING_GOAL = 3.0  #: times the bytes of the data
#: What is asked of it, by the words of the table.
WAITING_OPTIONS = {"`waiting`": (), "`waiting --json`": ("--json",)}

#: Runs a program, and prints its largest memory in KiB.
PEAK_OF_PROGRAM = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""

#: With this variable, Python compiles all modules at every start.
NEVER_COMPILED = "PYTHONDONTWRITEBYTECODE"

LARGEST_FOREIGN_LOAD = 0.1  #: cores taken by other programs, above which the machine is not quiet


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    name: str
    values: list[float]  #: one per round
    unit: str
    goal: float

    def markdown(self) -> str:
        middle = statistics.median(self.values)
        smallest, largest = min(self.values), max(self.values)
        measured = f"{middle:.2f} ({smallest:.2f} to {largest:.2f}) {self.unit}"
        return f"| {self.name} | {measured} | {self.goal:g} {self.unit} |"


def run(*arguments: str | Path, folder: Path = CHECKOUT) -> float:
    """Runs `spikemark`; returns seconds of wall-clock time."""
    begin = time.perf_counter()
    subprocess.run(
        [SPIKEMARK, *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name != NEVER_COMPILED},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - begin


def peak_bytes(*arguments: str | Path) -> int:
    """Runs `spikemark`; returns the largest memory that it held.

    A small program starts it, since the peak that the system gives for a program is never below
    that of the one that started it.
    """
    starting = [sys.executable, "-c", PEAK_OF_PROGRAM, SPIKEMARK, *arguments]
    return 1024 * int(subprocess.run(starting, check=True, stdout=subprocess.PIPE).stdout)


def sweep_s(folder: Path, runs: int) -> float:
    """Wall-clock seconds of a sweep of so many short runs on one rank."""
    experiment = yaml.safe_load((EXPERIMENTS / "smoke.yaml").read_text(encoding="utf-8"))
    experiment |= {"name": f"runs-{runs}", "ranks": [1], "seeds": list(range(1, runs + 1))}
    experiment["grid"] = [{"schedule": ["conventional"]}]
    file = folder / f"runs-{runs}.yaml"
    file.write_text(yaml.safe_dump(experiment), encoding="utf-8")
    return run("sweep", file, folder=folder)


def runs_alone_s(folder: Path, runs: int) -> float:
    """Wall-clock seconds of so many runs like those of the sweep, started by hand."""
    options = ("--areas", "2", "--neurons-per-area", "200", "--indegree", "20", "--rate", "10")
    command = [SPIKEMARK, "preset", "mam-benchmark", *options, "--simulate-ms", "100"]
    description = folder / "run.json"
    description.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    begin = time.perf_counter()
    for number in range(runs):
        program = ["mpirun", "-n", "1", CHECKOUT / "build" / "miniapp", description]
        out = folder / f"out-{number}"
        environment = os.environ | OPEN_MPI
        command = [*program, "--out", out]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def sweep_overhead_s() -> float:
    """Seconds that a sweep adds to each run: a long sweep less a short one, and less the runs."""
    few, many = SWEEP_RUNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sweeps_s = sweep_s(folder, many) - sweep_s(folder, few)
        return (sweeps_s - runs_alone_s(folder, many - few)) / (many - few)


def memory_of_waiting() -> dict[str, float]:
    """The memory of `waiting`, as a multiple of the bytes of its data, by WAITING_OPTIONS."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "compute.npy"
        draws = np.random.default_rng(1).standard_normal((WAITING_RANKS, WAITING_CYCLES), "f4")
        np.save(file, 1e-3 + 1e-4 * draws.clip(-5, 5))
        return {
            name: peak_bytes("waiting", file, "--unit", "s", *options) / file.stat().st_size
            for name, options in WAITING_OPTIONS.items()
        }


def busy_seconds() -> float:
    """Seconds of processor time that all programs of this machine have taken since its start."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system = (int(field) for field in fields[:3])
    return (user + nice + system) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    overheads = []
    multiples: dict[str, list[float]] = {name: [] for name in WAITING_OPTIONS}
    for arguments, _goal in COMMANDS.values():
        run(*arguments)
    begin, busy = time.perf_counter(), busy_seconds()
    for _ in range(rounds):
        for name, (arguments, _goal) in COMMANDS.items():
            seconds[name].append(run(*arguments))
        overheads.append(sweep_overhead_s())
        for name, multiple in memory_of_waiting().items():
            multiples[name].append(multiple)
    times = os.times()
    ours = times.children_user + times.children_system + times.user + times.system
    foreign = (busy_seconds() - busy - ours) / (time.perf_counter() - begin)

    print("| what | median (smallest to largest) | goal |")
    print("| --- | ---: | ---: |")
    for name, (_arguments, goal) in COMMANDS.items():
        print(Row(name, seconds[name], "s", goal).markdown())
    print(Row("a sweep adds to each run", overheads, "s", SWEEP_GOAL_S).markdown())
    for name, values in multiples.items():
        words = f"memory of {name}, {WAITING_RANKS} ranks × {WAITING_CYCLES} cycles"
        print(Row(words, values, "× its data", WAITING_GOAL).markdown())
    if foreign > LARGEST_FOREIGN_LOAD:
        print(f"\nNot quiet: other programs took {foreign:.1f} cores.")


if __name__ == "__main__":
    main()
