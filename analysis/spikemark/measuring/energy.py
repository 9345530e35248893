"""Energy of the simulation phase of a run: gross, idle, net, per synaptic event (Simula et al. 2019, IV-V).

gross = integral of the power over the measured part; idle = idle power x its duration; net = gross - idle.
Gross comes first: procurement rules (EE HPC WG) do not let idle be subtracted. It comes from the readings of
the sampler beside the run, from a meter outside (meter.py), or is modelled from a machine profile.
"""

import hashlib
import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.files import write_atomically, write_json
from spikemark.core.reading import read_json
from spikemark.models import power
from spikemark.models.power import Sampling, Trace
from spikemark.quantities.quantity import Quantity, difference, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent
from spikemark.records import run_files
from spikemark.records.record import Run
from spikemark.records.results import Results, beside
from spikemark.running.energy import COLUMNS

from .meter import Source, Timeline, source, timeline, trace
from .meter import table as table_of

ADVICE = "`spikemark run` with record.energy=true reads a meter; --power FILE.csv takes that of another"
PAUSE_READINGS = 3  # fewest of an idle pause


def plateau(trace: Trace, at: Timeline) -> Quantity:
    """Idle power, W: the longest level in the pause before the run; else the longest below the run's power.

    Power that has not settled at the beginning of the pause is a level of its own and is left out.
    """
    span, below, where = at.idle_before, np.inf, "idle pause"
    if span is None:
        span, below, where = (trace.first, at.busy[0]), trace.mean_w(*at.measured), "before the run"
    times, watts = trace.points()
    margin = trace.interval_s / 2  # a mean between two readings must not include a part of the run
    chosen = (times >= span[0] + margin) & (times <= span[1] - margin)
    times, watts = times[chosen], watts[chosen]
    if len(watts) < PAUSE_READINGS:
        expected = f"{PAUSE_READINGS} or more: record.idle_pause_s, or a meter that starts earlier"
        return missing(f"{where}: {len(watts)} readings; expected {expected}", "W")
    levels = [s for s in power.segments(watts) if s.mean < below and s.readings >= PAUSE_READINGS]
    if not levels:
        return missing(f"{where}: no level below the power of the run", "W")
    longest = max(levels, key=lambda s: times[s.last - 1] - times[s.first])
    return power.level(watts[longest.first : longest.last], trace.step_w)


# ---------------------------------------------------------------- the EE HPC WG's levels

LEVELS = "EE HPC WG, Power Measurement Methodology 2.0 (2015), summary of aspects and quality levels"
LONGEST_INTERVAL_S, CORE_PHASE_S, CORE_READINGS = 1.0, 60.0, 10
ACCURACY_PERCENT = {1: 5.0, 2: 2.0}
TOLERANCE = 1.05  # clocks and averaging make readings a second apart a little more than a second apart


class Reached(NamedTuple):
    """The level of the EE HPC WG that was reached, 0 for below level 1; `lacking`: aspects of the next one.

    Level 3 requires energy that the meter integrates at 100 or 120 readings a second. No reading here can
    show that, so it is never given.
    """

    level: int
    lacking: list[str]

    @property
    def words(self) -> str:
        return f"level {self.level}" if self.level else "below level 1"


def reached(sampling: Sampling, trace: Trace, at: Timeline, idle: bool, at_wall: float | None) -> Reached:
    """The level of a measurement. `at_wall`: accuracy in %, of a meter of the whole machine, or None."""
    accuracy = math.inf if at_wall is None else at_wall
    whole = sampling.coverage >= 0.999 and at.duration_s >= CORE_PHASE_S
    first = {
        "a reading per second": sampling.longest_s <= LONGEST_INTERVAL_S * TOLERANCE,
        "readings of a core phase of a minute or more": whole,
        "a meter of the whole machine (--at-wall)": at_wall is not None,
        f"accuracy of {ACCURACY_PERCENT[1]:g} %": accuracy <= ACCURACY_PERCENT[1],
    }
    second = {
        f"accuracy of {ACCURACY_PERCENT[2]:g} %": accuracy <= ACCURACY_PERCENT[2],
        "readings of the full run": trace.covers(*at.known),
        f"{CORE_READINGS} readings in the core phase": sampling.readings >= CORE_READINGS,
        "idle power": idle,
    }
    lacking = [[aspect for aspect, met in of.items() if not met] for of in (first, second)]
    level = 0 if lacking[0] else 1 if lacking[1] else 2
    return Reached(level, lacking[0] or lacking[1])


# ---------------------------------------------------------------- energy


class PerEvent(NamedTuple):
    """Energy per synaptic event, in microjoule, for one definition of the event."""

    definition: str
    events: int
    gross_uj: Quantity
    net_uj: Quantity


#: Values of an energy, with their names; the energy-delay product is energy x duration.
VALUES = {
    "gross_j": "gross energy", "mean_w": "mean power", "idle_w": "idle power", "idle_j": "idle energy",
    "net_j": "net energy", "gross_delay_js": "energy-delay product, gross",
}  # fmt: skip


@dataclass(frozen=True)
class Energy:
    """The energy of a run; `kind` is measured or modelled, or None where every value says why it is missing.

    `model`: what the power was modelled from.
    """

    run: Run = field(repr=False)
    kind: str | None
    duration_s: float
    gross_j: Quantity
    idle_w: Quantity
    source: Source | None = field(default=None, repr=False)
    sampling: Sampling | None = None
    level: Reached | None = None
    model: dict[str, Any] | None = None

    @property
    def net_j(self) -> Quantity:
        return difference(self.gross_j, self.idle_w.times(self.duration_s, "J"))

    @property
    def values(self) -> dict[str, Quantity]:
        lasts, gross = self.duration_s, self.gross_j
        found = (gross, gross.times(1 / lasts, "W"), self.idle_w, self.idle_w.times(lasts, "J"), self.net_j,
                 gross.times(lasts, "J s"))  # fmt: skip
        return dict(zip(VALUES, found, strict=True))

    @property
    def reason(self) -> str | None:
        return self.gross_j.reason

    @property
    def per_event(self) -> list[PerEvent]:
        """Energies for both definitions of an event; Simula et al. 2019 do not say which one they used."""
        totals, none = self.run.record.totals, missing("no synaptic event", "µJ")
        counts = {"recurrent": totals.synaptic_events,
                  "recurrent + external": totals.synaptic_events + totals.external_events}  # fmt: skip
        return [
            PerEvent(name, n, *(e.times(1e6 / n, "µJ") if n else none for e in (self.gross_j, self.net_j)))
            for name, n in counts.items()
        ]


def measured(run: Run, of: Source) -> Energy:
    """Energy from readings that cover the measured part of the run."""
    at, trace = of.timeline, of.trace
    idle, found = plateau(trace, at), Sampling.of(list(of.traces.values()), *at.measured)
    level = reached(found, trace, at, bool(idle), of.at_wall_percent)
    return Energy(run, "measured", at.duration_s, power.energy(trace, *at.measured), idle, of, found, level)


def of_run(run: Run) -> Energy:
    """Energy from the power kept for the run, or else its own readings, or the reason why there is none.

    Raises BadInput for bad files.
    """
    about = run.record.energy
    if (kept := _kept(run)) is not None:
        return measured(run, kept)
    if about is None:
        why = run.record.energy_reason or "energy was not asked for (record.energy is false)"
    elif about.status != "ok":
        why = about.reason or f"the meter {about.source} was {about.status}"
    elif (found := measured(run, own(run))).gross_j:
        return found
    else:
        why = f"the meter {about.source}: {found.gross_j.reason}"
    return Energy(run, None, run.record.timing.simulate_s, missing(why, "J"), missing(why, "W"))


def own(run: Run) -> Source:
    """The readings of energy.csv beside the record. Raises BadInput for bad files."""
    about, found = run.record.energy, readings(run.path / run_files.ENERGY)
    traces = {f"{name} on node {node}": trace for (node, name), trace in found.items()}
    notes = [f"reading took up to {100 * about.sampling_cost:.2g} % of a processor"]
    notes += [f"{c.name} on node {c.node}: {c.failed} readings failed" for c in about.channels if c.failed]
    return Source(about.source, traces, timeline(run), notes=notes)


def readings(path: Path) -> dict[tuple[str, str], Trace]:
    """The traces of a file like energy.csv, by node and channel. Raises BadInput naming the line."""
    rows, traces = table_of(path, "a run with energy in its record has it"), {}
    if not len(rows) or not {*COLUMNS} <= {*rows}:
        raise BadInput(f"{path}: truncated; expected the columns {', '.join(COLUMNS)} and a line of them")
    for key, own in rows.groupby(["node", "channel"], sort=False):
        unit = "energy_j" if own["energy_j"].iloc[0] else "power_w"
        traces[key] = trace(path, own["time_s"], own[unit], counter=unit == "energy_j")
    return traces


# ---------------------------------------------------------------- power of a meter, kept for a run of a sweep


class Placed(BaseModel):
    """RESULTS/power/ID.json: the file's own name, its copy, and arguments of `meter.source`."""

    model_config = ConfigDict(strict=True, extra="forbid")

    file: str
    csv: str
    channels: list[str] | None
    offset_s: float
    align: str
    at_wall_percent: float | None


def keep(run: Run, path: Path, **placed: Any) -> Path:
    """Copies a meter's CSV, and how it was placed in time, into the results of the run's sweep.

    `placed` are the arguments of `meter.source`. Runs share a copy. Returns RESULTS/power/ID.json. Raises
    BadInput for a run that is in no results folder.
    """
    at = beside(run.path, Results.power)
    if at is None:
        raise BadInput.of("keep", str(run.path), "a run in results/…/runs/ID of a sweep")
    content = path.read_bytes()
    copy = f"{hashlib.sha256(content).hexdigest()[:12]}.csv"
    if not (at.parent / copy).is_file():
        write_atomically(at.parent / copy, content)
    write_json(at, Placed(file=path.name, csv=copy, **placed).model_dump())
    return at


def _kept(run: Run) -> Source | None:
    at = beside(run.path, Results.power)
    if at is None or not at.is_file():
        return None
    placed = checked(Placed, read_json(at), at, "power", "; delete it, or --keep it again").model_dump()
    name, copy = placed.pop("file"), placed.pop("csv")
    return replace(source(run, at.parent / copy, **placed), name=name)


# ---------------------------------------------------------------- modelled from a machine


def on_machine(run: Run, profile: "machines.Profile", nodes: int | None = None) -> Energy:
    """Energy as if the run had taken as long on nodes of `profile`, with every thread on a core always busy.

    P = nodes x power.idle + busy cores x power.core + cards in use x power.card. `nodes` defaults to those of
    a simulated run, or else to as few as provide the cores. Raises BadInput for nodes with too few cores and
    for a profile without the power.
    """
    ranks, threads = run.record.ranks, run.record.threads
    if run.simulation is not None:
        threads = run.simulation["threads"]
        nodes = nodes or math.ceil(ranks / run.simulation["ranks_per_node"])
    busy, filled = ranks * threads, machines.filled(profile)
    least = math.ceil(busy / int(profile.need("node.cores", "modelled energy").value))
    nodes = nodes or least
    if nodes < least:
        needed = f"{least} or more nodes of {profile.name} for {ranks} ranks x {threads} threads"
        raise BadInput.of("nodes", nodes, needed)
    counts = {"idle_w": nodes, "core_w": busy} | ({"card_w": nodes} if nodes > 1 else {})
    watts, sources = {}, {}
    for name in counts:
        path = f"power.{name.removesuffix('_w')}"
        found = filled.need(path, "modelled energy")
        watts[name] = float(found.value)
        sources[name] = f"{path} = {found.value:g} W of {profile.name} ({found.kind}): {found.reference}"
    lasts = run.record.timing.simulate_s
    idle = Quantity(nodes * watts["idle_w"], unit="W", kind="modelled")
    gross = Quantity(sum(n * watts[name] for name, n in counts.items()), unit="W", kind="modelled")
    model = {"name": profile.title, **watts, "idle_w": idle.value, "sources": sources}
    return Energy(run, "modelled", lasts, gross.times(lasts, "J"), idle, model=model)


# ---------------------------------------------------------------- for people and programs


def sentences(found: Energy) -> list[str]:
    """The answer."""
    gross, event = found.gross_j, found.per_event[0].gross_uj
    ends = f" ({number(gross.low)} to {number(gross.high)})" if gross.interval else ""
    took = f"{number(gross.value)}{ends} J gross in {number(found.duration_s)} s"
    how = f"modelled with the power of {found.model['name']}" if found.model else found.kind
    lines = [f"The measured part took {took}, {how}."]
    if event:
        lines.append(f"That is {number(event.value)} µJ per recurrent synaptic event.")
    if found.level:
        lacking = f"; the next one takes {found.level.lacking[0]}" if found.level.lacking else ""
        lines.append(f"By the EE HPC WG, the measurement is {found.level.words}{lacking}.")
    return lines


def table(found: Energy) -> Table:
    """A row per value with its unit, gross energy first."""
    rows, per = [(VALUES[name], value) for name, value in found.values.items()], "energy per event"
    events = [(f"gross {per}, {e.definition}", e.gross_uj) for e in found.per_event]
    events += [(f"net {per}, {e.definition}", e.net_uj) for e in found.per_event]
    columns = {
        Column("what", ""): lambda row: row[0],
        Column("value", "value, and interval of 95 %", found.kind or "", digits=4): lambda row: row[1],
        Column("unit", "unit"): lambda row: row[1].unit,
    }
    return Table.of(columns, rows[:5] + events + rows[5:])


def details(found: Energy) -> list[str]:
    """Where the readings come from, how good they are, and what is missing."""
    lines = []
    if found.source:
        lines.append(f"source: {found.source.name} ({', '.join(found.source.traces)})")
        lines += [f"note: {note}" for note in found.source.notes]
        s = found.sampling
        apart = f"{number(1 / s.interval_s)} Hz, at most {number(s.longest_s)} s apart"
        lines.append(f"sampling: {s.readings} readings, {apart}, cover {percent(s.coverage, 1)}")
        lines += [f"level {found.level.level + 1} takes {aspect}" for aspect in found.level.lacking]
    if found.model:
        lines += [f"power of: {found.model['name']}", *map("  {}".format, found.model["sources"].values())]
    reasons = (value.reason for value in found.values.values())
    return [*lines, *(f"missing: {reason}" for reason in dict.fromkeys(filter(None, reasons)))]


def content(found: Energy, most: int = 2000) -> dict[str, Any]:
    """The content for JSON. Times of `power` are in s from the begin of the measured part."""
    s, of = found.sampling, found.source
    made = {
        "run": str(found.run.path), "kind": found.kind, "source": of and of.name, "reason": found.reason,
        "duration_s": found.duration_s, **{name: v.content() for name, v in found.values.items()},
        "per_event": [e._asdict() | {"gross_uj": e.gross_uj.content(), "net_uj": e.net_uj.content()}
                      for e in found.per_event],
        "sampling": s and {**asdict(s), "rate_hz": 1 / s.interval_s},
        "level": found.level and {"reached": found.level.words, "lacking": found.level.lacking,
                                  "source": LEVELS},
        "advice": None if found.kind else ADVICE, "model": found.model,
    }  # fmt: skip
    if of:
        zero, end = of.timeline.measured
        times, watts = power.thinned(*of.trace.points(), most)
        made |= {
            "notes": of.notes,
            "channels": [{"name": n, "gross_j": t.energy_j(zero, end)} for n, t in of.traces.items()],
            "power": {"time_s": (times - zero).tolist(), "power_w": watts.tolist()},
        }
    return made
