"""Which counters this machine has besides clocks, and what others would add."""

from collections import defaultdict

from spikemark.quantities.elements import Section
from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records.cases import View

TITLE = "Counters"
EXPLAINED = (
    "What did the machine count besides time? The mini-app reads the counters of the processor and of the "
    "operating system over the timed part of a run, for all ranks and threads together. The table also "
    "lists counters that were not found; such a count is missing, not zero."
)
HARDWARE = ("instructions", "cycles", "last_level_misses", "l1_misses", "stalled_cycles")
WOULD_ADD = (
    "A machine on which {names} can be read would add three numbers for each phase: instructions per cycle, "
    "the share of cycles that wait for memory, and cache misses per synaptic event. Virtual machines often "
    "hide these counters; elsewhere the administrator may have to allow them (kernel.perf_event_paranoid)."
)
NOT_ASKED = (
    "Hardware counters: no run read them, since that takes time (`record.counters`); `spikemark sweep "
    "counters` reads them."
)


def section(view: View) -> Section:
    """Shows how each counter was read, and what the lacking ones would add."""
    found = defaultdict(list)  # what a line says -> (value, synaptic events)
    for m in view.sweep.runs:
        for meter in m.run.record.meters:
            if meter.phase is None:
                key = (meter.name, meter.source, meter.event, meter.status, meter.reason, meter.unit)
                found[key].append((meter.value, m.run.record.totals.synaptic_events))
    if not found:
        return Section("counters", TITLE, text=[EXPLAINED], missing=["Counters: no run has any."])
    asked = {name for name, *_ in found} & set(HARDWARE)
    read = {name for name, _, _, status, *_ in found if status == "ok"}
    lacking = [name.replace("_", " ") for name in HARDWARE if name not in read]
    return Section(
        "counters",
        TITLE,
        text=[EXPLAINED, *([WOULD_ADD.format(names=", ".join(lacking))] if lacking else [])],
        tables=[_table(found, view.kind)],
        missing=[] if asked else [NOT_ASKED],
    )


def _table(found: dict, kind: str) -> Table:
    def per_event(key: tuple) -> Cell:
        *_, reason, unit = key
        each = [value / events for value, events in found[key] if value is not None and events]
        return f"{number(sum(each) / len(each))} {unit}" if each else missing(reason or "not read")

    columns = {
        Column("what", "what"): lambda key: key[0].replace("_", " "),
        Column("meter", "meter"): lambda key: key[1],
        Column("event", "counted as"): lambda key: key[2],
        Column("status", "status"): lambda key: f"{key[3]}: {key[4]}" if key[4] else key[3],
        Column("runs", "runs", "counted", words=lambda n: counted(n, "run")): lambda key: len(found[key]),
        Column("each", "per synaptic event, mean", kind): per_event,
    }
    return Table.of(columns, found, "What was read")
