"""Cheats that turn one good repetition into several."""

import json
import shutil

import numpy as np
from tender.offered import Answer

from .cheat import Cheat

LATER = 60.0  # s between a repetition and its copy
FILES = ("record.json", "launch.json", "energy.csv")


def _copy(answer: Answer, change=None, moved: bool = True) -> None:
    """Puts a copy of the first repetition in the place of the second one, `moved` to another time."""
    first, second = answer.run(k=1), answer.run(k=2)
    shutil.rmtree(second)
    shutil.copytree(first, second)
    times = answer.times(second)
    if change is not None:
        answer.put_times(second, change(times, json.loads((second / "record.json").read_text())["phases"]))
    if moved:
        _move(answer, second)


def _move(answer: Answer, run) -> None:
    """Dates a run later, in all of its files, and the answer as well."""
    import datetime

    with answer.edit(run / "record.json") as record, answer.edit(run / "launch.json") as launch:
        timing = record["timing"]
        for name in ("simulate_started_s", "simulate_ended_s"):
            timing[name] += LATER
        for name in ("idle_before_s", "idle_after_s"):
            timing[name] = [t + LATER for t in timing[name]]
        launch["began_s"] += LATER
        started = datetime.datetime.fromisoformat(record["provenance"]["started"])
        record["provenance"]["started"] = (started + datetime.timedelta(seconds=LATER)).strftime(
            "%Y-%m-%dT%H:%M:%SZ"
        )
    lines = (run / "energy.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    for cell in cells:
        cell[3] = f"{float(cell[3]) + LATER:.6f}"
    (run / "energy.csv").write_text("\n".join([lines[0], *map(",".join, cells)]) + "\n")
    with answer.edit("answer.json") as content:
        created = datetime.datetime.fromisoformat(content["created"]) + datetime.timedelta(seconds=2 * LATER)
        content["created"] = created.strftime("%Y-%m-%dT%H:%M:%SZ")


def _faster(times, _):
    return 0.98 * times


def _rolled(times, _):
    return np.roll(times, 137, axis=1)


def _rolled_far(times, _):
    return np.roll(times, times.shape[1] // 2, axis=1)


def _noisy(times, _):
    return times * (1 + 0.001 * np.random.default_rng(1).standard_normal((1, times.shape[1], 1)))


def _swapped(times, _):
    return times[::-1].copy()


def _backwards(times, _):
    return 1.01 * times[:, ::-1].copy()


def _shuffled(times, _):
    return 0.97 * times[:, np.random.default_rng(2).permutation(times.shape[1])]


def _quick_cycles(answer: Answer) -> None:
    """Puts a quick stretch of a repetition in place of another one, on all ranks."""
    run = answer.run()
    times = answer.times(run)
    long = times.shape[1] // 5
    stretches = np.array([times[:, i : i + long].sum() for i in range(0, 5 * long, long)])
    quick, slow = long * stretches.argmin(), long * stretches.argmax()
    times[:, slow : slow + long] = times[:, quick : quick + long]
    answer.put_times(run, times)


def _pieces(answer: Answer) -> None:
    """Replaces a tenth of a repetition by cycles of another one."""
    times, other = answer.times(answer.run()), answer.times(answer.run(k=2))
    long = times.shape[1] // 10
    times[:, long : 2 * long] = other[:, 3 * long : 4 * long]
    answer.put_times(answer.run(), times)


def _other_run(answer: Answer) -> None:
    """Hands in the times of the small network, made longer by half, as those of the next one."""
    times = 1.5 * answer.times(answer.run())
    answer.put_times(answer.run("bench-medium"), times)


def _with(change):
    return lambda answer: _copy(answer, change)


CHEATS = (
    Cheat(
        "copied repetition", "hands in one repetition twice", lambda a: _copy(a, moved=False), "same files"
    ),
    Cheat(
        "at the same time",
        "hands in a faster copy with the dates of the first one",
        lambda a: _copy(a, _faster, moved=False),
        "at once",
    ),
    Cheat("dated copy", "hands in one repetition twice, with other dates", lambda a: _copy(a), "same files"),
    Cheat("scaled copy", "hands in a copy that is faster by 2 %", _with(_faster), "copies"),
    Cheat("shifted copy", "hands in a copy whose cycles are shifted by some", _with(_rolled), "copies"),
    Cheat("rearranged copy", "hands in a copy whose second half comes first", _with(_rolled_far), "copies"),
    Cheat("swapped ranks", "hands in a copy with the ranks in another order", _with(_swapped), "copies"),
    Cheat("copy backwards", "hands in a copy that runs backwards", _with(_backwards), "copies"),
    Cheat("shuffled copy", "hands in a faster copy with its cycles shuffled", _with(_shuffled), "copies"),
    Cheat("quick cycles twice", "copies quick cycles of a run over slow ones", _quick_cycles, "copies"),
    Cheat("borrowed cycles", "replaces a tenth of a repetition by cycles of another", _pieces, "copies"),
    Cheat("copy of another run", "hands in slowed-down times of a smaller network", _other_run, "copies"),
    Cheat("noisy copy", "hands in a copy with noise of 0.1 % on top", _with(_noisy), "copies"),
)
