"""The phases of a cycle in run records, and the parts of a cycle that pages and models tell apart.

The mini-app lists the phases in miniapp/src/measurement/phases.h; a test compares the two lists.
"""

from typing import Any

THREADS = "thread_wait"  # waiting of the master thread for the other threads of its rank
BARRIER, OVERLAP = "synchronise", "overlap_wait"  # waiting for other ranks, see Run.waiting_phases
#: In the order in which a cycle runs them.
PHASES = ("deliver", "update", THREADS, "inject", "collocate", BARRIER, "exchange", OVERLAP)
#: Those that older records lack; they took no time there, or were counted elsewhere.
LATER = ("inject", THREADS)
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
#: Parts that hold the waiting of threads in records of format 1 of ranks with several threads.
HOLD_THREADS = ("deliver", "update")
HELD = "counted as delivery and update before format 2"  # why the waiting of threads is not known
NOT_TIMED = "not timed on its own (record.barrier is false)"  # why waiting for ranks is not known


def with_threads(content: Any) -> Any:
    """The content of a record.json, whose `timing.phases` have THREADS also where it is of format 1.

    It is 0 for one thread, and null with HELD for several. Content of another form is returned as it is.
    """
    timing = content.get("timing") if isinstance(content, dict) else None
    phases = timing.get("phases") if isinstance(timing, dict) else None
    if not isinstance(phases, dict) or content.get("format_version") != 1 or THREADS in phases:
        return content
    alone = {"mean_s": 0.0, "max_s": 0.0}
    own = alone if content.get("threads") == 1 else {**dict.fromkeys(alone), "reason": HELD}
    found: dict[str, Any] = {}
    for name, times in phases.items():
        found[name] = times
        if name == "update":
            found[THREADS] = own
    return content | {"timing": timing | {"phases": {**found, THREADS: own}}}
