"""A short digest of the values of a profile or a machine of parts, which shows later whether one has changed.

Values that only fill gaps are left out: those of a data sheet (`GAPS`), and the fabric, which says only which
other profiles an unknown value is assumed from. What is assumed from them is in the digest.
"""

import hashlib
import json
from typing import Any

from .fields import FABRIC
from .parts import Machine

GAPS = (FABRIC, "node.bandwidth_peak", "power.tdp")


def digest(machine: Any) -> str:
    """16 hexadecimal digits from the values of a machine and their units; sources and titles do not count.

    Of a machine of parts, the names and the order of the parts count, too: ranks fill them in this order.
    """
    values = {p: [leaf.value, leaf.unit] for p, leaf in sorted(machine.values.items()) if not _gap(p)}
    whole = {"parts": list(machine.parts), "values": values} if isinstance(machine, Machine) else values
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]


def _gap(path: str) -> bool:
    return path.endswith(GAPS)
