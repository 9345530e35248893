"""One repetition: its record, the lines of its ranks and its times, read and of the right form."""

from __future__ import annotations

import csv
import hashlib
import os
from dataclasses import dataclass, field
from datetime import datetime

from .arrays import Times
from .findings import Report
from .forms import COUNTS, LAUNCH, of_record
from .reading import Absent, Unusable, json_of, text_of

SECONDS = ("build_s", "simulate_s")
CELL = 40  # characters of a number in a table


@dataclass
class Repetition:
    """A repetition whose record has its form. `ranks` and `times` are None where they cannot be used."""

    folder: str  # relative to the answer
    path: str
    record: dict
    ranks: list | None = None  # one dict per rank, in order: counts, seconds, checksum
    times: Times | None = None
    launch: dict = field(default_factory=dict)
    sums: list = field(default_factory=list)  # [rank][phase] s, filled in by the check of times

    @property
    def measured(self) -> bool:
        """True if the record says that it was measured."""
        return self.record.get("kind", "measured") == "measured"

    @property
    def span(self):
        """Begin and end of the measured part in s of the Unix epoch; None where the record does not say."""
        timing = self.record["timing"]
        first, last = timing["simulate_started_s"], timing["simulate_ended_s"]
        return None if first is None or last is None else (first, last)

    def phase(self, name: str) -> int | None:
        """The place of a phase; None where the record has none of that name."""
        phases = self.record["phases"]
        return phases.index(name) if name in phases else None


def drawn(text: str, number: int) -> float:
    """A share from 0 to below 1 that follows from a text, so that nobody can choose it; one per number."""
    digest = hashlib.sha256(f"{number} {text}".encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48


def seconds_of(date: str) -> float | None:
    """A date of ISO 8601 in s of the Unix epoch; None for an impossible one."""
    try:
        return datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return None


def read_repetition(answer: str, folder: str, report: Report) -> Repetition | None:
    """Reads runs/NAME/K of an answer; None, with findings, where its record cannot be used."""
    path = os.path.join(answer, *folder.split("/"))
    record = _form(path, folder, "record.json", of_record, report)
    if record is None:
        return None
    found = Repetition(folder, path, record)
    found.launch = _form(path, folder, "launch.json", LAUNCH, report) or {}
    if seconds_of(record["provenance"]["started"]) is None:
        report.say("form", f"{folder}/record.json", "provenance.started is no date")
        return None
    try:
        found.ranks = ranks_of(os.path.join(path, "ranks.csv"), record["ranks"])
    except Absent as why:
        report.say("part missing", f"{folder}/ranks.csv", str(why))
    except Unusable as why:
        report.say("ranks form", f"{folder}/ranks.csv", str(why))
    try:
        shape = (record["ranks"], record["timing"]["cycles"], record["phases"])
        found.times = Times(os.path.join(path, "cycles.npy"), *shape)
    except Absent as why:
        report.say("part missing", f"{folder}/cycles.npy", str(why))
    except Unusable as why:
        report.say("cycles form", f"{folder}/cycles.npy", str(why))
    return found


def _form(path: str, folder: str, name: str, look, report: Report):
    try:
        content = json_of(os.path.join(path, name))
    except Absent as why:
        report.say("part missing", f"{folder}/{name}", str(why))
        return None
    except Unusable as why:
        report.say("form", f"{folder}/{name}", str(why))
        return None
    said = look(content, "")
    if said is not None:
        report.say("form", f"{folder}/{name}", said)
        return None
    return content


def rows_of(path: str) -> tuple:
    """(names of the columns, rows of texts) of a CSV file. Raises Absent or Unusable."""
    lines = text_of(path).splitlines()
    try:
        rows = list(csv.reader(lines))
    except csv.Error as error:
        raise Unusable(f"not a table: {error}") from None
    if not rows or len(set(rows[0])) < len(rows[0]):
        raise Unusable("its first line does not name every column once")
    if any(len(row) != len(rows[0]) for row in rows):
        raise Unusable("its lines differ in their number of fields")
    return rows[0], rows[1:]


def ranks_of(path: str, ranks: int) -> list:
    """The lines of ranks.csv by rank. Raises Absent or Unusable."""
    names, rows = rows_of(path)
    for name in ("rank", *COUNTS, *SECONDS, "checksum", "node"):
        if name not in names:
            raise Unusable(f"no column {name}")
    found = {}
    for number, row in enumerate(rows, 2):
        cells = dict(zip(names, row))
        line = {name: whole(cells[name], f"line {number}, {name}") for name in ("rank", *COUNTS, "node")}
        line.update({name: real(cells[name], f"line {number}, {name}") for name in SECONDS})
        line["checksum"] = _hexadecimal(cells["checksum"], f"line {number}, checksum")
        waited = cells.get("thread_wait_s", "")
        line["thread_wait_s"] = real(waited, f"line {number}, thread_wait_s") if waited else None
        found[line["rank"]] = line
    if len(rows) != ranks or sorted(found) != list(range(ranks)):
        raise Unusable(f"{len(rows)} lines; the record has ranks 0 to {ranks - 1}, each once")
    return [found[rank] for rank in range(ranks)]


def whole(text: str, where: str) -> int:
    """A whole number >= 0 of a table. Raises Unusable."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise Unusable(f"{where}: {text[:CELL]!r}; allowed is a whole number >= 0")
    return int(text)


def real(text: str, where: str, low: float = 0.0) -> float:
    """A number >= `low` of a table. Raises Unusable."""
    try:
        value = float(text) if len(text) <= CELL else -1.0
    except ValueError:
        value = low - 1
    if not low <= value < 1e18:
        raise Unusable(f"{where}: {text[:CELL]!r}; allowed is a number >= {low:g}")
    return value


def _hexadecimal(text: str, where: str) -> int:
    if len(text) != 16 or set(text) - set("0123456789abcdef"):
        raise Unusable(f"{where}: {text[:CELL]!r}; allowed are 16 hex digits")
    return int(text, 16)
