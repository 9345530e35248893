"""Measurements that several bidders hand in: at most one of them made these."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from spikemark.quantities.words import counted, listed

from .manifest import sha256
from .received_bids import Bid

TIMES = "runs/*/*/cycles.npy"  # of a repetition; two runs never take the same times
SAME = "{} hand in the same cycle times of {}: at most one of them measured these."


def lines(bids: Iterable[Bid]) -> list[str]:
    """A sentence for each group of bidders whose answers share files of cycle times; none is usual.

    Only files of equal size are read.
    """
    owners: dict[int, list[tuple[Path, str]]] = defaultdict(list)
    for bid in bids:
        for path in sorted(bid.path.glob(TIMES)):
            if path.is_file() and not path.is_symlink():
                owners[path.stat().st_size].append((path, bid.name))
    found: dict[str, set[str]] = defaultdict(set)
    for same in owners.values():
        if len({name for _, name in same}) > 1:
            for path, name in same:
                found[sha256(path)].add(name)
    groups = sorted(tuple(sorted(names)) for names in found.values() if len(names) > 1)
    return [
        SAME.format(listed(names), counted(len(list(each)), "repetition")) for names, each in groupby(groups)
    ]
