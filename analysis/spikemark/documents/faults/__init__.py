"""The table of faults in docs/reliability.md: commands are disturbed, and what they leave is judged.

`subjects.py` lists the commands, `tries.py` says what must hold, and the other modules disturb: `called.py`
at single calls, `killed.py` at random times, `folders.py` between two commands.
"""

import json
import platform
import tempfile
from collections.abc import Iterator
from pathlib import Path

from spikemark.quantities.table import Column, Table

from . import called, folders, killed
from .interposed import COUNTED, Fault
from .server import Server
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
    """One table, a row for each subject and fault; what came out wrong is printed, too."""
    with tempfile.TemporaryDirectory(prefix="faults-") as root, loaded() as server:
        found = list(_rows(Path(root), server))
    rows = [row(*one) for one in found]
    rows.append({"subject": "in all"} | {name: sum(row[name] for row in rows) for name in _COUNTS})
    yield Table(COLUMNS, rows, "Faults", "faults")


_COUNTS = ("tries", "absent", "whole", "some", "wrong")


def loaded() -> Server:
    """What runs the commands, with the library that makes calls fail."""
    library = Fault(COUNTED, "").environment()["LD_PRELOAD"]
    return Server({"LD_PRELOAD": library})


def row(subject: str, fault: str, outcomes: Outcomes) -> dict[str, str | int]:
    """A line of the table."""
    counts = {name: getattr(outcomes, name) for name in _COUNTS[:-1]}
    return {"subject": subject, "fault": fault, **counts, "wrong": len(outcomes.wrong)}


def _rows(root: Path, server: Server) -> Iterator[tuple[str, str, Outcomes]]:
    for number, subject in enumerate(SUBJECTS):
        with Bench(subject, root / str(number), server) as bench:
            for fault, outcomes in _all(bench, root / "disk"):
                words = f"{fault} (of {len(bench.calls)} calls)" if fault in called.WAYS else fault
                print(json.dumps(row(subject.name, words, outcomes)), *outcomes.wrong, sep="\n", flush=True)
                yield subject.name, words, outcomes


def _all(bench: Bench, disk: Path) -> Iterator[tuple[str, Outcomes]]:
    yield from called.all_ways(bench)
    yield "no long files, as under a quota", killed.short_files(bench)
    if killed.can_mount(disk):
        yield "a small disk", killed.small_disk(bench)
    if bench.subject.name in (SWEEP, DRYRUN):
        for target in killed.TARGETS if bench.subject.name == SWEEP else ("a rank", "the command"):
            yield f"{target} killed at random", killed.at_random(bench, target)
    if bench.subject.name == SWEEP:
        yield "clock set forwards and back", killed.stepping_clock(bench)
        for move in (False, True):
            yield f"results {'moved' if move else 'copied'}", folders.elsewhere(bench, move)
        for how in ("deleted", "cut in half"):
            yield f"a file {how}", folders.damaged(bench, how)
        yield "a file of another format version", folders.versions(bench)


def machine() -> str:
    """The system that this process runs on."""
    return f"{platform.system()} {platform.release().split('-')[0]}, {platform.machine()}"
