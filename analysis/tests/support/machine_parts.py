"""Machines of parts made of made-up profiles, or of any others."""

from dataclasses import replace

from small_machine import Machine as Equal
from small_machine import Value

from spikemark.machines.parts import Link, Machine, Part

#: One card's worth of a network, of which a link consists.
STATED = Equal()


def part(nodes, profile=STATED, slower=None):
    """So many nodes; `slower`: a factor, or None."""
    return nodes, profile, None if slower is None else Value(slower, "1", "assumed")


def machine(link=STATED, **parts) -> Machine:
    """A machine of parts as `part` makes them, by name; every link has the network of `link`."""
    made = {name: Part(name, profile, nodes, slower) for name, (nodes, profile, slower) in parts.items()}
    names = list(made)
    links = [f"{one}-{two}" for at, one in enumerate(names) for two in names[at + 1 :]]
    return Machine(
        "unequal", "A machine of unequal nodes", made, {name: Link(name, link) for name in links}, {}
    )


def halves(profile, nodes) -> Machine:
    """Equal nodes, of which the first are one part and the others another."""
    first = nodes // 2
    return machine(profile, one=part(first, profile), other=part(nodes - first, profile))


def without_tables(profile):
    """The profile without measured tables of calls, which calls between parts do not use."""
    kept = {path: value for path, value in profile.values.items() if ".tables." not in path}
    return replace(profile, values=kept)
