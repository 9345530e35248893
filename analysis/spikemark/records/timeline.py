"""A run as a timeline that Perfetto (ui.perfetto.dev) and chrome://tracing show: a row for each
rank, in which the phases of its cycles follow each other.

Format: the JSON object format of "Trace Event Format" (Chrome's documents): complete events (ph X)
with begin and duration in microseconds, and metadata events (ph M) that name the rows. A rank's
times add up to its wall clock, so that a phase begins where the one before ended. Clocks of ranks
are not compared: all ranks begin at 0, and meet at their barriers again as well as they began
together.
"""

import json
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput

from .phases import PARTS
from .record import Run

#: Events in a file, beyond which the view in a browser becomes slow.
MAX_EVENTS = 400_000
#: The part that a phase belongs to: the category of its events.
PART_OF = {phase: part for part, phases in PARTS.items() for phase in phases}
MICROSECONDS = 1e6
PICOSECOND_DIGITS = 6  #: of times in microseconds


def timeline(run: Run) -> tuple[str, list[str]]:
    """The timeline of a run as JSON, and remarks about what it leaves out.

    Phases that were not timed are no events. Of a long run, the first cycles are shown, up to
    MAX_EVENTS events.

    Raises BadInput for a run without cycles.npy.

    Example:
        >>> from spikemark.records.record import load_run
        >>> text, remarks = timeline(load_run("tests/golden/analysis/records/aware-4"))
        >>> events = json.loads(text)["traceEvents"]
        >>> sorted({event["name"] for event in events if event["ph"] == "X"})[:3]
        ['collocate', 'deliver', 'exchange']
    """
    phases = [name for name in run.record.phases if not np.isnan(run.phase(name)).any()]
    if not phases:
        raise BadInput(field="timing.phases", reason="no phase was timed", file=run.path)
    remarks = []
    if len(phases) < len(run.record.phases):
        untimed = [name for name in run.record.phases if name not in phases]
        remarks.append(f"not timed, and no part of the timeline: {', '.join(untimed)}")
    cycles = run.record.timing.cycles
    shown = min(cycles, max(1, MAX_EVENTS // (run.record.ranks * len(phases))))
    if shown < cycles:
        remarks.append(f"the timeline shows the first {shown} of {cycles} cycles")
    times = np.stack([run.phase(name)[:, :shown] for name in phases], axis=-1)
    name_of_run = run.path.resolve().name
    events = [_named("process_name", name_of_run)]
    for rank in range(run.record.ranks):
        events.append(_named("thread_name", f"rank {rank}", rank))
        events.extend(_of_rank(rank, times[rank].astype(np.float64), phases))
    content = {
        "traceEvents": events,
        "displayTimeUnit": "ns",
        "otherData": {"run": name_of_run, "cycles": cycles, "kind": run.record.kind},
    }
    return json.dumps(content) + "\n", remarks


def _named(kind: str, name: str, rank: int = 0) -> dict[str, Any]:
    """The event that names the process or the row of a rank."""
    return {"ph": "M", "name": kind, "pid": 0, "tid": rank, "args": {"name": name}}


def _of_rank(rank: int, times: np.ndarray, phases: list[str]) -> list[dict[str, Any]]:
    """The events of a rank, from its times [cycle, phase] in s; a phase of no time has none."""
    ends = np.cumsum(times).reshape(times.shape)
    begins = MICROSECONDS * (ends - times)
    durations = MICROSECONDS * times
    events = []
    for cycle, number in np.argwhere(times > 0).tolist():
        name = phases[number]
        events.append(
            {
                "ph": "X",
                "name": name,
                "cat": PART_OF.get(name, name),
                "pid": 0,
                "tid": rank,
                "ts": round(begins[cycle, number], PICOSECOND_DIGITS),
                "dur": round(durations[cycle, number], PICOSECOND_DIGITS),
                "args": {"cycle": cycle},
            }
        )
    return events
