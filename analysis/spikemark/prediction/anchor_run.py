"""The runs of NEST that anchor a prediction: a folder to take to the machine, and what its runs
say.

The folder holds the network, the scripts of workflows/peers, the commands, and the table runs.csv,
which the runs fill. Read back, each run is predicted from those on fewer cores, and from the
published points alone.
"""

import json
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically
from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import percent

from . import anchors, draws
from .points import OWN, PublishedRun

SCRIPTS = ("nest_network.py", "nest_neurons.py", "requirements.txt")
DESCRIBED = {"lif_delta", "lif_exp"}  #: neurons that NEST takes as they are described
RUNS = "runs.csv"  #: the table that the runs fill
RECORDS = "runs.jsonl"  #: beside it: what each run says of itself, a line each
MAX_ROWS = 12  #: of the table that is shown
#: The lines before the commands of run.sh.
SHELL_HEAD = (
    "#!/usr/bin/env bash",
    "# Runs NEST and fills runs.csv; NEST >= 3.10, with MPI where ranks > 1.",
    'set -euo pipefail; cd "$(dirname "$0")"',
)


@dataclass(frozen=True)
class AnchorPrediction:
    """A run of NEST beside its prediction from runs on fewer cores; real-time factors."""

    nodes: int
    ranks: int
    threads: int
    measured: float | None  #: None: it was not run
    predicted: float  #: median
    low: float  #: of the 95 % interval
    high: float

    @property
    def row(self) -> dict[str, Cell]:
        """A row of a table."""
        return {
            "nodes": self.nodes,
            "ranks": self.ranks,
            "threads": self.threads,
            "measured": self.measured,
            "predicted": self.predicted,
            "interval": (self.low, self.high),
        }


@dataclass(frozen=True, repr=False)
class AnchorAnswer(Answer):
    """Runs of NEST beside their predictions from smaller ones.

    `table` has a row for each run but the smallest, and for more nodes that were asked about.
    """

    verb = "anchor"

    predictions: list[AnchorPrediction]
    like: PublishedRun  #: what the runs have in common
    next_command: str  #: predicts from these runs

    @property
    def table(self) -> pd.DataFrame:
        """Measured and predicted real-time factors; NaN where nothing was measured."""
        return pd.DataFrame([asdict(prediction) for prediction in self.predictions])

    @property
    def _table(self) -> Table:
        names = ("nodes", "ranks", "threads", "measured", "predicted")
        columns = [Column(name, name) for name in names]
        columns.append(Column("interval", "95 %"))
        rows = [prediction.row for prediction in self.predictions[-MAX_ROWS:]]
        return Table(columns, rows, name="runs")

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark anchor --runs` prints: the largest run, and how well others were met."""
        sentences = []
        if self.predictions and self.predictions[-1].measured is None:
            sentences.append(_largest_sentence(self.predictions[-1], self.like))
        measured = [row for row in self.predictions if row.measured is not None]
        if measured:
            sentences.append(error_sentence(measured))
        if not sentences:
            sentences.append("One run predicts nothing yet: more nodes (--nodes) or runs would.")
        return Screen(sentences, [self._table], [f"Next: {self.next_command}"])

    def content(self) -> dict[str, Any]:
        """The rows as the screen shows them."""
        return self._table.content()

    def stored(self) -> str:
        """The predictions of measured runs as JSON, for `spikemark score RUNS.csv FILE`."""
        predictions = []
        for row in self.predictions:
            if row.measured is None:
                continue
            prediction: dict[str, Any] = {
                "nodes": row.nodes,
                "ranks": row.ranks,
                "threads": row.threads,
                "kind": "nodes",
            }
            limits = sorted((row.predicted, row.low, row.high))
            prediction["low"], prediction["median"], prediction["high"] = limits
            predictions.append(prediction)
        return json.dumps({"predictions": predictions}, indent=1) + "\n"


@dataclass(frozen=True, repr=False)
class AnchorFolderAnswer(Answer):
    """A folder with runs of NEST, to take to the machine.

    `table` has a row for each run.
    """

    verb = "anchor"

    folder: Path
    files: list[str]  #: in the folder
    runs: list[PublishedRun]
    next_command: str  #: reads the runs back
    remarks: list[str]  #: what contradicts a data sheet, and runs that may not fit

    @property
    def table(self) -> pd.DataFrame:
        """Nodes, ranks and threads of the runs."""
        return pd.DataFrame(self._rows)

    @property
    def _rows(self) -> list[dict[str, int]]:
        return [
            {"nodes": run.nodes, "ranks": run.ranks, "threads": run.threads} for run in self.runs
        ]

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark anchor --out` prints."""
        start = shlex.join(["bash", str(self.folder / "run.sh")])
        steps = [f"There: {start}", f"Then: {self.next_command}"]
        line = f"{self.folder}: {', '.join(self.files)}"
        return Screen([line], notes=steps, warnings=self.remarks)

    def content(self) -> dict[str, Any]:
        """The folder, its files, the runs, and the command that reads them back."""
        return {
            "folder": str(self.folder),
            "files": self.files,
            "runs": self._rows,
            "remarks": self.remarks,
            "then": self.next_command,
        }


def neurons(models: set[str]) -> str:
    """The neurons with which NEST runs a network of these models.

    Raises BadInput for models that NEST has not.

    Example:
        >>> neurons({"lif_exp"}), neurons({"ignore_and_fire"})
        ('described', 'iaf_psc_delta')
    """
    if models <= DESCRIBED:
        return "described"
    if models <= DESCRIBED | {"ignore_and_fire"}:
        return "iaf_psc_delta"
    raise BadInput(
        field="neuron.model",
        value=sorted(models),
        expected=f"{', '.join(sorted(DESCRIBED))} or ignore_and_fire",
    )


def write(
    folder: Path, description: dict[str, Any], runs: Sequence[PublishedRun], scripts: Path
) -> list[str]:
    """Write the folder for `runs`, and return the names of its files.

    `scripts`: the folder of the peers' scripts. Raises BadInput where the folder has runs.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from spikemark.core import places
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.points import published
        >>> run = next(run for run in published() if run.program == "nest")
        >>> scripts = places.root() / "workflows" / "peers"
        >>> with TemporaryDirectory() as folder:
        ...     names = write(Path(folder), mam_benchmark.describe(areas=4), [run], scripts)
        >>> names[-1]
        'run.sh'
    """
    table = folder / RUNS
    if table.exists() and len(table.read_text().splitlines()) > 1:
        raise BadInput(f"out={folder}: {table.name} has runs; expected a new folder", field="out")
    populations = description["network"]["populations"]
    model = neurons({population["neuron"]["model"] for population in populations})
    folder.mkdir(parents=True, exist_ok=True)
    for name in SCRIPTS:
        shutil.copyfile(scripts / name, folder / name)
    write_atomically(folder / "network.json", json.dumps(description, indent=1) + "\n")
    write_atomically(table, ",".join(OWN) + "\n")
    lines = [*SHELL_HEAD, *(_command(run, model) for run in runs)]
    write_atomically(folder / "run.sh", "\n".join(lines) + "\n")
    return [*SCRIPTS, "network.json", RUNS, "run.sh"]


def _command(run: PublishedRun, model: str) -> str:
    """The line of run.sh that carries out a run."""
    launch = ""
    if run.ranks > 1:
        launch = f"${{LAUNCH:-srun}} -N {run.nodes} -n {run.ranks} -c {run.threads} "
    return (
        f"OMP_NUM_THREADS={run.threads} {launch}${{PYTHON:-python3}} nest_network.py network.json"
        f" --model {model} --threads {run.threads} --nodes {run.nodes} --table {RUNS}"
    )


def predictions(
    measured: Sequence[PublishedRun], nodes: Sequence[int] = ()
) -> list[AnchorPrediction]:
    """Each run but the smallest beside its prediction from those on fewer cores and the published
    points; then what runs on more `nodes` would take.

    Example:
        >>> from spikemark.prediction.points import published
        >>> series = [run for run in published() if run.series == "SIM-T2"]
        >>> rows = predictions(series)
        >>> [row.ranks for row in rows]
        [2, 4, 8, 16, 32, 64]
    """
    whole_runs = sorted((run for run in measured if not run.part), key=lambda run: run.cores)
    largest = whole_runs[-1]
    most_nodes = max(run.nodes for run in whole_runs)
    larger_runs = [largest.with_nodes(count) for count in nodes if count > most_nodes]
    rows: list[AnchorPrediction] = []
    for run in [*whole_runs, *larger_runs]:
        smaller = [other for other in measured if other.cores < run.cores]
        if not smaller:
            continue
        median, low, high = draws.interval(anchors.predict([run], own=smaller).total[0])
        rows.append(
            AnchorPrediction(run.nodes, run.ranks, run.threads, run.seconds, median, low, high)
        )
    return rows


def _largest_sentence(row: AnchorPrediction, like: PublishedRun) -> str:
    """What a run on more nodes than were measured would take."""
    return (
        f"{like.title} would take {row.predicted:.3g} ({row.low:.3g}-{row.high:.3g}) times"
        f" real time on {row.nodes} nodes of {like.machine.title}."
    )


def error_sentence(measured: Sequence[AnchorPrediction]) -> str:
    """How well measured runs were predicted.

    Example:
        >>> error_sentence([AnchorPrediction(2, 4, 64, 11.0, 10.0, 8.0, 12.0)])
        'From smaller runs, larger ones were predicted within 9\u202f% (median); 1 of 1 ...'
    """
    errors = []
    inside = 0
    for row in measured:
        assert row.measured is not None
        errors.append(abs(row.predicted / row.measured - 1))
        inside += row.low <= row.measured <= row.high
    median = percent(float(np.median(errors)))
    return (
        f"From smaller runs, larger ones were predicted within {median} (median);"
        f" {inside} of {len(measured)} intervals hold."
    )
