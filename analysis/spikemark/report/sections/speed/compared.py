"""Says how the speeds of the two compared configurations differ, with everything the judgement rests on."""

import numpy as np

from spikemark.quantities.words import counted, integer, number
from spikemark.records.cases import Ratio, View, ratio


def statement(view: View) -> list[str]:
    """One paragraph; none where no schedules are compared."""
    if not view.comparable:
        return []
    speed_up = view.speed_up(view.other)
    runs = [view.case.of(c, view.ranks) for c in (view.other, view.base)]
    pairs = ratio(*runs, lambda m: m.real_time_factor)  # the means over pairs alone
    return [
        f"On {view.where}, {view.other.label} ran the {_neurons([*runs[0], *runs[1]])}-neuron network at a "
        f"real-time factor of {number(pairs.first)} against {number(pairs.second)} for {view.base.label} on "
        f"{counted(view.ranks, 'rank')}: {compared(speed_up)}.{_chosen(view)}"
    ]


def _chosen(view: View) -> str:
    if view.candidates == 1:
        return ""
    return (
        f" It is the fastest of {view.candidates} that are compared with {view.base.label}, each with its "
        "largest "
        "D. Since it was chosen with the results known, the intervals are so wide that all of them hold with "
        "95 % (Bonferroni)."
    )


def compared(speed_up: Ratio) -> str:
    """Says what the speed-up means, with its interval."""
    value, pairs = number(speed_up.value), counted(len(speed_up.pairs), "pair")
    if speed_up.verdict == "few":
        return f"{pairs} of runs, {speed_up.why} for an interval, gave {speed_up.each} times the speed"
    where = f"95 % interval {number(speed_up.low)}–{number(speed_up.high)}"
    if speed_up.verdict == "open":
        return f"{pairs} of runs cannot tell which is faster (speed-up {value}, {where})"
    where += f" over {pairs} of runs"
    if speed_up.verdict == "smaller":
        return f"slower by a factor of {number(1 / speed_up.value)} (speed-up {value}, {where})"
    return f"{value} times as fast ({where})"


def _neurons(runs: list) -> str:
    numbers = [m.run.record.totals.neurons for m in runs]
    return integer(numbers[0]) if len(set(numbers)) == 1 else f"about {integer(np.mean(numbers))}"
