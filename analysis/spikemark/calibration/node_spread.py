"""How far nodes are apart: the ratio of their kernel times, with all cores busy, to those of all nodes."""

import numpy as np

from spikemark.machines.profile import Value

from . import kernel_times
from .kernel_runs import Round
from .site import listed
from .values import repeated

SLOW = 1.05  # times as long as on the median node, from which a node is named
HARDWARE = (kernel_times.CLOCK, kernel_times.TRIAD)  # no kernels of the mini-app
MOST_NAMED = 10


def factors(rounds: list[Round]) -> tuple[list[str], np.ndarray]:
    """Names of nodes, and kernel times of each over the mean of all nodes, [round, node].

    A node's factor is the geometric mean over the kernels of the mini-app.
    """
    names = sorted(rounds[0].full_node)
    found = []
    for each in rounds:
        times = [kernel_times.mean(each.full_node[name]) for name in names]
        kernels = [key for key in times[0] if key not in HARDWARE]
        logs = np.log([[t[key] for key in kernels] for t in times])
        ratio = np.exp(logs.mean(axis=1))
        found.append(ratio / ratio.mean())
    return names, np.array(found)


def value(rounds: list[Round]) -> Value:
    """`jitter.node_spread`: SD of the nodes' times over their mean; for two nodes or more."""
    names, ratios = factors(rounds)
    middle = np.median(ratios, axis=0)
    slowest, fastest = names[int(middle.argmax())], names[int(middle.argmin())]
    detail = (
        f"kernel times on {listed(names)}, all cores busy; {slowest} takes {middle.max():.3f} times the mean,"
        f" {fastest} {middle.min():.3f}"
    )
    return repeated([float(each.std(ddof=1)) for each in ratios], "1", detail)


def slow(rounds: list[Round]) -> list[str]:
    """Returns a line for each node that is slower than the median node in every round, typically by SLOW."""
    names, ratios = factors(rounds)
    relative = ratios / np.median(ratios, axis=1, keepdims=True)
    typical = np.median(relative, axis=0)
    named = [
        f"node {name} is slow: kernels take {factor:.2f} times as long as on the median node"
        for name, factor, least in zip(names, typical, relative.min(axis=0), strict=True)
        if factor >= SLOW and least > 1
    ]
    more = len(named) - MOST_NAMED
    return named[:MOST_NAMED] + ([f"{more} more nodes are slow"] if more > 0 else [])
