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

from collections.abc import Callable, Iterable

import numpy as np

from spikemark.core.errors import BadInput

LINEAR, PAIRWISE, BRUCK = "linear", "pairwise", "bruck"
DOUBLING, NEIGHBOR, RING, ROOT, TREE = "doubling", "neighbor", "ring", "root", "tree"

#: Ranks from which a row holds, bytes per pair from which it holds, algorithm; the last row that fits counts.
Rules = tuple[tuple[int, int, str], ...]

_OMPI_ALLTOALL: Rules = (
    (2, 0, PAIRWISE), (2, 32768, LINEAR), (2, 262144, PAIRWISE),
    (3, 0, LINEAR), (3, 524288, PAIRWISE), (3, 1048576, LINEAR),
    (8, 0, LINEAR),
    (16, 0, LINEAR), (16, 4, BRUCK), (16, 512, LINEAR),
    (32, 0, BRUCK), (32, 512, LINEAR),
    (64, 0, BRUCK), (64, 1024, LINEAR), (64, 262144, PAIRWISE),
    (256, 0, BRUCK), (256, 1024, LINEAR), (256, 32768, PAIRWISE),
    (512, 0, BRUCK), (512, 512, LINEAR), (512, 262144, PAIRWISE),
    (1024, 0, BRUCK), (1024, 512, LINEAR),
    (2048, 0, BRUCK), (2048, 1024, LINEAR),
    (4096, 0, BRUCK), (4096, 2048, LINEAR),
)  # fmt: skip
_MPICH_ALLTOALL: Rules = (
    (2, 0, LINEAR), (2, 32769, PAIRWISE), (8, 0, BRUCK), (8, 257, LINEAR), (8, 32769, PAIRWISE),
)  # fmt: skip
_OMPI_ALLTOALLV: Rules = (
    (2, 0, PAIRWISE), (4, 0, LINEAR), (64, 0, PAIRWISE), (128, 0, LINEAR), (256, 0, PAIRWISE),
    (1024, 0, LINEAR),
)  # fmt: skip
_OMPI_ALLGATHER: Rules = (
    (2, 0, DOUBLING),
    (32, 0, DOUBLING), (32, 1024, NEIGHBOR), (32, 65536, RING),
    (64, 0, DOUBLING), (64, 512, NEIGHBOR), (64, 65536, RING),
    (128, 0, DOUBLING), (128, 512, NEIGHBOR), (128, 131072, RING), (128, 524288, NEIGHBOR),
    (128, 1048576, RING),
    (256, 0, DOUBLING), (256, 1024, NEIGHBOR), (256, 131072, RING), (256, 524288, NEIGHBOR),
    (256, 1048576, RING),
    (512, 0, DOUBLING), (512, 2048, NEIGHBOR),
    (1024, 0, DOUBLING), (1024, 4096, NEIGHBOR),
)  # fmt: skip
_OMPI_ALLGATHERV: Rules = (
    (2, 0, BRUCK),
    (4, 0, ROOT), (4, 256, NEIGHBOR), (4, 4096, RING), (4, 8192, NEIGHBOR), (4, 16384, BRUCK),
    (4, 262144, NEIGHBOR),
    (8, 0, ROOT), (8, 1024, BRUCK),
    (16, 0, ROOT), (16, 128, BRUCK), (16, 262144, RING),
    (32, 0, ROOT), (32, 256, BRUCK), (32, 8192, RING),
    (64, 0, ROOT), (64, 256, BRUCK), (64, 4096, RING),
    (128, 0, BRUCK), (128, 1024, NEIGHBOR), (128, 65536, RING),
    (256, 0, BRUCK), (256, 1024, RING),
    (512, 0, BRUCK), (512, 512, ROOT), (512, 1024, BRUCK), (512, 4096, NEIGHBOR), (512, 1048576, RING),
    (1024, 0, BRUCK), (1024, 4096, NEIGHBOR),
)  # fmt: skip
_OMPI_BARRIER: Rules = (
    (2, 0, DOUBLING), (4, 0, ROOT), (8, 0, DOUBLING), (64, 0, BRUCK), (256, 0, TREE), (512, 0, BRUCK),
    (1024, 0, TREE), (4096, 0, BRUCK),
)  # fmt: skip


def _mpich_allgather(ranks: float) -> Rules:
    """MPICH counts the bytes of all ranks together, and doubles up to more of them for powers of two."""
    most = 524288 if np.log2(ranks).is_integer() else 81920
    return ((2, 0, DOUBLING), (2, int(np.ceil(most / ranks)), RING))


_OMPI = {
    "alltoall": _OMPI_ALLTOALL, "alltoallv": _OMPI_ALLTOALLV, "allgather": _OMPI_ALLGATHER,
    "allgatherv": _OMPI_ALLGATHERV, "barrier": _OMPI_BARRIER, "alltoall_init": ((2, 0, LINEAR),),
}  # fmt: skip
_MPICH = {
    "alltoall": _MPICH_ALLTOALL, "alltoallv": ((2, 0, LINEAR),), "allgather": _mpich_allgather,
    "allgatherv": _mpich_allgather, "barrier": ((2, 0, BRUCK),),
    "alltoall_init": _MPICH_ALLTOALL,
}  # fmt: skip

#: Of `interconnect.selector`, then of the call; a function gives the rules for a number of ranks.
RULES: dict[str, dict[str, Rules | Callable[[float], Rules]]] = {
    "ompi": _OMPI, "mpich": _MPICH, "impi": _MPICH
}  # fmt: skip
DEFAULT = "ompi"


def rules(selector: str | None, ranks: float = 2) -> dict[str, Rules]:
    """The rules of a library by call, for so many ranks. Raises BadInput for one that is not in RULES."""
    found = RULES.get(selector or DEFAULT)
    if found is None:
        raise BadInput(f"interconnect.selector={selector!r}: allowed are {', '.join(RULES)}")
    return {call: rows(max(2, ranks)) if callable(rows) else rows for call, rows in found.items()}


def chosen(selector: str | None, call: str, ranks: float, size: float) -> str:
    """The algorithm of a call for `size` bytes that a rank has for each other.

    Without a selector it is that of Open MPI.
    """
    rows = rules(selector, ranks)[call]
    return [name for least, bytes_, name in rows if max(2, ranks) >= least and size >= bytes_][-1]


def words(selector: str | None, ranks: int) -> str:
    """One line: which algorithms calls of so many ranks get, by bytes."""
    said = []
    for call, rows in rules(selector, ranks).items():
        starts = sorted({bytes_ for _, bytes_, _ in rows})
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
