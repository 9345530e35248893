"""What Score-P saw of a run, beside the run's own record: `spikemark scorep`, and `spikemark run --scorep`.

Score-P leaves a profile (profile.cubex, read with pycubexr), a trace (traces.otf2), or both; the trace is
compared where there is one. A region may
differ from its phase by SHARE of the log and by what lies between its ends and the readings of the clock,
which was 0.2 to 0.3 us a visit with Score-P 8.4.
"""

import contextlib
import os
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pycubexr import CubexParser

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.launch import launch
from spikemark.launch.process import ProgramFailed
from spikemark.quantities.quantity import missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records import otf2_trace, record
from spikemark.records.folder import Folder
from spikemark.records.judged import FOREIGN, SHARED
from spikemark.records.phases import NOT_TIMED
from spikemark.records.run_files import whole
from spikemark.running.measure import carry_out, find, log_text, program, run_to_record

PROFILE, TRACE = "profile.cubex", "traces.otf2"
#: Files, and the variable that asks for each.
NAMES = {PROFILE: "SCOREP_ENABLE_PROFILING", TRACE: "SCOREP_ENABLE_TRACING"}
#: Taken where the environment does not say otherwise. The memory, of each process, is that of a long run: a
#: Score-P that has to write events out in between disturbs what it measures.
SETTINGS = {**dict.fromkeys(NAMES.values(), "true"), "SCOREP_TOTAL_MEMORY": "400M"}
TRUE = ("true", "yes", "on", "1")
SHARE, PER_VISIT_S, TELLING = 0.05, 0.4e-6, 0.5  # TELLING: of a phase, what the visits may make out at most
AGREES, DIFFERS, SHORT, UNSEEN = "agrees", "DIFFERS", "too short to check", "not recorded by Score-P"
MEASURED, BARRIER = "simulate", "MPI_Barrier"  # nothing outside MEASURED counts
LONGEST_S = 1e9  # that a region may take


@dataclass
class Seen:
    """What one file says about one rank in the measured part: s and visits by region, of the first thread."""

    seconds: Counter = field(default_factory=Counter)
    visits: Counter = field(default_factory=Counter)
    waited_s: float | None = None  # at barriers for the last rank; of traces only
    flushes: int = 0  # how often a trace buffer was full and written out


def files(folder: Path) -> list[Path]:
    """All files that the folder has of those that are read, but for the run record."""
    profile = [folder / PROFILE] if (folder / PROFILE).is_file() else []
    return [*profile, *otf2_trace.parts(folder / TRACE)]


# ---------------------------------------------------------------- the two readers


def read_profile(path: Path, ranks: int) -> list[Seen]:
    """By rank. Raises BadInput if the file is truncated, no profile, or of another number of ranks."""
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore")  # of writers whose check sums of headers are wrong
        parser = CubexParser(str(path))
        stack.callback(lambda: getattr(parser, "_cubex_file", None) and parser._cubex_file.close())
        try:
            return _of_cube(stack.enter_context(parser), path, ranks)
        except BadInput:
            raise
        except Exception as error:  # pycubexr fails as it comes: AssertionError, KeyError, struct.error, …
            reason = error or type(error).__name__
            raise BadInput(f"{path}: truncated, compressed, or no profile of Score-P: {reason}") from None


def _of_cube(cube, path: Path, ranks: int) -> list[Seen]:
    metrics = {metric.name: metric for metric in cube.all_metrics()}
    (root,) = cube._anchor_result.system_tree_nodes  # get_locations() does not tell the group
    threads = {}
    for group in root.all_location_groups():
        own = [one for one in group.all_locations() if one.type == "thread"]
        threads[int(group.rank)] = [one.id for one in sorted(own, key=lambda one: int(one.rank))]
    _check_ranks(path, [rank for rank, own in threads.items() if own], ranks)
    values = {name: cube.get_metric_values(metrics[name]) for name in ("time", "visits")}
    seen = [Seen() for _ in range(ranks)]
    for cnode in cube.all_cnodes():
        above, name = cnode, cnode.region.name
        while above is not None and above.region.name != MEASURED:
            above = above.parent
        if above is None:
            continue
        time = values["time"].cnode_values(cnode, convert_to_inclusive=True)
        visits = values["visits"].cnode_values(cnode)
        for rank, one in enumerate(seen):
            one.seconds[name] += float(time[threads[rank][0]])
            one.visits[name] += int(visits[threads[rank][0]])
    return _checked(path, seen)


class _Reading(otf2_trace.Follower):
    def __init__(self, ranks: int):
        self.seen, self.depth = [Seen() for _ in range(ranks)], [0] * ranks  # depth of MEASURED
        self.barriers = defaultdict(dict)  # by communicator and rank: [(begin, end)]

    def begin(self, path: Path, ranks: list[int]) -> None:
        _check_ranks(path, ranks, len(self.seen))

    def enter(self, thread: otf2_trace.Thread, name: str, time: int) -> None:
        self.depth[thread.rank] += thread.first and name == MEASURED

    def leave(self, thread: otf2_trace.Thread, name: str, since: int, time: int) -> None:
        if thread.first and self.depth[thread.rank]:
            self.seen[thread.rank].seconds[name] += time - since
            self.seen[thread.rank].visits[name] += 1
            self.depth[thread.rank] -= name == MEASURED
            if name == BARRIER:
                self.barriers[thread.communicator].setdefault(thread.rank, []).append((since, time))

    def flush(self, thread: otf2_trace.Thread, since: int, time: int) -> None:
        self.seen[thread.rank].flushes += self.depth[thread.rank] > 0


def read_trace(path: Path, ranks: int) -> list[Seen]:
    """By rank. The wait of a rank at a barrier lasts from its own entry to that of the last rank.

    Raises BadInput if a file is missing or truncated, or of another number of ranks.
    """
    reading = _Reading(ranks)
    tick_s = otf2_trace.follow(path, reading)
    for by_rank in reading.barriers.values():
        begins, ends = np.array(list(by_rank.values())).transpose(2, 0, 1)
        waits = np.minimum(begins.max(axis=0) - begins, ends - begins).sum(axis=1)
        for rank, ticks in zip(by_rank, waits, strict=True):
            reading.seen[rank].waited_s = (reading.seen[rank].waited_s or 0.0) + float(ticks) * tick_s
    for one in reading.seen:
        one.seconds = Counter({name: ticks * tick_s for name, ticks in one.seconds.items()})
    return _checked(path, reading.seen)


def _check_ranks(path: Path, there: list[int], ranks: int) -> None:
    if sorted(there) != list(range(ranks)):
        listed = ", ".join(map(str, sorted(there)))
        raise BadInput(f"{path}: ranks {listed}; expected 0 to {ranks - 1}, of the run")


def _checked(path: Path, seen: list[Seen]) -> list[Seen]:
    if not all(one.visits[MEASURED] for one in seen):
        raise BadInput(f"{path}: no region {MEASURED!r}; expected a build with SPIKEMARK_SCOREP")
    for name, seconds in (item for one in seen for item in one.seconds.items()):
        if not 0 <= seconds <= LONGEST_S:
            raise BadInput(f"{path}: {name}: {seconds} s; expected 0 to {LONGEST_S:g}")
    return seen


# ---------------------------------------------------------------- the comparison


@dataclass(frozen=True)
class Check:
    """What Score-P says of a run, beside what its record says.

    `times`: rank, phase, log_s, seen_s, visits, off_s, verdict, reason; `ranks`: barrier_s, waited_s;
    `complaints`: what does not agree.
    """

    times: pd.DataFrame
    ranks: pd.DataFrame
    complaints: list[str]
    warnings: list[str]


def check(folder: Path) -> Check:
    """Compares the trace in `folder`, or else the profile, with the record in `folder`/record, or beside it.

    Raises BadInput naming a file that is missing, truncated, of another number of ranks than the run, or that
    has changed since Spikemark made it (SHA256SUMS).
    """
    sha256.check(folder, files(folder))
    run = record.load(folder / "record" if (folder / "record").is_dir() else folder)
    if run.cycles is None:
        raise BadInput(f"{run.path}: no cycles.npy; expected a run with record.cycles=true")
    if (folder / TRACE).is_file():
        seen = read_trace(folder / TRACE, run.record.ranks)
    elif (folder / PROFILE).is_file():
        seen = read_profile(folder / PROFILE, run.record.ranks)
    else:
        raise BadInput(f"{folder / PROFILE}: not found, nor {TRACE}; expected one of them", code="file")
    times = [
        {"rank": rank, "phase": name, **_time(run, rank, name, one)}
        for rank, one in enumerate(seen)
        for name in run.record.phases
    ]
    barriers = [
        {"barrier_s": one.seconds[BARRIER] if one.visits[BARRIER] else None, "waited_s": one.waited_s}
        for one in seen
    ]
    complaints = [
        f"rank {t['rank']}, {t['phase']}: Score-P is {number(t['off_s'])} s off the {number(t['log_s'])} s"
        for t in times
        if t["verdict"] == DIFFERS
    ]
    said = [f"busy host: {text}" for text in run.record.warnings if text.startswith(FOREIGN + SHARED)]
    if flushes := sum(one.flushes for one in seen):
        said.append(f"trace buffers were written out {counted(flushes, 'time')}; raise SCOREP_TOTAL_MEMORY")
    return Check(pd.DataFrame(times), pd.DataFrame(barriers, dtype=float), complaints, said)


def _time(run: record.Run, rank: int, name: str, seen: Seen) -> dict[str, Any]:
    log_s, seen_s = float(np.sum(run.phase(name)[rank], dtype=np.float64)), seen.seconds[name]
    visits, off_s = seen.visits[name], seen_s - log_s
    known = {"log_s": log_s, "seen_s": seen_s, "visits": visits, "off_s": off_s, "reason": None}
    if np.isnan(log_s):
        return known | {"log_s": None, "off_s": 0.0, "verdict": "not timed by the run", "reason": NOT_TIMED}
    if not visits and log_s > 0:
        return known | {"off_s": 0.0, "verdict": UNSEEN}
    verdict = SHORT if PER_VISIT_S * visits > TELLING * log_s else AGREES
    return known | {"verdict": DIFFERS if abs(off_s) > SHARE * log_s + PER_VISIT_S * visits else verdict}


def table(of: Check) -> Table:
    """A row per phase: the log and Score-P on the rank that differs most, and the verdict of all ranks."""
    order, rows = {DIFFERS: 0, AGREES: 1, SHORT: 2}, []
    for name, part in of.times.groupby("phase", sort=False):
        ranked = part.assign(at=part["verdict"].map(order).fillna(len(order)), off=-part["off_s"].abs())
        worst = ranked.sort_values(["at", "off"]).iloc[0]
        log = missing(worst["reason"]) if pd.isna(worst["log_s"]) else float(worst["log_s"])
        row = {"phase": name, "rank": int(worst["rank"]), "verdict": worst["verdict"]}
        rows.append(row | {"seen_s": float(worst["seen_s"]), "log_s": log})
    columns = [Column("phase", "phase"), Column("verdict", "verdict"), Column("rank", "rank")]
    columns += [Column("log_s", "cycle log (s)", "measured"), Column("seen_s", "Score-P (s)", "measured")]
    return Table(columns, rows, name="phases")


def sentences(of: Check) -> list[str]:
    """The answer."""
    verdicts = list(of.times["verdict"])
    good = verdicts.count(AGREES)
    times = f"{good} of {good + verdicts.count(DIFFERS)} times of phases"
    lines = [f"Score-P agrees with the record in {times}."]
    if of.ranks["waited_s"].notna().any():
        waited, barrier = of.ranks["waited_s"].mean(), of.ranks["barrier_s"].mean()
        lines.append(f"Ranks were {number(barrier)} s in barriers (mean), {number(waited)} s of it waiting.")
    return lines


def content(of: Check) -> dict[str, Any]:
    """The comparison for JSON; null where there is no number."""
    parts = {"times": of.times, "ranks": of.ranks}
    plain = {n: part.astype(object).where(part.notna(), None).to_dict("records") for n, part in parts.items()}
    return {"agrees": not of.complaints, "complaints": of.complaints, "warnings": of.warnings, **plain}


# ---------------------------------------------------------------- the instrumented run


def measure(results: Folder, run: str, launcher: str | None = None) -> Path:
    """Carries out run id `run` of the plan under Score-P and returns the folder for `check`.

    A failure leaves `failed/ID.scorep.log` behind and raises ProgramFailed. Raises BadInput if the plan
    lacks the run, the result exists already, or the instrumented mini-app is missing.
    """
    due, target = find(results, run), results.scorep(run)
    if whole(target / "record"):
        raise BadInput(f"{target}: measured already; move or delete the folder to measure again")
    settings = {name: os.environ.get(name, value) for name, value in SETTINGS.items()}
    asked = [name for name, variable in NAMES.items() if settings[variable].lower() in TRUE]
    measurement = results.unchecked(f"{run}.scorep")
    made = measurement.parent / "run"
    command = program("miniapp_scorep", results.description(run), made)
    start = launch(launcher, command, due.layout)
    settings["SCOREP_EXPERIMENT_DIRECTORY"] = str(measurement.resolve())
    start = replace(start, environment={**start.environment, **settings})
    for empty in (target / "record", target):  # made by Snakemake; anything else is an error here
        with contextlib.suppress(FileNotFoundError):
            empty.rmdir()

    def work() -> dict[str, Any]:
        finished = run_to_record(start, due, made)
        for name in asked:
            if not (measurement / name).is_file():
                reason = f"exit status 0, but Score-P wrote no {name}: is {command[0]} instrumented?"
                raise ProgramFailed(reason, log_text(start, finished))
        sha256.write(measurement, files(measurement))
        os.rename(made, measurement / "record")
        return {"command": start.command, "environment": start.environment}

    return carry_out(due, measurement, target, results.failure(f"{run}.scorep"), work)
