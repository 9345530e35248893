"""What a format of cycle times is: which files it recognises, and what they hold."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from spikemark.core.csv_file import first_names

from .columns import Columns, FileContent, ReadTimes

#: Names of columns by our names -> their names in the files.
Names = dict[str, str]

#: Endings of tables.
TABLE_ENDINGS = (".npy", ".npz", ".csv", ".parquet")
#: Options of `read` that only tables take.
TABLE_OPTIONS = ("unit", "column")
#: Numbers that a program states of the whole run: its processes, and the simulated time of a cycle.
PROCESSES = "processes"
CYCLE_MS = "cycle_ms"
FACTS = (PROCESSES, CYCLE_MS)
#: What a line of sums is of.
LINE_PER_RANK = "ranks"
LINE_PER_RUN = "runs"


#: Names of columns in older tables of beNNch -> those of today.
OLDER_NAMES = {
    "wall_time_sim": "time_simulate",
    "wall_time_phase_communicate": "time_communicate_spike_data",
}


def _no_more(path: Path, columns: Columns) -> ReadTimes:
    """Columns that mean what they are called, of ranks that meet in every cycle."""
    return ReadTimes(columns)


@dataclass(frozen=True)
class Reader:
    """A format."""

    name: str
    #: What `spikemark waiting --help` says of it.
    summary: str
    #: A pattern of the names of its files.
    files: str
    #: What a file holds, from its path and the names that the user calls columns by.
    held: Callable[[Path, Names], FileContent]
    #: Names of columns by our names; those of tables are found by `names.columns_of`.
    names: Names
    #: Columns, by our names, that are in every file.
    needs: tuple[str, ...] = ()
    #: Which of the options `unit` and `column` belong to it.
    takes: tuple[str, ...] = ()
    #: What columns of several ranks mean, and how often these meet.
    adjusted: Callable[[Path, Columns], ReadTimes] = _no_more
    #: Of sums over runs, what a line is of: LINE_PER_RANK or LINE_PER_RUN.
    sums: str = ""

    @property
    def is_table(self) -> bool:
        """Says whether its columns are found by what people call them."""
        return self.takes == TABLE_OPTIONS

    def recognises(self, path: Path) -> bool:
        """Says whether a file is of this format.

        By its name and, of a table, by the names of its columns.
        """
        if not re.fullmatch(self.files, path.name):
            return False
        if path.suffix not in TABLE_ENDINGS or not self.needs:
            return True
        needed = {self.names[name] for name in self.needs}
        return needed <= _names_of_columns(path)


def _names_of_columns(path: Path) -> set[str]:
    """The names of the columns of an .npz or .csv file; none of a damaged one."""
    try:
        if path.suffix == ".npz":
            with ZipFile(path) as archive:
                return {name.removesuffix(".npy") for name in archive.namelist()}
        return {OLDER_NAMES.get(name, name) for name in first_names(path)}
    except (OSError, BadZipFile):
        return set()
