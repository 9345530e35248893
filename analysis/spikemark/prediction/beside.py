"""A run of the mini-app beside its prediction."""

from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number
from spikemark.records.record import Run
from spikemark.records.recording import of_populations

from . import draws, question
from .answers import HEADS, Screen, about, content, interval
from .layout import Layout
from .performance import PARTS, kept_errors
from .search import Option, option
from .workload import Loads

GUESS = 2  #: runs that what was known of an error before counts as


def of_run(run: Run, machine: Any) -> Option:
    """The prediction for the network, ranks, threads and schedule of a record, on a machine."""
    record, totals = run.record, run.record.totals
    try:
        hz = of_populations(run)
    except BadInput:  # nothing was counted but the spikes of all neurons together
        hz = totals.spikes / totals.neurons / record.timing.model_s
    asked = question.of_description(run.path.name, record.description, hz)
    loads = Loads.of(record.description, record.ranks, record.threads, asked.rates.hz)
    each = -(-record.ranks // record.host.nodes)
    return option(asked, machine, loads, Layout.of(machine, record.ranks, record.threads, each))


def measured(run: Run) -> dict[str, float | None]:
    """Seconds per simulated second of each part of a run, and its real-time factor; None: not timed."""
    spent = {part: run.spent_s(part) for part in PARTS}
    found = {part: None if s is None else s / run.record.timing.model_s for part, s in spent.items()}
    return found | {"real_time_factor": run.record.timing.real_time_factor}


def beside(run: Run, made: Option) -> Screen:
    """A run beside its prediction."""
    took, parts, whole = measured(run), made.parts | {"real_time_factor": made.rtf}, "real-time factor"
    rows = [
        {"part": whole if name == "real_time_factor" else HEADS.get(name, name),
         "run": "not timed" if seconds is None else number(seconds), "predicted": interval(parts[name]),
         "ratio": interval(seconds / parts[name]) if seconds and (parts[name] > 0).all() else ""}
        for name, seconds in took.items()
    ]  # fmt: skip
    _, low, high = draws.interval(made.rtf)
    inside = "within" if low <= took["real_time_factor"] <= high else "outside"
    sentence = f"The run took {number(took['real_time_factor'])} times real time, {inside} the predicted"
    heads = {"part": "s per simulated s", "run": f"run ({run.record.kind})", "predicted": "predicted",
             "ratio": "run over prediction"}  # fmt: skip
    table = Table([Column(key, head) for key, head in heads.items()], rows)
    sentences = [f"{sentence} {interval(made.rtf)}."]
    if why := run.disturbed():
        sentences.append(f"The run was disturbed, so its times say little about speed ({why}).")
    return sentences, table, about([(made, 1)], made.rtf, made.inputs)


def beside_content(run: Run, made: Option) -> dict[str, Any]:
    """The same for JSON."""
    return {"run": str(run.path), "kind": run.record.kind, "measured": measured(run),
            "prediction": content(made)}  # fmt: skip


def errors(runs: list[Run], machine: Any) -> list[dict[str, Any]]:
    """Root mean squares of the logarithm of measured over predicted times of each part, for spreads.yaml.

    What is kept counts as GUESS runs. `runs` were made on `machine`, while nothing else ran there.
    """
    pairs = [(of_run(run, machine).parts, measured(run)) for run in runs]
    rows = []
    for part, before in kept_errors().items():
        both = [(took[part], float(np.median(made[part]))) for made, took in pairs]
        logs = [np.log(took / made) for took, made in both if took and made > 0]
        sd = np.sqrt((GUESS * before**2 + np.sum(np.square(logs))) / (GUESS + len(logs)))
        origin = f"measured: {len(logs)} runs on {machine.name}, and {GUESS} as before" if logs else "assumed"
        rows.append({"part": part, "sd": round(float(sd), 3), "origin": origin})
    return rows
