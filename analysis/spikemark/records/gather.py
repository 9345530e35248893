"""The content of a results folder: the plan, the complete runs, and what happened to the others."""

import hashlib
import json
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.network.schedules import SCHEDULES, called

from .experiment_fields import PRESET, PRESET_NAME
from .matching import load_planned
from .plan import Plan, Planned
from .rates import rates_hz
from .record import Run
from .results import Results
from .run_files import LAUNCH, RECORD

NO_BREAK = "\u00a0"
NAMED = ("exchange", "wire")  # fields of Configuration that labels name where runs differ in them
MEASURED, SIMULATED = "measured", "simulated"  # what the times of a run are; keys of quantity.KINDS
OVERSUBSCRIBED = "oversubscribed"  # beginning of the warning of such a run
#: Beginnings of warnings about the machine at hand, which says nothing about times of a simulated one.
OF_THIS_MACHINE = (
    *(OVERSUBSCRIBED, "bound too tightly", "shared cores"),
    *("foreign load", "stolen time", "virtual machine"),
)


@dataclass(frozen=True)
class Configuration:
    """How a network was run. `delay_ratio` is 1 where the schedule does not use it, and `lag` likewise.

    `named`: those of NAMED that the label says, since the runs of the sweep differ in them.
    """

    schedule: str
    placement: str
    delay_ratio: int
    exchange: str
    lag: int = 1
    wire: str = ""  # empty in records from before the field
    named: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The schedule, as pages call it."""
        known = called(self.schedule)
        return known.label if known else self.schedule.replace("_", " ")

    @property
    def label(self) -> str:
        """The schedule with its D, and with whatever else tells it from others of the sweep."""
        return ", ".join([self.short, *self.besides])

    @property
    def short(self) -> str:
        """The schedule with its D."""
        return self.name + (f", D{NO_BREAK}={NO_BREAK}{self.delay_ratio}" if self.uses_delay_ratio else "")

    @property
    def besides(self) -> list[str]:
        """A lag that is not 1, a placement that is not the schedule's own, and what is `named`."""
        known = called(self.schedule)
        words = [f"lag{NO_BREAK}{self.lag}"] if self.lag > 1 else []
        if self.placement != (known.placement if known else "area"):
            words.append(f"placement {self.placement}")
        return words + [f"{name} {self.detail(name)}" for name in self.named if getattr(self, name)]

    def detail(self, name: str) -> str:
        """The value of a field in words; what lanes have is named once."""
        parts = str(getattr(self, name)).split(", ")
        return " and ".join(dict.fromkeys(part.split(": ")[-1] for part in parts))

    @property
    def uses_delay_ratio(self) -> bool:
        known = called(self.schedule)
        return known is None or known.uses_delay_ratio

    @property
    def order(self) -> tuple:
        known = list(SCHEDULES)
        position = known.index(self.schedule) if self.schedule in known else len(known)
        return (position, *astuple(self)[:-1])


@dataclass(frozen=True)
class Measured:
    """One complete run: its line of the plan and its record."""

    planned: Planned
    run: Run
    preset: str | None = None  # where the network comes from; None: from a description of its own
    options: dict[str, Any] = field(default_factory=dict)  # that the preset was given
    named: tuple[str, ...] = ()  # see Configuration

    @property
    def description(self) -> dict[str, Any]:
        return self.run.record.description

    @cached_property
    def configuration(self) -> Configuration:
        exchange = _by_lane(self.description["exchange"])  # the mini-app fills it in
        known = called(self.run.schedule)
        ratio = 1 if known and not known.uses_delay_ratio else self.run.delay_ratio
        lag = self.run.record.described.lag if known and known.lagged else 1
        wire = _by_lane(self.description.get("wire", ""))
        return Configuration(
            self.run.schedule, self.run.placement, ratio, exchange, lag, wire, named=self.named
        )

    @cached_property
    def network(self) -> str:
        """A key of the seed, the network and the simulated time; runs that share it must share a checksum."""
        parts = [self.description.get(key) for key in ("seed", "network", "time")]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]

    @cached_property
    def rates_hz(self) -> dict[str, float] | None:
        """Firing rates as counted (rates.rates_hz)."""
        return rates_hz(self.run)

    @property
    def kind(self) -> str:
        """The kind of its times, `measured` or `simulated`, and of every number computed from them."""
        return self.run.record.kind

    @property
    def simulated(self) -> bool:
        """Says whether its times are those of a simulated machine."""
        return self.kind == SIMULATED

    @cached_property
    def simulation(self) -> dict[str, Any]:
        """The simulation's settings from simulation.json; empty for a measured run."""
        return self.run.simulation or {}

    @property
    def warnings(self) -> list[str]:
        """The warnings of the record, without those about this machine if the run was simulated."""
        found = self.run.record.warnings
        return [text for text in found if not (self.simulated and text.startswith(OF_THIS_MACHINE))]

    @property
    def oversubscribed(self) -> bool:
        """Says whether there were more ranks × threads than cores; then times are no evidence of speed."""
        return any(text.startswith(OVERSUBSCRIBED) for text in self.warnings)

    @property
    def real_time_factor(self) -> float:
        return self.run.record.timing.real_time_factor

    @property
    def waiting(self) -> float | None:
        """Waiting (Run.waiting_phases) per simulated time, mean over ranks; None where not measured."""
        return self.spent("waiting")

    def spent(self, *parts: str) -> float | None:
        """Time in parts of a cycle (Run.spent_s) per simulated time; None where it was not measured."""
        found = self.run.spent_s(*parts)
        return None if found is None else found / self.run.record.timing.model_s

    def phases(self) -> dict[str, float | None]:
        """Time in each phase per simulated time, mean over ranks; None where it was not measured."""
        timing = self.run.record.timing
        means = {name: phase.mean_s for name, phase in timing.phases.items()}
        return {name: None if mean is None else mean / timing.model_s for name, mean in means.items()}


@dataclass(frozen=True)
class Sweep:
    """An experiment on a machine, as far as it has progressed."""

    name: str
    title: str
    machine: str
    path: Path  # the results folder
    shuffle_seed: int
    planned: list[Planned]
    runs: list[Measured]
    failed: dict[str, str] = field(default_factory=dict)  # run id -> reason
    unreadable: dict[str, str] = field(default_factory=dict)  # run id -> what is wrong with its record
    edited: str = ""  # how the experiment's file differs by now from what was planned

    @property
    def kind(self) -> str:
        """What its times are, `measured` or `simulated`; `load_planned` refuses the other kind."""
        return SIMULATED if any(p.machine is not None for p in self.planned) else MEASURED

    @property
    def simulated(self) -> bool:
        """Says whether the runs were simulated."""
        return self.kind == SIMULATED

    @property
    def where(self) -> str:
        """The machine in a sentence."""
        return "the simulated machine" if self.simulated else "this machine"

    @property
    def not_run(self) -> list[Planned]:
        known = {m.planned.id for m in self.runs} | set(self.failed) | set(self.unreadable)
        return [p for p in self.planned if p.id not in known]

    @property
    def left_out(self) -> list[str]:
        """One line for every record that cannot be used, with the reason."""
        labels = {planned.id: planned.label for planned in self.planned}
        return [f"{labels[id]}: left out: {why}" for id, why in self.unreadable.items()]

    @property
    def unlaunched(self) -> list[Measured]:
        """Runs whose launch.json is lost; each run of a plan gets one, which nothing else can replace."""
        return [m for m in self.runs if m.run.launched is None]

    @property
    def lost(self) -> list[str]:
        """One line for every file that is lost although the record beside it can be used."""
        return [
            f"{m.planned.label}: {m.run.path / LAUNCH} is lost, so its launcher, its job and when it began"
            " are unknown; what was measured is not concerned"
            for m in self.unlaunched
        ]

    @property
    def progress(self) -> str:
        """How many of the planned runs are complete, in words."""
        words = f"{len(self.runs)} of {len(self.planned)} runs are complete"
        for count, what in ((len(self.failed), "failed"), (len(self.unreadable), "unreadable")):
            words += f", {count} {what}" if count else ""
        return words + (f", {len(self.not_run)} not run yet" if self.not_run else "")


def _measured(results: Results, plan: Plan, line: Planned) -> Measured:
    """A complete run. Raises BadInput for a record that cannot be used."""
    run = load_planned(results, line)
    try:
        run.record.described  # noqa: B018 - reads it, which pages rely on
    except BadInput as error:
        raise BadInput(f"{run.path / RECORD}: description.{error}") from None
    return Measured(line, run, *_preset(plan, line))


def gather(folder: Path) -> Sweep:
    """Read plan.json in a results folder and every record it names; a sweep is read only here.

    Raises BadInput if plan.json is missing or is not a plan.
    """
    results = Results(Path(folder))
    plan = results.read_plan()
    runs, failed, unreadable = [], {}, {}
    for line in plan.runs:
        if results.measured(line.id):
            try:
                runs.append(_measured(results, plan, line))
            except BadInput as error:
                unreadable[line.id] = str(error)
        elif results.failure(line.id).is_file():
            failed[line.id] = _reason(results.failure(line.id))
    return Sweep(
        name=plan.experiment.name,
        title=plan.experiment.title,
        machine=plan.machine,
        path=results.path.resolve(),
        shuffle_seed=plan.shuffle_seed,
        planned=plan.runs,
        runs=_named(runs),
        failed=failed,
        unreadable=unreadable,
    )


def _named(runs: list[Measured]) -> list[Measured]:
    """The runs, whose labels name those of NAMED in which they differ."""
    differ = tuple(name for name in NAMED if len({getattr(m.configuration, name) for m in runs}) > 1)
    return [replace(m, named=differ) for m in runs] if differ else runs


def _by_lane(value: str | dict[str, str]) -> str:
    """What the description gives for all lanes, or by lane."""
    if isinstance(value, str):
        return value
    return ", ".join(f"{lane}: {name}" for lane, name in sorted(value.items(), key=str))


def _preset(plan: Plan, line: Planned) -> tuple[str | None, dict[str, Any]]:
    """The name of a run's preset, and the options that it was given."""
    source = plan.experiment.preset or {}
    own = source.get("name")
    name = line.fields.get(PRESET_NAME, own)
    varied = {f.removeprefix(PRESET): v for f, v in line.fields.items() if f.startswith(PRESET)}
    return name, {**(source.get("options", {}) if name == own else {}), **varied}


def _reason(log: Path) -> str:
    """The first line of the log of a failed run."""
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return lines[0] if lines else "no reason given"
