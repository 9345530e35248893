"""Whether a profile can be the machine as which it says it was measured.

A profile that states `measured_as: ID` claims the runs that were measured on that machine. Cores,
clock, caches and network decide how long these runs took, so those of both profiles have to agree.
"""

from spikemark.core.errors import BadInput

from .profile import Profile, Value

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
