"""What studies of simulated machines share: which runs belong together, and their phases."""

from dataclasses import dataclass, field

from spikemark.records.gather import Configuration, Measured
from spikemark.studies.table import Column, Estimate, Missing

from .runs import factor, group, mean

WAITING = ("synchronise", "overlap_wait")
#: Column name, head and phases of a run, in the order of a cycle.
PHASES = {
    "deliver": ("deliver", ("deliver",)),
    "update": ("update", ("update",)),
    "collocate": ("collocate", ("collocate",)),
    "waiting": ("waiting", WAITING),
    "exchange": ("exchange", ("exchange",)),
}


@dataclass(frozen=True)
class Place:
    """Runs of one machine, one number of ranks and one way to run them, at one setting of what is varied."""

    machine: str
    ranks: int
    configuration: Configuration
    setting: tuple = ()
    runs: list[Measured] = field(default_factory=list, compare=False, repr=False)

    def time(self, *names: str) -> Estimate | Missing:
        """Seconds per simulated second in some of `PHASES`, mean over ranks and runs."""
        return mean(self.runs, lambda m: spent(m, *names))

    @property
    def real_time_factor(self) -> Estimate | Missing:
        return mean(self.runs, lambda m: m.real_time_factor)


def spent(m: Measured, *names: str) -> float:
    """Seconds per simulated second in some of `PHASES`, mean over ranks."""
    found = m.phases()
    return sum(found.get(phase) or 0.0 for name in names for phase in PHASES[name][1])


def places(runs: list[Measured], setting=lambda m: ()) -> list[Place]:
    """In the order of machines, settings, ranks and schedules; simulated runs only."""

    def key(m: Measured) -> Place:
        return Place(m.planned.machine.name, m.run.record.ranks, m.configuration, setting(m))

    grouped = group([m for m in runs if m.planned.machine is not None], key)
    found = [Place(k.machine, k.ranks, k.configuration, k.setting, members) for k, members in grouped.items()]
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


def reduction_percent(base: Place, other: Place, *names: str) -> Estimate | Missing:
    """By how many per cent `other` spends less time in the phases than `base`; without names, in all."""

    def value(m: Measured) -> float:
        return spent(m, *names) if names else m.real_time_factor

    found = factor(other.runs, base.runs, value)
    if isinstance(found, Missing):
        return Missing("no time was spent there") if base.runs and other.runs else found
    return Estimate(*(None if x is None else 100 * (1 - x) for x in (found.value, found.high, found.low)))


def phase_columns(kind: str = "simulated") -> list[Column]:
    """Real-time factor and its parts."""
    columns = [Column("real_time_factor", "real-time factor", kind)]
    return columns + [Column(f"{name}_s", head, kind) for name, (head, _) in PHASES.items()]


def phase_cells(p: Place) -> dict:
    """The cells of `phase_columns`."""
    return {"real_time_factor": p.real_time_factor} | {f"{name}_s": p.time(name) for name in PHASES}
