"""Costs and spreads of effects, estimated from all published runs (`spikemark score --fit`)."""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from . import inference
from .effects import GUESS, LINKS, Array, Key, Spreads, State, acting, pooled
from .evidence import (
    keys_in_order,
    measured_times,
    prior_of,
    starting_values,
    state_of,
)
from .points import PublishedRun
from .program_costs import PARTS, find

GUESS_WEIGHT = 2.0  #: a first guess of a spread counts as so many effects
EM_STEPS = 25


class OtherGuess(NamedTuple):
    """Another first guess of a cost than that of its program."""

    program: str
    cost: str
    factor: float  #: to the guess of the program


@cache
def fit_spreads(runs: tuple[PublishedRun, ...], other: OtherGuess | None = None) -> Spreads:
    """Costs and spreads from runs, by expectation maximisation; a guess counts as GUESS_WEIGHT
    effects.

    Args:
        runs: measured ones, of any programs.
        other: a cost that begins from another guess.

    Example:
        >>> from spikemark.prediction import points
        >>> runs = tuple(run for run in points.published() if run.program == "dpsnn")
        >>> fitted = fit_spreads(runs)
        >>> sorted(fitted.costs)
        ['dpsnn']
    """
    spread = Spreads()
    evidence = {}
    states: dict[str, State] = {}
    for program in sorted({run.program for run in runs}):
        group = _connected([run for run in runs if run.program == program])
        guesses = _guessed_costs(program, other)
        evidence[program] = _evidence(group, guesses)
        keys, times = evidence[program]
        begin = starting_values(program, keys, guesses, times)
        effects = len(keys)
        states[program] = State(keys, begin[:effects], np.zeros((effects, effects)), guesses)
    for _ in range(EM_STEPS):
        for program, (keys, times) in evidence.items():
            prior = prior_of(program, keys, _guessed_costs(program, other), spread, {})
            begin = np.append(states[program].mean, states[program].costs)
            posterior = inference.posterior(times, prior, begin, free=len(begin))
            states[program] = state_of(keys, posterior)
        by_key = {}
        for key, moments in _moments(states).items():
            by_key[key] = _spread_of(moments, GUESS[key.aspect], key, spread)
        costs = {program: state.costs for program, state in states.items()}
        spread = Spreads(by_key, costs)
    return spread


def _guessed_costs(program: str, other: OtherGuess | None) -> Array:
    """First guesses of the log costs of a program, [cost]; one of them may be another one."""
    costs = find(program)
    guesses = costs.guesses.copy()
    if other is not None and other.program == program:
        names = [cost.name for cost in costs.costs]
        guesses[names.index(other.cost)] += np.log(other.factor)
    return guesses


def _evidence(
    runs: Sequence[PublishedRun], costs: Array
) -> tuple[list[Key], inference.MeasuredTimes]:
    """The effects of runs, and their times. Raises ValueError for a run on an offer: how much its
    effects act would follow the costs, which are not known yet.
    """
    on_offers = [run.machine.title for run in runs if run.machine.is_offer]
    if on_offers:
        raise ValueError(f"{on_offers[0]}: costs are learnt from machines with published runs")
    keys = keys_in_order(runs)
    return keys, measured_times(runs, keys, costs, offers=None)


class Moment(NamedTuple):
    """What a state says of an effect."""

    square: float  #: expectation of its square
    variance: float


def _moments(states: dict[str, State]) -> dict[Key, list[Moment]]:
    """The moments of all effects but those of programs, by the key of their spread."""
    moments: dict[Key, list[Moment]] = {}
    for program, state in states.items():
        variances = np.diag(state.covariance)
        for key, mean, variance in zip(state.keys, state.mean, variances, strict=True):
            if key.aspect != "program":
                moment = Moment(mean**2 + variance, variance)
                moments.setdefault(pooled(key, program), []).append(moment)
    return moments


def _spread_of(
    moments: list[Moment], guesses: tuple[float, float], key: Key, spread: Spreads
) -> tuple[float, float]:
    """Log SD of effects, and how many of them are known, from their moments."""
    guess = guesses[PARTS.index(key.part)]
    previous, _ = spread.of(key, key.name)
    squares = sum(moment.square for moment in moments)
    sd = np.sqrt((GUESS_WEIGHT * guess**2 + squares) / (GUESS_WEIGHT + len(moments)))
    number = sum(max(1 - moment.variance / previous**2, 0.0) for moment in moments)
    return float(sd), float(number)


def _connected(runs: Sequence[PublishedRun]) -> list[PublishedRun]:
    """The largest set of runs linked by a network or a machine; the others say nothing about
    spreads.
    """
    from scipy.sparse import csgraph

    links = [key for key in keys_in_order(runs) if key.aspect in LINKS]
    shares = acting(runs, links, np.zeros(0)).sum(axis=0)  # [run, key]
    steps = csgraph.shortest_path(shares @ shares.T > 0, unweighted=True)  # inf if not linked
    linked = np.isfinite(steps)
    from_first = steps[linked.sum(axis=1).argmax()]
    order = np.argsort(from_first, kind="stable")
    return [runs[number] for number in order if np.isfinite(from_first[number])]
