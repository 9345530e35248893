"""Machine profiles: what is known about a machine, each value with its unit, kind and reference.

A machine may also consist of parts, each of them so many nodes of a profile, with links between
them.
"""

from .loader import ALL, file_of, folder, load, load_any, names, title
from .parts import (
    MachineOfParts,
    MachinePart,
    Node,
    RanksOfPart,
    digest,
    digest_as_written,
    shares,
)
from .priors import filled
from .profile import Assumption, Profile, UnknownValue, Value, checked

__all__ = [
    "ALL",
    "Assumption",
    "MachineOfParts",
    "MachinePart",
    "Node",
    "Profile",
    "RanksOfPart",
    "UnknownValue",
    "Value",
    "checked",
    "digest",
    "digest_as_written",
    "file_of",
    "filled",
    "folder",
    "jitter",
    "load",
    "load_any",
    "names",
    "shares",
    "title",
    "values",
]
