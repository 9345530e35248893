"""Cheats that no checker of files can see. Each says what helps."""

import numpy as np
from tender.offered import CHANNELS_W, Answer

from .cheat import Cheat

SEED = "`spikemark tender accept --seed` runs a network on the delivered machine that nobody knew before"


def _inside(rows, start: float, end: float) -> int:
    """Readings of a channel in the measured part."""
    return sum(start <= float(cells[3]) <= end for cells in rows) // len(CHANNELS_W)


def _warp(answer: Answer) -> None:
    """Takes a fifth off every time of the measured part, clocks, pauses and readings included."""
    for run in answer.runs:
        before = answer.times(run)
        answer.put_times(run, 0.8 * before)
        path = run / "energy.csv"
        head, *rows = (line.split(",") for line in path.read_text().splitlines())
        with answer.edit(run / "record.json") as record:
            start, end = record["timing"]["simulate_started_s"], record["timing"]["simulate_ended_s"]
            moved = 0.25 * (end - start)
            for cells in rows:
                at = float(cells[3])
                at = (
                    start + 0.8 * (at - start)
                    if start <= at < end + moved
                    else at - moved * (at >= end + moved)
                )
                cells[3] = f"{at:.6f}"
            record["energy"]["readings"] = _inside(rows, start, end)
        path.write_text("\n".join(",".join(cells) for cells in [head, *rows]) + "\n")
        with answer.edit(run / "launch.json") as launch:
            launch["wall_s"] -= moved


def _little(answer: Answer) -> None:
    for run in answer.runs:
        answer.put_times(run, 0.995 * answer.times(run), clocks=False)


def _invented(answer: Answer) -> None:
    """Makes the second repetition anew: shuffled compute times, and the waiting that follows from them."""
    run = answer.run(k=2)
    times, rng = answer.times(run), np.random.default_rng(3)
    with answer.edit(run / "record.json") as record:
        phases = record["phases"]
    barrier, exchange = phases.index("synchronise"), phases.index("exchange")
    last = times[:, -1:].copy()
    times = times[:, rng.permutation(times.shape[1])]
    times *= 1 + 0.05 * np.abs(rng.standard_normal(times.shape))
    times[:, -1:] = last
    compute = times[:, :, :barrier].sum(axis=2)
    cost = times[:, :, barrier].min(axis=0)
    times[:, :, barrier] = compute.max(axis=0) - compute + cost
    times[:, :, exchange] = times[:, :, exchange].mean(axis=0)
    answer.put_times(run, times)
    _fit_energy(answer, run)


def _fit_energy(answer: Answer, run) -> None:
    path = run / "energy.csv"
    head, *rows = (line.split(",") for line in path.read_text().splitlines())
    with answer.edit(run / "record.json") as record, answer.edit(run / "launch.json") as launch:
        start, end = (record["timing"][f"simulate_{name}_s"] for name in ("started", "ended"))
        last, channels = float(rows[-1][3]), rows[-len(CHANNELS_W) :]
        while last < end + 0.5:
            last += 0.01
            rows += [[*cells[:3], f"{last:.6f}", *cells[4:]] for cells in channels]
        record["energy"]["readings"] = _inside(rows, start, end)
        launch["wall_s"] = max(launch["wall_s"], record["timing"]["idle_after_s"][1] - launch["began_s"])
    path.write_text("\n".join(",".join(cells) for cells in [head, *rows]) + "\n")


def _meter(answer: Answer) -> None:
    """A meter that shows three quarters of the power, at all times."""
    for run in answer.runs:
        with answer.edit(run / "record.json") as record:
            energy = record["energy"]
            for name in ("gross_j", "net_j", "idle_power_w"):
                energy[name] *= 0.75
            for channel in energy["channels"]:
                channel["gross_j"] *= 0.75
        path = run / "energy.csv"
        head, *rows = (line.split(",") for line in path.read_text().splitlines())
        rows = [[*cells[:-1], f"{0.75 * float(cells[-1]):.9g}"] for cells in rows]
        path.write_text("\n".join(",".join(cells) for cells in [head, *rows]) + "\n")


def _name(answer: Answer) -> None:
    """Measures on a better machine and writes the name of the offered one everywhere."""
    for run in answer.runs:
        with answer.edit(run / "record.json") as record:
            record["host"]["cpu"] = "the offered one"
            for node in record["host"]["per_node"]:
                node["cpu"] = "the offered one"
    with answer.edit("environment.json") as environment:
        environment["nodes"][0]["processor"]["value"] = "the offered one"


CHEATS = (
    Cheat(
        "slow time",
        "takes a fifth off every time, in all files and of all clocks",
        _warp,
        unseen="every clock that the checker sees was written by the bidder; " + SEED,
    ),
    Cheat(
        "within tolerances",
        "takes 0.5 % off every time that a timer measured",
        _little,
        unseen="clocks need not agree better than 1 % (`plausibility.clock`); " + SEED,
    ),
    Cheat(
        "invented repetition",
        "makes up a repetition in which waiting follows from computing",
        _invented,
        unseen="a good enough simulation of a run is as plausible as a run; " + SEED,
    ),
    Cheat(
        "better machine",
        "measures on another machine and writes the offered one's name into all files",
        _name,
        unseen="names are text; " + SEED,
    ),
    Cheat(
        "mild meter",
        "reads a meter that shows three quarters of the power",
        _meter,
        unseen="readings and sums agree; the buyer's own meter in the acceptance run tells",
    ),
    Cheat(
        "known spikes",
        "measures a program that knows the spikes and computes nothing",
        None,
        unseen="checksum and counts are right; " + SEED + ", so that its spikes cannot be known",
    ),
    Cheat(
        "many tries",
        "repeats until the numbers look good, and hands in only the best",
        None,
        unseen="each repetition is honest; the acceptance run has no second try",
    ),
    Cheat(
        "chosen node",
        "measures on the best of a hundred nodes, in a cold room",
        None,
        unseen="the node is as disclosed; the acceptance run takes the nodes that the buyer chooses",
    ),
    Cheat(
        "hidden frequency",
        "raises the frequency by firmware below what the system can read",
        None,
        unseen="the record has the limits of the system; the acceptance run has the delivered firmware",
    ),
    Cheat(
        "hidden library",
        "loads a slow clock without a variable of the environment",
        None,
        unseen="the record tells only of variables; " + SEED,
    ),
    Cheat(
        "borrowed cores",
        "lets another machine or an accelerator compute a part",
        None,
        unseen="no count tells where neurons were updated; " + SEED,
    ),
)
