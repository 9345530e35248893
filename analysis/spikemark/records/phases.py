"""The phases of a cycle in run records, and the parts of a cycle that pages and models tell apart.

The mini-app lists the phases in miniapp/src/measurement/phases.h; a test compares the two lists.
"""

import itertools

THREADS = "thread_wait"  # waiting of the master thread for the other threads of its rank
#: Phases of waiting for other ranks, see `Run.waiting_phases`: at the barrier before the exchange,
#: and for an exchange that computing was to hide.
BARRIER = "synchronise"
OVERLAP = "overlap_wait"
#: In the order in which a cycle runs them.
PHASES = ("deliver", "update", THREADS, "inject", "collocate", BARRIER, "exchange", OVERLAP)
#: The parts of a cycle, and the phases of each.
PARTS = {
    "deliver": ("deliver",),
    "update": ("update", "inject"),
    THREADS: (THREADS,),
    "collocate": ("collocate",),
    "waiting": (BARRIER, OVERLAP),
    "exchange": ("exchange",),
}
#: The parts (keys of PARTS) whose sum is the time until a rank has computed.
COMPUTE_PARTS = ("deliver", "update", THREADS, "collocate")
#: Their phases.
COMPUTE_PHASES = tuple(itertools.chain.from_iterable(PARTS[part] for part in COMPUTE_PARTS))
#: Why waiting for ranks is not known.
NOT_TIMED = "not timed on its own (record.barrier is false)"
