"""The exchanges of the mini-app, by name (`miniapp --list`; a test compares them)."""

from .composed import COMPOSED

ALONE = "self"  # of a rank that meets no other
EXCHANGES = (
    "alltoallv", "ialltoallv", "alltoall", "persistent", "neighbor", "ineighbor", "p2p", "direct", "sparse",
    "allgather", "allgatherv", "rma_put", "rma_doubling", "shared", *COMPOSED, ALONE,
)  # fmt: skip
