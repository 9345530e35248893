"""What Score-P saw of a run, beside the run's own record: `spikemark scorep`.

The trace is compared where there is one, or else the profile (scorep_files.py). A region may differ
from its phase by TOLERATED_SHARE of the log and by what lies between its ends and the readings of
the clock, which was 0.2 to 0.3 us a visit with Score-P 8.4.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records import record
from spikemark.records.phases import NOT_TIMED

from .scorep_files import BARRIER, PROFILE, TRACE, RegionTimes, files, read_profile, read_trace

#: A region may differ from its phase by this share of it, and by this time of each visit.
TOLERATED_SHARE, TOLERATED_PER_VISIT_S = 0.05, 0.4e-6
#: A phase is too short to check if the tolerance of its visits is a larger share of it.
MAX_SHARE_OF_VISITS = 0.5
#: Verdicts on a phase of a rank.
AGREES = "agrees"
DIFFERS = "DIFFERS"
SHORT = "too short to check"
UNSEEN = "not recorded by Score-P"
NOT_TIMED_BY_RUN = "not timed by the run"
#: Which verdict stands for a phase where ranks have several: the one that comes first.
SEVERITY = {DIFFERS: 0, AGREES: 1, SHORT: 2, UNSEEN: 3, NOT_TIMED_BY_RUN: 3}


@dataclass(frozen=True)
class ScorepCheck:
    """What Score-P says of a run, beside what its record says."""

    #: rank, phase, log_s, seen_s (by Score-P), visits, off_s, verdict, reason
    times: pd.DataFrame
    ranks: pd.DataFrame  #: barrier_s, waited_s
    complaints: list[str]  #: what does not agree
    warnings: list[str]


def check(folder: Path) -> ScorepCheck:
    """Compares the trace in `folder`, or else the profile, with the record of the run.

    The record is in `folder`/record, or beside the trace. Raises BadInput naming a file that is
    missing, truncated, of another number of ranks than the run, or that has changed since Spikemark
    made it (SHA256SUMS).

    Example:
        >>> check(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/record.json: not found; a finished run holds ...
    """
    sha256.check(folder, files(folder))
    run = record.load_run(folder / "record" if (folder / "record").is_dir() else folder)
    if run.cycles is None:
        expected = "a run with record.cycles=true"
        raise BadInput(
            reason="no cycles.npy",
            expected=expected,
            file=run.path,
            code="file",
        )
    seen = _seen(folder, run.record.ranks)
    times = []
    for rank, region_times in enumerate(seen):
        for phase in run.record.phases:
            times.append({"rank": rank, "phase": phase, **_time(run, rank, phase, region_times)})
    barriers = pd.DataFrame([_barriers(region_times) for region_times in seen], dtype=float)
    complaints = [_complaint(time) for time in times if time["verdict"] == DIFFERS]
    return ScorepCheck(pd.DataFrame(times), barriers, complaints, _warnings(run, seen))


def _seen(folder: Path, ranks: int) -> list[RegionTimes]:
    """What Score-P says of each rank. Raises BadInput where there is no file of Score-P."""
    if (folder / TRACE).is_file():
        return read_trace(folder / TRACE, ranks)
    if (folder / PROFILE).is_file():
        return read_profile(folder / PROFILE, ranks)
    reason = f"not found, nor {TRACE}"
    raise BadInput(
        reason=reason,
        expected="one of them",
        file=folder / PROFILE,
        code="file",
    )


def _barriers(times: RegionTimes) -> dict[str, float | None]:
    """Time in barriers of a rank, and how long it waited there."""
    barrier_s = times.seconds[BARRIER] if times.visits[BARRIER] else None
    return {"barrier_s": barrier_s, "waited_s": times.waited_s}


def _complaint(time: dict[str, Any]) -> str:
    """A line on a time that differs."""
    difference = f"{number(time['off_s'])} s off the {number(time['log_s'])} s"
    return f"rank {time['rank']}, {time['phase']}: Score-P is {difference}"


def _warnings(run: record.Run, seen: list[RegionTimes]) -> list[str]:
    """What disturbed the run, and what is missing in its traces."""
    warnings = run.cautions
    flushes = sum(times.flushes for times in seen)
    if flushes:
        written = f"trace buffers were written out {counted(flushes, 'time')}"
        warnings.append(f"{written}; raise SCOREP_TOTAL_MEMORY")
    return warnings


def _time(run: record.Run, rank: int, phase: str, seen: RegionTimes) -> dict[str, Any]:
    """The time of a phase by the run's log and by Score-P, and the verdict."""
    log_s = float(np.sum(run.phase(phase)[rank], dtype=np.float64))
    seen_s, visits = seen.seconds[phase], seen.visits[phase]
    time = {
        "log_s": log_s,
        "seen_s": seen_s,
        "visits": visits,
        "off_s": seen_s - log_s,
        "reason": None,
        "verdict": _verdict(log_s, seen_s, visits),
    }
    if time["verdict"] == NOT_TIMED_BY_RUN:
        return time | {"log_s": None, "off_s": 0.0, "reason": NOT_TIMED}
    if time["verdict"] == UNSEEN:
        return time | {"off_s": 0.0}
    return time


def _verdict(log_s: float, seen_s: float, visits: int) -> str:
    """Whether times of a phase by the log and by Score-P agree."""
    if np.isnan(log_s):
        return NOT_TIMED_BY_RUN
    if not visits and log_s > 0:
        return UNSEEN
    of_visits_s = TOLERATED_PER_VISIT_S * visits
    if abs(seen_s - log_s) > TOLERATED_SHARE * log_s + of_visits_s:
        return DIFFERS
    if of_visits_s > MAX_SHARE_OF_VISITS * log_s:
        return SHORT
    return AGREES


def phase_table(comparison: ScorepCheck) -> Table:
    """A row per phase: the log and Score-P on the rank that differs most, and the verdict of all
    ranks.

    Example:
        >>> time = {"rank": 0, "phase": "update", "log_s": 1.0, "seen_s": 1.01, "off_s": 0.01}
        >>> times = pd.DataFrame([time | {"verdict": AGREES, "visits": 100, "reason": ""}])
        >>> comparison = ScorepCheck(times, pd.DataFrame(), complaints=[], warnings=[])
        >>> [(row["phase"], row["verdict"]) for row in phase_table(comparison).rows]
        [('update', 'agrees')]
    """
    rows = []
    for phase, part in comparison.times.groupby("phase", sort=False):
        ranked = part.assign(
            severity=part["verdict"].map(SEVERITY),
            off=-part["off_s"].abs(),
        )
        worst = ranked.sort_values(["severity", "off"]).iloc[0]
        log: Cell = missing(NOT_TIMED)
        if pd.notna(worst["log_s"]):
            log = float(worst["log_s"])
        row: dict[str, Cell] = {
            "phase": str(phase),
            "rank": int(worst["rank"]),
            "verdict": str(worst["verdict"]),
            "seen_s": float(worst["seen_s"]),
            "log_s": log,
        }
        rows.append(row)
    columns = [
        Column("phase", "phase"),
        Column("verdict", "verdict"),
        Column("rank", "rank"),
        Column("log_s", "cycle log (s)", "measured"),
        Column("seen_s", "Score-P (s)", "measured"),
    ]
    return Table(columns, rows, name="phases")


def sentences(comparison: ScorepCheck) -> list[str]:
    """The answer.

    Example:
        >>> times = pd.DataFrame({"verdict": [AGREES, AGREES, DIFFERS]})
        >>> barriers = pd.DataFrame({"barrier_s": [0.2, 0.4], "waited_s": [0.1, 0.3]})
        >>> for line in sentences(ScorepCheck(times, barriers, complaints=[], warnings=[])):
        ...     print(line)
        Score-P agrees with the record in 2 of 3 times of phases.
        Ranks were 0.300 s in barriers (mean), 0.200 s of it waiting.
    """
    verdicts = list(comparison.times["verdict"])
    agreeing = verdicts.count(AGREES)
    checked = agreeing + verdicts.count(DIFFERS)
    lines = [f"Score-P agrees with the record in {agreeing} of {checked} times of phases."]
    waited_s, barrier_s = comparison.ranks["waited_s"], comparison.ranks["barrier_s"]
    if waited_s.notna().any():
        in_barriers = f"{number(barrier_s.mean())} s in barriers (mean)"
        lines.append(f"Ranks were {in_barriers}, {number(waited_s.mean())} s of it waiting.")
    return lines


def comparison_json(comparison: ScorepCheck) -> dict[str, Any]:
    """The comparison for JSON; null where there is no number.

    Example:
        >>> times = pd.DataFrame({"rank": [0], "verdict": [AGREES]})
        >>> comparison = ScorepCheck(times, pd.DataFrame(), complaints=[], warnings=[])
        >>> comparison_json(comparison)["agrees"]
        True
    """
    return {
        "agrees": not comparison.complaints,
        "complaints": comparison.complaints,
        "warnings": comparison.warnings,
        "times": _records(comparison.times),
        "ranks": _records(comparison.ranks),
    }


def _records(frame: pd.DataFrame) -> list[dict[Any, Any]]:
    """The rows of a frame, with None where there is no number."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")
