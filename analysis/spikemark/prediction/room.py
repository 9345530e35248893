"""Memory that a run needs on the nodes of a machine, and whether it is there (memory.py, building.py)."""

from typing import Any

import numpy as np

from spikemark.machines.parts import Share
from spikemark.quantities.quantity import Quantity, missing

from . import building, memory
from .intervals import COUNTED
from .layout import Layout, figure
from .loads import Loads

NEEDED, PER_SYNAPSE = "memory_gb", "bytes_per_synapse"


def of_shares(loads: Loads, layout: Layout) -> tuple[np.ndarray, list[float]]:
    """Bytes of every rank, [rank], and GB of the fullest node of each share, [share]."""
    each = building.bytes_at_most(loads)
    return each, [1e-9 * _fullest(each, share) for share in layout.shares]


def figures(loads: Loads, layout: Layout, each: np.ndarray, needed: list[float]) -> dict[str, Quantity]:
    """GB of the fullest node and of that of each part, and bytes per synapse, from those of `of_shares`."""
    synapses = float(loads.synapses.sum())
    none = missing("the network has no synapses", mark="unknown")
    found = {
        NEEDED: _counted(max(needed)),
        PER_SYNAPSE: _counted(float(each.sum()) / synapses) if synapses else none,
    }
    named = zip(layout.shares, needed, strict=True)
    return found | {figure(share, NEEDED): _counted(gb) for share, gb in named if share.part is not None}


def fits(machine: Any, layout: Layout, needed: list[float]) -> list[bool | None]:
    """True if the ranks of a node of each share fit into its memory, [share]; None: not known for sure."""
    profiles = (layout.profile(machine, share) for share in layout.shares)
    return [memory.fits(profile, gb) for profile, gb in zip(profiles, needed, strict=True)]


def all_fit(found: list[bool | None]) -> bool | None:
    """The same of all shares."""
    return False if False in found else None if None in found else True


def likely(machine: Any, layout: Layout, needed: list[float]) -> bool:
    """True if they fit into the middle of the known or assumed memory of every share."""
    profiles = (layout.profile(machine, share) for share in layout.shares)
    return all(memory.likely(profile, gb) for profile, gb in zip(profiles, needed, strict=True))


def _fullest(each: np.ndarray, share: Share) -> float:
    own, node = each[share.slice], share.node
    whole = np.resize(own, node.nodes * node.ranks)
    whole[len(own) :] = 0
    return float(whole.reshape(node.nodes, node.ranks).sum(axis=1).max())


def _counted(value: float) -> Quantity:
    return Quantity(value, value, value, kind=COUNTED)
