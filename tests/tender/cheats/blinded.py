"""Cheats that take from a check what it needs, so that it has nothing to say."""

import json
from datetime import datetime, timedelta

from tender.offered import COMPUTE, Answer

from .cheat import Cheat

STEP_S = 1e6  # by which the clock is said to have been set


def _each(change):
    """A cheat that changes all records."""

    def do(answer: Answer) -> None:
        for run in answer.runs:
            with answer.edit(run / "record.json") as record:
                change(record)

    return do


def _faster(answer: Answer) -> None:
    """A fifth off all compute times, which shows in the waiting."""
    for run in answer.runs:
        times = answer.times(run)
        phases = json.loads((run / "record.json").read_text())["phases"]
        times[:, :, [phases.index(name) for name in COMPUTE]] *= 0.8
        answer.put_times(run, times)


def _lane(**fields):
    """A cheat that makes all ranks faster, and writes fields of the lane with which no waiting is checked."""

    def do(answer: Answer) -> None:
        _faster(answer)
        _each(lambda record: record["lanes"][0].update(fields))(answer)

    return do


def _once(answer: Answer) -> None:
    def change(record) -> None:
        record["lanes"][0] |= {"period": record["timing"]["cycles"], "windows": 1}

    _faster(answer)
    _each(change)(answer)


def _no_launch(answer: Answer) -> None:
    for run in answer.runs:
        (run / "launch.json").unlink()


def _nameless(record) -> None:
    record["host"]["per_node"] = None


def _second_node(answer: Answer) -> None:
    for run in answer.runs:
        lines = answer.lines(run)
        lines[-1]["node"] = "1"
        answer.put_lines(run, lines)


def _renamed(record) -> None:
    """Calls computing waiting, and waiting computing."""
    names = {"update": "synchronise", "synchronise": "update"}
    record["phases"] = [names.get(name, name) for name in record["phases"]]
    told = record["timing"]["phases"]
    record["timing"]["phases"] = {names.get(name, name): times for name, times in told.items()}


def _set_clock(answer: Answer) -> None:
    """Dates the start after the run, which a clock that was set would explain."""

    def change(record) -> None:
        record["timing"]["clock_step_s"] = STEP_S
        started = datetime.fromisoformat(record["provenance"]["started"]) + timedelta(days=1)
        record["provenance"]["started"] = started.strftime("%Y-%m-%dT%H:%M:%SZ")

    _each(change)(answer)


def _words(answer: Answer) -> None:
    for run in answer.runs:
        with answer.edit(run / "launch.json") as launch:
            launch["command"] = ["/usr/bin/faketime", "-f", "+0 x0.8", *launch["command"]]


def _fields(answer: Answer) -> None:
    with answer.edit("environment.json") as environment:
        for name in ("boost", "power_limits_uw", "variables"):
            del environment["nodes"][0][name]


def _software(answer: Answer) -> None:
    with answer.edit("environment.json") as environment:
        environment["software"] = {}


def _compiler(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["provenance"]["compiler"] = "a faster one"


def _disclosed_compiler(answer: Answer) -> None:
    with answer.edit("environment.json") as environment:
        environment["software"]["mpi_library"] = {"value": "the offered one"}


def _unlisted(answer: Answer) -> None:
    """Measures once more than asked, and leaves the slowest repetition out of answer.json only."""
    with answer.edit("answer.json") as content:
        run = content["runs"][0]
        run["repetitions"].pop()
        factors = sorted(one["real_time_factor"] for one in run["repetitions"])
        run["figure"] = {"real_time_factor": {"value": factors[0], "low": factors[0], "high": factors[-1]}}


def _flat(answer: Answer) -> None:
    """Makes up the times of one rank: the mean computes, and the waiting follows from it."""
    run = answer.run()
    times = answer.times(run)
    phases = json.loads((run / "record.json").read_text())["phases"]
    own = [phases.index(name) for name in COMPUTE]
    before = times[1][:, own].sum(axis=1)
    times[1][:, own] = times[1][:, own].mean(axis=0)
    barrier = phases.index("synchronise")
    times[1, :, barrier] = (times[1, :, barrier] + before - times[1][:, own].sum(axis=1)).clip(0)
    answer.put_times(run, times)


CHEATS = (
    Cheat("no launch", "leaves out when and how the program was started", _no_launch, "part missing"),
    Cheat("nameless nodes", "leaves out on which nodes a run was", _each(_nameless), "disclosure"),
    Cheat("secret node", "runs on two nodes and says that it was one", _second_node, "layout"),
    Cheat("late lane", "says that a lane has a lag, so that no rank waits", _lane(lag=10**6), "lanes"),
    Cheat("long window", "says that ranks met once, at the end", _once, "lanes"),
    Cheat("lone ranks", "says that each rank runs for itself", _lane(ranks=1, groups=2), "lanes"),
    Cheat("renamed phases", "calls computing waiting, in the list of phases", _each(_renamed), "phases"),
    Cheat("clock was set", "explains dates by a clock that was set", _set_clock, "clocks"),
    Cheat("started by another", "starts the program by one that fakes time", _words, "clock library"),
    Cheat("missing fields", "leaves fields of the environment out", _fields, "disclosure"),
    Cheat("missing software", "says nothing of compiler, MPI and binding", _software, "disclosure"),
    Cheat("two programs", "compiles the program of one repetition in another way", _compiler, "version"),
    Cheat("other library", "discloses another MPI than that of the runs", _disclosed_compiler, "version"),
    Cheat(
        "unlisted repetition",
        "hands in a slow repetition, and leaves it out of answer.json",
        _unlisted,
        "repetition figure",
        tell=False,
    ),
    Cheat("one even rank", "makes up compute times of all ranks but the first", _flat, "no noise"),
)
