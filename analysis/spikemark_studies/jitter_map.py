"""Which claims of Lober et al. about waiting hold for which jitter, and whether one suits all.

Waiting follows from how cycle times scatter, and nobody has published that for their machines. So
each claim is asked for many jitters: spreads of the ordinary cycles, a minor mode of long cycles,
and shares of the spread that all ranks have in common. What else a jitter has is as the profile of
JURECA-DC assumes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import numpy as np

from spikemark.machines.jitter import jitter_of
from spikemark.machines.values import Values
from spikemark.models.jitter import Jitter

from . import cycles
from .claims import Claim
from .cycles import JURECA, MINI_APP, ModelledCycles
from .profiles import assumed_profile, drawn_values
from .study import load_paper

SUPERMUC = "supermuc-ng"
MOST_RANKS, AREAS = 128, 32
#: Schedules by the names of figure 9.
SCHEDULES = {
    "conventional": "conventional",
    "placement": "placement_only",
    "structure-aware": "structure_aware",
}
SPREADS = (0.005, 0.01, 0.02, 0.035, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
#: Share of the cycles and how many times as long they are; ends and middle of priors.yaml.
MINOR_MODES = {
    "no long cycles": (0.0, 1.0),
    "0.05 % of cycles 1.5 times as long": (0.0005, 1.5),
    "0.5 % of cycles 1.5 times as long": (0.005, 1.5),
    "0.5 % of cycles 4 times as long": (0.005, 4.0),
}
COMMON_SHARES = (0.05, 0.3, 0.7)
DRAWN_JITTERS = 64  #: from priors.yaml
BOUNDED = ("common_share", "minor_share", "spell_share", "minor_factor", "spell_factor")
#: Claims that rest on the jitter, in words that fit beside a figure.
LABELS = {
    "longer-than-bare": "1b: longer than the bare call",
    "waiting-dominates": "1b: waiting dominates",
    "waiting-saved": "7a: saved, less than the theory",
    "two-modes": "7b: two modes",
    "dispersion-falls": "7b: dispersion above the theory",
    "only-part-of-maxima": "7c: part of the maxima",
    "waiting-dominates-equal-areas": "8: waiting dominates, equal areas",
    "order-of-waiting-jureca": "9: order on JURECA-DC",
    "order-of-waiting-supermuc": "9: order on SuperMUC-NG",
}

#: What a claim asks of a jitter.
Ask = Callable[[Jitter], float | list[str]]


@dataclass(frozen=True)
class JitterOfMap:
    """A place on the map."""

    spread: float  #: SD over mean of ordinary cycles
    minor_mode: str  #: one of MINOR_MODES
    common_share: float  #: of the variance
    holding: list[str]  #: ids of the claims that hold there


def usual_jitter() -> Jitter:
    """The jitter of JURECA-DC as its profile assumes it.

    Example:
        >>> 0 < usual_jitter().cv < 0.1
        True
    """
    return jitter_of(Values(assumed_profile(JURECA)), "a map of jitter")


def places(program: str) -> list[JitterOfMap]:
    """The map for cycles of a program, in the order of the axes."""
    asked = questions(program)
    claims = {id: claim for id, claim in _claims().items() if id in asked}
    usual = usual_jitter()
    jitters = []
    for common_share in COMMON_SHARES:
        for name, (share, factor) in MINOR_MODES.items():
            for spread in SPREADS:
                jitter = replace(
                    usual,
                    cv=spread,
                    common_share=common_share,
                    minor_share=share,
                    minor_factor=factor,
                )
                holding = [id for id, claim in claims.items() if _holds(claim, asked[id](jitter))]
                jitters.append(JitterOfMap(spread, name, common_share, holding))
    return jitters


def conclusion(jitters: Sequence[JitterOfMap], number: int) -> str:
    """Whether any jitter satisfies all of a number of claims, in words; else which are missed.

    Example:
        >>> place = JitterOfMap(0.01, "no long cycles", 0.3, holding=["two-modes"])
        >>> print(conclusion([place], number=1))
        all claims (1) hold at once for 1 of 1 jitters (spreads from 0.01 to 0.01; no long cycles)
    """
    all_hold = [place for place in jitters if len(place.holding) == number]
    if all_hold:
        spreads = [place.spread for place in all_hold]
        modes = dict.fromkeys(place.minor_mode for place in all_hold)
        return (
            f"all claims ({number}) hold at once for {len(all_hold)} of {len(jitters)} jitters"
            f" (spreads from {min(spreads):g} to {max(spreads):g}; {', or '.join(modes)})"
        )
    best = max(jitters, key=lambda place: len(place.holding))
    return (
        f"for no jitter of {len(jitters)} do all claims ({number}) hold at once; for the best one"
        f" {len(best.holding)} do (spread {best.spread:g}; {best.minor_mode}; common share"
        f" {best.common_share:g})"
    )


@cache
def drawn_jitters() -> list[Jitter]:
    """Draws of what the profile of JURECA-DC assumes of its jitter.

    Example:
        >>> spreads = [jitter.cv for jitter in drawn_jitters()]
        >>> min(spreads) < usual_jitter().cv < max(spreads)
        True
    """
    profile = assumed_profile(JURECA)
    jitters = []
    for seed in range(DRAWN_JITTERS):
        jitter = jitter_of(drawn_values(profile, seed), "a map of jitter")
        jitters.append(jitter.moved(dict.fromkeys(BOUNDED, 1.0)))
    return jitters


@cache
def interval_over_jitter(id: str) -> tuple[float, float]:
    """The 95 % interval of a claim's answer over what is assumed of the jitter, over its middle.

    Cycles are those of the mini-app, which simulated runs have.
    """
    ask = questions(MINI_APP)[id]
    answers = [ask(jitter) for jitter in drawn_jitters()]
    low, high = np.quantile(np.array(answers, dtype=float), [0.025, 0.975])
    middle = float(np.array(ask(usual_jitter())))
    return float(low / middle), float(high / middle)


@cache
def questions(program: str) -> dict[str, Ask]:
    """What each claim asks of a jitter, by id; those that need SuperMUC-NG of the mini-app only."""
    conventional = cycles.of_benchmark(program, MOST_RANKS, "conventional")
    aware = cycles.of_benchmark(program, MOST_RANKS, "structure_aware")
    equal_areas = cycles.of_benchmark(program, AREAS, "structure_aware")

    def waiting_saved(factors: np.ndarray) -> float:
        return 100 * (1 - aware.waiting_s(factors) / conventional.waiting_s(factors))

    def dispersion(factors: np.ndarray) -> float:
        of_windows = cycles.coefficient_of_variation(aware.windows_s(factors))
        return of_windows / cycles.coefficient_of_variation(conventional.windows_s(factors))

    def maxima(factors: np.ndarray) -> float:
        return cycles.maxima_inside_percent(conventional.windows_s(factors))

    asked: dict[str, Ask] = {
        "longer-than-bare": lambda jitter: 1 + _waiting_over_exchange(conventional, jitter),
        "waiting-dominates": lambda jitter: _waiting_over_exchange(conventional, jitter),
        "waiting-saved": lambda jitter: waiting_saved(_factors(jitter, MOST_RANKS)),
        "two-modes": lambda jitter: jitter.minor_factor if jitter.minor_share else 1.0,
        "dispersion-falls": lambda jitter: dispersion(_factors(jitter, MOST_RANKS)),
        "only-part-of-maxima": lambda jitter: maxima(_factors(jitter, MOST_RANKS)),
        "waiting-dominates-equal-areas": lambda jitter: _waiting_over_exchange(equal_areas, jitter),
        "order-of-waiting-jureca": _order_of_waiting(program, JURECA),
    }
    if program == MINI_APP:
        asked["order-of-waiting-supermuc"] = _order_of_waiting(program, SUPERMUC)
    return asked


def _claims() -> dict[str, Claim]:
    """The claims of the map, by id."""
    return {claim.id: claim for claim in load_paper("lober").claims if claim.id in LABELS}


def _holds(claim: Claim, ours: float | list[str]) -> bool:
    assert claim.rule is not None
    return claim.rule.holds(ours, claim.published)


@lru_cache(maxsize=4)
def _factors(jitter: Jitter, ranks: int) -> np.ndarray:
    """Factors of a jitter; all claims ask for the same one before the next."""
    return cycles.factors_of(jitter, ranks)


def _waiting_over_exchange(of_schedule: ModelledCycles, jitter: Jitter) -> float:
    ranks = len(of_schedule.compute_s)
    return of_schedule.waiting_s(_factors(jitter, ranks)) / of_schedule.exchange_s


def _order_of_waiting(program: str, machine: str) -> Ask:
    """Schedules by waiting of the multi-area model in the ground state, the longest first."""
    by_schedule = {}
    for name, schedule in SCHEDULES.items():
        by_schedule[name] = cycles.of_multi_area_model(program, machine, schedule)

    def order(jitter: Jitter) -> list[str]:
        factors = _factors(jitter, AREAS)
        waits = {name: of_name.waiting_s(factors) for name, of_name in by_schedule.items()}
        return sorted(waits, key=lambda name: -waits[name])

    return order
