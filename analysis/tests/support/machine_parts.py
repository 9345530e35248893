"""Machines of parts made of made-up profiles, or of any others."""

from small_machine import Machine as Equal
from small_machine import Value

from spikemark.machines.parts import Link, MachineOfParts, MachinePart

#: One card's worth of a network, of which a link consists.
STATED = Equal()


def part(nodes, profile=STATED, slower=None):
    """So many nodes; `slower`: a factor, or None."""
    return nodes, profile, None if slower is None else Value(slower, "1", "assumed")


def machine(link=STATED, **parts) -> MachineOfParts:
    """A machine of parts as `part` makes them, by name; every link has the network of `link`."""
    made = {
        name: MachinePart(name, profile, nodes, slower)
        for name, (nodes, profile, slower) in parts.items()
    }
    names = list(made)
    links = [f"{one}-{two}" for at, one in enumerate(names) for two in names[at + 1 :]]
    return MachineOfParts(
        "unequal", "A machine of unequal nodes", made, {n: Link(n, link) for n in links}
    )
