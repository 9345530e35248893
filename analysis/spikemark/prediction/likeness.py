"""How much a machine that nobody has measured is like one that was, by what its profile states.

The effect of a machine is what its measured runs took beyond their counts. A machine with the same
data has the same effect, but for what data do not say. A machine that differs keeps the effect
where that is on the safe side: better data never make a time longer, and worse data never make it
shorter. So of a machine that is faster than its data, only what falls short counts as a difference;
of one that is slower, only what is better.

What is judged is what models take: of the last cache, that of a core, whatever the size of a slice;
of the base clock, that of cores which are all at work.
"""

import math
from collections.abc import Callable, Iterable

from .published_machine import PublishedMachine, UncertainValue, measured_machine

#: Fields that decide about a part, and whether a larger value is better (1) or worse (-1).
BETTER = {
    "kernel": {"clock_ghz": 1, "turbo_ghz": 1, "clock_share": 1, "l3_kib": 1, "l3_cores": -1},
    "exchange": {
        "latency_us": -1,
        "latency_node_us": -1,
        "gap_us": -1,
        "bandwidth_gb": 1,
        "congestion": -1,
    },
}
#: Fields that make one number, each to the power of its sign: the last cache of a core.
TOGETHER = (("l3_kib", "l3_cores"),)
#: Fields that say nothing about a run on one node.
BETWEEN_NODES = {"latency_us", "gap_us", "bandwidth_gb", "congestion"}
SIGN = {field: sign for fields in BETTER.values() for field, sign in fields.items()}
#: The measured machine that states least (a test): the spread of an effect holds for what it lacks.
LEAST_STATED = {"kernel": "epyc-vm", "exchange": "dpsnn-westmere-ib"}
FOR_EACH_MISSING = 0.7  #: share of an effect that is left for each value that is not stated
WIDER = 1.05  #: spread of an effect for each field that is not stated, over that without
ROUNDING = 1e-9  #: logarithm of a ratio of two numbers that are the same
LENGTH = 0.3  #: sum of the logarithms of differences at which an effect is the e-th part
#: The same of cores and sockets: times are those of a core, and their number says less of these
#: than what a core has.
LENGTH_OF_CORES = 1.0


def likeness(
    part: str, machine: PublishedMachine, measured: PublishedMachine, slow: bool, nodes: int = 2
) -> tuple[float, float]:
    """Share of the effect of a measured machine on another one: 1 for the same data, else less;
    and how far off it may be, since values that the other one does not state may be those of the
    measured one. Better data never make it less sure: a sum of times that are less sure has a
    larger median.

    What it does not state is taken as it is assumed: an unknown latency is no reason to be like the
    slowest network.

    Both are 0 where the measured machine states nothing.

    Args:
        part: "kernel" or "exchange".
        machine: the machine that nobody has measured.
        measured: the other one.
        slow: whether the measured one takes longer than its data say.
        nodes: of a run; on one, no value counts that is between nodes.

    Example:
        >>> from spikemark.prediction.published_machine import measured_machine
        >>> jureca, supermuc = measured_machine("jureca-dc"), measured_machine("supermuc-ng")
        >>> likeness("kernel", jureca, jureca, slow=False)[0]
        1.0
        >>> likeness("kernel", supermuc, jureca, slow=False)[0] < 1
        True
    """
    stated = [field for field in BETTER[part] if field in _stated(measured, nodes)]
    if not stated:
        return 0.0, 0.0
    missing = [field for field in stated if field not in machine.stated]
    apart = abs(math.log(machine.cores / measured.cores))
    apart += abs(math.log(machine.sockets / measured.sockets))
    known, assumed = 0.0, 0.0  # differences
    for fields in _judged(BETTER[part]):
        if fields.isdisjoint(stated):
            continue
        advantage = _advantage(machine, measured, fields)
        difference = max(0.0, advantage if slow else -advantage)
        if fields.isdisjoint(missing):
            known += difference
        else:
            assumed += difference
    by_cores = math.exp(-apart / LENGTH_OF_CORES)
    by_stated = by_cores * math.exp(-known / LENGTH)
    by_unstated = FOR_EACH_MISSING ** len(missing) * math.exp(-assumed / LENGTH)
    doubt = (1 - by_unstated) * (by_stated if slow else by_cores)
    return by_stated * by_unstated, doubt


def is_as_good(machine: PublishedMachine, other: PublishedMachine, nodes: int = 2) -> bool:
    """Whether a machine is surely as good as another one in everything.

    Of the last cache, that of a core counts, whatever the size of a slice. `nodes`: of a run, as in
    `likeness`.

    Example:
        >>> from dataclasses import replace
        >>> from spikemark.prediction.published_machine import measured_machine
        >>> jureca = measured_machine("jureca-dc")
        >>> better = replace(jureca, latency_us=1.0)
        >>> is_as_good(better, jureca), is_as_good(jureca, better)
        (True, False)
    """
    return shortfall(machine, other, nodes) <= ROUNDING


def shortfall(machine: PublishedMachine, other: PublishedMachine, nodes: int = 2) -> float:
    """How much worse than another one a machine is: the sum of the logarithms of the ratios of all
    values in which it is worse.

    0 if it is as good in everything, infinite if it cannot be compared: machines are that state the
    same fields and have as many cores and sockets. `nodes`: of a run, as in `likeness`.

    Example:
        >>> from dataclasses import replace
        >>> from spikemark.prediction.published_machine import measured_machine
        >>> jureca = measured_machine("jureca-dc")
        >>> worse = replace(jureca, latency_us=1.1 * jureca.latency_us)
        >>> round(shortfall(worse, jureca), 3), shortfall(jureca, worse)
        (0.095, 0.0)
    """
    stated = _stated(machine, nodes)
    if stated != _stated(other, nodes):
        return math.inf
    if (machine.cores, machine.sockets) != (other.cores, other.sockets):
        return math.inf
    return sum(max(0.0, -_advantage(machine, other, fields)) for fields in _judged(stated))


def _judged(fields: Iterable[str]) -> list[frozenset[str]]:
    """Which of some fields make one number, and which one each."""
    groups: dict[str, set[str]] = {}
    for field in fields:
        name = field
        for together in TOGETHER:
            if field in together:
                name = together[0]
        groups.setdefault(name, set()).add(field)
    return [frozenset(group) for group in groups.values()]


def _judged_as(machine: PublishedMachine, field: str) -> float:
    """The number by which a field of a machine is judged: of the base clock, that at work."""
    return machine.full_ghz if field == "clock_ghz" else float(getattr(machine, field))


def _advantage(
    machine: PublishedMachine,
    measured: PublishedMachine,
    fields: Iterable[str],
    number: Callable[[PublishedMachine, str], float] = _judged_as,
) -> float:
    """How much better than another one a machine is in the number of some fields: the logarithm of
    the ratio.
    """
    ratios = [
        SIGN[field] * _log_ratio(number(machine, field), number(measured, field))
        for field in fields
    ]
    return sum(ratios)


def _log_ratio(number: float, other: float) -> float:
    """Logarithm of the ratio of two numbers that are 0 or more; infinite where one of them is 0."""
    if number == other:
        return 0.0
    if number == 0 or other == 0:
        return math.inf if other == 0 else -math.inf
    return math.log(number / other)


def _stated(machine: PublishedMachine, nodes: int) -> frozenset[str]:
    """The fields that a machine states and that matter to a run on so many nodes."""
    return machine.stated - BETWEEN_NODES if nodes == 1 else machine.stated


def may_be(machine: PublishedMachine, measured: PublishedMachine, nodes: int = 2) -> bool:
    """Whether a machine may have all data of a measured one.

    What it states is the same, and what is assumed of it may be, by its interval.

    Example:
        >>> from dataclasses import replace
        >>> from spikemark.prediction.published_machine import measured_machine
        >>> jureca = measured_machine("jureca-dc")
        >>> less = replace(jureca, stated=jureca.stated - {"latency_us"})
        >>> is_as_good(less, jureca), may_be(less, jureca)
        (False, True)
    """
    stated = _stated(machine, nodes)
    if not stated <= _stated(measured, nodes):
        return False
    if (machine.cores, machine.sockets) != (measured.cores, measured.sockets):
        return False
    left_open = _stated(measured, nodes) - stated
    for uncertain in machine.uncertain:
        other = getattr(measured, uncertain.field)
        if uncertain.field in left_open and not _holds(uncertain, machine, other):
            return False
    advantages = [_advantage(machine, measured, fields, getattr) for fields in _judged(stated)]
    return all(abs(advantage) <= ROUNDING for advantage in advantages)


def _holds(uncertain: UncertainValue, machine: PublishedMachine, number: float) -> bool:
    """Whether a number, as fields of machines have it, is in the interval of a value."""
    of_unit = getattr(machine, uncertain.field) / float(uncertain.value.value)
    inside: bool = uncertain.low * of_unit <= number <= uncertain.high * of_unit
    return inside


def unstated(part: str, machine: PublishedMachine, nodes: int = 2) -> float:
    """How much less is known of the effect of a machine for what its profile does not state.

    A factor of the spread: WIDER for each field that decides about a part and is not stated, beyond
    those that LEAST_STATED does not state either. `nodes`: of a run, as in `likeness`.

    Example:
        >>> from spikemark.prediction.published_machine import measured_machine
        >>> unstated("kernel", measured_machine(LEAST_STATED["kernel"]))
        1.0
    """
    least = measured_machine(LEAST_STATED[part])
    missing = _missing(part, machine, nodes) - _missing(part, least, nodes)
    return WIDER**missing


def _missing(part: str, machine: PublishedMachine, nodes: int) -> int:
    """Number of fields that decide about a part and that the profile does not state."""
    deciding = set(BETTER[part])
    if nodes == 1:
        deciding -= BETWEEN_NODES
    return len(deciding - machine.stated)
