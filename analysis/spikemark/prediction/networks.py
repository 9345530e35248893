"""Calls between ranks on the nodes of a machine, whose parts may have different networks.

Ranks that are all on one part have that part's network. A call in which ranks of several parts take part
costs as on the worst of their networks and of the links between these parts, value by value.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.machines.interconnect import CROWD, UNLIMITED, Interconnect
from spikemark.machines.parts import Share
from spikemark.network.lanes import Lane

from . import choices, exchange
from .collectives import WHY, Collectives
from .layout import Layout
from .traffic import Traffic

Met = list[tuple[Lane, list[Traffic]]]
ACROSS = (
    "exchanges and barriers of ranks on several parts cost as on the worst of their networks and of the links"
    " between them: the longest latency and gap, the least bandwidth; without measured tables, and with"
    " switches in common only where all have the same topology"
)


@dataclass(frozen=True)
class Networks:
    """`calls`: by the numbers of the shares whose ranks take part; those of all shares are always there."""

    layout: Layout
    calls: dict[tuple[int, ...], Collectives]

    @property
    def whole(self) -> Collectives:
        """Calls between all ranks."""
        return self.calls[_all(self.layout)]

    def exchange_s(self, lane: Lane, traffic: list[Traffic]) -> float:
        """Seconds of an exchange of the slowest group of a lane."""
        split = _split(self.layout, traffic)
        return max(
            (exchange.seconds(self.calls[who], lane, some) for who, some in split.items()), default=0.0
        )

    def barrier_s(self, traffic: list[Traffic]) -> float:
        """Seconds of the barrier before it."""
        split = _split(self.layout, traffic)
        return max((exchange.barrier(self.calls[who], some) for who, some in split.items()), default=0.0)

    def barrier_after(self, lane: Lane, came_s: np.ndarray) -> np.ndarray:
        """Mean time from the arrival of the last of a group at its barrier until each rank leaves, [rank] s.

        `came_s` [draw, rank]: when ranks arrive. Ranks that are alone, and those of groups whose barrier
        takes less time than the slowest one, count the difference as well: others keep them waiting later.
        """
        of_node = self.layout.node_of
        found, alike = np.zeros(len(of_node)), defaultdict(list)
        for group in np.unique(lane.group):
            members = np.flatnonzero(lane.group == group)
            node = of_node[members]
            who = tuple(np.unique(self.layout.share_of[node]).tolist())
            leaf = node[0] % (self.whole.net.nodes_per_leaf or 1)
            alike[len(members) > 1 and (who, leaf, (node - node[0]).tobytes())].append(members)
        owns = {}
        for key, groups in alike.items():
            if not key:
                continue
            none = np.zeros((len(groups[0]), len(groups[0])))
            traffic, net = Traffic(none, none, of_node[groups[0]]), self.calls[key[0]]
            owns[key] = net.barrier(traffic)
            came = np.concatenate([came_s[:, members] for members in groups])
            found[np.array(groups)] = net.barrier_after(traffic, came)
        whole = max(owns.values(), default=0.0)
        for key, groups in alike.items():
            found[np.concatenate(groups)] += whole - owns.get(key, 0.0)
        return found

    def said(self, inputs: Inputs) -> list[str]:
        """Assumptions about texts, and about calls between parts."""

        def ask(of: Inputs, _: Share) -> list[str]:
            return choices.said(of, self.whole)

        found = [line for lines in self.layout.each(inputs, ask) for line in lines]
        for link in _links(inputs, self.layout.shares):
            found += choices.fabric_said(link)
        return found + [ACROSS] * (len(self.layout.shares) > 1)


def of(inputs: Inputs, layout: Layout, met: Met) -> Networks:
    """The calls for these meetings; what nobody stated of them is as bad as it may be (choices.py)."""
    met_by = [(lane, _split(layout, traffic)) for lane, traffic in met]
    needed = dict.fromkeys([_all(layout), *(who for _, split in met_by for who in split)])

    def calls(who: tuple[int, ...]) -> Collectives:
        def cost(net: Collectives) -> float:
            own = [(lane, split[who]) for lane, split in met_by if who in split]
            return sum(
                (exchange.seconds(net, lane, t) + exchange.barrier(net, t)) / lane.period for lane, t in own
            )

        return _settled(inputs, layout, [layout.shares[number] for number in who], cost)

    return Networks(layout, {who: calls(who) for who in needed})


def _all(layout: Layout) -> tuple[int, ...]:
    return tuple(range(len(layout.shares)))


def _split(layout: Layout, traffic: list[Traffic]) -> dict[tuple[int, ...], list[Traffic]]:
    """Groups by the numbers of the shares that their ranks are on."""
    found: dict[tuple[int, ...], list[Traffic]] = {}
    for one in traffic:
        found.setdefault(tuple(np.unique(layout.share_of[one.node]).tolist()), []).append(one)
    return found


def _settled(
    inputs: Inputs, layout: Layout, shares: list[Share], cost: Callable[[Collectives], float]
) -> Collectives:
    if len(shares) == 1:
        return layout.ask(inputs, shares[0], lambda of, own: choices.settled(of, own.node.nodes, cost))
    nodes = sum(share.node.nodes for share in shares)
    inside = [layout.ask(inputs, share, _inside) for share in shares]
    between = [_between(link, nodes) for link in _links(inputs, shares)]
    worst = _worst([*inside, *between])

    def of_part(of: Inputs, _: Share) -> Collectives:
        texts = {"selector": of.text(choices.SELECTOR), "topology": of.text(choices.TOPOLOGY)}
        return choices.settled(of, nodes, cost, Collectives(replace(worst, **texts), {}))

    chosen = [layout.ask(inputs, share, of_part).net for share in shares]
    topologies = {net.topology for net in (*chosen, *between)}
    topology = topologies.pop() if len(topologies) == 1 else None
    selectors = dict.fromkeys(net.selector for net in chosen)
    found = [Collectives(replace(worst, selector=one, topology=topology), {}) for one in selectors]
    return max(found, key=cost) if len(found) > 1 else found[0]


def _inside(inputs: Inputs, share: Share) -> Interconnect:
    return Collectives.of(inputs, share.node.nodes, measured=False).net


def _links(inputs: Inputs, shares: list[Share] | tuple[Share, ...]) -> list[Inputs]:
    return [inputs.of_link(one.part, two.part) for one, two in combinations(shares, 2)]


def _between(inputs: Inputs, nodes: int) -> Interconnect:
    """What a link adds: messages between nodes. Whose MPI library runs is a matter of the parts."""
    crowded = inputs.get("interconnect.congestion", 1.0) if nodes >= CROWD else 1.0
    topology = inputs.profile.get(choices.TOPOLOGY)
    return Interconnect(
        inputs.need("interconnect.latency", WHY),
        0.0,
        inputs.need("interconnect.bandwidth", WHY) / crowded,
        np.inf,
        inputs.need("interconnect.gap", WHY),
        inputs.get("interconnect.eager", UNLIMITED),
        None if topology is None or topology.open else str(topology.value),
        round(inputs.get("interconnect.nodes_per_leaf", 0.0)) or None,
    )


def _worst(nets: list[Interconnect]) -> Interconnect:
    def most(name: str) -> float:
        return max(getattr(net, name) for net in nets)

    def least(name: str) -> float:
        return min(getattr(net, name) for net in nets)

    return Interconnect(
        most("latency_s"), most("latency_node_s"), least("bandwidth"), least("bandwidth_node"),
        most("gap_s"), least("eager"),
        nodes_per_leaf=min((net.nodes_per_leaf for net in nets if net.nodes_per_leaf), default=None),
    )  # fmt: skip
