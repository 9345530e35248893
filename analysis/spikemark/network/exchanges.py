"""The exchanges of the mini-app, by name (`miniapp --list`; a test compares them)."""

TWO_LEVEL = "two_level"  # composed of two others
ALONE = "self"  # of a rank that meets no other
EXCHANGES = (
    "alltoallv", "ialltoallv", "alltoall", "persistent", "neighbor", "ineighbor", "p2p", "direct", "sparse",
    "allgather", "allgatherv", "rma_put", "rma_doubling", "shared", TWO_LEVEL, ALONE,
)  # fmt: skip
