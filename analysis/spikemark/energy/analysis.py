"""Energy of the simulation phase of one run: gross, idle, net, and per synaptic event."""

from dataclasses import dataclass, field

from spikemark.quantities.quantity import Quantity, difference, missing
from spikemark.records.record import Run

from . import own, plateau, sampling
from .levels import Reached, reached
from .plateau import Plateau
from .power_model import PowerModel
from .sampling import Sampling
from .source import Source

ADVICE = "run with record.energy=true where a meter can be read, or give --power FILE.csv of a meter"


@dataclass(frozen=True)
class PerEvent:
    """Energy per synaptic event, in microjoule, for one definition of the event."""

    definition: str
    events: int
    gross_uj: Quantity
    net_uj: Quantity


@dataclass(frozen=True)
class Energy:
    """The energy of a run; `kind` is measured or modelled, or None where every value says why it is missing.

    gross = integral of the power over the measured part; idle = idle power x its duration; net = gross -
    idle. Gross comes first: procurement rules (EE HPC WG) do not allow subtracting idle. Intervals cover the
    uncertainty from sampling, not the accuracy of the meter. The energy-delay product is energy x duration.
    """

    run: Run = field(repr=False)
    kind: str | None
    duration_s: float
    gross_j: Quantity
    idle_w: Quantity
    source: Source | None = field(default=None, repr=False)
    sampling: Sampling | None = None
    level: Reached | None = None
    before: Plateau | None = None
    after: Plateau | None = None
    model: PowerModel | None = None

    @property
    def idle_j(self) -> Quantity:
        return self.idle_w.times(self.duration_s, "J")

    @property
    def net_j(self) -> Quantity:
        return difference(self.gross_j, self.idle_j)

    @property
    def mean_w(self) -> Quantity:
        return self.gross_j.times(1 / self.duration_s, "W")

    @property
    def gross_delay_js(self) -> Quantity:
        return self.gross_j.times(self.duration_s, "J s")

    @property
    def net_delay_js(self) -> Quantity:
        return self.net_j.times(self.duration_s, "J s")

    @property
    def reason(self) -> str | None:
        """Why there is no energy."""
        return self.gross_j.reason

    @property
    def per_event(self) -> list[PerEvent]:
        """Energies for both definitions of an event; Simula et al. 2019 do not say which one they used."""
        totals = self.run.record.totals
        counts = {
            "recurrent": totals.synaptic_events,
            "recurrent + external": totals.synaptic_events + totals.external_events,
        }
        return [PerEvent(name, n, _per(self.gross_j, n), _per(self.net_j, n)) for name, n in counts.items()]


def _per(energy: Quantity, events: int) -> Quantity:
    if not events:
        return missing("no synaptic event", "uJ")
    return energy.times(1e6 / events, "uJ")


def measured(run: Run, source: Source) -> Energy:
    """Energy from readings that cover the measured part of the run."""
    start, end = source.timeline.measured
    trace = source.trace
    before, after = plateau.before(trace, source.timeline), plateau.after(trace, source.timeline)
    found = sampling.sampling(list(source.traces.values()), start, end)
    return Energy(
        run,
        "measured",
        source.timeline.duration_s,
        sampling.energy(trace, start, end),
        before.watts,
        source,
        found,
        reached(found, trace, source.timeline, bool(before.watts), source.at_wall_percent),
        before,
        after,
    )


def modelled(run: Run, model: PowerModel, busy_cores: int, cards: int = 0) -> Energy:
    """Energy from the parameters of a machine: constant power over the measured part, without intervals."""
    duration_s = run.record.timing.simulate_s
    power, idle = (
        Quantity(watts, unit="W", kind="modelled")
        for watts in (model.power_w(busy_cores, cards), model.idle_w)
    )
    return Energy(run, "modelled", duration_s, power.times(duration_s, "J"), idle, model=model)


def none(run: Run, why: str) -> Energy:
    """A run without any energy: every value is missing for the same reason."""
    return Energy(run, None, run.record.timing.simulate_s, missing(why, "J"), missing(why, "W"))


def of_run(run: Run) -> Energy:
    """Energy from the run's own readings if they cover the measured part, or the reason why there is none."""
    if why := own.reason(run):
        return none(run, why)
    source = own.source(run)
    if not source.trace.covers(*source.timeline.measured):
        return none(run, f"the readings of {source.name} end before the measured part does")
    found = measured(run, source)
    return found if found.gross_j else none(run, f"the meter {source.name}: {found.gross_j.reason}")
