"""The headline: one or two sentences made from the numbers, even if they are not what one hoped for."""

from dataclasses import dataclass, replace

import numpy as np

from spikemark.models import waiting_iid
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.words import counted, integer, number, percent
from spikemark.records.agreement import broken
from spikemark.records.cases import Ratio, View, ratio
from spikemark.records.gather import NO_BREAK

from .cautions import strongest_load
from .sections.counters import HARDWARE
from .sections.waiting.misfit import misfit

BROKEN = (
    "NOT EQUAL: runs of one network gave different checksums, so at least one is wrong and their times"
    " must not be compared."
)


@dataclass(frozen=True)
class Headline:
    """The sentence and the ratios it rests on.

    `verdict`: faster, slower, open (the interval contains 1), single (one pair), none (nothing to compare) or
    broken (checksums differ).
    `speed_up`: real-time factor of the conventional schedule over that of the structure-aware one.
    `waiting`: waiting of the structure-aware schedule over that of the conventional one; None if not known.
    `caution`: what disturbed the compared runs most, as a clause; None if none of them warns of load.
    """

    sentence: str
    verdict: str
    speed_up: Ratio | None = None
    waiting: Ratio | None = None
    caution: str | None = None

    def __str__(self) -> str:
        return f"{self.sentence} Caution: {self.caution}." if self.caution else self.sentence


def headline(view: View) -> Headline:
    """Says how the two schedules compare, or why the runs cannot tell yet."""
    sweep = view.sweep
    if not sweep.runs:
        return Headline(f"Nothing to report yet: {sweep.progress}.", "none")
    if _of_counters(view):
        return Headline(BROKEN, "broken") if broken(sweep) else Headline(_counters(view), "none")
    if not view.comparable:
        return Headline(f"{_no_pair(view)}: {sweep.progress}.", "none")
    plain = view.case.of(view.conventional, view.ranks)
    aware = view.case.of(view.structure_aware, view.ranks)
    speed_up = ratio(plain, aware, lambda m: m.real_time_factor)
    waiting = ratio(aware, plain, lambda m: m.waiting) if view.ranks > 1 else None
    verdict = {"larger": "faster", "smaller": "slower"}.get(speed_up.verdict, speed_up.verdict)
    delay_ratio = f"D{NO_BREAK}={NO_BREAK}{view.structure_aware.delay_ratio}"
    factors = f"{number(speed_up.second)} against {number(speed_up.first)}"
    network, where = f"{_neurons(aware + plain)}-neuron network", counted(view.ranks, "rank")
    sentence = (
        f"On {view.where} the structure-aware schedule with {delay_ratio} ran the {network}"
        f" at a real-time factor of {factors} for the conventional one on {where}: {compared(speed_up)}."
        f" {_waiting(view, waiting, speed_up)}"
    )
    found = Headline(sentence, verdict, speed_up, waiting, strongest_load(plain + aware))
    if broken(view.sweep):
        found = replace(found, verdict="broken", sentence=BROKEN)
    return found


def compared(speed_up: Ratio) -> str:
    """Says what the ratio of real-time factors means, with its interval."""
    value, pairs = number(speed_up.value), counted(len(speed_up.pairs), "pair")
    if speed_up.verdict == "single":
        return f"{_times(speed_up.value)} in the only pair of runs, which is too few to tell it from chance"
    where = f"95 % interval {interval(speed_up)}"
    if speed_up.verdict == "open":
        return f"{pairs} of runs cannot tell which is faster (speed-up {value}, {where})"
    where += f" over {pairs} of runs"
    if speed_up.verdict == "smaller":
        return f"{_times(speed_up.value)} (speed-up {value}, {where})"
    return f"{_times(speed_up.value)} ({where})"


def interval(r: Ratio) -> str:
    """Writes the interval of a ratio that has one."""
    return f"{number(r.low)}–{number(r.high)}"


def expected_waiting(view: View) -> float:
    """The ratio of waiting that the published theory expects, 1/sqrt(D) (Lober et al. 2026, eq 11)."""
    return waiting_iid.waiting_ratio(view.structure_aware.delay_ratio)


def _times(value: float) -> str:
    return f"{number(value)} times as fast" if value >= 1 else f"slower by a factor of {number(1 / value)}"


def _waiting(view: View, waiting: Ratio | None, speed_up: Ratio) -> str:
    if view.ranks == 1:
        which = "All complete runs" if view.case.ranks == [1] else "The only runs that can be compared so far"
        return f"{which} have one rank, which waits for nobody, so nothing is said about waiting."
    if waiting is None:
        return "Waiting was not timed on its own."
    theory = f"the theory of independent cycle times expects {_expected(waiting, expected_waiting(view))}"
    miss = misfit(view.case, view.ranks)
    if miss and miss.notable:
        theory += (
            f", but puts the conventional waiting itself at {number(miss.factor, 2)} times what was "
            f"{view.kind}"
        )
    return f"{_observed(waiting, speed_up)}; {theory}."


def _observed(waiting: Ratio, speed_up: Ratio) -> str:
    """Says how the waiting changed, in the same unit as `_expected`."""
    value = number(waiting.value)
    if waiting.verdict == "single":
        return f"Waiting was {value} times as long in that pair"
    if waiting.verdict == "open":
        they = "Nor can they" if speed_up.verdict == "open" else "They cannot"
        return f"{they} tell whether the waiting changed (ratio {value}, 95 % interval {interval(waiting)})"
    low, high = sorted(abs(1 - x) for x in (waiting.low, waiting.high))
    change = f"{'fell' if waiting.value < 1 else 'rose'} by {percent(abs(1 - waiting.value))}"
    return f"Waiting {change} (95 % interval {percent(low)} to {percent(high)})"


def _expected(waiting: Ratio, expected: float) -> str:
    if not waiting.resolved:
        return f"a ratio of {number(expected)}"
    if expected == 1:
        return "no change"
    return percent(1 - expected) if waiting.value < 1 else f"a fall of {percent(1 - expected)}"


def _of_counters(view: View) -> bool:
    """Tells whether all runs that could be timed read counters, which makes them slower than other runs."""
    return all(m.description.get("record", {}).get("counters") is True for m in view.case.runs)


def _counters(view: View) -> str:
    meters = [meter for m in view.sweep.runs for meter in m.run.record.meters if meter.status == "ok"]
    read = [name.replace("_", " ") for name in HARDWARE if any(meter.name == name for meter in meters)]
    if read:
        found = f"Counted by the processor here: {', '.join(read)}"
    else:
        found = "None of the processor's counters could be read here"
    return (
        f"{found} ({view.sweep.progress}). Reading counters takes time, so schedules are not compared"
        " by speed."
    )


def _no_pair(view: View) -> str:
    schedules = {m.run.schedule for m in view.sweep.runs}
    planned = schedules | {p.fields.get("schedule") for p in view.sweep.planned}
    for name in ("conventional", "structure_aware"):
        words = f"the {SCHEDULES[name].label} schedule"
        if name not in planned:
            return f"This experiment has no run of {words} and compares no schedules"
        if name not in schedules:
            return f"No run of {words} is complete, so there is nothing to compare"
    return (
        "No pair of a conventional and a structure-aware run of one network on equally many ranks is complete"
    )


def _neurons(runs: list) -> str:
    numbers = [m.run.record.totals.neurons for m in runs]
    return integer(numbers[0]) if len(set(numbers)) == 1 else f"about {integer(np.mean(numbers))}"
