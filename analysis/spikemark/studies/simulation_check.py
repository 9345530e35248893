"""How well a simulated machine represents the real one: this host, measured and simulated, phase by phase."""

import math
from collections import defaultdict
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

import numpy as np

from spikemark import calibration, machines
from spikemark.core.errors import BadInput
from spikemark.machines.profile import Profile
from spikemark.quantities.elements import Box, KeyFigure, Section
from spikemark.quantities.quantity import mean, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent
from spikemark.records import record
from spikemark.records.gather import Measured, Sweep
from spikemark.records.phases import COMPUTE, THREADS
from spikemark.records.results import Results
from spikemark.running import simulation
from spikemark.running.simulate import check

from .runs import NO_BARRIER, group, timed
from .study import Findings, Study

FOLDER = "simulated"
#: Where compute times come from, by name; `replay` stands for the folder of the measured run.
MODES = {
    "replay": "those of the real run, cycle by cycle",
    "execute": "the kernels, run one rank after another",
    "model": "drawn from the profile",
}
#: Rows of the table, each a sum of parts of a cycle (records.phases.PARTS). A simulated rank has one thread.
QUANTITIES = {
    "deliver": ("deliver",),
    "update": ("update", THREADS),
    "collocate": ("collocate",),
    "compute": COMPUTE,
    "waiting": ("waiting",),
    "exchange": ("exchange",),
}
WHOLE = "cycle"
NO_PROFILE = "there is no profile of this host in machines/; run `spikemark calibrate`"
NOT_SIMULATED = missing(f"not simulated: {NO_PROFILE}, or see the complaints above")
NOTHING = missing("nothing to compare")
ALONE = missing("a rank alone does not wait or exchange", mark="–")
EXPLAINED = (
    "Can you trust a simulated machine? Every run here was made on this host and then simulated on the "
    "host's profile (`spikemark calibrate`): the same network on the same number of ranks of one node. "
    "Replayed compute times leave only waiting and exchange to the simulation. Executed ones also test "
    "whether kernels take the same time when ranks run one after another as when they run side by side. "
    "Modelled ones also test the profile's kernel times and jitter."
)
NOTE = (
    "All times are microseconds per cycle, means over ranks, cycles and repetitions. The error is simulated "
    "over real time, minus 1. The waiting includes the barrier itself, and transport where ranks overlap."
)


def simulate(sweep: Sweep) -> list[str]:
    """Simulates every run that has not been simulated with the present profile; returns what went wrong."""
    members = [m for m in _real(sweep) if m.planned.threads == 1]
    host = _profile(members[0]) if members else None
    if host is None:
        return [NO_PROFILE]
    try:
        check()
    except BadInput as reason:
        return [f"not simulated: {reason}"]
    complaints = []
    for m in members:
        for mode in MODES:
            try:
                _simulate(m, mode, host)
            except (BadInput, simulation.SimulationFailed) as reason:
                complaints.append(f"{m.planned.label}, {mode}: not simulated: {reason}")
    return complaints


def _real(sweep: Sweep) -> list[Measured]:
    return [m for m in sweep.runs if not m.simulated]


def _simulate(m: Measured, mode: str, host: Profile) -> None:
    """Raises BadInput or SimulationFailed; does nothing where that has been done for this profile."""
    path, ranks = m.run.path, m.planned.ranks
    out = folder(path, mode)
    if simulation.done(out, host):
        return
    simulation.simulate(
        Results(path.parents[1]).read_description(m.planned.id),
        host,
        ranks,
        out,
        path if mode == "replay" else mode,
        ranks_per_node=math.ceil(ranks / m.run.record.host.nodes),
        threads=1,
        seed=m.planned.repetition,
        hz=None if mode == "replay" else _hz(m.run),
        host=host if mode == "execute" else None,
    )


def _profile(m: Measured) -> Profile | None:
    """The profile that `spikemark calibrate` wrote on the host of a run; None without one.

    For a run on several nodes, it is one that knows what lies between nodes.
    """
    host, between = calibration.title(m.run.record.host), "interconnect.latency"
    alike = (found for name in machines.names() if (found := machines.load(name)).title == host)
    return next((p for p in alike if m.run.record.host.nodes == 1 or p.get(between)), None)


def _hz(run: record.Run) -> float:
    """The mean rate of the neurons in a run."""
    seconds = run.record.timing.model_s
    return float(run.ranks["spikes"].sum() / run.ranks["neurons"].sum() / seconds)


def folder(run: Path, mode: str) -> Path:
    """Folder of the simulated copy of a measured run."""
    return run.parents[1] / FOLDER / f"{run.name}-{mode}"


@dataclass(frozen=True)
class Setup:
    """Runs that differ only in their repetition: microseconds per cycle by quantity, one for each run."""

    neurons: int
    ranks: int
    schedule: str
    measured: dict[str, list[float]]
    simulated: dict[str, dict[str, list[float]]]  # by mode
    differ: list[str]  # simulated runs with other spikes

    def error(self, quantity: str, mode: str) -> float | None:
        """Simulated over measured, less one; None where there is nothing to compare."""
        sides = self.measured[quantity], self.simulated[mode][quantity]
        return (
            None
            if not all(sides) or not np.mean(sides[0])
            else float(np.mean(sides[1]) / np.mean(sides[0]) - 1)
        )


def setups(runs: list[Measured]) -> list[Setup]:
    """Runs in the order of neurons, ranks, then schedules, without those with more ranks than cores."""

    def key(m: Measured) -> tuple:
        return _neurons(m), m.run.record.ranks, m.configuration.order, m.configuration.label

    found = []
    for (neurons, ranks, _, label), members in sorted(group(runs, key).items()):
        if not (counting := timed(members)):
            continue
        simulated, differ = {}, []
        for mode in MODES:
            copies = [(m, copy) for m in counting if (copy := _load(folder(m.run.path, mode)))]
            simulated[mode] = _quantities([copy for _, copy in copies])
            differ += [
                f"{m.planned.label}, {mode}"
                for m, copy in copies
                if copy.record.checksum != m.run.record.checksum
            ]
        found.append(Setup(neurons, ranks, label, _quantities([m.run for m in counting]), simulated, differ))
    return found


def _neurons(measured: Measured) -> int:
    return int(measured.run.ranks["neurons"].sum())


def _load(path: Path) -> record.Run | None:
    return record.load(path) if (path / "record.json").is_file() else None


def _quantities(runs: list[record.Run]) -> dict[str, list[float]]:
    found = {}
    for name, parts in QUANTITIES.items():
        spent = [(run.spent_s(*parts), run.record.timing.cycles) for run in runs]
        found[name] = [1e6 * seconds / cycles for seconds, cycles in spent if seconds is not None]
    found[WHOLE] = [1e6 * run.record.timing.simulate_s / run.record.timing.cycles for run in runs]
    return found


def read(sweep: Sweep) -> Findings:
    """Measured beside simulated."""
    found = setups(_real(sweep))
    differ = [label for setup in found for label in setup.differ]
    spikes = Box(
        "bad" if differ else "good",
        f"These simulated runs have other spikes than their real runs: {', '.join(differ)}."
        if differ
        else "Every simulated run found the spikes of its real run (checksum).",
    )
    there = any(values for s in found for mode in MODES for values in s.simulated[mode].values())
    main = Section(
        "errors", "Real and simulated", [EXPLAINED], [spikes] if there else [], tables=[_table(found)]
    )
    return Findings(_sentence(found), _key_figures(found), [main])


def _table(found: list[Setup]) -> Table:
    rows = []
    for setup in found:
        for quantity in (*QUANTITIES, WHOLE):
            alone = setup.ranks == 1 and quantity in ("waiting", "exchange")
            row = {"neurons": setup.neurons, "ranks": setup.ranks, "schedule": setup.schedule}
            row["quantity"] = quantity
            own = setup.measured[quantity]
            row["measured_us"] = mean(own) if own else NO_BARRIER
            for mode in MODES:
                error = setup.error(quantity, mode)
                copies = setup.simulated[mode]
                lacking = NO_BARRIER if copies[WHOLE] else NOT_SIMULATED
                row[f"{mode}_us"] = mean(copies[quantity]) if copies[quantity] else lacking
                row[f"{mode}_error_percent"] = ALONE if alone else NOTHING if error is None else 100 * error
            rows.append(row)
    columns = [
        Column("schedule", "schedule", "given"),
        Column("neurons", "neurons", "given"),
        Column("ranks", "ranks", "given"),
        Column("quantity", "per cycle"),
        Column("measured_us", "real (µs)", "measured"),
    ]
    for mode in MODES:
        columns.append(Column(f"{mode}_us", f"{mode} (µs)", "simulated"))
        columns.append(Column(f"{mode}_error_percent", f"{mode}, error (%)", "", 2))
    notes = [NOTE, "Compute times: " + "; ".join(f"{name}: {words}" for name, words in MODES.items()) + "."]
    return Table(columns, rows, "This host, real and simulated", "errors", notes)


def _largest(found: list[Setup], mode: str, quantity: str) -> float | None:
    errors = [e for s in found if s.ranks > 1 and (e := s.error(quantity, mode)) is not None]
    return max(errors, key=abs, default=None)


def _sentence(found: list[Setup]) -> str:
    networks = defaultdict(list)
    for setup in found:
        if setup.ranks > 1:
            networks[setup.neurons].append(setup)
    parts = [
        f"up to {number(longest, 2)} µs: {', '.join(errors)}"
        for longest, members in sorted(((_longest_us(m), m) for m in networks.values()), key=itemgetter(0))
        if (errors := _errors(members))
    ]
    if not parts:
        return f"Nothing to compare yet: no run of this host was also simulated; {NO_PROFILE}."
    return f"Largest errors of simulated cycles on two or more ranks, by their length: {'; '.join(parts)}."


def _errors(found: list[Setup]) -> list[str]:
    return [
        f"{mode} {_signed(error)}" for mode in MODES if (error := _largest(found, mode, WHOLE)) is not None
    ]


def _longest_us(found: list[Setup]) -> float:
    return float(max(np.mean(setup.measured[WHOLE]) for setup in found))


def _signed(error: float) -> str:
    return ("+" if error > 0 else "") + percent(error, 1)


def _key_figures(found: list[Setup]) -> list[KeyFigure]:
    figures = []
    for quantity in ("waiting", "exchange", WHOLE):
        label, error = f"Error of the {quantity}, times replayed", _largest(found, "replay", quantity)
        if error is None:
            figures.append(KeyFigure.lacking(label, "not simulated"))
        else:
            figures.append(KeyFigure(label, _signed(error), "simulated", "largest, two ranks"))
    return figures


STUDY = Study(
    "simulation-check",
    "this host, measured and simulated: phases, waiting and exchange, and the error",
    "simulation-check",
    read,
    simulate,
)
