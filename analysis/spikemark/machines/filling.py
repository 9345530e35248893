"""Simple rules that assume values which predictions and simulations need but a profile lacks.

To know less must not make a machine look better. So the middle of an assumed value is the worse of two: the
worst over comparable profiles (comparable.py), and what related known values of the same machine imply. The
interval reaches to both ends of the comparable profiles. Of texts, such as the MPI library, predictions take
the worst choice (`Value.open`); simulations have to take one, which stands in the filled profile.

Kernel times come from a profile that was calibrated (`REFERENCE`):

- update, external, collocate, t_spike, cycle: times the ratio of clocks.
- t_next: times the ratio of clocks, but no less than the memory takes for a synapse and its cell of the ring
  at the core's share of the bandwidth. (By the ratio of bandwidths instead, the mini-app would be slower than
  NEST on JURECA-DC: docs/published-runs.md.)
- t_first: as there, since the latency of memory is much the same everywhere, but no less than the memory
  takes for one line at the core's share of the bandwidth.
- All of them are as many times longer as those kernels take that are known of the machine.

Assumed values that follow from others (`ROOTS`) say so (`Value.follows`), and models move them together. One
root is a text: a fabric that is not known counts as the worst one, and its best limit is `BEST_FABRIC`. The
power of cores and the idle power are assumed only from a TDP, prices and times of collectives not at all.
"""

import copy
from dataclasses import dataclass, replace
from dataclasses import field as member
from functools import lru_cache

from . import accelerated, comparable, of_networks, of_nodes
from .assuming import Assumed, Known
from .fields import FABRIC, OTHER
from .inputs import alone, quantity, si
from .loader import names
from .parts import Machine
from .plausible import implausible, odd
from .profile import Profile, Value

#: The profile that `spikemark calibrate` wrote.
REFERENCE = "epyc-vm"
#: Values from which others follow.
ROOTS = (
    FABRIC, "node.clock", "node.bandwidth", "node.bandwidth_core", "node.line", "node.l3", "node.l3_cores",
    "interconnect.latency", "interconnect.bandwidth", "jitter.cv", "jitter.minor_share",
)  # fmt: skip
BEST_FABRIC = comparable.GROUPS[-1][0]  # of which the profiles' best networks are
#: In this order: later rules see what earlier ones assumed.
RULES = (
    of_nodes.clock_and_memory, of_nodes.caches, of_nodes.kernels, of_nodes.power,
    of_networks.messages, of_networks.in_proportion, of_networks.the_rest,
)  # fmt: skip


def filled(profile: Profile | Machine, reference: Profile | None = None) -> Profile | Machine:
    """The profile with assumed values for those that are needed but unknown; their references state the rule.

    `reference`: a calibrated profile instead of `REFERENCE`. Values that the rules do not give either stay
    unknown. Of a machine with parts, each part and each link is filled. Raises BadInput for nodes with
    accelerators.
    """
    if isinstance(profile, Machine):
        return _filled_parts(profile, reference)
    accelerated.refuse(profile)
    others = tuple(names())
    if reference is None and REFERENCE in others:
        reference = profile if profile.name == REFERENCE else comparable.profile(REFERENCE)
    by = repr((comparable.folder(), others, [(p, p.content) for p in (profile, reference) if p]))
    found = _filled(_Asked(by, profile, reference, others))
    return replace(found, values={**found.values}, content=copy.deepcopy(found.content))


@dataclass(frozen=True)
class _Asked:
    """What `filled` depends on, told apart by the text `by`; studies often ask for the same."""

    by: str
    profile: Profile = member(compare=False)
    reference: Profile | None = member(compare=False)
    others: tuple[str, ...] = member(compare=False)


@lru_cache(maxsize=32)
def _filled(asked: _Asked) -> Profile:
    profile, reference = asked.profile, asked.reference
    known = Known(profile.name, profile.values, asked.others)
    found = _complete(known, reference)
    made = profile.assume_all({a.path: (a.value, a.why, a.interval) for a in found.values()})
    followed = _followed(made, known, found, reference)
    said = {"implausible": profile.implausible or implausible(profile), "odd": profile.odd or odd(profile)}
    return replace(made, values=followed, **said)


def _filled_parts(machine: Machine, reference: Profile | None) -> Machine:
    def all_of(found: dict) -> dict:
        return {name: replace(one, profile=filled(one.profile, reference)) for name, one in found.items()}

    said = {"implausible": machine.implausible or implausible(machine), "odd": machine.odd or odd(machine)}
    return replace(machine, parts=all_of(machine.parts), links=all_of(machine.links), **said)


def _complete(known: Known, reference: Profile | None) -> dict[str, Assumed]:
    """What the rules assume, by path; later rules see what earlier ones assumed."""
    found: dict[str, Assumed] = {}
    for rule in RULES:
        for made in rule(known, reference):
            if made.path not in known.values:  # of two, the first
                found[made.path] = made
                known = known.also(made)
    return found


def _followed(
    made: Profile, known: Known, found: dict[str, Assumed], reference: Profile | None
) -> dict[str, Value]:
    """The values of the filled profile; the assumed ones say what they are where a root is at a limit."""
    follows: dict[str, list[tuple[str, str, float]]] = {path: [] for path in found}
    for root in ROOTS:
        if root not in made.values:
            continue
        for side, limit in _limits(made.values[root], follows.get(root, [])):
            there = _complete(known.with_(root, limit), reference)
            for path, assumed in found.items():
                if path != root and path in there and there[path].value != assumed.value:
                    follows[path].append((root, side, there[path].value))
    return {
        path: replace(value, follows=tuple(follows[path]), open=True) if path in follows else value
        for path, value in made.values.items()
    }


def _limits(root: Value, follows: list[tuple[str, str, float]]) -> list[tuple[str, float | str]]:
    """The limits of a root by their sides, as far as it reaches without the fabric that it `follows`; of a
    fabric that nobody stated, the best one and the worst."""
    if isinstance(root.value, str):
        return [("low", BEST_FABRIC), ("high", OTHER)] if root.kind == "assumed" else []
    limits = quantity(root)
    found = {side: getattr(limits, side) / si(root.unit) for side in ("low", "high")}
    for there in (value for path, _, value in follows if path == FABRIC):
        found = {side: alone(limit, root.value, there / root.value) for side, limit in found.items()}
    return list(found.items())
