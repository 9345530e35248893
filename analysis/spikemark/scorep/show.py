"""The comparison with Score-P as a table for people and as JSON."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from spikemark.core import sha256
from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number, percent

from . import files
from .check import AGREES, DIFFERS, PER_VISIT_S, SHARE, SHORT, Check, Time

#: Said wherever the figures are shown.
ALLOWED = f"{percent(SHARE)} of the log and {number(1e6 * PER_VISIT_S)} µs for each visit"
WITHOUT = {
    files.PROFILE: f"no {files.PROFILE}: times are those of the trace",
    files.TRACE: f"no {files.TRACE}: the wait for the last rank and flushes of trace buffers are not known",
}
NO_TRACE = missing(f"no {files.TRACE}", mark="no trace")
NOT_RECORDED = missing("no call of MPI_Barrier was recorded (SCOREP_MPI_ENABLE_GROUPS)", mark="not recorded")
UNSUMMED = (
    f"no {sha256.NAME}, which `spikemark run --scorep` writes when a run ends: bytes that changed since then"
    " are noticed only where they contradict the cycle log, the counts, or each other"
)
FLUSHED = (
    "rank {rank}: trace buffers were full and written out {times} in the measured part, for {seconds} s, so"
    " times are disturbed. Raise SCOREP_TOTAL_MEMORY, or cut time.simulate_ms"
)


def regions(found: Check) -> Table:
    """A row for each rank: seconds in each region, at barriers, and there until the last rank arrived."""
    untraced = NO_TRACE if files.TRACE not in found.found else NOT_RECORDED

    def seen(phase: str) -> Callable[[Any], float | None]:
        return lambda one: one.phases[phase].seen_s

    columns = {
        Column("rank", "rank"): lambda one: one.rank,
        **{Column(phase, phase, "measured"): seen(phase) for phase in found.ranks[0].phases},
        Column("barrier", "MPI_Barrier", "measured"): lambda one: (
            NOT_RECORDED if one.barrier.seen_s is None else one.barrier.seen_s
        ),
        Column("waited", "of it waiting", "measured"): lambda one: (
            untraced if one.waited_s is None else one.waited_s
        ),
    }
    return Table.of(columns, found.ranks, f"{found.path} ({found.about}): seconds by Score-P")


def agreement(found: Check) -> list[str]:
    """A line for each phase and count, with the rank that differs most, and what disturbed the run."""
    lines = [f"Score-P beside the run's own cycle log; allowed: {ALLOWED}"]
    for name in found.ranks[0].phases:
        lines.append(f"  {name}: {_of_phase({one.rank: one.phases[name] for one in found.ranks})}")
    for name in found.ranks[0].counts:
        agrees = all(one.counts[name].agrees for one in found.ranks)
        total = sum(one.counts[name].record for one in found.ranks)
        lacking = [
            f", not in the {file}"
            for file, of_all in (
                ("profile", [one.counts[name].profile for one in found.ranks]),
                ("trace", [one.counts[name].trace for one in found.ranks]),
            )
            if not any(value is not None for value in of_all)
        ]
        lines.append(f"  {name}: {AGREES if agrees else DIFFERS}, {total} in the record{''.join(lacking)}")
    return [*lines, *(f"warning: {line}" for line in warnings(found))]


def _of_phase(times: dict[int, Time]) -> str:
    """The verdict on a phase, by the times of all ranks."""
    rank = max(times, key=lambda one: (times[one].verdict == DIFFERS, abs(times[one].difference_s)))
    time = times[rank]
    if time.verdict not in (AGREES, DIFFERS, SHORT):
        return f"{time.verdict}{f': {time.reason}' if time.reason else ''}"
    if time.verdict == SHORT:
        return f"{SHORT}, {number(1e6 * time.log_s / time.visits)} µs a visit, rank {rank}"
    return f"{time.verdict}, by {number(time.difference_s)} s at most of {number(time.log_s)} s, rank {rank}"


def warnings(found: Check) -> list[str]:
    """Remarks on missing parts, and on other reasons for which times differ."""
    lines = [line for file, line in WITHOUT.items() if file not in found.found]
    lines += [] if found.summed else [UNSUMMED]
    for one in found.ranks:
        if one.flushes and one.flushes.number:
            times, seconds = counted(one.flushes.number, "time"), number(one.flushes.seconds)
            lines.append(FLUSHED.format(rank=one.rank, times=times, seconds=seconds))
    return lines + [f"busy host, so times may differ for that reason: {text}" for text in found.warnings]


def content(found: Check) -> dict[str, Any]:
    """The comparison for JSON; times in seconds, null where there is none."""
    ranks = []
    for one in found.ranks:
        entry = asdict(one)
        for name, time in one.phases.items():
            agrees = {AGREES: True, DIFFERS: False}.get(time.verdict)
            entry["phases"][name] |= {"allowed_s": time.allowed_s, "verdict": time.verdict, "agrees": agrees}
        for name, count in one.counts.items():
            entry["counts"][name]["agrees"] = count.agrees
        del entry["barrier"]["log_s"], entry["barrier"]["reason"]
        ranks.append(entry)
    return {
        "tolerance": {"share": SHARE, "per_visit_s": PER_VISIT_S},
        "run": found.about,
        "files": list(found.found),
        "agrees": not found.complaints,
        "complaints": found.complaints,
        "check_sums": found.summed,
        "warnings": warnings(found),
        "ranks": ranks,
    }
