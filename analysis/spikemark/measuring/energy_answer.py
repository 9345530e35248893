"""What `spikemark energy` answers: sentences, a table, details, and the content for JSON."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from spikemark.models import power
from spikemark.quantities.answer import Answer, Screen, frame_of
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import number, percent, with_ends

from .energy import VALUES, Energy
from .meter import PowerReadings
from .quality_level import LEVELS

#: What to do where there is no energy.
ENERGY_ADVICE = (
    "`spikemark run` with record.energy=true reads a meter; --power FILE.csv takes that of another;"
    " --machine NAME models the energy"
)
#: Points of the curve of power in JSON.
MAX_LISTED_POINTS = 2000


@dataclass(frozen=True, repr=False)
class EnergyAnswer(Answer):
    """The energy of a run, in total and per synaptic event.

    `table` has a row for each value: gross energy first, then power, idle and net energy.
    """

    verb = "energy"

    energy: Energy
    kept: Path | None = None  #: the copy of the meter's file among the results, if it was kept

    @property
    def table(self) -> pd.DataFrame:
        """The values with their intervals and units; what is missing has no value."""
        return frame_of(_energy_table(self.energy))

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark energy` prints; with `details`, readings, quality, what is missing."""
        energy = self.energy
        if energy.kind is None:
            return Screen([f"{energy.run.path}: no energy: {energy.reason}", ENERGY_ADVICE])
        notes = _detail_lines(energy) if details else []
        return Screen(_energy_sentences(energy), [_energy_table(energy)], notes)

    def content(self) -> dict[str, Any]:
        """All values, and the curve of power; times in s from the begin of the measured part."""
        return _energy_content(self.energy)


def _energy_sentences(energy: Energy) -> list[str]:
    """The answer, for an energy that is known."""
    gross, per_event = energy.gross_j, energy.per_event[0].gross_uj
    if gross.value is None:
        raise ValueError("no energy, so no sentences")
    low, high = gross.limits
    joule = with_ends(number(gross.value), number(low), number(high))
    seconds = number(energy.duration_s)
    lines = [f"The measured part took {joule} J gross in {seconds} s, {_how(energy)}."]
    if energy.model is not None:
        lines = [
            f"The {seconds} s of the measured part would take {joule} J gross, {_how(energy)}."
        ]
    if per_event.value is not None:
        lines.append(f"That is {number(per_event.value)} µJ per recurrent synaptic event.")
    if energy.level:
        level = energy.level.words
        if energy.level.lacking:
            level = f"{level}; the next one takes {energy.level.lacking[0]}"
        lines.append(f"By the EE HPC WG, the measurement is {level}.")
    return lines + energy.remarks


def _how(energy: Energy) -> str:
    """Whether it was measured or modelled, and with what."""
    if energy.model is None:
        return str(energy.kind)
    nodes = "1 node" if energy.model.nodes == 1 else f"{energy.model.nodes} nodes"
    return f"modelled with the power of {nodes} of {energy.model.name}"


class EnergyRow(NamedTuple):
    """A row of the table."""

    name: str
    value: Quantity


def _energy_table(energy: Energy) -> Table:
    """A row per value with its unit, gross energy first."""
    above: list[EnergyRow] = []
    below: list[EnergyRow] = []
    for name, value in energy.values.items():
        rows_of_values = below if VALUES[name].below_events else above
        rows_of_values.append(EnergyRow(VALUES[name].words, value))
    gross = [
        EnergyRow(f"gross energy per event, {per_event.definition}", per_event.gross_uj)
        for per_event in energy.per_event
    ]
    net = [
        EnergyRow(f"net energy per event, {per_event.definition}", per_event.net_uj)
        for per_event in energy.per_event
    ]
    head, kind = "value, and interval of 95 %", energy.kind or ""
    columns = {
        Column("what", ""): lambda row: row.name,
        Column("value", head, kind, digits=4): lambda row: row.value,
        Column("unit", "unit"): lambda row: row.value.unit,
    }
    rows = [*above, *gross, *net, *below]
    return Table.from_items(columns, rows)


def _detail_lines(energy: Energy) -> list[str]:
    """Where the readings come from, how good they are, and what is missing."""
    lines = []
    if energy.source is not None:
        lines.append(f"source: {energy.source.name} ({', '.join(energy.source.traces)})")
        lines += [f"note: {note}" for note in energy.source.notes]
    if energy.sampling is not None:
        sampling = energy.sampling
        rate = f"{number(1 / sampling.interval_s)} Hz, at most {number(sampling.longest_s)} s apart"
        covered = percent(sampling.coverage, 1)
        lines.append(f"sampling: {sampling.readings} readings, {rate}, cover {covered}")
    if energy.level is not None:
        next_level = energy.level.level + 1
        lines += [f"level {next_level} takes {aspect}" for aspect in energy.level.lacking]
    if energy.model is not None:
        lines.append(f"power of: {energy.model.name}")
        lines += [f"  {source}" for source in energy.model.sources.values()]
    reasons = dict.fromkeys(value.reason for value in energy.values.values() if value.reason)
    return [*lines, *(f"missing: {reason}" for reason in reasons)]


def _energy_content(energy: Energy, max_points: int = MAX_LISTED_POINTS) -> dict[str, Any]:
    """The content for JSON. Times of `power` are in s from the begin of the measured part."""
    fields: dict[str, Any] = {
        "run": str(energy.run.path),
        "kind": energy.kind,
        "source": None,
        "reason": energy.reason,
        "duration_s": energy.duration_s,
    }
    for name, value in energy.values.items():
        fields[name] = value.content()
    fields["per_event"] = [
        {
            "definition": per_event.definition,
            "events": per_event.events,
            "gross_uj": per_event.gross_uj.content(),
            "net_uj": per_event.net_uj.content(),
        }
        for per_event in energy.per_event
    ]
    fields["sampling"] = None
    if energy.sampling is not None:
        rate_hz = 1 / energy.sampling.interval_s
        fields["sampling"] = {**asdict(energy.sampling), "rate_hz": rate_hz}
    fields["level"] = None
    if energy.level is not None:
        level = energy.level
        fields["level"] = {"reached": level.words, "lacking": level.lacking, "source": LEVELS}
    fields["advice"] = None if energy.kind else ENERGY_ADVICE
    fields["model"] = energy.model.content() if energy.model else None
    fields["remarks"] = energy.remarks
    if energy.source is not None:
        fields["source"] = energy.source.name
        fields.update(_readings_content(energy.source, max_points))
    return fields


def _readings_content(source: PowerReadings, max_points: int) -> dict[str, Any]:
    """Notes, channels, and the curve of power with so many points."""
    start, end = source.timeline.measured
    times, watts = power.thinned(*source.trace.points(), max_points)
    return {
        "notes": source.notes,
        "channels": [
            {"name": name, "gross_j": trace.energy_j(start, end)}
            for name, trace in source.traces.items()
        ],
        "power": {"time_s": (times - start).tolist(), "power_w": watts.tolist()},
    }
