"""What the ranks of each lane send each other in a window, and how long that takes
(models/exchange_times.py).

A lane has groups of ranks that exchange with each other. The words of a group are expectations over
networks, one matrix of ranks by ranks for each group, so memory grows with the square of the ranks.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.loggp import WHY, Collectives, Traffic, slowest
from spikemark.network.exchanges import BROADCASTS, COMPOSED, SELF_EXCHANGE
from spikemark.network.lanes import Lane

from .layout import MachineLayout
from .partition import routed
from .workload import Loads

__all__ = ["EXCHANGES", "WHY", "barrier", "check", "groups", "seconds"]


@lru_cache(maxsize=8)  # lanes of the ways that are looked at
def groups(loads: Loads, number: int, layout: MachineLayout) -> list[Traffic]:
    """What the ranks of every group of a lane send in a window.

    Groups of one rank are left out. Of groups that send the same within one node each, only the
    first on equal nodes is there: they take equally long.

    Args:
        loads: counts of the run.
        number: of the lane, from 0.
        layout: on which node each rank is.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.workload import rates_of
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> description = mam_benchmark.describe(areas=4)
        >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
        >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=1, ranks_per_node=2)
        >>> sent = groups(loads, 0, layout)
        >>> len(sent), sent[0].bytes.shape
        (1, (4, 4))
    """
    lane = loads.lanes[number]
    traffic: dict[object, Traffic] = {}
    for group in np.unique(lane.group):
        members = np.flatnonzero(lane.group == group)
        if len(members) == 1:
            continue
        words = lane.period * loads.words[number][np.ix_(members, members)]
        np.fill_diagonal(words, 0.0)
        node = layout.node_of[members]
        key: object = group
        if node[0] == node[-1]:
            key = (layout.share_of[node[0]], words.tobytes())

        def onto(sets: np.ndarray, members: np.ndarray = members) -> np.ndarray:
            return lane.period * loads.onto(number, members, sets)

        any_word = -np.expm1(-words)  # probability that a rank has a word for another
        of_group = Traffic(words * lane.word_bytes, any_word, node, onto, lane.word_bytes)
        traffic.setdefault(key, of_group)
    return list(traffic.values())


def check(lane: Lane) -> None:
    """Raises BadInput for an exchange that does not exist, or that cannot serve so many ranks.

    Example:
        >>> from dataclasses import replace
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.workload import rates_of
        >>> description = mam_benchmark.describe(areas=4)
        >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
        >>> check(loads.lanes[0])  # every exchange of the mini-app will do
        >>> try:
        ...     check(replace(loads.lanes[0], exchange="pigeon"))
        ... except BadInput as error:
        ...     print(error.field)
        exchange
    """
    if lane.exchange in COMPOSED:
        for role, name in routed.check(lane).items():
            _check_name(lane, role, name)
    else:
        _check_name(lane, "", lane.exchange)


def _check_name(lane: Lane, role: str, name: str) -> None:
    """Raises BadInput for an exchange of a lane, or of a role in a composed one, that is none."""
    if role:
        possible = [exchange for exchange in EXCHANGES if exchange not in BROADCASTS]
    else:
        possible = [*EXCHANGES, *COMPOSED]
    if int(lane.sizes.max()) == 1:
        possible.append(SELF_EXCHANGE)
    if name not in possible:
        expected = f"one of {', '.join(possible)}"
        raise BadInput(
            f"exchange: {role}{name!r} for lane {lane.name}; expected {expected}", field="exchange"
        )


def seconds(net: Collectives, lane: Lane, traffic: list[Traffic]) -> Any:
    """Seconds of an exchange of the slowest group, a number, or [setting] as costs have them; 0 for
    a lane without groups.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.machines.values import Values
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.workload import rates_of
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> description = mam_benchmark.describe(areas=4)
        >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
        >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=1, ranks_per_node=2)
        >>> net = Collectives.from_values(Values(jureca), nodes=2)
        >>> round(1e6 * seconds(net, loads.lanes[0], groups(loads, 0, layout)), 1)  # microseconds
        3.4
    """
    if lane.exchange in COMPOSED:
        times = [routed.seconds(net, lane.composed, sent, EXCHANGES) for sent in traffic]
    else:
        exchange_s = EXCHANGES[lane.exchange]
        times = [exchange_s(net, sent) for sent in traffic]
    return slowest(times)


def barrier(net: Collectives, lane: Lane, traffic: list[Traffic]) -> Any:
    """Seconds of the barrier before an exchange, as of `seconds`.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.machines.values import Values
        >>> from spikemark.network.presets import mam_benchmark
        >>> from spikemark.prediction.workload import rates_of
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> description = mam_benchmark.describe(areas=4)
        >>> loads = Loads.count(description, ranks=4, threads=1, hz=rates_of(description).hz)
        >>> layout = MachineLayout.from_machine(jureca, ranks=4, threads=1, ranks_per_node=2)
        >>> net = Collectives.from_values(Values(jureca), nodes=2)
        >>> round(1e6 * barrier(net, loads.lanes[0], groups(loads, 0, layout)), 1)  # microseconds
        3.5
    """
    nodes_per_leaf = net.net.nodes_per_leaf
    of_place = {sent.place(nodes_per_leaf): sent for sent in traffic}  # other groups take as long
    return slowest(net.barrier(sent) for sent in of_place.values())
