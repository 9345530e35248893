"""Energy of the simulation phase of a run: gross, idle, net, per synaptic event.

After Simula et al. 2019, sections IV and V: gross = integral of the power over the measured part;
idle = idle power x its duration; net = gross - idle. Gross comes first: procurement rules (EE HPC
WG) do not let idle be subtracted. It comes from the readings of the sampler beside the run, from a
meter outside (meter.py), or is modelled from a machine profile (modelled_energy.py).
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from spikemark.core.csv_file import read_csv
from spikemark.core.errors import BadInput
from spikemark.launch import sampler
from spikemark.models import power
from spikemark.models.power import PowerTrace, Sampling, Segment
from spikemark.quantities.quantity import Quantity, difference, missing
from spikemark.records import run_files
from spikemark.records.judged import caution_sentence
from spikemark.records.record import Run
from spikemark.records.schema import EnergyRecord
from spikemark.running.energy import POWER_COLUMNS

from .kept_power import kept_readings
from .meter import PowerReadings
from .quality_level import QualityLevel, quality_level
from .reading_columns import bad_line, trace
from .run_timeline import Timeline, timeline

#: Fewest readings of an idle pause.
MIN_PAUSE_READINGS = 3


def plateau(trace: PowerTrace, run: Timeline) -> Quantity:
    """Idle power, W.

    It is the longest level of power in the pause before the run; without a pause, the longest below
    the run's power before the run. Power that has not settled at the beginning of the pause is a
    level of its own and is left out.

    Example:
        >>> seconds = np.arange(0.0, 20.0, 0.1)
        >>> watts = np.where(seconds < 10, 50.0, 90.0)  # a pause, then the run
        >>> when = Timeline(measured=(10.0, 20.0), idle_before=(0.0, 10.0))
        >>> plateau(PowerTrace(seconds, power_w=watts), when).value
        50.0
    """
    if run.idle_before is None:
        where = "before the run"
        start, end = trace.first, run.busy[0]
        below_w = trace.mean_w(*run.measured)
    else:
        where = "idle pause"
        start, end = run.idle_before
        below_w = np.inf
    times, watts = trace.points()
    margin = trace.interval_s / 2  # a mean between two readings must not include a part of the run
    inside = (times >= start + margin) & (times <= end - margin)
    times, watts = times[inside], watts[inside]
    if len(watts) < MIN_PAUSE_READINGS:
        advice = "record.idle_pause_s, or a meter that starts earlier"
        expected = f"{MIN_PAUSE_READINGS} or more: {advice}"
        return missing(f"{where}: {len(watts)} readings; expected {expected}", "W")
    levels = [
        level
        for level in power.segments(watts)
        if level.mean < below_w and level.readings >= MIN_PAUSE_READINGS
    ]
    if not levels:
        return missing(f"{where}: no level below the power of the run", "W")

    def duration_s(level: Segment) -> float:
        return float(times[level.last - 1] - times[level.first])

    longest = max(levels, key=duration_s)
    return power.level(watts[longest.first : longest.last], trace.step_w)


class PerEvent(NamedTuple):
    """Energy per synaptic event, in microjoule, for one definition of the event."""

    definition: str
    events: int
    gross_uj: Quantity
    net_uj: Quantity


@dataclass(frozen=True)
class EnergyValue:
    """A value of an energy: how it is computed, and its row in the table."""

    words: str  #: what it is called
    of: Callable[["Energy"], Quantity]
    below_events: bool = False  #: its row stands below those of the energies per event


#: Values of an energy by their fields in JSON; the energy-delay product is energy x duration.
VALUES = {
    "gross_j": EnergyValue("gross energy", lambda energy: energy.gross_j),
    "mean_w": EnergyValue(
        "mean power", lambda energy: energy.gross_j.times(1 / energy.duration_s, "W")
    ),
    "idle_w": EnergyValue("idle power", lambda energy: energy.idle_w),
    "idle_j": EnergyValue(
        "idle energy", lambda energy: energy.idle_w.times(energy.duration_s, "J")
    ),
    "net_j": EnergyValue("net energy", lambda energy: energy.net_j),
    "gross_delay_js": EnergyValue(
        "energy-delay product, gross",
        lambda energy: energy.gross_j.times(energy.duration_s, "J s"),
        below_events=True,
    ),
}


@dataclass(frozen=True)
class PowerModel:
    """The power of a machine that an energy was modelled with."""

    name: str  #: of the machine
    nodes: int
    idle_w: float  #: of all nodes, without what their cores and cards add
    watts: dict[str, float]  #: the stated or assumed value of each path used
    sources: dict[str, str]  #: a line on each of them
    remarks: list[str]  #: why the energy may not be that of a run there

    def content(self) -> dict[str, Any]:
        """The content for JSON."""
        return {
            "name": self.name,
            **self.watts,
            "idle_w": self.idle_w,
            "nodes": self.nodes,
            "remarks": self.remarks,
            "sources": self.sources,
        }


@dataclass(frozen=True)
class Energy:
    """The energy of a run."""

    run: Run = field(repr=False)
    kind: str | None  #: measured or modelled; None where every value says why it is missing
    duration_s: float
    gross_j: Quantity
    idle_w: Quantity
    source: PowerReadings | None = field(
        default=None,
        repr=False,
    )  #: what was measured
    sampling: Sampling | None = None  #: of the readings in the measured part
    level: QualityLevel | None = None  #: of the measurement
    model: PowerModel | None = None  #: what the power was modelled from
    #: The net energy of the model. Its interval does not follow from those of the gross and the
    #: idle energy, since both contain the same idle power.
    modelled_net_j: Quantity | None = None

    @property
    def remarks(self) -> list[str]:
        """What a reader must know before using the numbers."""
        cautions = [caution_sentence(caution) for caution in self.run.cautions]
        if self.model:
            return [*cautions, *self.model.remarks]
        if self.source:
            return [*cautions, *self.source.remarks]
        return []

    @property
    def net_j(self) -> Quantity:
        if self.modelled_net_j is not None:
            return self.modelled_net_j
        return difference(self.gross_j, self.idle_w.times(self.duration_s, "J"))

    @property
    def values(self) -> dict[str, Quantity]:
        """The quantities of VALUES."""
        return {name: value.of(self) for name, value in VALUES.items()}

    @property
    def reason(self) -> str | None:
        """Why there is no energy."""
        return self.gross_j.reason

    @property
    def per_event(self) -> list[PerEvent]:
        """Energies for both definitions of an event.

        Simula et al. 2019 do not say which one they used.
        """
        totals = self.run.record.totals
        return [
            self._per_event("recurrent", totals.synaptic_events),
            self._per_event(
                "recurrent + external", totals.synaptic_events + totals.external_events
            ),
        ]

    def _per_event(self, definition: str, events: int) -> PerEvent:
        """The energy of each of so many events."""
        if events == 0:
            none = missing("no synaptic event", "µJ")
            return PerEvent(definition, events, none, none)
        microjoules = 1e6 / events  # of an event, for each joule
        gross_uj = self.gross_j.times(microjoules, "µJ")
        net_uj = self.net_j.times(microjoules, "µJ")
        return PerEvent(definition, events, gross_uj, net_uj)


def measured(run: Run, readings: PowerReadings) -> Energy:
    """Energy from readings that cover the measured part of the run.

    Example:
        >>> from spikemark.records.record import load_run
        >>> seconds = np.arange(0.0, 20.0, 0.1)
        >>> trace = PowerTrace(seconds, power_w=np.where(seconds < 10, 50.0, 90.0))
        >>> when = Timeline(measured=(12.0, 18.0), idle_before=(0.0, 10.0))
        >>> run = load_run("tests/golden/analysis/records/aware-4")
        >>> energy = measured(run, PowerReadings("power.csv", {"node": trace}, when))
        >>> round(energy.gross_j.value), round(energy.net_j.value)
        (540, 240)
    """
    traces = list(readings.traces.values())
    when = readings.timeline
    idle_w = plateau(readings.trace, when)
    sampling = Sampling.from_traces(traces, *when.measured)
    level = quality_level(sampling, readings.trace, when, bool(idle_w), readings.at_wall_percent)
    return Energy(
        run,
        "measured",
        when.duration_s,
        gross_j=power.energy_of_all(traces, *when.measured),
        idle_w=idle_w,
        source=readings,
        sampling=sampling,
        level=level,
    )


def of_run(run: Run) -> Energy:
    """Energy from the power kept for the run, or else from its own readings.

    Where there is none, its values say why. Raises BadInput for bad files.

    Example:
        >>> from spikemark.records.record import load_run
        >>> energy = of_run(load_run("tests/golden/analysis/records/aware-4"))
        >>> energy.gross_j.value is None, energy.gross_j.reason
        (True, 'record.energy is false')
    """
    readings = kept_readings(run)
    if readings is not None:
        return measured(run, readings)
    meter = run.record.energy
    if meter is None:
        reason = run.record.energy_reason or "energy was not asked for (record.energy is false)"
    elif meter.status != "ok":
        reason = meter.reason or f"the meter {meter.source} was {meter.status}"
    else:
        energy = measured(run, _own_readings(run, meter))
        if energy.gross_j:
            return energy
        reason = f"the meter {meter.source}: {energy.gross_j.reason}"
    duration_s = run.record.timing.simulate_s
    return Energy(run, None, duration_s, missing(reason, "J"), missing(reason, "W"))


def _own_readings(run: Run, meter: EnergyRecord) -> PowerReadings:
    """The readings of energy.csv beside the record. Raises BadInput for bad files.

    `meter`: what the record says of the energy.
    """
    traces = {}
    for (node, name), node_trace in power_traces(run.path / run_files.ENERGY).items():
        traces[f"{name} on node {node}"] = node_trace
    notes = [f"reading took up to {100 * meter.sampling_cost:.2g} % of a processor"]
    notes += [
        f"{channel.name} on node {channel.node}: {channel.failed} readings failed"
        for channel in meter.channels
        if channel.failed
    ]
    return PowerReadings(meter.source, traces, timeline(run), notes=notes)


def power_traces(path: Path) -> dict[tuple[str, str], PowerTrace]:
    """The traces of a file like energy.csv, by node and channel.

    Raises BadInput naming the line.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w") as file:
        ...     print("node,channel,source,time_s,energy_j,power_w", file=file)
        ...     print("0,package,hwmon,1.0,,50", file=file)
        ...     print("0,package,hwmon,2.0,,52", file=file, flush=True)
        ...     traces = power_traces(Path(file.name))
        >>> traces["0", "package"].power_w.tolist()
        [50.0, 52.0]
    """
    table = read_csv(path, "a run with energy in its record has it")
    rows = table.cells.astype(object)
    if rows.empty or not {*POWER_COLUMNS} <= {*table.names}:
        columns = f"the columns {', '.join(POWER_COLUMNS)} and a line of them"
        raise BadInput(
            reason="truncated",
            expected=columns,
            file=path,
            code="file",
        )
    traces = {}
    for (node, channel), part in rows.groupby(["node", "channel"], sort=False):
        counter = part["energy_j"].iloc[0] != ""
        values = part["energy_j"] if counter else part["power_w"]
        channel_trace = trace(path, part["time_s"], values, counter=counter)
        if counter:
            _check_rises(path, values, channel_trace, sampler.limits(part["source"].iloc[0]))
        traces[str(node), str(channel)] = channel_trace
    return traces


def _check_rises(
    path: Path,
    column: "pd.Series[Any]",
    counter: PowerTrace,
    limits: sampler.Limits,
) -> None:
    """Raises BadInput where the counter rises by more than its meter can have counted.

    Args:
        path: the file.
        column: the counter's readings, indexed by line.
        counter: the same readings.
        limits: what is possible for the meter.
    """
    if counter.counter_j is None:
        return
    rises = np.diff(counter.counter_j)
    for place, seconds in enumerate(np.diff(counter.time_s).tolist()):
        largest_j = limits.joules(seconds)
        if rises[place] > largest_j:
            line, text = column.index[place + 1], column.iloc[place + 1]
            expected = f"at most {largest_j:.4g} J more than before ({limits.max_w:g} W)"
            raise bad_line(path, "energy_j", line, text, expected)
