"""Cheats with times."""

import numpy as np
from tender.offered import COMPUTE, Answer

from .cheat import Cheat


def _phases(answer: Answer, names) -> list[int]:
    import json

    phases = json.loads((answer.run() / "record.json").read_text())["phases"]
    return [phases.index(name) for name in names]


def _every(change, clocks: bool = True):
    """A cheat that changes the cycle times of every repetition, and all that follows from them."""

    def do(answer: Answer) -> None:
        for run in answer.runs:
            answer.put_times(run, change(answer, answer.times(run)), clocks)

    return do


def _factor(answer: Answer) -> None:
    for run in answer.runs:
        with answer.edit(run / "record.json") as record:
            record["timing"]["real_time_factor"] *= 0.9


def _total(answer: Answer) -> None:
    """A tenth off the time of every rank, and off all that follows, but not off the cycles."""
    for run in answer.runs:
        lines = answer.lines(run)
        for line in lines:
            line["simulate_s"] = f"{0.9 * float(line['simulate_s']):.12g}"
        answer.put_lines(run, lines)
        with answer.edit(run / "record.json") as record:
            timing = record["timing"]
            for name in ("simulate_s", "real_time_factor"):
                timing[name] *= 0.9
            timing["timer_overhead"] /= 0.9
            answer.end(record, timing["simulate_started_s"] + timing["simulate_s"])


def _scaled(_, times):
    return 0.5 * times


def _compute(answer, times):
    times[:, :, _phases(answer, COMPUTE)] *= 0.8
    return times


def _waiting(answer, times):
    times[:, :, _phases(answer, ["synchronise"])] *= 0.5
    return times


def _one_rank(answer, times):
    """The rank that computes longest becomes faster by a fifth."""
    compute = times[:, :, _phases(answer, COMPUTE)]
    slowest = compute.sum(axis=(1, 2)).argmax()
    places = _phases(answer, COMPUTE)
    times[slowest][:, places] *= 0.8
    return times


def _no_stalls(answer, times):
    """Cuts off the longest cycles of each rank for itself."""
    limit = np.quantile(times, 0.9, axis=1, keepdims=True)
    return np.minimum(times, limit)


def _even(answer, times):
    places = _phases(answer, COMPUTE)
    times[:, :, places] = times[:, :, places].mean(axis=(0, 1), keepdims=True)
    return times


def _summary(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        phases = record["timing"]["phases"]
        for name in ("mean_s", "max_s"):
            phases["synchronise"][name], phases["update"][name] = (
                phases["update"][name],
                phases["synchronise"][name],
            )


def _late_rank(answer: Answer) -> None:
    """One rank leaves out a second of waiting, after all others have finished."""
    for run in answer.runs:
        times = answer.times(run)
        times[0, -1, _phases(answer, ["synchronise"])] += 1.0
        answer.put_times(run, times)


def _overhead(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["timing"]["timer_overhead"] = 0.0


def _simulated_clock(answer: Answer) -> None:
    with answer.edit(answer.run() / "record.json") as record:
        record["timing"]["clock"] = "simulated time"


def _preload(answer: Answer) -> None:
    with answer.edit(answer.run() / "launch.json") as launch:
        launch["environment"]["LD_PRELOAD"] = "libslowclock.so"


def _before(answer: Answer) -> None:
    """Dates a run before its program was started."""
    with answer.edit(answer.run() / "record.json") as record:
        record["provenance"]["started"] = "2030-01-01T00:00:00Z"


def _created(answer: Answer) -> None:
    with answer.edit("answer.json") as content:
        content["created"] = "2020-01-01T00:00:00Z"


def _launch(answer: Answer) -> None:
    with answer.edit(answer.run() / "launch.json") as launch:
        launch["wall_s"] = 0.01


CHEATS = (
    Cheat("edited factor", "takes a tenth off the real-time factors", _factor, "factor"),
    Cheat("edited total", "takes a tenth off all times but those of the cycles", _total, "phase sum"),
    Cheat("scaled times", "halves every time that a timer measured", _every(_scaled, clocks=False), "clocks"),
    Cheat("scaled compute", "takes a fifth off the compute times of all ranks", _every(_compute), "waiting"),
    Cheat("scaled waiting", "halves the waiting of all ranks", _every(_waiting), "waiting"),
    Cheat(
        "one rank faster",
        "takes a fifth off the compute times of the slowest rank",
        _every(_one_rank),
        "waiting",
    ),
    Cheat("no stalls", "cuts off the longest times of each rank", _every(_no_stalls), "waiting"),
    Cheat("late rank", "lets one rank end a second after the others", _late_rank, "together"),
    Cheat("made-up cycles", "writes the mean in place of every compute time", _every(_even), "no noise"),
    Cheat("swapped phases", "reports computing as waiting, to blame the network", _summary, "phases"),
    Cheat("free timer", "says that reading the clock took no time", _overhead, "timer"),
    Cheat("simulated clock", "hands in a record whose clock was simulated", _simulated_clock, "timer"),
    Cheat("slow clock", "loads a library that slows down the clock of the system", _preload, "clock library"),
    Cheat("dated later", "dates the start of the program after the run", _before, "order of clocks"),
    Cheat(
        "old answer", "hands in an answer that was put together before its runs", _created, "order of clocks"
    ),
    Cheat("short launch", "reports a program that ended before its run", _launch, "order of clocks"),
)
