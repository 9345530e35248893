"""A short digest of the values of a profile, which shows later whether one of them has changed.

Values that only fill gaps are left out: those of a data sheet (`GAPS`), and the fabric, which says only which
other profiles an unknown value is assumed from. What is assumed from them is in the digest.
"""

import hashlib
import json
from typing import Any

from .fields import FABRIC

GAPS = (FABRIC, "node.bandwidth_peak", "power.tdp")


def digest(profile: Any) -> str:
    """16 hexadecimal digits from the values of a profile and their units; sources and titles do not count."""
    values = {
        path: [leaf.value, leaf.unit] for path, leaf in sorted(profile.values.items()) if path not in GAPS
    }
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
