"""Cycles other than the one that a description states, which its delays allow as well.

No spike is needed before the shortest delay of any synapse has passed. A cycle that is no longer is exact.
"""

from typing import Any

import numpy as np

from spikemark.network.description import Description, read

AUTO = "auto"  # D: the largest that is exact
LONGEST_MS = 1000.0  # that a description may state


def shortest_steps(description: dict | Description) -> int:
    """The shortest delay of all synapses, in steps; one step for a network without synapses."""
    known = read(description)
    least = known.shortest.min(initial=np.inf)
    most = max(1, int(LONGEST_MS / known.time.resolution_ms))
    return min(int(least), most) if np.isfinite(least) else 1


def of_shortest_delay(description: dict) -> dict[str, Any]:
    """The same network with cycles of its shortest delay, as codes without a cycle of their own have them.

    Warm-up and simulated time become whole cycles, rounded up. D counts cycles, so it is converted, too.
    """
    return _with(description, shortest_steps(description))


def longer(description: dict) -> dict[str, Any] | None:
    """The same network with the longest cycle that is exact and of which warm-up and simulated time are
    multiples; None where that is the stated one."""
    time = read(description).time
    most = shortest_steps(description) // time.cycle_steps
    whole = [n for n in range(2, most + 1) if not (time.warmup_cycles % n or time.cycles % n)]
    return _with(description, whole[-1] * time.cycle_steps) if whole else None


def milliseconds(description: dict | Description, steps: int) -> float:
    """Simulated time of so many steps."""
    return round(steps * read(description).time.resolution_ms, 9)


def _with(description: dict, steps: int) -> dict[str, Any]:
    time = read(description).time
    if steps == time.cycle_steps:
        return description
    changed = {"cycle_ms": milliseconds(description, steps)}
    for name in ("warmup_ms", "simulate_ms"):
        given = getattr(time, name)
        if given is not None:
            cycles = -(-round(given / time.resolution_ms) // steps)
            changed[name] = milliseconds(description, cycles * steps)
    found = description | {"time": description["time"] | changed}
    ratio = description.get("delay_ratio", AUTO)
    if ratio != AUTO:  # the longest whole number of cycles that is not above the stated time
        found["delay_ratio"] = max(1, ratio * time.cycle_steps // steps)
    return found
