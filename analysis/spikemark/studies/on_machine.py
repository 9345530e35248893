"""What studies of simulated machines have in common: groups of runs, their phases and their speed."""

from collections.abc import Callable
from dataclasses import dataclass, field

from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Cells, Column, Table
from spikemark.quantities.words import number
from spikemark.records.gather import SIMULATED, Configuration, Measured
from spikemark.records.phases import PARTS, THREADS
from spikemark.report.columns import WAITS

from . import lines_figure, runs
from .lines_figure import Axis, Line


@dataclass(frozen=True)
class Place:
    """Runs on one machine with one number of ranks, run in one way, at one setting of what is varied."""

    machine: str
    ranks: int
    configuration: Configuration
    setting: tuple = ()
    runs: list[Measured] = field(default_factory=list, compare=False, repr=False)

    def time(self, *names: str) -> Quantity:
        """Seconds per simulated second in some of `PARTS`, mean over ranks and runs."""
        return runs.mean_time(self.runs, lambda m: m.spent(*names))

    @property
    def real_time_factor(self) -> Quantity:
        return runs.mean_time(self.runs, lambda m: m.real_time_factor)


def places(members: list[Measured], setting: Callable[[Measured], tuple] = lambda m: ()) -> list[Place]:
    """The simulated ones of some runs, in the order of machines, settings, ranks and schedules."""

    def key(m: Measured) -> Place:
        return Place(m.planned.machine.name, m.run.record.ranks, m.configuration, setting(m))

    grouped = runs.group([m for m in members if m.simulated], key)
    found = [Place(k.machine, k.ranks, k.configuration, k.setting, own) for k, own in grouped.items()]
    return sorted(found, key=lambda p: (p.machine, p.setting, p.ranks, p.configuration.order))


def partner(found: list[Place], p: Place, schedule: str) -> Place | None:
    """The place that differs from `p` in schedule only; of several D the nearest to that of `p`."""
    same = [
        q
        for q in found
        if (q.machine, q.ranks, q.setting, q.configuration.schedule)
        == (p.machine, p.ranks, p.setting, schedule)
    ]
    return min(
        same, key=lambda q: abs(q.configuration.delay_ratio - p.configuration.delay_ratio), default=None
    )


def reduction_percent(base: Place, other: Place, *names: str) -> Quantity:
    """How many per cent less time `other` spends in the phases than `base`; without names, in all phases."""

    def value(m: Measured) -> float | None:
        return m.spent(*names) if names else m.real_time_factor

    found = runs.reduction_percent(base.runs, other.runs, value)
    if found or not (base.runs and other.runs):
        return found
    untimed = None in map(value, [*base.runs, *other.runs])
    return runs.NO_BARRIER if untimed else missing("no time was spent there")


SHOWN = tuple(part for part in PARTS if part != THREADS)  # a simulated rank has one thread


#: Real-time factor and its parts, and where the ranks wait, of a place.
PHASES: Cells = {
    Column("real_time_factor", "real-time factor", SIMULATED): lambda p: p.real_time_factor,
    **{Column(f"{name}_s", name, SIMULATED): lambda p, name=name: p.time(name) for name in SHOWN},
    WAITS: lambda p: p.runs[0].run.waits,
}


def saved(found: list[Place], none: Quantity, *names: str) -> Callable[[Place], Cell]:
    """Per cent less time in these phases than the conventional place; `none` where there is no such place.

    A conventional place gets an empty cell.
    """

    def cell(p: Place) -> Cell:
        if p.configuration.schedule == "conventional":
            return ""
        base = partner(found, p, "conventional")
        return reduction_percent(base, p, *names) if base else none

    return cell


def speed_figure(
    found: list[Place], across: str, at: Callable[[Place], float], title: str, name: str, table: Table
) -> list[Figure]:
    """Real-time factors over a number, `at`, with the head `across`: a line for each schedule.

    Empty where there are fewer than two numbers to draw; `table` holds what is drawn.
    """
    known = [(p, factor.value) for p in found if (factor := p.real_time_factor)]
    numbers = sorted({at(p) for p, _ in known})
    if len(numbers) < 2:
        return []
    lines = [
        Line(c.label, c.schedule, [(at(p), factor) for p, factor in known if p.configuration == c])
        for c in dict.fromkeys(p.configuration for p, _ in known)
    ]
    alt = f"{title}, lines over {across}. " + " ".join(
        f"{p.configuration.label}, {at(p):g}: {number(factor)}." for p, factor in known
    )
    up = "real-time factor"
    svg = lines_figure.draw(lines, Axis(across, numbers), up, "simulated", name, alt, {}, log=False)
    caption = "Wall-clock time of the simulated machine per simulated time."
    return [Figure(name, title, svg, alt, caption, table)]
