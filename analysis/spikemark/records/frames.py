"""The content of a results folder as tidy pandas frames, from which pages, studies and diffs are
made.

`runs` has a row per complete run, `phases` one per run and phase, `ranks` one per run and rank.
Cycle logs stay on disk: `Frames.records` has the record of each run with its memory-mapped arrays.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.summary import Summarised
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.figure import stacked_bars
from spikemark.quantities.words import counted

from .phases import PARTS
from .plan import Planned
from .record import Run
from .results import Results, load_planned
from .runs_table import (
    PART,
    PHASE_COLUMNS,
    RUN_COLUMNS,
    SWEPT,
    TEXT,
    row_of,
    rows_of_phases,
    typed,
    units_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns of `runs` that tell configurations apart: how a network was run, apart from where and how
#: often.
CONFIGURATION = ("schedule", "placement", "delay_ratio", "lag", "exchange", "wire")


@dataclass(frozen=True, repr=False)
class Frames(Summarised):
    """The complete runs of a results folder, and what became of the others."""

    path: Path
    #: Of the experiment.
    name: str
    title: str
    machine: str
    #: Columns `runs_table.RUN_COLUMNS`, then `swept.FIELD` for each field of the grid.
    runs: pd.DataFrame
    #: Columns `runs_table.PHASE_COLUMNS`.
    phases: pd.DataFrame
    #: The record of each complete run, by its id.
    records: dict[str, Run] = field(repr=False)
    #: All runs of the plan; empty for a single run.
    planned: list[Planned] = field(default_factory=list, repr=False)
    #: Run id -> why the run failed.
    failed: dict[str, str] = field(default_factory=dict)
    #: Run id -> why its record cannot be used.
    unreadable: dict[str, str] = field(default_factory=dict)

    def _summary(self) -> str:
        missing = []
        if self.failed:
            missing.append(f", {len(self.failed)} failed")
        if self.unreadable:
            missing.append(f", {len(self.unreadable)} unreadable")
        runs = counted(len(self.runs), "run")
        return f"{self.name} on {self.machine}, {runs}{''.join(missing)}: {self.title}"

    def _further(self) -> str:
        return ".runs, .phases, .ranks are frames; .cycles(id), .plot(); .failed, .unreadable"

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """ranks.csv of all runs, with the run's id.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> len(results.ranks) == int(results.runs["ranks"].sum())
            True
        """
        tables = [run.ranks.assign(id=id) for id, run in self.records.items()]
        if not tables:
            return pd.DataFrame({"id": [], "rank": []})
        table = pd.concat(tables, ignore_index=True)
        table.attrs["units"] = units_of(table)
        return table

    def cycles(self, run: str) -> np.ndarray:
        """Times of every phase in every cycle of a run, by its id.

        A memory map, float32 [rank, cycle, phase] in s, phases as in its record. Raises BadInput
        for an unknown run, or one without cycles.npy.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> results.cycles(results.runs["id"][0]).shape
            (4, 600, 8)
        """
        if run not in self.records:
            raise unknown_name("run", run, self.records, expected="an id of the runs")
        cycles = self.records[run].cycles
        if cycles is None:
            reason = "no cycles.npy (record.cycles was false)"
            raise BadInput(
                reason,
                file=self.records[run].path,
                code="file",
            )
        return cycles

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Where the time goes: the real-time factor of each configuration, as the parts of a cycle.

        A bar for each configuration and number of ranks, means over its runs, in seconds per
        simulated second; drawn into `axes` or a new figure. Raises BadInput for results without a
        complete run.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> results.plot().get_xlabel()
            'seconds per simulated second'
        """
        if self.runs.empty:
            raise BadInput(file=self.path, expected="results with a complete run", code="file")
        axes = stacked_bars(_parts_of_configurations(self.runs), axes)
        axes.set(xlabel="seconds per simulated second", title=self.title)
        return axes

    @property
    def missing(self) -> list[Planned]:
        """Runs of the plan that have neither a record nor a reason why not.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> results.missing
            []
        """
        ids = {*self.records, *self.failed, *self.unreadable}
        return [planned for planned in self.planned if planned.id not in ids]

    @property
    def left_out(self) -> list[str]:
        """One line for every record that cannot be used, with the reason.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> results.left_out
            []
        """
        labels = {planned.id: planned.label for planned in self.planned}
        return [f"{labels[id]}: left out: {reason}" for id, reason in self.unreadable.items()]

    @property
    def cautions(self) -> list[str]:
        """How many runs have times that are no evidence of speed, by kind of reason.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> results.cautions  # simulated runs have none
            []
        """
        of_runs: dict[str, list[str]] = {}
        for run in self.records.values():
            for caution in run.cautions:
                of_runs.setdefault(caution.split(":")[0], []).append(caution)
        return [
            f"{len(cautions)} of {counted(len(self.records), 'run')}: such as {cautions[0]}"
            for cautions in of_runs.values()
        ]

    @property
    def swept(self) -> list[str]:
        """Columns of `runs` that differ between runs: fields of the grid, ranks and threads.

        Not seed or repetition.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> results.swept
            ['schedule', 'placement', 'delay_ratio']
        """
        grid = [str(name) for name in self.runs.columns if str(name).startswith(SWEPT)]
        columns = dict.fromkeys(("ranks", "threads", *CONFIGURATION, *grid))
        doubled = {SWEPT + name for name in columns}
        return [
            name
            for name in columns
            if name not in doubled and self.runs[name].nunique(dropna=False) > 1
        ]

    def with_runs(self, runs: pd.DataFrame) -> "Frames":
        """The same folder with fewer runs: the rows of `runs`.

        Example:
            >>> results = load_folder("docs/notebooks/data/waiting/jureca-dc")
            >>> runs = results.runs
            >>> len(results.with_runs(runs[runs["schedule"] == "structure_aware"]).records)
            2
        """
        ids = list(runs["id"])
        phases = self.phases[self.phases["id"].isin(ids)]
        records = {id: self.records[id] for id in ids}
        return replace(
            self,
            runs=runs,
            phases=phases,
            records=records,
        )


def load_folder(folder: Path) -> Frames:
    """The results folder of a sweep.

    A record that cannot be used has a reason in `unreadable`. Raises BadInput if the folder has no
    plan.json, or another file than a plan.

    Example:
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> frames.runs.groupby("schedule", observed=True).size().to_dict()
        {'conventional': 1, 'structure_aware': 2}
    """
    results = Results(Path(folder))
    plan = results.read_plan()
    fields: dict[str, None] = {}  # of the grid, in the order of their first run
    for planned in plan.runs:
        fields |= dict.fromkeys(planned.fields)
    rows = []
    phases = []
    records = {}
    failed = {}
    unreadable = {}
    for planned in plan.runs:
        if not results.measured(planned.id):
            log = results.failure(planned.id)
            if log.is_file():
                failed[planned.id] = _first_line(log)
            continue
        try:
            run = load_planned(results, planned, verified=True)
            rows.append(row_of(run, planned, plan, fields))
        except BadInput as error:
            unreadable[planned.id] = str(error)
            continue
        records[planned.id] = run
        phases += rows_of_phases(run, planned.id)
    return Frames(
        path=results.path.resolve(),
        name=plan.experiment.name,
        title=plan.experiment.title,
        machine=plan.machine,
        runs=typed(rows, RUN_COLUMNS),
        phases=typed(phases, PHASE_COLUMNS),
        records=records,
        planned=plan.runs,
        failed=failed,
        unreadable=unreadable,
    )


def _first_line(log: Path) -> str:
    """The first line of a log that is not empty: the reason why a run failed."""
    for line in log.read_text(errors="replace").split("\n"):
        if line.strip():
            return line.strip()
    return "no reason given"


def configurations(runs: pd.DataFrame) -> pd.Series:
    """What to call the configuration of each run.

    Its schedule, with what else tells it from the others of `runs`. Exchange and wire are named
    where they differ between runs, so that no other schedule gets the credit. A placement is named
    where it is not the usual one of the schedule, and of all runs of a schedule that has several.

    Example:
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> configurations(frames.runs).tolist()
        ['structure-aware (D\\xa0=\\xa05)', 'conventional', 'structure-aware (D\\xa0=\\xa010)']
    """
    alike = runs.groupby(
        ["schedule", "placement", "delay_ratio", "lag"], observed=True, dropna=False
    )
    lagged = [name for name, schedule in SCHEDULES.items() if schedule.lagged]
    without_lag = runs[~runs["schedule"].isin(lagged)]  # a lag needs an exchange of its own
    further = []
    for name in ("exchange", "wire"):
        if (alike[name].nunique() > 1).any() or without_lag[name].nunique() > 1:
            further.append(name)
    placements = runs.groupby("schedule", observed=True)["placement"].nunique()
    several = set(placements.index[placements > 1])
    named: pd.Series = runs.apply(
        _configuration, axis=1, further=further, several_placements=several
    ).astype(TEXT)
    return named


def _configuration(run: pd.Series, further: list[str], several_placements: set[str]) -> str:
    """What to call the configuration of a run, a row of `runs`.

    Args:
        run: a row of `runs`.
        further: columns to name.
        several_placements: schedules whose placement is always named.
    """
    schedule = SCHEDULES.get(run["schedule"])
    details = []
    if schedule is None or schedule.uses_delay_ratio:
        details.append(f"D\u00a0=\u00a0{run['delay_ratio']}")
    if run["lag"] > 1:
        details.append(f"lag\u00a0{run['lag']}")
    usual = schedule.placement if schedule else "area"
    if run["placement"] != usual or run["schedule"] in several_placements:
        details.append(f"placement {run['placement']}")
    for name in further:
        if run[name]:
            details.append(f"{name} {run[name]}")
    label = schedule.label if schedule else run["schedule"].replace("_", " ")
    return f"{label} ({', '.join(details)})" if details else label


def _parts_of_configurations(runs: pd.DataFrame) -> pd.DataFrame:
    """Means of the parts of a cycle: a row for each configuration, in s per simulated s.

    Ranks are named where they differ between runs. Parts that no run has are left out.
    """
    columns = {f"{PART}{part}": part.replace("_", " ") for part in PARTS}
    runs = runs.sort_values([*CONFIGURATION, "ranks"], kind="stable")
    labels = configurations(runs)
    if runs["ranks"].nunique() > 1:
        labels = labels + runs["ranks"].map(lambda ranks: f", {counted(ranks, 'rank')}")
    parts = runs[list(columns)].rename(columns=columns)
    means = parts.groupby(labels, sort=False).mean()
    return means.loc[:, (means > 0).any()]
