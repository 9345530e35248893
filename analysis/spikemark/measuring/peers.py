"""NEST beside the mini-app on one network: `spikemark peers`.

The programs take turns in rounds, in a random order, each on one rank. Programs in one round run under
similar conditions, so a factor is the median over rounds of the quotients within a round. Its interval is the
distribution-free one for a median: between two order statistics that contain it with CONFIDENCE, or between
the extremes. NEST builds the same network in distribution (workflows/peers/nest_network.py, which
`spikemark anchor` also uses).
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field, ValidationError
from scipy.stats import quantile_test

from spikemark import launch
from spikemark.core import places
from spikemark.core.errors import BadInput, invalid
from spikemark.core.files import discard, write_atomically, write_json
from spikemark.core.lock import locked
from spikemark.core.reading import read_json
from spikemark.launch import Launch
from spikemark.launch.process import ProgramFailed, watch
from spikemark.prediction import anchor_run
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records import run_files
from spikemark.records.record_fields import Count, Fields, Positive, Record, Seconds
from spikemark.running import quiet
from spikemark.running.experiments import Experiment, digest, expand
from spikemark.running.measure import program, why

ENVIRONMENT = ".venv-peers"
OURS = "mini-app"
LONGER = 10  # times as long as its peers the mini-app simulates: its runs would take a fraction of a second
CONFIDENCE = 0.9
#: Mean rates may differ: of neurons described to fire at a rate, and of those that their input drives.
RATE_TOLERANCE, EMERGING_RATE_TOLERANCE = 0.01, 0.03
#: What is compared: column, title, unit, whether more is better. Factors above 1: the mini-app is ahead.
COMPARED = (
    ("speed", "speed", "simulated s / s", True),
    ("bytes_per_synapse", "memory", "B / synapse", False),
    ("build_s", "build time", "s", False),
)


#: Of a run, s: a time that no clock tells would make a speed that no number holds.
Duration = Annotated[float, Field(ge=1e-9, le=1e9)]


class Figures(Fields):
    """What a program says about one run, in bytes and seconds; null where it does not report a value.

    `synaptic_events`: null where not counted. `foreign_load`: cores that others kept busy.
    """

    version: str
    model: str
    note: str | None = None
    threads: Positive
    ranks: Positive
    neurons: Positive
    synapses: Count
    spikes: Count
    synaptic_events: Count | None = None
    build_s: Seconds
    simulate_s: Duration
    model_s: Duration
    peak_bytes: Count | None
    foreign_load: Seconds | None


@dataclass(frozen=True)
class Program:
    """A program that is compared; `model`: NEST's neurons (nest_neurons.KINDS), None for the mini-app."""

    name: str
    model: str | None = None

    def start(self, description: Path, out: Path, threads: int) -> Launch:
        """How to simulate `description` on one rank; `out`: a folder that is not there yet."""
        ms = LONGER * read_json(description)["time"]["simulate_ms"]
        ours = [*program("miniapp", description, out), "--set", f"time.simulate_ms={ms}"]
        start = launch.launch("mpirun", ours, launch.Layout(1, threads))
        if self.model is None:
            return start
        command = [str(_environment() / "bin" / "python"), str(_script()), str(description)]
        # The binding that the mini-app gets: every thread on a core of its own where there are enough.
        bound = {name: value for name, value in start.environment.items() if name.startswith("OMP_")}
        return Launch([*command, "--model", self.model, "--threads", str(threads)], bound)

    def read(self, output: str, out: Path) -> Figures:
        """What it said after exit status 0; raises ProgramFailed."""
        try:
            if self.model is not None:
                return Figures.model_validate_json((output.splitlines() or [""])[-1])
            of = Record.model_validate_json((out / run_files.RECORD).read_text())
        except (OSError, ValueError) as error:
            why = invalid(error) if isinstance(error, ValidationError) else error
            raise ProgramFailed(f"exit status 0, but no valid result: {' '.join(str(why).split())}") from None
        models = {p["neuron"]["model"] for p in of.description["network"]["populations"]}
        known = {**dict(of.timing), **dict(of.totals), **dict(of.host), **dict(of.memory), **dict(of)}
        known["version"] = f"{of.provenance.version} {(of.provenance.commit or 'unknown')[:9]}"
        known |= {"model": ", ".join(sorted(models)), "note": None}
        return Figures(**{name: known[name] for name in Figures.model_fields})


def _script() -> Path:
    return places.root() / "workflows" / "peers" / "nest_network.py"


def _environment() -> Path:
    """The environment of NEST; raises BadInput with the way to get it."""
    path = places.checkout() / ENVIRONMENT
    if not (path / "complete").is_file():
        raise BadInput(f"peers: {path} is missing or incomplete; expected after `make peers`")
    return path


def programs(models: set[str]) -> tuple[Program, ...]:
    """The mini-app and NEST with each of its neurons that can stand for these. Raises BadInput for others."""
    stands = anchor_run.neurons(models)
    kinds = ("ignore_and_fire", stands) if models == {"ignore_and_fire"} else (stands,)
    return (Program(OURS), *(Program(f"NEST {kind}", kind) for kind in kinds))


class Trial(NamedTuple):
    """One program, once; `round` counts from 1."""

    program: Program
    threads: int
    round: int


def plan(experiment: Experiment, taking_part: Sequence[Program] | None = None) -> tuple[dict, list[Trial]]:
    """The network of an experiment, and the trials in the order of measuring.

    Within a round, the order is shuffled by `shuffle_seed`. Raises BadInput unless it is one network on one
    rank, with neurons that NEST has, on no more threads than cores.
    """
    runs = expand(experiment)
    asked = {(json.dumps(run.description, sort_keys=True), run.ranks == 1) for run in runs}
    if len(asked) != 1 or not all(one for _, one in asked) or any("threads" in e for e in experiment.grid):
        expected = "one network on one rank, threads not in a grid"
        raise BadInput.of("experiment", experiment.name, expected)
    cores, description = launch.available_cores(), runs[0].description
    if max(experiment.threads) > cores:
        raise BadInput.of("threads", max(experiment.threads), f"at most {cores}, the cores of this process")
    models = {population["neuron"]["model"] for population in description["network"]["populations"]}
    taking_part, trials = taking_part or programs(models), []
    for turn in range(1, experiment.repetitions + 1):
        drawn = [Trial(one, n, turn) for one in taking_part for n in dict.fromkeys(experiment.threads)]
        drawn.sort(key=lambda one: digest([experiment.shuffle_seed, turn, one.program.name, one.threads]))
        trials += drawn
    return description, trials


@dataclass(frozen=True)
class Comparison:
    """`trials`: a row per run that has a result; `failed`: why a program has none; `refused`: why one is not
    compared, by its name and threads."""

    trials: pd.DataFrame
    failed: list[str]
    refused: dict[tuple[str, int], str]

    @property
    def complaints(self) -> list[str]:
        words = (f"{name}, {counted(n, 'thread')}: {why}" for (name, n), why in self.refused.items())
        return [*self.failed, *words]


def compare(
    experiment: Experiment, folder: Path, conditions: quiet.Conditions | None = None,
    progress: Callable[[float, str], None] = lambda share, what: None,
    taking_part: Sequence[Program] | None = None,
    busy: Callable[[], float | None] = quiet.busy_s,
) -> Comparison:  # fmt: skip
    """Carries out the trials, with files in `folder`, and compares the programs.

    A program that failed is not started again. Raises BadInput as `plan` does, for a program that is not
    installed, and for a folder in which another command works.
    """
    conditions = conditions or quiet.Conditions()
    description, trials = plan(experiment, taking_part)
    rows, failed, table = [], {}, pd.DataFrame(columns=COLUMNS)
    with locked(folder):
        write_json(folder / "description.json", description)
        for done, trial in enumerate(trials):
            name = trial.program.name
            progress(done / len(trials), f"{name}, {trial.threads} threads, round {trial.round}")
            if name in failed:
                continue
            try:
                rows.append(_row(trial, _measured(trial, experiment, folder, conditions, busy)))
            except ProgramFailed as reason:
                failed[name] = f"{name}, round {trial.round}, failed: {reason}"
            table = pd.DataFrame(rows, columns=COLUMNS)
            write_atomically(folder / "peers.csv", table.to_csv(index=False))
    given = all("rate_hz" in p["neuron"] for p in description["network"]["populations"])
    tolerance = RATE_TOLERANCE if given else EMERGING_RATE_TOLERANCE
    names = dict.fromkeys(trial.program.name for trial in trials if trial.program.name != OURS)
    pairs = [(name, threads) for threads in sorted(set(experiment.threads)) for name in names]
    found = {pair: refusal(table, *pair, tolerance) for pair in pairs}
    return Comparison(table, [*failed.values()], {pair: why for pair, why in found.items() if why})


def _measured(trial: Trial, experiment: Experiment, folder: Path, conditions, busy) -> Figures:
    """Waits for a quiet machine and carries out a trial. Raises ProgramFailed."""
    network, out = (folder / "description.json").resolve(), (folder / "unchecked").resolve()
    quiet.wait(conditions, busy)
    discard(out)
    out.mkdir(parents=True)
    start = trial.program.start(network, out / "out", trial.threads)
    foreign_load = quiet.watch(busy)
    finished = watch(start, experiment.time_limit_s)
    foreign = foreign_load()
    if finished.status != 0:
        raise ProgramFailed(why(finished))
    figures = trial.program.read(finished.output, out / "out")
    discard(out)
    if (figures.threads, figures.ranks) != (trial.threads, 1):
        got = f"{figures.threads} on {figures.ranks}"
        raise ProgramFailed(f"expected {trial.threads} threads on 1 rank, got {got}")
    loads = [x for x in (foreign, figures.foreign_load) if x is not None]
    return figures.model_copy(update={"foreign_load": max(loads, default=None)})


COLUMNS = ["program", "threads", "round", "version", "model", "note", "neurons", "synapses", "spikes",
           "rate_hz", "synaptic_events", "simulate_s", *(name for name, *_ in COMPARED), "foreign_load",
           "disturbed"]  # fmt: skip


def _row(trial: Trial, figures: Figures) -> dict[str, Any]:
    load = figures.foreign_load
    memory = figures.peak_bytes / figures.synapses if figures.peak_bytes and figures.synapses else None
    found = {
        "program": trial.program.name, "threads": trial.threads, "round": trial.round,
        "rate_hz": figures.spikes / figures.neurons / figures.model_s,
        "speed": figures.model_s / figures.simulate_s, "bytes_per_synapse": memory,
        "disturbed": load is not None and load > quiet.Conditions().foreign_limit,
    }  # fmt: skip
    return figures.model_dump() | found


def refusal(trials: pd.DataFrame, peer: str, threads: int, tolerance: float) -> str | None:
    """Why a peer must not be compared: not measured, another network, or another mean rate."""
    at = trials[trials["threads"] == threads].groupby("program")
    for name in (OURS, peer):
        if name not in at.groups:
            return f"{name} was not measured"
    for what in ("neurons", "synapses"):
        if len(both := {*at.get_group(OURS)[what], *at.get_group(peer)[what]}) > 1:
            return f"not the same network: {what} {', '.join(map(str, sorted(both)))}"
    rates = at["rate_hz"].median()
    if abs(rates[peer] - rates[OURS]) > tolerance * rates[OURS]:
        ends = f"{rates[OURS]:.4g} and {rates[peer]:.4g} spikes/s"
        return f"mean rates differ by more than {tolerance:.0%}: {ends}"
    return None


def estimate(values: Sequence[float], unit: str = "") -> Quantity:
    """Median of values, and its interval (see the top of the module); missing values are left out."""
    x = np.sort(np.asarray(values, dtype=float))
    x = x[np.isfinite(x)]
    if (n := len(x)) == 0:
        return missing("not measured", unit)
    ends = quantile_test(x, q=0, p=0.5).confidence_interval(CONFIDENCE)
    low, high = x[0] if np.isnan(ends.low) else ends.low, x[-1] if np.isnan(ends.high) else ends.high
    limits = (float(low), float(high)) if n > 1 else (None, None)
    return Quantity(float(np.median(x)), *limits, unit, "measured")


def factor(trials: pd.DataFrame, peer: str, threads: int, name: str, more: bool) -> Quantity:
    """How many times as good as `peer` the mini-app is: median over rounds."""
    by_round = trials[trials["threads"] == threads].pivot(index="round", columns="program", values=name)
    if not {OURS, peer} <= {*by_round.columns}:
        return missing("not measured")
    ratio = by_round[OURS].astype(float) / by_round[peer].astype(float)
    return estimate(ratio if more else 1 / ratio)


def table(found: Comparison) -> Table:
    """A row for each quantity and number of threads: medians of the programs, and the factors."""
    trials, rows = found.trials, []
    names = sorted(trials["program"].unique(), key=lambda name: (name != OURS, name))
    columns = [Column("what", "what"), Column("threads", "threads")]
    columns += [Column(n, n, "measured") for n in names]
    columns += [Column(f"ahead of {n}", f"ahead of {n}", "measured") for n in names if n != OURS]
    for threads in map(int, sorted(trials["threads"].unique())):
        at = trials[trials["threads"] == threads].set_index("program")
        for name, title, unit, more in COMPARED:
            row: dict[str, Any] = {"what": f"{title} ({unit})", "threads": threads}
            for one in names:
                row[one] = estimate(at.loc[at.index == one, name], unit)
            for one in (one for one in names if one != OURS):
                why_not = found.refused.get((one, threads))
                known = missing(why_not) if why_not else factor(trials, one, threads, name, more)
                row[f"ahead of {one}"] = known
            rows.append(row)
    return Table(columns, rows, name="peers")


def sentences(found: Comparison) -> list[str]:
    """The answer, and what a reader of the figures must know."""
    trials, lines = found.trials, []
    pairs = trials.loc[trials["program"] != OURS, ["program", "threads"]].drop_duplicates()
    for name, threads in sorted(pairs.itertuples(index=False)):
        ahead = factor(trials, name, threads, "speed", True)
        if ahead and (name, threads) not in found.refused:
            ends = f" ({number(ahead.low)} to {number(ahead.high)})" if ahead.interval else ""
            fast = f"the mini-app is {number(ahead.value)}{ends} times as fast as {name}"
            lines.append(f"On {counted(int(threads), 'thread')}, {fast}.")
    notes = trials.loc[trials["note"].notna(), ["program", "note"]].drop_duplicates()
    lines += [f"{name}: {note}." for name, note in notes.itertuples(index=False)]
    if n := int(trials["disturbed"].sum()):
        lines.append(f"Others used the machine during {counted(n, 'run')}.")
    return lines[:5]
