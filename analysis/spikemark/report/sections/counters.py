"""What was read besides clocks: which counters this machine has, and what others would add."""

from collections import defaultdict

from spikemark.quantities.elements import Section, Table
from spikemark.quantities.words import counted, number
from spikemark.records.cases import View

TITLE = "Counters"
EXPLAINED = (
    "Besides times, the mini-app reads what processor and operating system count, in the measured part, over "
    "all ranks and threads. What was looked for and not found stands here, too; it is missing, not zero."
)
HARDWARE = ("instructions", "cycles", "last_level_misses", "l1_misses", "stalled_cycles")
WOULD_ADD = (
    "A machine on which {names} can be read would add, for each phase: instructions per cycle, the share of "
    "cycles that wait for memory, and cache misses per synaptic event, measured instead of simulated. "
    "Virtual machines often hide these counters; elsewhere the administrator may have to allow them "
    "(kernel.perf_event_paranoid)."
)
NOT_ASKED = (
    "Hardware counters: no run asked for them (`record.counters`), since reading them takes time;"
    " `spikemark sweep counters` does."
)


def section(view: View) -> Section:
    """One line for each counter and how it was read, and what those that are lacking would add."""
    found = defaultdict(list)  # what a line says -> (value, synaptic events)
    for m in view.sweep.runs:
        for meter in m.run.record.meters:
            if meter.phase is None:
                key = (
                    meter.name,
                    meter.source,
                    meter.event or "",
                    meter.status,
                    meter.reason or "",
                    meter.unit,
                )
                found[key].append((meter.value, m.run.record.totals.synaptic_events))
    if not found:
        return Section("counters", TITLE, text=[EXPLAINED], missing=["Counters: no run has any."])
    asked = {name for name, *_ in found} & set(HARDWARE)
    read = {name for name, _, _, status, *_ in found if status == "ok"}
    missing = [] if asked else [NOT_ASKED]
    lacking = [name.replace("_", " ") for name in HARDWARE if name not in read]
    text = [EXPLAINED, *([WOULD_ADD.format(names=", ".join(lacking))] if lacking else [])]
    return Section("counters", TITLE, text=text, tables=[("What was read", _table(found))], missing=missing)


def _table(found: dict) -> Table:
    rows = []
    for (name, source, event, status, reason, unit), values in found.items():
        each = [value / events for value, events in values if value is not None and events]
        rows.append([
            name.replace("_", " "),
            source,
            event,
            f"{status}: {reason}" if reason else status,
            counted(len(values), "run"),
            f"{number(sum(each) / len(each))} {unit}" if each else "missing",
        ])  # fmt: skip
    heads = ["what", "meter", "counted as", "status", "runs", "per synaptic event, mean"]
    return Table(heads, rows, ["", "", "", "", "counted", "measured"], words=(0, 1, 2, 3))
