"""The algorithm of a collective call, by MPI library, ranks and bytes; predictions and simulations share it.

- `linear`: all messages leave at once; empty ones are left out.
- `pairwise`: one partner after another, empty or not.
- `bruck`: blocks are combined, in log2(ranks) rounds (Bruck et al. 1997, doi 10.1109/71.642949).
- `doubling`: the same in pairs, where the ranks are a power of two.
- `neighbor`, `ring`: ranks / 2 and ranks - 1 rounds.
- `root`: to the first rank and back; `tree`: the same along a binomial tree.

Sources: Open MPI 4.1.0 to 5.0.10, ompi/mca/coll/tuned/coll_tuned_decision_fixed.c, which is one and the same
file (`linear_sync` counts as linear, `two_proc` as pairwise, `default` of allgatherv as root; bruck instead
of doubling from 256 ranks is not told apart). MPI_Alltoall_init is linear in
ompi/mca/coll/libnbc/nbc_ialltoall.c (5.0.8), as are MPI_Ialltoall and MPI_Ialltoallv. From 5.0.3 on, pairwise
alltoallv leaves out empty messages (coll_base_alltoallv.c) and takes less time than predicted here. In 5.0,
allgather and barrier of several nodes with several ranks each go through coll/han (priority 35; tuned has
30), which is left out; in 4.1 han has priority 0. Vendors' libraries (hcoll, ucc) may replace all of this.

MPICH 4.0 to 4.3.2, maint/tuning/coll/mpir/generic.json: the same rules in all of them; the scattered
alltoallv keeps 32 messages on their way and counts as linear. Intel MPI descends from MPICH and does not
publish its choice.
"""

import csv
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput

LINEAR, PAIRWISE, BRUCK = "linear", "pairwise", "bruck"
DOUBLING, NEIGHBOR, RING, ROOT, TREE = "doubling", "neighbor", "ring", "root", "tree"

#: Ranks from which a row holds, bytes per pair from which it holds, algorithm; the last row that fits counts.
Rules = tuple[tuple[int, int, str], ...]
#: Of `interconnect.selector`: the library whose rows of mpi_rules.csv hold.
RULES = {"ompi": "ompi", "mpich": "mpich", "impi": "mpich"}
DEFAULT = "ompi"
CALLS = ("alltoall", "alltoallv", "allgather", "allgatherv", "barrier", "alltoall_init")


@lru_cache(maxsize=1)
def _table() -> list[dict[str, str]]:
    with open(Path(__file__).with_suffix(".csv"), newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@lru_cache(maxsize=256)
def rules(selector: str | None, ranks: float = 2) -> dict[str, Rules]:
    """The rules of a library by call, for so many ranks. Raises BadInput for one that is not in RULES.

    For allgather MPICH counts the bytes of all ranks together, and doubles up to more of them where the ranks
    are a power of two.
    """
    library = RULES.get(selector or DEFAULT)
    if library is None:
        raise BadInput.of("interconnect.selector", selector, ", ".join(RULES))
    found: dict[str, Rules] = {}
    for row in _table():
        if row["library"] == library:
            rule = int(row["ranks"]), int(row["bytes"]), row["algorithm"]
            found[row["call"]] = (*found.get(row["call"], ()), rule)
    if library == "mpich":
        most = 524288 if np.log2(max(2, ranks)).is_integer() else 81920
        gather = (2, 0, DOUBLING), (2, int(np.ceil(most / max(2, ranks))), RING)
        found |= {"allgather": gather, "allgatherv": gather}
    return found


@lru_cache(maxsize=10_000)
def chosen(selector: str | None, call: str, ranks: float, size: float) -> str:
    """The algorithm of a call for `size` bytes that a rank has for each other.

    Without a selector it is that of Open MPI.
    """
    rows = rules(selector, ranks)[call]
    return [name for least, bytes_, name in rows if max(2, ranks) >= least and size >= bytes_][-1]


def words(selector: str | None, ranks: int) -> str:
    """One line: which algorithms calls of so many ranks get, by bytes."""
    said = []
    for call in CALLS:
        starts = sorted({bytes_ for _, bytes_, _ in rules(selector, ranks)[call]})
        steps = [(b, chosen(selector, call, ranks, b)) for b in starts]
        changes = [s for before, s in zip([(0, ""), *steps], steps, strict=False) if s[1] != before[1]]
        said.append(f"{call} " + ", ".join(f"{name} from {b} B" if b else name for b, name in changes))
    return f"collectives of {ranks} ranks as {selector or DEFAULT} chooses: " + "; ".join(said)


FIXED = "buffers double until the largest window fits; predicted ones leave room for rare windows"
#: Where predicted and simulated exchanges may differ by more than 30 %, and why: of an exchange, by its name.
DIFFERENCES = {
    "alltoall": FIXED,
    "allgather": FIXED,
    "rma_put": "a fence of SimGrid has two barriers, while messages travel; a predicted one follows them",
    "rma_doubling": "a fence of SimGrid has two barriers, a predicted one has one",
    "rma_bruck": "a fence of SimGrid has two barriers, a predicted one has one",
    "two_level": "predicted for ranks that sit in several columns; the others wait for them afterwards",
    "allgatherv": "few bytes are gathered and broadcast, and SimGrid broadcasts in a way of its own",
}
#: The same, of any exchange on some machines.
MEASURED = "this machine"
ROUTES = "several switches"
PLACES = {
    MEASURED: "its calls are predicted from measured tables, and the simulation has messages only",
    ROUTES: "large messages: predicted with a congestion assumed for static routes, simulated on such routes",
}
TABLES = "interconnect.tables."


def differences(exchanges: Iterable[str], paths: Iterable[str], routes: bool = False) -> list[str]:
    """Lines that say where predicted and simulated exchanges may differ by more than 30 %, and why.

    `exchanges`: names, of all lanes; `paths`: of the values of the profile; `routes`: its congestion is the
    one assumed for static routes, and there are enough nodes for it.
    """
    found = [name for name in dict.fromkeys(exchanges) if name in DIFFERENCES]
    found += [MEASURED] * any(path.startswith(TABLES) for path in paths)
    found += [ROUTES] * routes
    known = DIFFERENCES | PLACES
    return [f"predicted and simulated exchange may differ by over 30 % ({of}): {known[of]}" for of in found]
