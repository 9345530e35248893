"""The runs of NEST that anchor a prediction: a folder to take to the machine, and what its runs say.

The folder holds the network, the scripts of workflows/peers, the commands, and the table runs.csv, which the
runs fill. Read back, each run is predicted from those on fewer cores, and from the published points alone.
"""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.quantities.table import Column, Table

from . import anchors, draws
from .points import OWN, Run

SCRIPTS = ("nest_network.py", "nest_neurons.py", "requirements.txt")
DESCRIBED = {"lif_delta", "lif_exp"}  #: neurons that NEST takes as they are described


def neurons(models: set[str]) -> str:
    """NEST's neurons for a network of these models. Raises BadInput for models that NEST has not."""
    if models <= DESCRIBED:
        return "described"
    if models <= DESCRIBED | {"ignore_and_fire"}:
        return "iaf_psc_delta"
    raise BadInput.of("neuron.model", sorted(models), f"{', '.join(sorted(DESCRIBED))} or ignore_and_fire")


def write(folder: Path, description: dict[str, Any], runs: Sequence[Run], scripts: Path) -> list[str]:
    """Write the folder for `runs`, and return the names of its files. Raises BadInput where it is in use."""
    table = folder / "runs.csv"
    if table.exists() and len(table.read_text().splitlines()) > 1:
        raise BadInput(f"out={folder}: {table.name} has runs; expected a new folder")
    model = neurons({p["neuron"]["model"] for p in description["network"]["populations"]})
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        shutil.copyfile(scripts / name, folder / name)
    write_atomically(folder / "network.json", json.dumps(description, indent=1) + "\n")
    write_atomically(table, ",".join((*OWN, "communicate")) + "\n")
    lines = ["#!/usr/bin/env bash", "# Runs NEST and fills runs.csv; NEST >= 3.10, with MPI where ranks > 1.",
             'set -euo pipefail; cd "$(dirname "$0")"']  # fmt: skip
    for run in runs:
        start = "" if run.ranks == 1 else f"${{LAUNCH:-srun}} -N {run.nodes} -n {run.ranks} -c {run.threads} "
        lines.append(
            f"OMP_NUM_THREADS={run.threads} {start}${{PYTHON:-python3}} nest_network.py network.json"
            f" --model {model} --threads {run.threads} --nodes {run.nodes} --table runs.csv"
        )
    write_atomically(folder / "run.sh", "\n".join(lines) + "\n")
    return [*SCRIPTS, "network.json", "runs.csv", "run.sh"]


def check(measured: Sequence[Run]) -> list[tuple[Run, anchors.Prediction]]:
    """Each run but the smallest, predicted from those on fewer cores with the published points."""
    found = []
    for run in sorted((one for one in measured if not one.part), key=lambda run: run.cores):
        before = [other for other in measured if other.cores < run.cores]
        if before:
            found.append((run, anchors.predict([replace(run, seconds=None)], own=before)))
    return found


def answer(measured: Sequence[Run], nodes: Sequence[int]) -> tuple[list[str], Table]:
    """The first screen: runs beside their prediction from smaller ones, and what larger ones would take."""
    checks, lines = [(run, made.total[0]) for run, made in check(measured)], []
    largest = max(measured, key=lambda run: run.cores)
    further = [largest.with_nodes(n) for n in nodes]
    larger = [*zip(further, anchors.predict(further, own=measured).total, strict=True)] if further else []
    if larger:
        middle, low, high = draws.interval(larger[-1][1])
        lines.append(f"{largest.simulator} would take {middle:.3g} ({low:.3g}-{high:.3g}) times real time on"
                     f" {further[-1].nodes} nodes of {largest.machine.name}.")  # fmt: skip
    rows = [{"nodes": run.nodes, "ranks": run.ranks, "threads": run.threads, "measured": run.seconds,
             "predicted": middle, "interval": (low, high)}
            for run, total in checks + larger for middle, low, high in [draws.interval(total)]]  # fmt: skip
    if checks:
        done = rows[: len(checks)]
        held = sum(row["interval"][0] <= row["measured"] <= row["interval"][1] for row in done)
        error = np.median([abs(row["predicted"] / row["measured"] - 1) for row in done])
        lines.append(f"From smaller runs, larger ones were predicted within {error:.0%} (median);"
                     f" {held} of {len(done)} intervals hold.")  # fmt: skip
    heads = {name: name for name in ("nodes", "ranks", "threads", "measured", "predicted")}
    columns = [Column(*each) for each in (heads | {"interval": "95 %"}).items()]
    return lines, Table(columns, rows[-12:], name="runs")


def as_predictions(made: Sequence[tuple[Run, anchors.Prediction]]) -> str:
    """Stored predictions, for `spikemark score RUNS.csv FILE`."""
    rows = []
    for run, prediction in made:
        middle, low, high = draws.interval(prediction.total[0])
        rows.append({"nodes": run.nodes, "ranks": run.ranks, "threads": run.threads, "kind": "nodes",
                     "low": low, "median": middle, "high": high})  # fmt: skip
    return json.dumps({"predictions": rows}, indent=1)
