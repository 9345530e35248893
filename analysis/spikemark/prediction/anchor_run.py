"""The runs of NEST that anchor a prediction: a folder to take to the machine, and what its runs say.

The folder holds the network, the scripts of workflows/peers, the commands, and the table runs.csv, which the
runs fill. Read back, each run is predicted from those on fewer cores, and from the published points alone.
"""

import json
import shutil
from collections.abc import Sequence
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
    write_atomically(table, ",".join(OWN) + "\n")
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


def rows(measured: Sequence[Run], nodes: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Each run but the smallest beside its prediction from those on fewer cores and the published points;
    then what runs on more `nodes` would take."""
    whole = sorted((run for run in measured if not run.part), key=lambda run: run.cores)
    more = [n for n in nodes if n > max(run.nodes for run in whole)]
    found = []
    for run in (*whole, *map(whole[-1].with_nodes, more)):
        if before := [other for other in measured if other.cores < run.cores]:
            middle, low, high = draws.interval(anchors.predict([run], own=before).total[0])
            found.append({"nodes": run.nodes, "ranks": run.ranks, "threads": run.threads, "kind": "nodes",
                          "measured": run.seconds, "predicted": middle, "interval": (low, high)})  # fmt: skip
    return found


def answer(rows: Sequence[dict[str, Any]], like: Run) -> tuple[list[str], Table]:
    """The first screen: sentences about the largest run and about all that were measured, and a table."""
    lines, done = [], [row for row in rows if row["measured"]]
    if rows and not rows[-1]["measured"]:
        low, high = rows[-1]["interval"]
        lines.append(f"{like.simulator} would take {rows[-1]['predicted']:.3g} ({low:.3g}-{high:.3g}) times"
                     f" real time on {rows[-1]['nodes']} nodes of {like.machine.name}.")  # fmt: skip
    if done:
        held = sum(row["interval"][0] <= row["measured"] <= row["interval"][1] for row in done)
        error = np.median([abs(row["predicted"] / row["measured"] - 1) for row in done])
        lines.append(f"From smaller runs, larger ones were predicted within {error:.0%} (median);"
                     f" {held} of {len(done)} intervals hold.")  # fmt: skip
    columns = [Column(name, name) for name in ("nodes", "ranks", "threads", "measured", "predicted")]
    return lines, Table([*columns, Column("interval", "95 %")], rows[-12:], name="runs")


def stored(rows: Sequence[dict[str, Any]]) -> str:
    """The predictions of measured runs as JSON, for `spikemark score RUNS.csv FILE`."""
    kept = [{name: row[name] for name in ("nodes", "ranks", "threads", "kind")}
            | dict(zip(("low", "median", "high"), sorted((row["predicted"], *row["interval"])), strict=True))
            for row in rows if row["measured"]]  # fmt: skip
    return json.dumps({"predictions": kept}, indent=1) + "\n"
