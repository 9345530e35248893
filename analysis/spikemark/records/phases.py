"""The phases of a cycle in run records, and the parts of a cycle that pages and models tell apart.

The mini-app lists the phases in miniapp/src/measurement/phases.h; a test compares the two lists.
"""

THREADS = "thread_wait"  # waiting of the master thread for the other threads of its rank
BARRIER, OVERLAP = "synchronise", "overlap_wait"  # waiting for other ranks, see Run.waiting_phases
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
COMPUTE = ("deliver", "update", THREADS, "collocate")  # keys of PARTS; their sum is when a rank has computed
COMPUTE_PHASES = tuple(phase for part in COMPUTE for phase in PARTS[part])
NOT_TIMED = "not timed on its own (record.barrier is false)"  # why waiting for ranks is not known
