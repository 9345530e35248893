"""What a table's columns are, by their names: as people spell them, with the unit that a name may
hold.

`compute`, `Compute [ms]`, `compute_time (us)` and `compute_us` are all compute times; `mpi_rank`
and `MPI rank` are the rank. What no spelling covers is said with `--column`. Two columns of one
meaning are refused.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from spikemark.core.errors import BadInput, short_repr

#: What a column may be: our names. Of times:
COMPUTE_COLUMN = "compute"
COMMUNICATE = "communicate"
WAIT = "wait"  # a part of communication
CYCLE_TIME = "cycle_time"
#: Of what else a line says:
RANK = "rank"
CYCLE = "cycle"
#: The columns that are kept.
SAVED_COLUMNS = (COMPUTE_COLUMN, COMMUNICATE, WAIT)
TIME_MEANINGS = (*SAVED_COLUMNS, CYCLE_TIME)
MEANINGS = (*TIME_MEANINGS, RANK, CYCLE)

#: A unit -> seconds in it.
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
#: A unit -> how names of columns spell it, in lower case.
UNIT_SPELLINGS = {
    "s": ("s", "sec", "secs", "second", "seconds"),
    "ms": ("ms", "msec", "msecs", "millis", "millisecond", "milliseconds"),
    "us": ("us", "usec", "usecs", "micros", "microsecond", "microseconds"),
    "ns": ("ns", "nsec", "nsecs", "nanos", "nanosecond", "nanoseconds"),
}


def _by_spelling(spellings: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Each spelling -> what it spells."""
    spelled = {}
    for name, texts in spellings.items():
        for text in texts:
            spelled[text] = name
    return spelled


UNIT_OF = _by_spelling(UNIT_SPELLINGS)
IN_BRACKETS = re.compile(r"(?P<base>.*?)[\s_]*[\[({](?P<unit>[^\])}]*)[\])}]")
AT_THE_END = re.compile(rf"(?P<base>.+?)[\s_.,:/-]+(?:in[\s_]+)?(?P<unit>{'|'.join(UNIT_OF)})")

#: A meaning -> its spellings, in lower case and without blanks, underscores and other signs.
SPELLINGS = {
    COMPUTE_COLUMN: ("compute", "computetime", "computing", "computation", "computationtime"),
    COMMUNICATE: ("communicate", "communicatetime", "communication", "communicationtime"),
    WAIT: ("wait", "waittime", "waiting", "waitingtime"),
    CYCLE_TIME: ("cycletime",),
    RANK: (
        "rank",
        "mpirank",
        "rankid",
        "rankno",
        "ranknumber",
        "mpirankid",
        "worldrank",
        "globalrank",
        "process",
        "processid",
        "mpiprocess",
        "proc",
        "procid",
        "pe",
        "task",
        "taskid",
        "mpitask",
        "pmirank",
        "ompicommworldrank",
        "slurmprocid",
    ),
    CYCLE: (
        "cycle",
        "cycleid",
        "cycleno",
        "cyclenumber",
        "cycleindex",
        "iteration",
        "iter",
        "step",
        "timestep",
    ),
}
#: Spellings of a column that holds the unit of the times in its line.
OF_UNITS = ("unit", "units", "timeunit", "timeunits")
MEANING_OF = _by_spelling(SPELLINGS)


@dataclass(frozen=True)
class NamedColumn:
    """A column of a file."""

    #: Its name there.
    name: str
    #: The unit in its name, one of UNITS; None where it has none.
    unit: str | None = None


def columns_of(path: Path, names: Iterable[str], called: dict[str, str]) -> dict[str, NamedColumn]:
    """The columns of a table, by their meaning.

    Args:
        path: the file, for complaints.
        names: of the columns.
        called: a meaning -> the name that the user says it has.

    Raises BadInput for a name of `called` that is not there, for two columns of one meaning, for
    two meanings of one column, and for a unit that is none of UNITS.

    Example:
        >>> columns = columns_of(Path("times.csv"), ["rank", "compute_us", "wait_us"], {})
        >>> {meaning: column.unit for meaning, column in columns.items()}
        {'compute': 'us', 'wait': 'us', 'rank': None}
    """
    names = list(names)
    columns = {}
    meaning_of: dict[str, str] = {}
    for meaning, called_name in called.items():
        column = _called(path, names, called_name, meaning)
        other = meaning_of.setdefault(column.name, meaning)
        if other != meaning:
            reason = f"column {column.name!r} is called both {other} and {meaning}; expected one"
            raise BadInput(reason, field=column.name, file=path, code="conflict")
        columns[meaning] = column
    candidates: dict[str, list[NamedColumn]] = {}
    for name in names:
        known_meaning, column = _meaning(name)
        if known_meaning and known_meaning not in called and name not in meaning_of:
            candidates.setdefault(known_meaning, []).append(column)
    for meaning, candidates_of_meaning in candidates.items():
        columns[meaning] = _only_column(path, meaning, candidates_of_meaning)
    for column in columns.values():
        if column.unit is not None and column.unit not in UNITS:
            expected = f"one of {', '.join(UNITS)}"
            raise BadInput(
                f"column {column.name!r}: unit {column.unit!r}; expected {expected}",
                field=column.name,
                file=path,
            )
    return {meaning: columns[meaning] for meaning in MEANINGS if meaning in columns}


def parted(name: str) -> tuple[str, str | None]:
    """A name without its unit, and the unit: one of UNITS, other text in brackets, or None.

    Example:
        >>> parted("Compute [ms]"), parted("compute_us"), parted("compute")
        (('compute', 'ms'), ('compute', 'us'), ('compute', None))
    """
    text = name.strip().lower().replace("µ", "u").replace("μ", "u")
    in_brackets = IN_BRACKETS.fullmatch(text)
    if in_brackets:
        unit = in_brackets["unit"].strip()
        return in_brackets["base"], UNIT_OF.get(unit, unit)
    at_the_end = AT_THE_END.fullmatch(text)
    if at_the_end:
        return at_the_end["base"], UNIT_OF[at_the_end["unit"]]
    return text, None


def holds_units(name: str) -> bool:
    """Says whether a column holds the unit of the times in its line, by its name.

    Example:
        >>> holds_units("unit"), holds_units("compute_us")
        (True, False)
    """
    return _letters(name.lower()) in OF_UNITS


def _meaning(name: str) -> tuple[str | None, NamedColumn]:
    """What a column is, None where its name says nothing."""
    base, unit = parted(name)
    meaning = MEANING_OF.get(_letters(base))
    if "%" in base:  # a share is no time
        meaning = None
    if meaning in (RANK, CYCLE) and unit is not None:  # `cycle_ms` is a time, but of what?
        meaning = None
    return meaning, NamedColumn(name, unit if meaning in TIME_MEANINGS else None)


def _letters(text: str) -> str:
    """The letters and digits of a text."""
    return re.sub(r"[^a-z0-9]", "", text)


def _called(path: Path, names: list[str], name: str, meaning: str) -> NamedColumn:
    """The column that the user calls `name`, with or without its unit."""
    fitting = [other for other in names if other == name]
    if not fitting:
        fitting = [other for other in names if parted(other)[0] == name.strip().lower()]
    if len(fitting) != 1:
        reason = f"no column {name!r}; expected one of {short_repr(names)}"
        raise BadInput(reason, field=name, file=path, code="missing")
    _, unit = parted(fitting[0])
    if meaning not in TIME_MEANINGS or unit not in UNITS:
        return NamedColumn(fitting[0])
    in_brackets = fitting[0].rstrip().endswith(("]", ")", "}"))
    if unit == "s" and not in_brackets:  # `n_s` may be anything
        return NamedColumn(fitting[0])
    return NamedColumn(fitting[0], unit)


def _only_column(path: Path, meaning: str, columns: list[NamedColumn]) -> NamedColumn:
    """The only column of a meaning.

    Among several of RANK or of CYCLE, the one with that very name. Raises BadInput for others.
    """
    if len(columns) == 1:
        return columns[0]
    exact = [column for column in columns if column.name == meaning]
    if exact and meaning in (RANK, CYCLE):
        return exact[0]
    names = ", ".join(column.name for column in columns)
    expected = f"--column {meaning}=… with one of them"
    reason = f"columns {names}: each may be {meaning}; expected {expected}"
    raise BadInput(reason, field="columns", file=path)
