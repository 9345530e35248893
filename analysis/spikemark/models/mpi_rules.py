"""The algorithm of a collective call, by MPI library, ranks and bytes.

Predictions and simulations share it.

- `linear`: all messages leave at once; empty ones are left out.
- `pairwise`: one partner after another, empty or not.
- `bruck`: blocks are combined, in log2(ranks) rounds (Bruck et al. 1997, doi 10.1109/71.642949).
- `doubling`: the same in pairs, where the ranks are a power of two.
- `neighbor`, `ring`: ranks / 2 and ranks - 1 rounds.
- `root`: to the first rank and back; `tree`: the same along a binomial tree.

Sources: Open MPI 4.1.0 to 5.0.10, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, which is one and
the same file (`linear_sync` counts as linear, `two_proc` as pairwise, `default` of allgatherv as
root; bruck instead of doubling from 256 ranks is not told apart). MPI_Alltoall_init is linear in
ompi/mca/coll/libnbc/nbc_ialltoall.c (5.0.8), as are MPI_Ialltoall and MPI_Ialltoallv. From 5.0.3
on, pairwise alltoallv leaves out empty messages (coll_base_alltoallv.c) and takes less time than
predicted here. In 5.0, allgather and barrier of several nodes with several ranks each go through
coll/han (priority 35; tuned has 30), which is left out; in 4.1 han has priority 0. Vendors'
libraries (hcoll, ucc) may replace all of this.

MPICH 4.0 to 4.3.2, maint/tuning/coll/mpir/generic.json: the same rules in all of them; the
scattered alltoallv keeps 32 messages on their way and counts as linear. Intel MPI descends from
MPICH and does not publish its choice.
"""

import csv
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spikemark.core.errors import unknown_name

#: Names of algorithms, see above.
LINEAR, PAIRWISE, BRUCK = "linear", "pairwise", "bruck"
DOUBLING, NEIGHBOR, RING, ROOT, TREE = "doubling", "neighbor", "ring", "root", "tree"

#: Of `interconnect.selector`: the library whose rows of mpi_rules.csv hold.
RULES = {"ompi": "ompi", "mpich": "mpich", "impi": "mpich"}
DEFAULT = "ompi"
CALLS = ("alltoall", "alltoallv", "allgather", "allgatherv", "barrier", "alltoall_init")
#: Bytes of all ranks together up to which MPICH doubles in an allgather, for a power of two of
#: ranks and for others.
MPICH_DOUBLING_BYTES, MPICH_DOUBLING_BYTES_UNEVEN = 524288, 81920


class AlgorithmRule(NamedTuple):
    """From where on a library takes an algorithm; of several rules, the last that fits counts."""

    ranks: int  #: ranks from which the rule holds
    bytes: int  #: bytes for each other rank from which it holds
    algorithm: str  #: name of the algorithm


Rules = tuple[AlgorithmRule, ...]


@cache
def _stated_rules(library: str) -> dict[str, Rules]:
    """The rules of a library by call, as in mpi_rules.csv."""
    by_call: dict[str, Rules] = {}
    with open(Path(__file__).with_suffix(".csv"), newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["library"] == library:
                rule = AlgorithmRule(int(row["ranks"]), int(row["bytes"]), row["algorithm"])
                by_call[row["call"]] = (*by_call.get(row["call"], ()), rule)
    return by_call


@lru_cache(maxsize=256)
def rules(selector: str | None, ranks: float = 2) -> dict[str, Rules]:
    """The rules of a library by call.

    For allgather MPICH counts the bytes of all ranks together, and doubles up to more of them where
    the ranks are a power of two. So its rules depend on the number of ranks.

    Args:
        selector: one of RULES; None for DEFAULT.
        ranks: number of ranks.

    Raises:
        BadInput: for a selector that is not in RULES.

    Example:
        >>> rules("ompi")["alltoall"][0]
        AlgorithmRule(ranks=2, bytes=0, algorithm='pairwise')
    """
    library = RULES.get(selector or DEFAULT)
    if library is None:
        raise unknown_name("interconnect.selector", selector, RULES, expected=", ".join(RULES))
    by_call = dict(_stated_rules(library))
    if library == "mpich":
        is_power_of_two = np.log2(max(2, ranks)).is_integer()
        limit = MPICH_DOUBLING_BYTES if is_power_of_two else MPICH_DOUBLING_BYTES_UNEVEN
        bytes_of_a_rank = int(np.ceil(limit / max(2, ranks)))
        gather = (AlgorithmRule(2, 0, DOUBLING), AlgorithmRule(2, bytes_of_a_rank, RING))
        by_call["allgather"] = by_call["allgatherv"] = gather
    return by_call


@lru_cache(maxsize=10_000)
def algorithm_of(selector: str | None, call: str, ranks: float, size: float) -> str:
    """The algorithm that a library takes for a call.

    Args:
        selector: one of RULES; None for DEFAULT.
        call: one of CALLS.
        ranks: number of ranks.
        size: bytes that a rank has for each other.

    Example:
        >>> algorithm_of("ompi", "alltoall", ranks=64, size=100)
        'bruck'
    """
    algorithm = ""
    for rule in rules(selector, ranks)[call]:
        if max(2, ranks) >= rule.ranks and size >= rule.bytes:
            algorithm = rule.algorithm
    return algorithm


def algorithms_in_words(selector: str | None, ranks: int) -> str:
    """Say in one line which algorithms calls of so many ranks get, by bytes.

    Example:
        >>> algorithms_in_words("ompi", 64).split("; ")[-1]
        'alltoall_init linear'
    """
    calls = []
    for call in CALLS:
        sizes = sorted({rule.bytes for rule in rules(selector, ranks)[call]})
        changes = []
        last_algorithm = ""
        for size in sizes:
            algorithm = algorithm_of(selector, call, ranks, size)
            if algorithm != last_algorithm:
                changes.append(f"{algorithm} from {size} B" if size else algorithm)
            last_algorithm = algorithm
        calls.append(f"{call} {', '.join(changes)}")
    return f"collectives of {ranks} ranks as {selector or DEFAULT} chooses: {'; '.join(calls)}"
