"""How much memory there is, for those who must refuse what does not fit before they begin."""

import os
import re
from pathlib import Path

from .errors import BadInput

MEMINFO = Path("/proc/meminfo")


def available() -> int:
    """Bytes that a program can still take; where the kernel does not say, all of the machine.

    Example:
        >>> available() > 0
        True
    """
    try:
        text = MEMINFO.read_text(encoding="utf-8")
    except OSError:
        text = ""
    line = re.search(r"^MemAvailable:\s+(\d+) kB$", text, re.MULTILINE)
    if line is not None:
        return 1024 * int(line[1])
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check(needed: float, subject: str, field: str | None = None) -> None:
    """Raises BadInput where there is less memory than `needed` bytes.

    Args:
        needed: in bytes.
        subject: what needs it, such as `FILE: what it holds`; begins the line.
        field: of an input or an option, where the subject names one.

    Example:
        >>> check(1e6, "a table of 1 MB")
    """
    free = available()
    if needed > free:
        reason = f"needs {needed / 1e9:.3g} GB of memory; {free / 1e9:.3g} GB are available"
        code = "file" if field is None else "value"
        raise BadInput(f"{subject} {reason}", field=field, code=code)
