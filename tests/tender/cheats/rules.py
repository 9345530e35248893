"""Cheats that run something else than the tender asks for."""

import shutil

from tender.offered import Answer

from .cheat import Cheat


def _records(answer: Answer, change, name: str = "*") -> None:
    """Changes all records of a run, or of all runs."""
    for path in sorted(answer.path.glob(f"runs/{name}/*/record.json")):
        with answer.edit(path) as record:
            change(record)


def _described(change, name: str = "*"):
    """A cheat that changes the descriptions in all records."""
    return lambda answer: _records(answer, lambda record: change(record["description"]), name)


def _no_run(answer: Answer) -> None:
    shutil.rmtree(answer.path / "runs" / "bench-medium")


def _slowest(answer: Answer) -> None:
    shutil.rmtree(answer.run(k=3))


def _gap(answer: Answer) -> None:
    answer.run(k=3).rename(answer.run(k=4))


def _short(record) -> None:
    """A hundredth of every time, so that the run is too short for the rules."""
    timing = record["timing"]
    for name in ("simulate_s", "real_time_factor"):
        timing[name] /= 1e3


def _smaller(description) -> None:
    for population in description["network"]["populations"]:
        population["size"] //= 2


def _slower_neurons(description) -> None:
    for population in description["network"]["populations"]:
        population["neuron"]["rate_hz"] = 5.0


def _fewer_synapses(description) -> None:
    description["network"]["projections"].pop()


def _seed(description) -> None:
    description["seed"] = 2


def _time(description) -> None:
    description["time"]["simulate_ms"] = 900.0


def _coarse(description) -> None:
    description["time"] |= {"resolution_ms": 0.2, "cycle_ms": 0.2}


def _cold(description) -> None:
    description["time"]["warmup_ms"] = 0.0


def _no_barrier(description) -> None:
    description["record"]["barrier"] = False


def _injected(description) -> None:
    description["inject"]["mean_us"] = 1.0


def _schedule(description) -> None:
    description |= {"schedule": "structure_aware", "placement": "area"}


def _undisclosed(answer: Answer) -> None:
    _records(answer, lambda record: _schedule(record["description"]))
    with answer.edit("answer.json") as content:
        content["category"] = "optimised"


def _set(answer: Answer) -> None:
    with answer.edit("answer.json") as content:
        content["runs"][0]["set"] = {"network.populations.0.size": 10}


def _flags(record) -> None:
    record["provenance"]["flags"] += " -ffast-math"


def _dirty(record) -> None:
    record["provenance"]["dirty"] = True


def _version(record) -> None:
    record["provenance"]["version"] = "9.9.9"


def _simulated(record) -> None:
    record["kind"] = "simulated"


def _nodes(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["host"]["nodes"] = 2


def _mixed(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["threads"] = 4


def _warm(answer: Answer) -> None:
    """Starts measuring when the network is built, and says nothing of it."""
    with answer.edit(answer.run() / "record.json") as record:
        timing = record["timing"]
        timing["idle_before_s"][1] = timing["simulate_started_s"] - 1e-6
        timing["build_s"] += 0.1


CHEATS = (
    Cheat("dropped run", "leaves out the run that went badly", _no_run, "run missing"),
    Cheat("dropped repetition", "leaves out the slowest repetition", _slowest, "repetition missing"),
    Cheat(
        "renumbered repetition",
        "numbers repetitions so that one seems to be lost",
        _gap,
        "repetition missing",
    ),
    Cheat(
        "too short a run",
        "stops long before the shortest duration",
        lambda a: _records(a, _short),
        "too short",
    ),
    Cheat("smaller network", "runs half of the neurons", _described(_smaller), "network"),
    Cheat("silent network", "runs the network at half of its rate", _described(_slower_neurons), "network"),
    Cheat("fewer synapses", "leaves out a projection", _described(_fewer_synapses), "network"),
    Cheat("other seed", "takes a seed whose network is balanced better", _described(_seed), "seed"),
    Cheat("less model time", "simulates less time than any that is allowed", _described(_time), "model time"),
    Cheat(
        "coarser steps", "doubles the resolution, which halves the cycles", _described(_coarse), "model time"
    ),
    Cheat("no warm-up", "runs without warm-up", _described(_cold), "warm-up"),
    Cheat("claimed warm-up", "claims a warm-up for which there was no time", _warm, "warm-up"),
    Cheat(
        "no barrier",
        "leaves out the barrier, so that waiting is not timed",
        _described(_no_barrier),
        "timers",
    ),
    Cheat("other waits", "injects waits that hide an imbalance", _described(_injected), "timers"),
    Cheat(
        "schedule in base", "runs another schedule in the category base", _described(_schedule), "not allowed"
    ),
    Cheat(
        "silent schedule",
        "runs another schedule in the category optimised without saying so",
        _undisclosed,
        "not allowed",
    ),
    Cheat("set network", "sets a field of the network", _set, "not allowed"),
    Cheat(
        "fast mathematics",
        "compiles with a flag that the tender forbids",
        lambda a: _records(a, _flags),
        "flags",
    ),
    Cheat(
        "changed sources", "changes the sources and does not commit", lambda a: _records(a, _dirty), "version"
    ),
    Cheat(
        "other version", "measures another version of the program", lambda a: _records(a, _version), "version"
    ),
    Cheat(
        "simulated machine",
        "hands in runs on a simulated machine",
        lambda a: _records(a, _simulated),
        "not measured",
    ),
    Cheat("more nodes", "uses a second node in one repetition", _nodes, "layout"),
    Cheat("more threads", "uses more threads in one repetition", _mixed, "layout"),
)
