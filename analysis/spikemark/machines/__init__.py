"""Machine profiles: what is known about a machine, each value with its unit, kind and reference.

A machine may also consist of parts, each of them so many nodes of a profile, with links between them.
"""

from .loader import ALL, folder, load, load_any, names, title
from .parts import Machine, Part, Share, digest, shares
from .priors import filled
from .profile import Profile, UnknownValue, Value, checked

__all__ = [
    "ALL", "Machine", "Part", "Profile", "Share", "UnknownValue", "Value", "checked", "digest", "filled",
    "folder", "load", "load_any", "names", "shares", "title",
]  # fmt: skip
