"""The jitter of a profile: which of its values are which parameter of models/jitter.py.

Kernel times of a profile are means over everything that was timed, interruptions included. So
jitter scatters times about the mean that kernel times give, and leaves the mean as it is.
`spikemark calibrate` reads the parameters from runs in the same sense (models/jitter_estimate.py).
"""

from spikemark.models.jitter import Jitter

from .values import Values

#: Fields of Jitter by path below `jitter.`.
FIELD_OF_PATH = {
    "cv": "cv",
    "correlation_time": "correlation_time",
    "minor_mode.share": "minor_share",
    "minor_mode.factor": "minor_factor",
    "slow_spells.share": "spell_share",
    "slow_spells.factor": "spell_factor",
    "slow_spells.cycles": "spell_cycles",
    "common.share": "common_share",
    "node_spread": "node_spread",
}
#: Paths that mean nothing where another one is 0.
PART_OF = {
    "minor_mode.factor": "minor_mode.share",
    "slow_spells.factor": "slow_spells.share",
    "slow_spells.cycles": "slow_spells.share",
}


def jitter_of(
    values: Values, why: str, cv: float | None = None, correlation: float | None = None
) -> Jitter:
    """The jitter of a profile; `cv` and `correlation` override it.

    Raises:
        BadInput: naming the value that is unknown, and `why` it is needed.

    Example:
        >>> from spikemark.machines import load
        >>> from spikemark.machines.priors import filled
        >>> jitter_of(Values(filled(load("epyc-vm"))), "an example").cv
        0.2145
    """
    numbers: dict[str, float] = {}
    if cv is not None:
        numbers["cv"] = cv
    if correlation is not None:
        numbers["correlation"] = correlation
        numbers["correlation_time"] = 1.0
    for path, field in FIELD_OF_PATH.items():
        share = PART_OF.get(path)
        means_nothing = share is not None and values.get(f"jitter.{share}") == 0
        if field not in numbers and not means_nothing:
            numbers[field] = values.need(f"jitter.{path}", why)
    return Jitter(**numbers)
