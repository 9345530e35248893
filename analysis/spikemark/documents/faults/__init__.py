"""The table of faults in docs/faults.md: commands are disturbed, and what they leave is judged.

`subjects.py` lists the commands, `tries.py` says what must hold, and the other modules disturb: `called.py`
at single calls, `killed.py` at random times, `folders.py` between two commands, `special.py` by what lies
where the result should be.
"""

import json
import platform
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from spikemark.core import places
from spikemark.quantities.table import Column, Table

from . import called, folders, killed, special
from .interposed import COUNTED, Fault
from .server import Server
from .subject import Subject
from .subjects import SUBJECTS
from .tries import Bench, Outcomes

COLUMNS = [
    Column("subject", "What was disturbed"),
    Column("fault", "Fault"),
    Column("tries", "Tries"),
    Column("absent", "Absent, or as before"),
    Column("whole", "Whole"),
    Column("some", "Some runs whole"),
    Column("wrong", "Anything else"),
]
SWEEP, DRYRUN = "a sweep of three runs", "`dryrun` of two ranks"


def tables() -> Iterator[Table]:
    """One table, a row for each subject and fault; what came out wrong is printed, too.

    Rows are kept until all are there, so that the same command continues after an interruption.
    """
    kept = places.root() / "build" / "faults.jsonl"
    done = [json.loads(line) for line in kept.read_text().splitlines()] if kept.is_file() else []
    with tempfile.TemporaryDirectory(prefix="faults-") as root, loaded() as server:
        for found in _rows(Path(root), server, {(row["subject"], row["fault"]) for row in done}):
            done.append(found)
            with open(kept, "a") as stream:
                print(json.dumps(found), file=stream)
    kept.unlink()
    yield table(done)


def table(rows: list[dict[str, str | int]]) -> Table:
    """The rows with their sums below."""
    sums = {name: sum(row[name] for row in rows) for name in _COUNTS}
    return Table(COLUMNS, [*rows, {"subject": "in all"} | sums], "Faults", "faults")


_COUNTS = ("tries", "absent", "whole", "some", "wrong")


def loaded() -> Server:
    """What runs the commands, with the library that makes calls fail."""
    library = Fault(COUNTED, "").environment()["LD_PRELOAD"]
    return Server({"LD_PRELOAD": library})


def row(subject: str, fault: str, outcomes: Outcomes) -> dict[str, str | int]:
    """A line of the table."""
    counts = {name: getattr(outcomes, name) for name in _COUNTS[:-1]}
    return {"subject": subject, "fault": fault, **counts, "wrong": outcomes.faulty}


def _rows(root: Path, server: Server, done: set[tuple[str, str]]) -> Iterator[dict[str, str | int]]:
    for number, subject in enumerate(SUBJECTS):
        ways = [(fault, way) for fault, way in _ways(subject) if (subject.name, fault) not in done]
        if not ways:
            continue
        with Bench(subject, root / str(number), server) as bench:
            for fault, way in ways:
                found = way(bench)
                print(f"{subject.name}: {fault}: {found.tries} tries", *found.wrong, sep="\n", flush=True)
                yield row(subject.name, fault, found)


def _ways(subject: Subject) -> Iterator[tuple[str, Callable[[Bench], Outcomes]]]:
    """What is done to a subject, by the words of the table."""
    for fault, way in called.WAYS.items():
        yield fault, partial(way, most=subject.most)
    yield "no long files, as under a quota", killed.short_files
    if subject.output:
        yield special.FAULT, special.in_its_place
    with tempfile.TemporaryDirectory(prefix="faults-") as disk:
        if killed.can_mount(Path(disk)):
            yield "a small disk", killed.small_disk
    if subject.name in (SWEEP, DRYRUN):
        for target in killed.TARGETS if subject.name == SWEEP else ("a rank", "the command"):
            yield f"{target} killed at random", partial(killed.at_random, target=target)
    if subject.name == SWEEP:
        yield "clock set forwards and back", killed.stepping_clock
        yield "results copied", partial(folders.elsewhere, move=False)
        yield "results moved", partial(folders.elsewhere, move=True)
        for how in ("deleted", "cut in half"):
            yield f"a file {how}", partial(folders.damaged, how=how)
        yield "a file of another format version", folders.versions


def machine() -> str:
    """The system that this process runs on."""
    return f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}"
