"""The sentence at the top of a page: at most MOST_WORDS words, made from the numbers whatever they say."""

from dataclasses import dataclass, replace

from spikemark.quantities.words import counted, number
from spikemark.records.agreement import broken
from spikemark.records.cases import FEWEST_PAIRS, Ratio, View
from spikemark.records.gather import Configuration

from .cautions import strongest_load
from .sections.counters import HARDWARE

MOST_WORDS = 30
DETAILS = ("exchange", "placement", "lag", "wire")  # what tells configurations of one schedule apart
BROKEN = (
    "NOT EQUAL: runs of one network gave different checksums, so at least one is wrong and their times"
    " must not be compared."
)


@dataclass(frozen=True)
class Headline:
    """The sentence and the ratio it rests on.

    `verdict`: faster, slower, open (the interval contains 1), few (too few pairs for an interval), none
    (nothing to compare) or broken (checksums differ).
    `speed_up`: how many times as fast as the base the fastest of the others ran.
    `caution`: what disturbed the compared runs most, as a clause; None if none of them warns of load.
    """

    sentence: str
    verdict: str
    speed_up: Ratio | None = None
    caution: str | None = None

    def __str__(self) -> str:
        return f"{self.sentence} Caution: {self.caution}." if self.caution else self.sentence


def headline(view: View) -> Headline:
    """Says how the fastest schedule compares with the base, or why the runs cannot tell yet."""
    sweep = view.sweep
    if not sweep.runs:
        return Headline(f"Nothing to report yet: {sweep.progress}.", "none")
    if view.case.counting:
        return Headline(BROKEN, "broken") if broken(sweep) else Headline(_counters(view), "none")
    if not view.comparable:
        return Headline(_no_pair(view), "none")
    speed_up = view.speed_up(view.other)
    verdict = {"larger": "faster", "smaller": "slower"}.get(speed_up.verdict, speed_up.verdict)
    runs = [*view.case.of(view.base, view.ranks), *view.case.of(view.other, view.ranks)]
    found = Headline(_compared(view, speed_up), verdict, speed_up, strongest_load(runs))
    if broken(sweep):
        found = replace(found, verdict="broken", sentence=BROKEN)
    return found


def _compared(view: View, speed_up: Ratio) -> str:
    other, base = names(view.other, view.base)
    ranks, pairs = counted(view.ranks, "rank"), len(speed_up.pairs)
    if speed_up.verdict == "few" and pairs < FEWEST_PAIRS:
        what = f"is too few to tell which is faster, {other} or {base}: it gave a speed-up of"
        if pairs > 1:
            what = f"are too few to tell which is faster, {other} or {base}: they gave speed-ups of"
        return f"On {view.where}, {counted(pairs, 'pair')} of runs {what} {speed_up.each}."
    if speed_up.verdict in ("open", "few"):
        return (
            f"On {ranks} of {view.where}, {pairs} pairs of runs cannot tell whether {other} or {base} is "
            "faster."
        )
    if speed_up.verdict == "larger":
        most = "" if view.candidates == 1 else ", with the shortest time measured"
        return (
            f"On {ranks} of {view.where}, {other} ran {number(speed_up.value)} times as fast as {base}{most}."
        )
    slower = f"{number(1 / speed_up.value)} times as long"
    if view.candidates == 1:
        return f"On {ranks} of {view.where}, {other} took {slower} as {base}."
    return f"On {ranks} of {view.where}, {base} was fastest: the next, {other}, took {slower}."


def names(other: Configuration, base: Configuration) -> tuple[str, str]:
    """What two configurations are called beside one another: the schedules, or else what differs first."""
    pair = other, base
    if other.short != base.short:
        return _short(other), _short(base)
    name = next(name for name in DETAILS if getattr(other, name) != getattr(base, name))
    return tuple(f"{_short(one)} with {name} {one.detail(name)}" for one in pair)


def _short(configuration: Configuration) -> str:
    _, d, value = configuration.short.partition(", ")
    return configuration.name + (f" ({value})" if d else "")


def _counters(view: View) -> str:
    meters = [meter for m in view.sweep.runs for meter in m.run.record.meters if meter.status == "ok"]
    read = [name.replace("_", " ") for name in HARDWARE if any(meter.name == name for meter in meters)]
    found = "None of the processor's counters could be read here"
    if read:
        found = f"Counted by the processor here: {', '.join(read)}"
    return f"{found}. Reading counters takes time, so schedules are not compared by speed."


def _no_pair(view: View) -> str:
    """Why two configurations that ran, or were planned, are not compared."""
    present = view.case.configurations()
    complete = f"{len(view.sweep.runs)} of {len(view.sweep.planned)} runs are complete"
    if len(present) > 1:
        return (
            f"No runs of one network and different schedules on equally many ranks are complete: {complete}."
        )
    planned = {p.fields.get("schedule") for p in view.sweep.planned} - {None}
    only = present[0].name
    if planned - {present[0].schedule}:
        return (
            f"Nothing can be compared yet: so far, only runs of the {only} schedule are complete "
            f"({complete})."
        )
    return f"This experiment compares no schedules: its only one is {only} ({complete})."
