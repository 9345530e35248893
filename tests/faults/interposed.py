"""Calls on files that fail, in programs that are started with `build/libfaulty_files.so`
(faulty_files.c).
"""

import os
from dataclasses import dataclass
from pathlib import Path

from spikemark.core import places
from spikemark.core.errors import BadInput

LIBRARY = "libfaulty_files.so"
#: Calls that can fail; a file is opened for writing, and mapped shared and for writing.
KINDS = ("open", "write", "fsync", "close", "rename", "mkdir", "remove", "extend", "map")
#: Calls that a full disk refuses.
TAKE_ROOM = ("open", "write", "fsync", "rename", "mkdir", "extend", "map")
ERRORS = ("ENOSPC", "EIO", "EROFS", "EDQUOT")
KILL, SLOW, COUNTED = "kill", "slow", "none"
ALL = 2**31 - 1  # calls


@dataclass(frozen=True)
class Fault:
    """What happens at the calls `first` to `last` on files whose paths contain `inside`.

    `how` is one of ERRORS, KILL, SLOW or COUNTED. `calls`: the kinds that are counted; empty: all.
    """

    how: str
    inside: str
    first: int = 1
    last: int | None = None
    calls: tuple[str, ...] = ()

    def environment(self, count: Path | None = None, log: Path | None = None) -> dict[str, str]:
        """Variables for a program.

        `count`: a file in which all processes count together, which is made anew. `log`: a file
        that gets a line for each call. Raises BadInput where the library has not been built.
        """
        library = places.root() / "build" / LIBRARY
        if not library.is_file():
            raise BadInput(f"{library}: not found; `make build` makes it")
        found = {
            "LD_PRELOAD": LIBRARY,  # a blank in its path would make two of it
            "LD_LIBRARY_PATH": os.pathsep.join(
                [str(library.parent), os.environ.get("LD_LIBRARY_PATH", "")]
            ),
            "SPIKEMARK_FAULT": self.how,
            "SPIKEMARK_FAULT_IN": self.inside,
            "SPIKEMARK_FAULT_CALLS": ",".join(self.calls),
            "SPIKEMARK_FAULT_FROM": str(self.first),
            "SPIKEMARK_FAULT_TO": str(self.last or self.first),
        }
        if count is not None:
            count.write_bytes(bytes(4))
            found["SPIKEMARK_FAULT_COUNT"] = str(count)
        return found if log is None else found | {"SPIKEMARK_FAULT_LOG": str(log)}
