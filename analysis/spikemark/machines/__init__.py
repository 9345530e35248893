"""Machine profiles: what is known about a machine, each value with its unit, kind and reference."""

from .accelerated import is_accelerated
from .filling import filled
from .loader import accelerated_names, folder, load, names, title
from .plausible import implausible, odd
from .profile import Profile, UnknownValue, Value, checked
from .schema import json_schema

__all__ = [
    "Profile",
    "UnknownValue",
    "Value",
    "accelerated_names",
    "checked",
    "filled",
    "folder",
    "implausible",
    "is_accelerated",
    "json_schema",
    "load",
    "names",
    "odd",
    "title",
]
