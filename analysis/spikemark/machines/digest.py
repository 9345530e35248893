"""A short digest of the values of a profile, which shows later whether one of them has changed."""

import hashlib
import json
from typing import Any


def digest(profile: Any) -> str:
    """16 hexadecimal digits from the values of a profile and their units; sources and titles do not count."""
    values = {path: [leaf.value, leaf.unit] for path, leaf in sorted(profile.values.items())}
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
