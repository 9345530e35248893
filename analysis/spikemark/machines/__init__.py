"""Machine profiles: what is known about a machine, each value with its unit, kind and reference."""

from .filling import filled
from .loader import folder, load, names, title
from .plausible import implausible, odd
from .profile import Profile, UnknownValue, Value, checked
from .schema import json_schema

__all__ = [
    "Profile",
    "UnknownValue",
    "Value",
    "checked",
    "filled",
    "folder",
    "implausible",
    "json_schema",
    "load",
    "names",
    "odd",
    "title",
]
