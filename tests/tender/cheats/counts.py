"""Cheats with spikes and counts."""

import numpy as np
from tender.offered import Answer

from .cheat import Cheat

OTHER = "0123456789abcdef"


def _checksum(answer: Answer, name: str, repetitions: range) -> None:
    """Another checksum, to which those of the ranks add up, too."""
    for k in repetitions:
        with answer.edit(answer.run(name, k) / "record.json") as record:
            moved = int(OTHER, 16) - int(record["checksum"], 16)
            record["checksum"] = OTHER
        lines = answer.lines(answer.run(name, k))
        lines[0]["checksum"] = f"{(int(lines[0]['checksum'], 16) + moved) % 2**64:016x}"
        answer.put_lines(answer.run(name, k), lines)


def _fewer(answer: Answer) -> None:
    """Drops a tenth of the spikes and their events everywhere."""
    for run in answer.runs:
        lines = answer.lines(run)
        with answer.edit(run / "record.json") as record:
            for name in ("spikes", "synaptic_events"):
                for line in lines:
                    line[name] = str(int(line[name]) * 9 // 10)
                record["totals"][name] = sum(int(line[name]) for line in lines)
        answer.put_lines(run, lines)


def _more_events(answer: Answer) -> None:
    for run in answer.runs:
        with answer.edit(run / "record.json") as record:
            record["totals"]["synaptic_events"] *= 2


def _events_everywhere(answer: Answer) -> None:
    """Doubles the events of a run whose events the tender does not know, on all ranks."""
    for k in (1, 2):
        run = answer.run("bench-medium", k)
        lines = answer.lines(run)
        for line in lines:
            line["synaptic_events"] = str(2 * int(line["synaptic_events"]))
        answer.put_lines(run, lines)
        with answer.edit(run / "record.json") as record:
            record["totals"]["synaptic_events"] *= 2


def _messages(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["lanes"][0]["messages"] //= 2


def _windows(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["lanes"][0]["windows"] //= 10


def _neurons(answer: Answer) -> None:
    """Halves neurons and synapses in the counts, on all ranks."""
    for run in answer.runs:
        lines = answer.lines(run)
        with answer.edit(run / "record.json") as record:
            for name in ("neurons", "synapses"):
                for line in lines:
                    line[name] = str(int(line[name]) // 2)
                record["totals"][name] = sum(int(line[name]) for line in lines)
            for lane in record["lanes"]:
                lane["synapses"] //= 2
        answer.put_lines(run, lines)


def _spikes(answer: Answer) -> None:
    path = answer.run() / "spikes.npy"
    spikes = np.load(path)
    spikes[:, 1] += 1
    np.save(path, spikes)


CHEATS = (
    Cheat(
        "wrong spikes",
        "loses spikes in every repetition of a run whose checksum the buyer knows",
        lambda a: _checksum(a, "bench-small", range(1, 4)),
        "checksum",
    ),
    Cheat(
        "wrong spikes once",
        "loses spikes in one repetition of a run whose checksum nobody knows",
        lambda a: _checksum(a, "bench-medium", range(2, 3)),
        "one checksum",
    ),
    Cheat("dropped spikes", "drops a tenth of the spikes and of their delivery", _fewer, "counts"),
    Cheat(
        "more events", "counts every synaptic event twice, for less energy per event", _more_events, "sums"
    ),
    Cheat(
        "more events, unknown",
        "counts every event twice where the tender does not know how many there are",
        _events_everywhere,
        "rates",
    ),
    Cheat("fewer messages", "counts half of the messages of a lane", _messages, "lanes"),
    Cheat("fewer exchanges", "exchanges only in every tenth window", _windows, "lanes"),
    Cheat("half a network", "builds half of the network and describes the whole", _neurons, "rates"),
    Cheat("other spike list", "hands in a list of spikes that another program made", _spikes, "spikes"),
)
