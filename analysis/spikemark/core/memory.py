"""How much memory there is, for those who must refuse what does not fit before they begin."""

import os
import re
from pathlib import Path

from .errors import BadInput

MEMINFO = Path("/proc/meminfo")


def available() -> int:
    """Bytes that a program can still take; where the kernel does not say, all that the machine has."""
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB$", MEMINFO.read_text(), re.MULTILINE)
    except OSError:
        found = None
    return 1024 * int(found[1]) if found else os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check(needed: float, what: str) -> None:
    """Raises BadInput where there is less memory than `needed` bytes; `what` is the subject of its line."""
    if needed > (there := available()):
        raise BadInput(f"{what} needs {needed / 1e9:.3g} GB of memory; {there / 1e9:.3g} GB are available")
