"""Who a machine is: whether it can be the one as which it says it was measured, and whether two are
the same.

A profile that states `measured_as: ID` claims the runs that were measured on that machine. Cores,
clock, caches and network decide how long these runs took, so those of both profiles have to agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from spikemark.core.errors import BadInput

from .profile import UNMEASURED, Profile, Value, is_between_nodes

#: Starts of the paths that decide about times on a node, but for what is between nodes.
OF_NODE = ("node.", "kernels.", "jitter.", "interconnect.")

#: Paths that have to agree, and by which factor two values may differ where neither interval holds
#: the other value: data sheets round, and messages are measured with several libraries.
AGREEING = {
    "node.sockets": 1.0,
    "node.cores": 1.0,
    "node.clock": 1.1,
    "node.l2": 1.1,
    "node.l3": 1.1,
    "node.l3_cores": 1.0,
    "interconnect.fabric": 1.0,
    "interconnect.latency": 1.5,
    "interconnect.bandwidth": 1.5,
    "interconnect.gap": 1.5,
}


def check(profile: Profile, measured: Profile) -> None:
    """Raises BadInput for the first value that contradicts the measured machine.

    What either does not state cannot contradict; an assumed value of the measured machine neither.

    Example:
        >>> from spikemark import machines
        >>> check(machines.load("jureca-dc"), machines.load("jureca-dc"))
        >>> check(machines.load("supermuc-ng"), machines.load("jureca-dc"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: processor='xeon-8174': measured_as is jureca-dc; ...
    """
    if not _alike(profile.processor, measured.processor):
        raise BadInput(
            field="processor",
            value=profile.processor,
            expected=f"{measured.processor}, that of {measured.name}",
            reason=f"measured_as is {measured.name}",
            code="conflict",
        )
    for path, factor in AGREEING.items():
        value, known = profile.get(path), measured.get(path)
        if value is None or known is None or known.kind == "assumed":
            continue
        if not _agree(value, known, factor):
            raise BadInput(
                field=path,
                value=value.value,
                expected=f"{known.value} {known.unit or ''}".strip() + f", that of {measured.name}",
                reason=f"measured_as is {measured.name}",
                code="conflict",
            )


def _alike(processor: str | None, measured: str | None) -> bool:
    """Whether two processors may be the same: one that is not stated may be any."""
    return processor is None or measured is None or processor == measured


def _agree(value: Value, known: Value, factor: float) -> bool:
    """Whether two texts are equal, or two numbers equal but for a factor or an interval."""
    if isinstance(known.value, str):
        return bool(value.value == known.value)
    low, high = known.interval or (known.value, known.value)
    return bool(low / factor <= value.value <= high * factor)


def sharing_draws(profiles: Sequence[Profile]) -> list[Profile]:
    """The machines of one question, each drawn for itself but for what it has in common with one
    before it.

    Nodes are the same where two profiles have the same values there, stated or assumed, and do not
    name two processors; networks are, where they have the same values between nodes. A remark says
    so of nodes that name no processor: two kinds may be alike in what their profiles state.

    `profiles`: without unknown values.

    Example:
        >>> from spikemark import machines
        >>> offer = Profile("offer", "An offer", machines.load("jureca-dc").values)
        >>> first, second = sharing_draws([offer, offer])
        >>> second.identity, second.draws_of("node.clock")
        ('unmeasured machine 2', 'unmeasured machine')
    """
    shared: list[Profile] = []
    unmeasured: list[Profile] = []
    for profile in profiles:
        if profile.measured_as is None:
            number = f" {len(unmeasured) + 1}" if unmeasured else ""
            profile = _beside(replace(profile, drawn_as=f"{UNMEASURED}{number}"), unmeasured)
            unmeasured.append(profile)
        shared.append(profile)
    return shared


def _beside(profile: Profile, others: Sequence[Profile]) -> Profile:
    """A machine that shares draws with the first of the others that has its nodes, or network."""
    for other in others:
        is_alike = _alike(profile.processor, other.processor)
        if profile.same_node is None and is_alike and _same(profile, other, _is_on_nodes):
            profile = replace(profile, same_node=other)
            if profile.processor is None:
                remark = (
                    f"{profile.name}: names no processor, and states of its nodes what"
                    f" {other.name} does: both are taken as the same"
                )
                profile = replace(profile, remarks=(*profile.remarks, remark))
        if profile.same_network is None and _same(profile, other, is_between_nodes):
            profile = replace(profile, same_network=other)
    return profile


def _same(profile: Profile, other: Profile, is_meant: Callable[[str], bool]) -> bool:
    """Whether two machines have the same values at the paths that are meant."""
    for path in {**profile.values, **other.values}:
        value = profile.values.get(path)
        if is_meant(path) and (value is None or not value.agrees(other.values.get(path))):
            return False
    return True


def _is_on_nodes(path: str) -> bool:
    """Whether the value at a path decides about times on a node."""
    return path.startswith(OF_NODE) and not is_between_nodes(path)
