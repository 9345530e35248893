"""The sentences of an answer about waiting: each function says one thing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from spikemark.network.description import read_description
from spikemark.network.schedules import SCHEDULES, MeetingPlan
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.words import (
    NARROW,
    change,
    counted,
    decimals_between,
    integer,
    number,
    percent,
    with_ends,
)
from spikemark.records.judged import no_evidence

from .another_run import spread_of_speeds
from .changes import ChangeOutcome
from .ladder import MEANS as MEANS_OF_PARTS
from .ladder import Ladder, LongestEvent, SlowestRank, SlowSpell
from .replay import PLACEMENT_ADVICE, ReplayedWaiting
from .trace import CycleTrace

MICRO = 1e6
MAX_HELPS_SHOWN = 3
#: Shares of the waiting, and of a quantity, that are worth a word.
MATTERS = 0.1
#: A rank is named that is surely so much slower and costs this share of a cycle.
MIN_SLOWNESS = 0.05
MIN_COST_OF_SLOWNESS = 0.01
#: More work explains that a rank is slow if it is so many times as much, and if, as a power of that
#: factor, the factor of the times is between these.
MIN_MORE_WORK = 1.05
LEAST_POWER = 0.5
MOST_POWER = 2.0
#: A slow spell, or a rank that is slow in a part of the run, is named that costs this share of the
#: waiting; so many spells are.
MIN_SHARE_OF_SPELL = 0.05
MAX_SPELLS_SHOWN = 3
CYCLE_ROUNDING = 1e-6  #: of a cycle: times below are what rounding leaves
MEANS = MEANS_OF_PARTS | {"exchange": "moving the data"}
LATE_ON_AVERAGE = "ranks that are late on average, slow spells included"
NOTHING_HELPS = "Nothing that was tried surely shortens this run."
NEEDS_DELAYS = "D needs delays between areas of at least D cycles, which these times do not tell."


def microseconds(quantity: Quantity, cycle_s: float = 0.0) -> str:
    """A time in µs, without its unit; 0 for what rounding leaves of a cycle of `cycle_s`.

    Example:
        >>> microseconds(Quantity(2.5e-5, unit="s"))
        '25'
    """
    if abs(quantity.number) < CYCLE_ROUNDING * cycle_s:
        return "0"
    return number(quantity.number * MICRO, 2)


def with_interval(quantity: Quantity) -> str:
    """A time in µs with its interval, if it has one that can be told from the time.

    Example:
        >>> with_interval(Quantity(2.5e-5, 2e-5, 3e-5, "s"))
        '25\\u202fµs (20 to 30)'
    """
    least, most = (limit * MICRO for limit in quantity.limits)
    decimals = decimals_between(least, most)
    text = number(quantity.number * MICRO, 2, decimals)
    low = number(least, 2, decimals)
    high = number(most, 2, decimals)
    ends = "" if low == high == text else f" ({low} to {high})"
    return f"{text}{NARROW}µs{ends}"


def change_with_interval(quantity: Quantity) -> str:
    """A ratio as a change, with its interval, if it has one that can be told from the change.

    Example:
        >>> change_with_interval(Quantity(0.8, 0.7, 0.9))
        '−20\\u202f% (−30\\u202f% to −10\\u202f%)'
        >>> change_with_interval(Quantity(0.94, 0.94, 0.94))
        '−6\\u202f%'
        >>> change_with_interval(Quantity(0.944, 0.938, 0.947))
        '−5.6\\u202f% (−6.2\\u202f% to −5.3\\u202f%)'
        >>> change_with_interval(Quantity(0.86, 0.82, 1.0031))
        '−14\\u202f% (−18\\u202f% to 0\\u202f%)'
    """
    return _with_ends(quantity, change)


def _with_ends(quantity: Quantity, words: Callable[[float, int, int | None], str]) -> str:
    """A share in words with its ends; with a decimal where one end alone would read as it does."""
    low, high = quantity.limits
    decimals = decimals_between(100 * low, 100 * high)
    whole = [words(share, 0, decimals) for share in (quantity.number, low, high)]
    if len(set(whole)) != 2:
        return with_ends(*whole)
    return with_ends(*(words(share, 1, decimals) for share in (quantity.number, low, high)))


def disturbed(run: CycleTrace) -> str:
    """That the times say nothing about speed, and why.

    Example:
        >>> from spikemark.records.record import load_run
        >>> from spikemark.waiting.trace import trace
        >>> disturbed(trace(load_run("tests/golden/analysis/records/conventional-4")))
        'Disturbed: other processes kept 1.2 cores busy; times are no evidence of speed. Run ...
    """
    return f"Disturbed: {no_evidence(run.disturbed)}. Run again on a quiet machine."


def assumed(delay_ratio: int) -> str:
    """That D is an assumption, and how to say another one.

    Example:
        >>> assumed(10)
        'D = 10 is assumed, since nothing says what the delays allow; --delay-ratio names another.'
    """
    return (
        f"D = {delay_ratio} is assumed, since nothing says what the delays allow; --delay-ratio"
        " names another."
    )


def nothing_predicted(run: CycleTrace) -> str:
    """That nothing is predicted from doubtful times, and why.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.trace import trace
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> times[3] *= 1000
        >>> nothing_predicted(trace(times))
        'Nothing is predicted from these times: the times of rank 3 are 1000 times those of ...
    """
    return f"Nothing is predicted from these times: {run.doubtful}."


def how_long(run: CycleTrace, ladder: Ladder, cycle_s: float) -> str:
    """How long ranks waited.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.ladder import ladder
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> how_long(run, ladder(run), cycle_s=1.05e-3)
        '4 ranks, 1\\u202f000 cycles of 1\\u202f050\\u202fµs: ranks waited 52\\u202fµs per cycle ...
    """
    waited = microseconds(ladder.waiting, cycle_s)
    share = percent(ladder.waiting.number / cycle_s)
    derived = ", as derived" if run.kind == "modelled" else ""
    return (
        f"{counted(run.ranks, 'rank')}, {integer(run.cycles)} cycles of"
        f" {number(MICRO * cycle_s)}{NARROW}µs: ranks waited {waited}{NARROW}µs per cycle"
        f" ({share}){derived}."
    )


def outlook(
    prediction: ReplayedWaiting,
    run: CycleTrace,
    waiting: Quantity,
    cycle_s: float,
) -> list[str]:
    """What a schedule would save per cycle, and what that rests on.

    Args:
        prediction: of the schedule.
        run: as it was.
        waiting: of the run, s per cycle.
        cycle_s: mean time of a cycle, s.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.ladder import ladder
        >>> from spikemark.waiting.replay import Setting, predict
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> prediction = predict(run, Setting.from_run(run, "structure_aware", 10))
        >>> len(outlook(prediction, run, ladder(run).waiting, cycle_s=1.05e-3)) > 0
        True
    """
    schedule = _meetings(prediction, run)
    if not prediction.waiting:
        return [f"{schedule} cannot be predicted: {prediction.waiting.reason}."]
    per_cycle = 1 / prediction.cycles
    if run.unplaced and not prediction.placement and prediction.plan.schedule != run.schedule:
        schedule += ", each rank with the work that it had,"
    saves = _saving(prediction.saved.times(per_cycle), cycle_s)
    would_wait = with_interval(prediction.waiting.times(per_cycle))
    sentences = [
        f"{schedule} would {saves}: waiting {would_wait} instead of"
        f" {microseconds(waiting, cycle_s)}, run time {change_with_interval(prediction.change)}."
    ]
    if prediction.moved and run.work is not None:
        sentences.append(
            f"There, neurons lie elsewhere (placement {prediction.placement}, not"
            f" {run.work.placement}), so the work of each rank is computed from the network and its"
            f" spikes; a run with {PLACEMENT_ADVICE} measures it."
        )
    as_fast = prediction.same_speeds
    if as_fast is not None:
        at_these_speeds = with_interval(as_fast.waiting.times(per_cycle))
        change = change_with_interval(as_fast.change)
        if (at_these_speeds, change) != (would_wait, change_with_interval(prediction.change)):
            sentences.append(
                "In the cycles of this run, with each rank as fast as it was: waiting"
                f" {at_these_speeds}, run time {change}. {_from_run_to_run(prediction, run)}"
            )
    return sentences


def _from_run_to_run(prediction: ReplayedWaiting, run: CycleTrace) -> str:
    """How much the speed of a rank varies, and what says so."""
    spread = Quantity(run.rank_sd, kind="assumed")
    if not prediction.moved:
        spread = spread_of_speeds(run)
    how = "assumed"
    if spread.kind == "measured":
        how = "as the ranks of this run differ"
    return f"From run to run, the speed of a rank varies by {percent(spread.number)} ({how})."


def _meetings(prediction: ReplayedWaiting, run: CycleTrace) -> str:
    """How ranks would exchange, at the start of a sentence."""
    meetings = prediction.plan
    if prediction.placement or not meetings.lockstep or meetings.window == 1:
        words = _schedule(meetings)
    else:
        words = f"A global exchange {_every(meetings.window)}"
    if meetings.ranks != run.ranks:
        words += f" on {meetings.ranks} ranks"
    return words


def _schedule(meetings: MeetingPlan) -> str:
    """A schedule with its D and lag."""
    schedule = SCHEDULES[meetings.schedule]
    words = schedule.label.capitalize()
    if schedule.uses_delay_ratio:
        words += f", D = {meetings.delay_ratio}"
    if meetings.lag:
        words += f", lag {meetings.lag}"
    if meetings.base:
        words += (
            f" (an exchange within groups {_every(meetings.base)}, a global one"
            f" {_every(meetings.window)})"
        )
    return words


def _every(cycles: int) -> str:
    """How often something is done."""
    return "in every cycle" if cycles == 1 else f"every {integer(cycles)} cycles"


def _saving(saved: Quantity, cycle_s: float) -> str:
    """What a schedule saves or costs per cycle."""
    if abs(saved.number) < CYCLE_ROUNDING * cycle_s:
        return "save nothing"
    if saved.number < 0:
        low, high = saved.limits
        return f"cost {with_interval(replace(saved, value=-saved.number, low=-high, high=-low))}"
    return f"save {with_interval(saved)}"


def longest_event(event: LongestEvent) -> str:
    """Where the longest event was, and what it is of the waiting.

    Example:
        >>> longest_event(LongestEvent("computing", 2, None, 500, 0.05, 0.8))
        'In cycle 500, rank 2 computed 0.050\\u202fs longer than usual: 80\\u202f% of all waiting.'
    """
    seconds = f"{number(event.seconds, 2)}{NARROW}s"
    if event.rank is not None:
        node = f" on {event.node}" if event.node else ""
        what = f"rank {event.rank}{node} computed {seconds} longer than usual"
    else:
        where = "at the barrier" if event.phase == "barrier" else "in the exchange"
        what = f"all ranks were {seconds} {where}, as if one had been stopped"
    activity = "exchanging" if event.phase == "exchange" else "waiting"
    return f"In cycle {integer(event.cycle)}, {what}: {percent(event.share)} of all {activity}."


def slow_spells(ladder: Ladder) -> list[str]:
    """Which ranks were slow in a part of the run and when, where that matters.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.ladder import ladder
        >>> from spikemark.waiting.trace import trace
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 2000))
        >>> times[2, 800:1200] *= 2
        >>> slow_spells(ladder(trace(times)))
        ['In cycles 800 to 1\\u202f199, rank 2 computed 100\\u202f% longer than before ...
        >>> times[2, 800:1200] /= 2
        >>> times[2, 800:] *= 1.2
        >>> slow_spells(ladder(trace(times)))
        ['From cycle 800 on, rank 2 computed 20\\u202f% longer than before: ...
    """
    lines = []
    for spell in ladder.spells:
        if spell.share >= MIN_SHARE_OF_SPELL or spell.change <= 1 - MIN_COST_OF_SLOWNESS:
            lines.append(_slow_spell(spell))
    if len(lines) > MAX_SPELLS_SHOWN:
        more = counted(len(lines) - MAX_SPELLS_SHOWN, "slow spell")
        lines = [*lines[:MAX_SPELLS_SHOWN], f"{more} of ranks besides (--json)."]
    return lines


def _slow_spell(spell: SlowSpell) -> str:
    """When a rank was slow, and what that cost."""
    node = f" on {spell.node}" if spell.node else ""
    when = f"In cycles {integer(spell.first)} to {integer(spell.last)}"
    than = "before and after"
    if not spell.faster_after:
        when = f"From cycle {integer(spell.first)} on"
        than = "before"
    elif not spell.faster_before:
        when = f"Until cycle {integer(spell.last)}"
        than = "afterwards"
    without = Quantity(spell.change)
    return (
        f"{when}, rank {spell.rank}{node} computed {percent(spell.longer)} longer than {than}:"
        f" {percent(spell.share)} of all waiting; without this, run time"
        f" {change_with_interval(without)}."
    )


def small_delay_ratio(run: CycleTrace) -> str:
    """Why ranks cannot meet more rarely, where delays between areas allow D = 1 only.

    Empty where they allow more.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.trace import trace
        >>> small_delay_ratio(trace(np.full((4, 1000), 1e-3)))  # nothing says what delays allow
        ''
    """
    if run.period > 1 or run.description is None or run.largest() != 1:
        return ""
    description = read_description(run.description)
    network = description.network
    step_ms = description.time.resolution_ms

    area = np.array(network.area_of)
    projection, source, target = network.connections
    between_areas = np.unique(projection[area[source] != area[target]]).tolist()
    least = min(between_areas, key=lambda number: description.delays[number][0])
    shortest = network.projections[least]
    field = f"network.projections.{least}.delay.min"
    why = f"{field} is missing, so its delays begin at {step_ms:g} ms"
    if shortest.delay.min is not None:
        why = f"{field} is {shortest.delay.min:g} ms"
    return f"Delays between areas allow D = 1 only, so ranks have to meet in every cycle: {why}."


def slow_rank(slowest: SlowestRank, imbalance: Quantity, cycle_s: float) -> str:
    """Which ranks are surely slow, where that matters; else empty, also where they are slow in
    spells alone, of which `slow_spells` speaks.

    Args:
        slowest: the rank that computes longest.
        imbalance: what the lasting differences of ranks cost, s per cycle.
        cycle_s: mean time of a cycle, s.

    Example:
        >>> longer, share = Quantity(0.2, 0.18, 0.22), Quantity(0.9)
        >>> slowest = SlowestRank(
        ...     3, [], "node7", longer, [longer], share, Quantity(0.9), 7, True, True, True
        ... )
        >>> slow_rank(slowest, imbalance=Quantity(1e-4), cycle_s=1e-3)
        'Rank 3 on node7 computes 20\\u202f% longer than the others; if it did not, ...
        >>> two = replace(slowest, also=[5], longer_of_each=[Quantity(0.3), Quantity(0.1)])
        >>> slow_rank(two, imbalance=Quantity(1e-4), cycle_s=1e-3)
        'Ranks 3 and 5 on node7 compute 30\u202f% and 10\u202f% longer than the others; if ...
        >>> slow_rank(replace(slowest, certain=False), imbalance=Quantity(1e-4), cycle_s=1e-3)
        ''
    """
    if not slowest.change or not slowest.besides_spells:
        return ""
    much_slower = slowest.longer.number >= MIN_SLOWNESS
    costly = much_slower and imbalance.number >= MIN_COST_OF_SLOWNESS * cycle_s
    matters = MATTERS if slowest.throughout else MIN_SHARE_OF_SPELL
    if not slowest.certain or not (slowest.share.number >= matters or costly):
        return ""
    share = _with_ends(slowest.share, percent)
    they = "they" if slowest.also else "it"
    when = ""
    if not slowest.throughout:
        when = " on average, more in one part of the run than in another"
    work = _more_work(slowest)
    since = f", since {they} {'have' if slowest.also else 'has'} {work}" if work else ""
    return (
        f"{compute_longer(slowest)}{when}{since}; if {they} did not, {share} of the waiting would"
        f" go, run time {change_with_interval(slowest.change)}."
    )


def compute_longer(slowest: SlowestRank) -> str:
    """Which ranks compute how much longer than the others, at the start of a sentence.

    Example:
        >>> longer, share = Quantity(0.2), Quantity(0.9)
        >>> slowest = SlowestRank(3, [], None, longer, [longer], share, share, 7, True, True, True)
        >>> compute_longer(slowest)
        'Rank 3 computes 20\\u202f% longer than the others'
    """
    node = f" on {slowest.node}" if slowest.node else ""
    others = "others" if slowest.others > 1 else "other"
    computes = f"Rank {slowest.rank}{node} computes"
    if len(slowest.also) == 1:
        computes = f"Ranks {slowest.rank} and {slowest.also[0]}{node} compute"
    elif slowest.also:
        further = f"{slowest.also[0]} and {len(slowest.also) - 1} more"
        computes = f"Ranks {slowest.rank}, {further}{node} compute"
    return f"{computes} {_how_much_longer(slowest)} longer than the {others}"


def _how_much_longer(slowest: SlowestRank) -> str:
    """By which share slow ranks compute longer: that of each, from the least to the largest for
    more than two of them.
    """
    shares = [percent(longer.number) for longer in slowest.longer_of_each]
    if len(set(shares)) == 1:
        return shares[0]
    if len(shares) == 2:
        return f"{shares[0]} and {shares[1]}"
    return f"{shares[-1]} to {shares[0]}"


def _more_work(slowest: SlowestRank) -> str:
    """Which work explains that ranks are slow, and what evens it out; empty where none does.

    Of neurons and synaptic events, the one counts whose factor is closer to that of the times.
    """
    longer = math.log1p(max(slowest.longer.number, 0.0))
    nearest = ""
    least_distance = math.inf
    for name, factor in (("neurons", slowest.neurons), ("synaptic events", slowest.events)):
        if factor is None or factor < MIN_MORE_WORK:
            continue
        power = longer / math.log(factor)
        distance = abs(power - 1)
        if LEAST_POWER <= power <= MOST_POWER and distance < least_distance:
            least_distance = distance
            nearest = f"{number(factor, 2)} times the {name} (`spikemark partition` evens them out)"
    return nearest


def part_line(name: str, ladder: Ladder, cycle_s: float) -> str:
    """A part of the waiting, or the exchange: its time in µs per cycle, and what it is.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.ladder import ladder
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> part_line("jitter", ladder(run), cycle_s=1.05e-3)
        '  jitter         36   averages out over 10 cycles'
    """
    part = ladder.exchange if name == "exchange" else ladder.parts[name]
    if part is None:
        raise ValueError("the exchange was not timed")
    rare = ladder.rare.get(name)
    remarks = []
    if name == "drift" and part and part.number > 0:
        remarks.append(f"{percent(ladder.drift_share)} of its variance lasts longer than that")
    if rare and part and rare.number > MATTERS * part.number > 0:
        remarks.append(f"of this, rare long cycles: {microseconds(rare)}")
    meaning = MEANS[name].format(d=ladder.delay_ratio)
    if name == "imbalance" and (slow_spells(ladder) or not ladder.slowest.throughout):
        meaning = LATE_ON_AVERAGE
    if remarks:
        meaning += f" ({'; '.join(remarks)})"
    time = microseconds(part, cycle_s) if part else "–"
    return f"  {name:<10} {time:>6}   {meaning}"


def change_line(outcome: ChangeOutcome, cycles: int) -> str:
    """What a change makes of the waiting per cycle, and of the run time.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.changes import outcomes
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> _, halved = outcomes(run, ["halve-jitter"])
        >>> change_line(halved, run.cycles)
        'halve-jitter, at the speeds of this run: waiting 26\\u202fµs (25 to 27), run time ...'
    """
    waiting = outcome.prediction.waiting
    if not waiting:
        return f"{outcome.name} cannot be predicted: {waiting.reason}."
    waits = with_interval(waiting.times(1 / cycles))
    runtime = change_with_interval(outcome.prediction.change)
    return f"{outcome.name}, at the speeds of this run: waiting {waits}, run time {runtime}."


def what_helps(helps: Sequence[ChangeOutcome]) -> str:
    """The changes that help most.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.answer import helps
        >>> from spikemark.waiting.trace import trace
        >>> times = np.random.default_rng(1).normal(1e-5, 5e-7, (4, 1000))
        >>> times[2, ::50] += 8e-3  # rank 2 loses its core
        >>> what_helps(helps(trace(times)))
        'What would help at the speeds of this run: no interruptions, as an idle core ...
    """
    changes = []
    for outcome in helps[:MAX_HELPS_SHOWN]:
        changes.append(f"{outcome.name}: {change_with_interval(outcome.prediction.change)}")
    return f"What would help at the speeds of this run: {'; '.join(changes)}."
