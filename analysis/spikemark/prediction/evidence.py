"""What measured runs of a program say of its effects (effects.py) and costs (program_costs.py).

The computation is that of inference.py: some hundredths of a second.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from . import inference
from .effects import ASPECTS, Array, Key, Spreads, State, acting, effects_of
from .growth import terms
from .offered_machines import OfferedMachines
from .points import PublishedRun
from .program_costs import PARTS, PROGRAMS, find

ANCHOR_SD = 0.08  #: log SD of a run of an anchor, beyond its own: what the model of growth leaves
COST_SD = 0.4  #: log SD of a first guess


def infer(
    runs: Sequence[PublishedRun],
    spread: Spreads,
    offers: OfferedMachines | None = None,
) -> State:
    """What measured runs of one program say of its effects (inference.py).

    Args:
        runs: the measured ones.
        spread: what is known of effects and costs.
        offers: what is expected of the effects of offers among the machines.

    Example:
        >>> from spikemark.prediction import points
        >>> runs = [run for run in points.published() if run.series == "SIM-T2"]
        >>> from spikemark.prediction.effects import spreads
        >>> state = infer(runs, spreads())
        >>> len(state.keys) == len(state.mean), state.covariance.shape == (len(state.keys),) * 2
        (True, True)
    """
    program = runs[0].program
    keys = keys_in_order(runs)
    guesses = find(program).guesses
    costs = spread.costs.get(program, guesses)
    times = measured_times(runs, keys, costs, offers)
    prior = prior_of(program, keys, guesses, spread, offers.sds(runs) if offers else {})
    begin = starting_values(program, keys, costs, times)
    return state_of(keys, inference.posterior(times, prior, begin, free=len(keys)))


def state_of(keys: Sequence[Key], posterior: inference.Posterior) -> State:
    """What a posterior says of the effects, and of the costs.

    Example:
        >>> keys = [Key("kernel", "program", "nest")]
        >>> posterior = inference.Posterior(mode=np.array([0.2, -3.0]), covariance=np.eye(2))
        >>> state = state_of(keys, posterior)
        >>> state.mean.tolist(), state.costs.tolist()
        ([0.2], [-3.0])
    """
    effects = len(keys)
    return State(
        keys,
        mean=posterior.mode[:effects],
        covariance=posterior.covariance[:effects, :effects],
        costs=posterior.mode[effects:],
    )


def measured_times(
    runs: Sequence[PublishedRun],
    keys: Sequence[Key],
    costs: Array,
    offers: OfferedMachines | None,
) -> inference.MeasuredTimes:
    """Measured runs, and what their times are made of; `costs`: log costs.

    Example:
        >>> from spikemark.prediction import points
        >>> runs = [run for run in points.published() if run.series == "SIM-T2"]
        >>> keys = keys_in_order(runs)
        >>> costs = find(runs[0].program).guesses
        >>> times = measured_times(runs, keys, costs, offers=None)
        >>> times.acting.shape == (len(PARTS), len(runs), len(keys))
        True
    """
    expected = np.zeros((len(PARTS), len(runs)))
    if offers is not None:
        expected = np.array([offers.expected(run) for run in runs]).T
    part_of_run = np.array([run.part for run in runs])
    holds_all = part_of_run == ""
    return inference.MeasuredTimes(
        log_seconds=np.log(np.array([run.seconds for run in runs], dtype=float)),
        weights=1 / (ANCHOR_SD**2 + np.square([run.sd for run in runs])),
        counts=np.array([terms(run) for run in runs]),
        of_part=find(runs[0].program).of_part,
        acting=acting(runs, keys, costs),
        expected=expected,
        in_seconds=np.array([holds_all | (part_of_run == part) for part in PARTS]),
    )


def prior_of(
    program: str,
    keys: Sequence[Key],
    guesses: Array,
    spread: Spreads,
    of_offers: Mapping[Key, float],
) -> inference.Prior:
    """Effects are 0 within their spreads, log costs their guesses within COST_SD; `of_offers`: the
    log SDs of effects of offers.

    Example:
        >>> keys = [Key("kernel", "program", "nest")]
        >>> prior = prior_of("nest", keys, find("nest").guesses, Spreads(), of_offers={})
        >>> prior.mean[0].tolist(), len(prior.sd) == 1 + len(find("nest").guesses)
        (0.0, True)
    """
    sds = []
    for key in keys:
        usual, _ = spread.of(key, program)
        sds.append(of_offers.get(key, usual))
    return inference.Prior(
        mean=np.append(np.zeros(len(keys)), guesses),
        sd=np.append(sds, np.full(len(guesses), COST_SD)),
    )


def starting_values(
    program: str, keys: Sequence[Key], costs: Array, times: inference.MeasuredTimes
) -> Array:
    """Effects of 0 and log costs, to begin with; for a program that was never fitted, all time is
    in the kernel.

    Example:
        >>> from spikemark.prediction import points
        >>> runs = [run for run in points.published() if run.series == "SIM-T2"]
        >>> keys, costs = keys_in_order(runs), find("dpsnn").guesses
        >>> times = measured_times(runs, keys, costs, offers=None)
        >>> values = starting_values("dpsnn", keys, costs, times)
        >>> values[: len(keys)].any(), len(values) == len(keys) + len(costs)
        (np.False_, True)
    """
    effects = np.zeros(len(keys))
    if program not in PROGRAMS:
        kernel_s = times.counts @ (np.exp(costs) * times.of_part[PARTS.index("kernel")])
        whole = keys.index(Key("kernel", "program", program))
        effects[whole] = np.median(times.log_seconds - np.log(kernel_s))
    return np.append(effects, costs)


def keys_in_order(runs: Sequence[PublishedRun]) -> list[Key]:
    """The effects of runs, by aspect, name and part.

    Example:
        >>> from spikemark.prediction import points
        >>> runs = [run for run in points.published() if run.series == "SIM-T2"]
        >>> [key.aspect for key in keys_in_order(runs)][:2]
        ['machine', 'machine']
    """
    keys: set[Key] = set()
    for run in runs:
        keys.update(effects_of(run))
    return sorted(keys, key=lambda key: (ASPECTS.index(key.aspect), key.name, key.part))
