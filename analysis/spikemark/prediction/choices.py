"""Texts of a profile that nobody stated: which MPI library chooses the collectives, and the topology.

Predictions take the choice with which exchanges take longest, and the interval reaches to the fastest one. A
text that the profile's file assumes stands, and its interval reaches to all other choices. In an interval, a
text is moved as a number is: its low limit is the fastest choice, its high limit the slowest one.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

from spikemark.machines import algorithms
from spikemark.machines.fields import FABRIC
from spikemark.machines.inputs import Inputs, quantity
from spikemark.machines.profile import field_of

from .collectives import Collectives

SELECTOR, TOPOLOGY = "interconnect.selector", "interconnect.topology"
#: What each may be, libraries with the same rules once.
CHOICES = {
    SELECTOR: tuple({id(rules): name for name, rules in reversed(algorithms.RULES.items())}.values()),
    TOPOLOGY: field_of(TOPOLOGY).choices,
}


def settled(
    inputs: Inputs, nodes: int, cost: Callable[[Collectives], float], calls: Collectives | None = None
) -> Collectives:
    """The calls with the texts of the profile, or with those that cost most; `moved` texts at their limit.

    `cost`: seconds of the exchanges. `calls`: with texts of this profile, and numbers of another network
    [those of the profile]. Notes in `used` which texts are uncertain.
    """
    values = {path: inputs.profile.get(path) for path in CHOICES}
    assumed = {path: v for path, v in values.items() if v is not None and v.kind == "assumed"}
    calls = calls or Collectives.of(inputs, nodes)
    if not assumed:
        return calls
    allowed = (
        {*(CHOICES[path] if v.open or inputs.start + path in inputs.moved else ()), str(v.value)}
        for path, v in assumed.items()
    )
    names = [path.rpartition(".")[2] for path in assumed]
    nets = {
        texts: replace(calls, net=replace(calls.net, **dict(zip(names, texts, strict=True))))
        for texts in sorted(product(*allowed))
    }
    costs = _costs(nets, nodes, cost)
    stated = [v.open or str(v.value) for v in assumed.values()]
    fitting = [t for t in costs if all(s in (True, text) for s, text in zip(stated, t, strict=True))]
    found = max(fitting, key=costs.get)
    for at, path in enumerate(assumed):
        inputs.used[inputs.start + path] = quantity(assumed[path])
        if side := inputs.moved.get(inputs.start + path):
            others = [t for t in costs if t[:at] == found[:at] and t[at + 1 :] == found[at + 1 :]]
            found = (min if side == "low" else max)(others, key=costs.get)
    return nets[found]


def _costs(
    nets: dict[tuple, Collectives], nodes: int, cost: Callable[[Collectives], float]
) -> dict[tuple, float]:
    """What each choice costs. Topologies differ only by the latency within a leaf."""
    if len(nets) == 1:
        return dict.fromkeys(nets, 0.0)
    found: dict[tuple, float] = {}
    alike = {texts: (calls.net.selector, calls.net.leaf_latency_s(nodes)) for texts, calls in nets.items()}
    for texts, calls in nets.items():
        if alike[texts] not in found:
            found[alike[texts]] = cost(calls)
    return {texts: found[same] for texts, same in alike.items()}


def said(inputs: Inputs, net: Collectives) -> list[str]:
    """Which texts are assumed, and why these."""
    lines = []
    for path, text in ((SELECTOR, net.net.selector), (TOPOLOGY, net.net.topology)):
        value, name = inputs.profile.get(path), inputs.start + path
        if value is None or text is None:
            continue
        if value.open:
            lines.append(f"{name} = {text}: the slowest of {', '.join(CHOICES[path])} with these exchanges")
        elif value.kind == "assumed":
            lines.append(f"{name} = {value.value}: {value.reference}")
    return lines + fabric_said(inputs)


def fabric_said(inputs: Inputs) -> list[str]:
    """The kind of network, if something was assumed from it."""
    if inputs.start + FABRIC not in inputs.used:
        return []
    fabric = inputs.profile.need(FABRIC, "what is assumed of the network")
    return [f"{inputs.start}{FABRIC} = {fabric.value}: {fabric.reference}"]
