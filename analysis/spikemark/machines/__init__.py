"""Machine profiles: what is known about a machine, each value with its unit, kind and reference.

A machine may also consist of parts, each of them so many nodes of a profile, with links between them.
"""

from .accelerated import is_accelerated
from .filling import filled
from .for_editors import json_schema
from .loader import (
    accelerated_names,
    all_names,
    folder,
    load,
    load_any,
    names,
    names_of_parted,
    profile_names,
    title,
)
from .parts import Machine, Part, Share, shares
from .plausible import implausible, odd
from .profile import Profile, UnknownValue, Value, checked

__all__ = [
    "Machine",
    "Part",
    "Profile",
    "Share",
    "UnknownValue",
    "Value",
    "accelerated_names",
    "all_names",
    "checked",
    "filled",
    "folder",
    "implausible",
    "is_accelerated",
    "json_schema",
    "load",
    "load_any",
    "names",
    "names_of_parted",
    "odd",
    "profile_names",
    "shares",
    "title",
]
