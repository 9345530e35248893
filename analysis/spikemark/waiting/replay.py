"""How ranks with given compute times wait under a schedule: the max-plus recursion on a measured
trace.

No distribution is assumed, so serial correlation, lasting differences and what ranks share are all
kept. A meeting costs what it cost in the run (measured waiting beyond what the compute times
explain); with a lag there is no barrier. For fewer ranks without a lag it is the exact mean over
all choices of ranks.

Where the schedule places neurons elsewhere than the run did, ranks compute something else. Then
many sets of compute times are replayed (`work.MovedTimes`), and the interval covers all of them.
Where nothing is known of the work of the ranks there, there is no prediction, but the reason, and
the run that would tell.
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from spikemark.core.errors import BadInput
from spikemark.models.recursion import LaneMeetings, evaluate
from spikemark.models.statistics import Meetings, lump, waited
from spikemark.network.lanes import largest_periods
from spikemark.network.schedules import SCHEDULES, MeetingPlan, plan
from spikemark.quantities.quantity import LEVEL, Quantity, missing, student

from .bootstrap import means
from .interruptions import (
    LOW_QUANTILE,
    Interruptions,
    interruptions,
    long_times,
    uninterrupted,
    without,
)
from .trace import CycleTrace
from .work import Change, ChangedTimes, ReadingsOfTimes, SetsOfTimes

REPLAY_SEED = 1
CHOICES_OF_RANKS = 4  #: sets of fewer ranks that are replayed, where the schedule has a lag
SETS_OF_MORE_RANKS = 21
PIECES = 8  #: of a run, whose ends tell how the drain of a lag scatters
MAX_TIMES_RANKS = 4  #: times as many ranks as were measured
MIN_RANKS_FOR_MORE = 4  #: measured ranks that show how ranks differ
#: Of what a meeting costs, the share that does not become rarer with the meetings, at most. Under
#: another placement, lanes within a rank remain, and ranks that meet seldom find cold caches.
MAX_SHARE_THAT_STAYS = 0.5
#: An operating system takes a core away for so long at least; a shorter cycle that loses its core
#: is an interruption.
TIME_SLICE_S = 3e-3
CHANCE = 2.0  #: standard errors by which counts of interruptions differ by chance
#: Half of the cycles of a rank take so many times as long as its shortest ones at most, else they
#: do not tell how much was lost.
MAX_OVER_SHORTEST = 2.0
#: The run that tells what ranks compute under the placement of a schedule.
PLACEMENT_ADVICE = "--set schedule=placement_only"


@dataclass(frozen=True)
class Setting:
    """Ranks with compute times that meet by a plan."""

    plan: MeetingPlan
    compute: np.ndarray  #: [rank, cycle] in s
    cost: float = 1.0  #: of a meeting, over that of the run
    placement: str | None = None  #: of the neurons, if it is known
    #: Sets of compute times that are equally likely, where the placement is not that of the run;
    #: `compute` is one of them, before changes.
    moved: SetsOfTimes | None = None
    #: Sets of compute times that are equally likely after a change, one for each way to read it;
    #: `compute` is as it was before.
    readings: SetsOfTimes | None = None
    unknown: str = ""  #: why nobody can say what the ranks would compute

    @classmethod
    def from_run(
        cls,
        run: CycleTrace,
        schedule: str = "conventional",
        delay_ratio: int = 1,
        *,
        ranks: int | None = None,
        lag: int | None = None,
        group_period: int | None = None,
    ) -> "Setting":
        """The run under a schedule of the mini-app, with neurons where that schedule places them.

        This is the only way from a run to another schedule.

        Args:
            run: a conventional run, whose ranks meet in each cycle.
            schedule: a key of SCHEDULES.
            delay_ratio: D, cycles.
            ranks: number of ranks; that of the run by default.
            lag: L, windows; see `schedules.plan`.
            group_period: cycles; see `schedules.plan`.

        Raises:
            BadInput: for a run whose ranks meet more rarely, for fewer than 20 windows, for more
                ranks than the measured ones can represent, and as `schedules.plan` and
                `check_exact`.
        """
        _check_period(run)
        if ranks is None:
            ranks = run.ranks
        meetings = plan(schedule, delay_ratio, ranks, lag, group_period)
        run.check(meetings.window, f"delay_ratio={delay_ratio} of {schedule} needs more:")
        check_exact(run, meetings)
        return cls(meetings, run.compute)._placed(run).checked()

    @classmethod
    def meeting_rarely(cls, run: CycleTrace, every: int) -> "Setting":
        """The ranks of a run, with the work that they had there, meet `every` so many cycles.

        Raises BadInput for a run whose ranks meet more rarely than in each cycle, and for fewer
        than 20 windows.
        """
        _check_period(run)
        run.check(every, f"meeting every {every} cycles needs more:")
        meetings = plan("structure_aware", every, run.ranks)
        return cls(meetings, run.compute, unknown=run.doubtful)

    def _placed(self, run: CycleTrace) -> "Setting":
        """The same with the compute times of the placement that the schedule needs."""
        if run.doubtful:
            return replace(self, unknown=run.doubtful)
        schedule = self.plan.schedule
        work = run.work
        if work is None:
            usual_placement = SCHEDULES["conventional"].placement
            elsewhere = SCHEDULES[schedule].placement != usual_placement
            return replace(self, unknown=run.unplaced if elsewhere else "")
        placement = work.placement_of(schedule)
        placed = replace(self, placement=placement)
        if self.plan.ranks == run.ranks:
            placed = replace(placed, plan=replace(self.plan, near=work.near(schedule, placement)))
        if placed.plan.near and self.plan.lag:
            reason = "areas on several ranks and a lag are not replayed together"
            return replace(placed, unknown=reason)
        if work.keeps(placement):
            return placed
        if self.plan.ranks != run.ranks:
            reason = (
                f"the run has {run.ranks} ranks, and its placement is {work.placement}, not"
                f" {placement}"
            )
            return replace(placed, unknown=reason)
        if work.fired is None:
            reason = (
                "the record does not count the spikes of each population, and"
                f" {placement} gives ranks other work"
            )
            return replace(placed, unknown=reason)
        moved = work.moved(placement)
        return replace(placed, compute=moved[0], moved=moved)

    def with_times(self, *changes: Change) -> "Setting":
        """The same with changed compute times; several changes are readings of the same words."""
        if self.moved:
            return replace(self, moved=ChangedTimes(self.moved, changes))
        return replace(self, readings=ReadingsOfTimes(self.readings or (self.compute,), changes))

    def checked(self) -> "Setting":
        """Raises BadInput for more ranks than the measured ones can represent."""
        measured = len(self.compute)
        ranks = self.plan.ranks
        expected = ""
        if self.moved and ranks != measured:
            expected = f"the {measured} of the run, whose neurons lie elsewhere"
        elif ranks > measured and (
            measured < MIN_RANKS_FOR_MORE or ranks > MAX_TIMES_RANKS * measured
        ):
            expected = (
                f"at most {MAX_TIMES_RANKS} times the {measured} of the run, which must have"
                f" {MIN_RANKS_FOR_MORE} or more to show how ranks differ"
            )
        if expected:
            line = f"ranks={ranks}: expected {expected}"
            raise BadInput(line, field="ranks", code="range")
        return self


def _check_period(run: CycleTrace) -> None:
    """Raises BadInput for a run that cannot be replayed, as its ranks do not meet in each cycle."""
    if run.period > 1:
        line = (
            f"schedule={run.schedule}: ranks meet every {run.period} cycles; expected a run whose"
            f" ranks meet in each: {_run_conventional(run)}"
        )
        raise BadInput(
            line,
            field="schedule",
            file=run.path,
            code="conflict",
        )


def check_exact(run: CycleTrace, meetings: MeetingPlan) -> None:
    """Raises BadInput for ranks that meet more rarely than the delays of the run's network allow.

    Where no description of the network is known, any plan passes.

    Example:
        >>> from spikemark.records.record import load_run
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(load_run("tests/golden/analysis/records/conventional-4"))
        >>> check_exact(run, plan("structure_aware", delay_ratio=10, ranks=4))
        >>> try:
        ...     check_exact(run, plan("structure_aware", delay_ratio=21, ranks=4))
        ... except BadInput as error:
        ...     print(error.field)
        delay_ratio
    """
    rules = SCHEDULES[meetings.schedule]
    if run.work is None or not rules.uses_delay_ratio:
        return
    schedule = rules.for_ranks(meetings.lag, meetings.ranks)
    placement = run.work.placement_of(meetings.schedule, meetings.ranks)
    most = largest_periods(run.work.description, schedule, placement, meetings.ranks)
    asked = {schedule.lanes[-1].name: ("delay_ratio", meetings.delay_ratio)}
    if schedule.blocks is not None:
        asked[schedule.blocks.name] = ("group_period", meetings.base)
    for lane, (field, cycles) in asked.items():
        if cycles > most[lane]:
            allowed = f"at most {most[lane]}"
            if not most[lane]:
                allowed = f"another schedule than {meetings.schedule} with lag {meetings.lag}"
            line = (
                f"{field}={cycles}: expected {allowed}, as the delays of the run's network allow"
                f" (lane {lane})"
            )
            raise BadInput(line, field=field, file=run.path, code="range")


def _run_conventional(run: CycleTrace) -> str:
    """The run whose ranks meet in each cycle; of the mini-app, as a command."""
    if run.work is None:
        return "times of such a run of the program"
    again = shlex.quote(f"{run.path}-conventional")
    return (
        f"OMP_NUM_THREADS={run.work.threads} mpirun -n {run.ranks} miniapp network.json"
        f" --out {again} --set schedule=conventional"
    )


@dataclass(frozen=True)
class WaitingSeries:
    """Waiting in s, mean over ranks."""

    series: np.ndarray  #: [window]
    drain: float = 0.0  #: at the end of the run
    drain_error: float = 0.0


def waits(run: CycleTrace, setting: Setting) -> list[WaitingSeries]:
    """How ranks wait: one answer, or one for each choice of other ranks.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000)))
        >>> (series,) = waits(run, Setting.from_run(run))
        >>> round(1e6 * float(series.series.mean()))  # µs per cycle
        52
    """
    meetings = setting.plan
    measured = len(setting.compute)
    overhead = _overhead(run, setting)
    exchange_s = setting.cost * run.exchange_s
    if meetings.ranks < measured and meetings.lockstep:
        sums = lump(setting.compute, meetings.window)
        return [WaitingSeries(_of_all_choices(sums, meetings.ranks) + overhead)]
    sets = [setting.compute]
    if meetings.ranks < measured:
        sets = _choices_of_ranks(setting.compute, meetings.ranks)
    elif meetings.ranks > measured:
        sets = further(setting.compute, meetings.ranks, run.nodes, run.window_cycles)
    return [_waits_of(compute, meetings, exchange_s, overhead) for compute in sets]


def _overhead(run: CycleTrace, setting: Setting) -> np.ndarray:
    """What meetings cost beyond what compute times explain, [window] in s."""
    meetings = setting.plan
    windows_per_meeting = 1 if meetings.near else meetings.window
    return np.asarray(setting.cost * lump(run.overhead, meetings.window) / windows_per_meeting)


def _choices_of_ranks(compute: np.ndarray, ranks: int) -> list[np.ndarray]:
    """Times [rank, cycle] of several choices of fewer ranks."""
    rng = np.random.default_rng(REPLAY_SEED)
    sets = []
    for _ in range(CHOICES_OF_RANKS):
        chosen = np.sort(rng.choice(len(compute), ranks, replace=False))
        sets.append(compute[chosen])
    return sets


def _waits_of(
    compute: np.ndarray,
    meetings: MeetingPlan,
    exchange_s: float,
    overhead: np.ndarray,
) -> WaitingSeries:
    """How ranks with these compute times [rank, cycle] wait.

    Args:
        compute: times in s, [rank, cycle], of as many ranks as meet.
        meetings: when they meet.
        exchange_s: how long an exchange takes, in s.
        overhead: what meetings cost beyond, in s, [window].
    """
    if meetings.lockstep:
        return WaitingSeries(waited(compute, meetings.window) + overhead)
    sums = lump(compute, meetings.window)
    if not meetings.lag:
        cycles_of_windows = sums.shape[1] * meetings.window
        course = evaluate(compute[:, :cycles_of_windows], _lanes(meetings))
        return WaitingSeries(lump(course.waiting_s.mean(axis=0), meetings.window) + overhead)
    lanes = [LaneMeetings(1, meetings.lag, exchange_s=exchange_s)]
    waiting = evaluate(sums, lanes).waiting_s.mean(axis=0)
    length = sums.shape[1] // PIECES
    pieces = sums[:, : PIECES * length].reshape(meetings.ranks, PIECES, length).swapaxes(0, 1)
    drains = evaluate(pieces, lanes).waiting_s[..., -1].mean(axis=1)
    return WaitingSeries(waiting[:-1], float(waiting[-1]), float(drains.std(ddof=1)))


def _lanes(meetings: MeetingPlan) -> list[LaneMeetings]:
    """The lanes of a plan without a lag, from narrow to wide."""
    lanes = []
    if meetings.near:
        lanes.append(LaneMeetings(1, group=meetings.near))
    if meetings.base:
        block_of_rank = np.arange(meetings.ranks) // meetings.group
        lanes.append(LaneMeetings(meetings.base, group=tuple(block_of_rank.tolist())))
    return [*lanes, LaneMeetings(meetings.window)]


def _of_all_choices(times: np.ndarray, ranks: int) -> np.ndarray:
    """Waiting [window] of fewer ranks, mean over all sets of `ranks`, from times [rank, window].

    The i-th smallest of M is the slowest in C(i-1, m-1) of C(M, m) sets.
    """
    i = np.arange(1, len(times) + 1)
    weights = np.where(
        i >= ranks, special.binom(i - 1, ranks - 1) / special.binom(len(times), ranks), 0.0
    )
    slowest = weights @ np.sort(times, axis=0)
    return np.asarray(np.maximum(slowest - times.mean(axis=0, dtype=np.float64), 0.0))


def further(
    compute: np.ndarray,
    ranks: int,
    nodes: tuple[str, ...] | None = None,
    place: int = 1,
) -> list[np.ndarray]:
    """Sets of times of more ranks: the measured ones, and others like them.

    c = shared by all ranks + lasting effect + own. A further rank has the same shared part in every
    cycle, an effect drawn with what few ranks leave unknown, and the own part of a measured rank,
    begun at another cycle. Where nodes have several ranks each, whole nodes are added: an effect of
    the node and one of the rank, and the own parts of a node stay in step. The measured ranks' own
    parts have no mean over ranks, so further ones get a common one back, as drawn from the same
    rows.

    Args:
        compute: times in s, [rank, cycle].
        ranks: of each set.
        nodes: of each measured rank, if they are known.
        place: own parts begin so many cycles apart.

    Example:
        >>> measured = np.random.default_rng(1).normal(1e-3, 5e-5, (4, 1000))
        >>> sets = further(measured, ranks=8)
        >>> sets[0].shape
        (8, 1000)
    """
    measured, cycles = compute.shape
    units = _units(measured, ranks, nodes)
    count, size = units.shape
    shared = compute.mean(axis=0, dtype=np.float64)
    effects = compute.mean(axis=1, dtype=np.float64)
    fluctuations = compute - shared - (effects - effects.mean())[:, None]
    mean_of_unit = fluctuations[units].mean(axis=1)
    widened = ((count / (count - 1)) ** 0.5 - 1) * mean_of_unit[:, None]
    parts = fluctuations[units] + widened  # [unit, rank of it, cycle]
    levels = effects[units] - effects.mean()
    variance = levels.mean(axis=1).var(ddof=1)
    within = levels - levels.mean(axis=1, keepdims=True)
    within_sd = (np.square(within).sum() / max(count * (size - 1), 1)) ** 0.5
    rng = np.random.default_rng(REPLAY_SEED)

    def begun_elsewhere(part: np.ndarray) -> np.ndarray:
        return np.roll(part, place * rng.integers(cycles // place), axis=-1)

    sets = []
    for _ in range(SETS_OF_MORE_RANKS):
        sd = (variance * (count - 1) / rng.chisquare(count - 1)) ** 0.5
        means_of_units = [begun_elsewhere(part.mean(axis=0)) for part in parts]
        common = shared + np.mean(means_of_units, axis=0)
        common = common + sd * rng.standard_normal() / count**0.5
        rows = [compute]
        for _ in range((ranks - measured) // size):
            level = np.zeros((1, 1))
            if size > 1:
                level = within_sd * rng.standard_normal((size, 1))
            effect = sd * rng.standard_normal() + level - level.mean()
            rows.append(common + begun_elsewhere(parts[rng.integers(count)]) + effect)
        sets.append(np.maximum(np.concatenate(rows), 0.0))
    return sets


def _units(measured: int, ranks: int, nodes: tuple[str, ...] | None) -> np.ndarray:
    """What is added to get more ranks, as numbers of measured ranks, [unit, rank of it].

    Nodes, if all have as many ranks and whole nodes are added; else single ranks.
    """
    ranks_of_node: dict[str, list[int]] = {}
    for rank, node in enumerate(nodes or ()):
        ranks_of_node.setdefault(node, []).append(rank)
    units = list(ranks_of_node.values())
    sizes = {len(unit) for unit in units}
    if len(units) > 1 and len(sizes) == 1 and (ranks - measured) % len(units[0]) == 0:
        return np.array(units)
    return np.arange(measured)[:, None]


@dataclass(frozen=True)
class ReplayedWaiting:
    """Waiting and run time of a setting, over as many cycles as the run has, with 95 % intervals.

    All are missing, with the reason, where nobody knows what the ranks would compute.
    """

    plan: MeetingPlan
    cycles: int
    waiting: Quantity  #: s
    runtime: Quantity  #: s
    change: Quantity  #: run time over that of the run as it was
    saved: Quantity  #: s, waiting less than in the run, from the same draws
    placement: str | None = None  #: of the neurons; None where nothing says it
    moved: bool = False  #: it is not the placement of the run
    #: The same, if each rank were as fast as in the run; None where this is such a prediction.
    same_speeds: "ReplayedWaiting | None" = None


@dataclass(frozen=True)
class _Replayed:
    """One set of compute times under a plan: waiting in s per cycle, mean over ranks."""

    series: np.ndarray  #: [window]
    drain: float  #: at the end of the run
    less: float  #: how far the waiting may be off
    more: float
    computing: float  #: mean over ranks and cycles


def predict(run: CycleTrace, setting: Setting) -> ReplayedWaiting:
    """What a setting makes of a conventional run.

    Raises BadInput for a setting that does not fit the run, as `Setting.from_run` does.

    Example:
        >>> rng = np.random.default_rng(1)
        >>> run = CycleTrace(rng.normal(1e-3, 1e-5, (4, 1000)))
        >>> rarely = predict(run, Setting.meeting_rarely(run, 10))
        >>> print(f"{rarely.waiting.value / run.waits.sum():.1f}")  # 1 / sqrt(10)
        0.3
    """
    if setting.unknown:
        return _unknown(run, setting)
    replayed = _replayed_sets(run, setting)
    draws = means(_per_window(run, setting.plan, replayed))
    values = _outcomes(run, setting, replayed, draws.value)
    scatter = _outcomes(run, setting, replayed, draws.draws)
    less = max(outcome.less for outcome in replayed)
    more = max(outcome.more for outcome in replayed)
    cycle_s = run.compute.mean(dtype=np.float64) + draws.value[-2] + draws.value[-1]
    doubt = 1 / float(cycle_s)
    change = _quantity(values["change"], scatter["change"], less * doubt, more * doubt)

    def over_the_run(name: str, least: float = 0.0) -> Quantity:
        per_cycle = _quantity(values[name], scatter[name], less, more, least, "s")
        return per_cycle.times(run.cycles)

    predicted = ReplayedWaiting(
        plan=setting.plan,
        cycles=run.cycles,
        waiting=over_the_run("waiting"),
        runtime=over_the_run("runtime"),
        change=change,
        saved=over_the_run("saved", least=-np.inf),
        placement=setting.placement,
        moved=bool(setting.moved),
    )
    return _with_disturbance(run, setting, predicted) if run.unsteady else predicted


def _with_disturbance(
    run: CycleTrace,
    setting: Setting,
    predicted: ReplayedWaiting,
) -> ReplayedWaiting:
    """A prediction from a run that lost its cores to others, with the intervals that this leaves.

    What lost cores cost shows as interruptions of ranks, barriers and exchanges: the next run may
    have none of them, or twice as many, and those of barriers and exchanges need not become rarer
    with the meetings. Where it does not show, a run may wait as long as this one, or not at all.
    """
    if run.shares_cores or _hides_lost_cores(run.compute):
        return _anything_lost(run, predicted)
    calm, stays_s, runs_s, events = _undisturbed(run)

    def undisturbed(compute: np.ndarray) -> Iterator[np.ndarray]:
        return uninterrupted(compute, _lost(run, compute))

    quiet = predict(calm, setting.with_times(undisturbed))
    before = _runtime_s(run)
    relative = quiet.runtime.times(1 / before)
    by_chance = 1 + CHANCE / max(events, 1) ** 0.5
    rarer = 1 - 1 / setting.plan.window
    stays_s *= 2 * rarer * by_chance
    runs_s *= 2 * rarer * by_chance
    return replace(
        predicted,
        waiting=_widened_to(predicted.waiting, [quiet.waiting], by_chance, stays_s),
        runtime=_widened_to(predicted.runtime, [quiet.runtime], by_chance, runs_s),
        change=_widened_to(predicted.change, [relative, quiet.change], by_chance, runs_s / before),
        saved=_widened_to(predicted.saved, [quiet.saved], by_chance, 0.0, stays_s, None),
    )


def _widened_to(
    quantity: Quantity,
    quiet: list[Quantity],
    by_chance: float,
    more: float,
    less: float = 0.0,
    least: float | None = 0.0,
) -> Quantity:
    """A quantity of a disturbed run whose interval reaches to that of quiet ones, and as far to the
    other side, where twice as much is lost.

    Args:
        quantity: with what disturbed the run.
        quiet: without, in one way or another; the first is the distance that counts.
        by_chance: factor by which that distance may be larger by chance.
        more: by which it may be higher.
        less: by which it may be lower.
        least: its interval is not below; None: nothing limits it.
    """
    low, high = quantity.limits
    twice_as_much = by_chance * (quantity.number - quiet[0].number)
    low = low - less + min(twice_as_much, 0.0)
    high = high + more + max(twice_as_much, 0.0)
    if least is not None:
        low = max(low, least)
    lows = [without_losses.limits[0] for without_losses in quiet]
    highs = [without_losses.limits[1] for without_losses in quiet]
    return replace(quantity, low=min(low, *lows), high=max(high, *highs))


def _lost(run: CycleTrace, compute: np.ndarray) -> list[Interruptions]:
    """The interruptions of compute times that may be lost cores: all, unless the description of the
    run asks for long cycles.
    """
    inject = run.work.inject if run.work is not None else {}
    if (inject.get("minor_mode") or {}).get("share"):
        return []
    if compute is run.compute:
        return run.interrupted
    return interruptions(compute, run.window_cycles)


def _undisturbed(run: CycleTrace) -> tuple[CycleTrace, float, float, int]:
    """A run without interruptions of ranks, barriers and exchanges; the seconds that barriers, and
    barriers with exchanges, lost; and the number of all interruptions.
    """
    of_ranks = _lost(run, run.compute)
    compute = without(run.compute, of_ranks)
    usual_s = float(np.median(run.compute))
    at_barriers = long_times(run.overhead, usual_s)
    in_exchanges = long_times(run.exchanges, usual_s)
    calm = replace(run, compute=compute, disturbed="", shares_cores=False)
    if run.waited is not None:
        calm = replace(calm, waited=calm.implied + run.overhead - at_barriers)
    if run.exchanged is not None:
        calm = replace(calm, exchanged=run.exchanged - in_exchanges)
    stays_s = float(at_barriers.sum())
    events = sum(len(one.cycles) for one in of_ranks)
    events += int(np.count_nonzero(at_barriers)) + int(np.count_nonzero(in_exchanges))
    return calm, stays_s, stays_s + float(in_exchanges.sum()), events


def _hides_lost_cores(compute: np.ndarray) -> bool:
    """Whether compute times [rank, cycle] do not tell when a core was lost.

    They do not where cycles take as long as a time slice of the operating system, or where most of
    them are longer than the shortest of their rank by far.
    """
    means = compute.mean(axis=1, dtype=np.float64)
    if float(means.mean()) > TIME_SLICE_S:
        return True
    shortest = np.array([np.quantile(times, LOW_QUANTILE) for times in compute])
    usual_s = np.array([np.median(times) for times in compute])
    return bool((usual_s > MAX_OVER_SHORTEST * shortest).any())


def _runtime_s(run: CycleTrace) -> float:
    """The run time of a run as it was."""
    computing = float(run.compute.mean(dtype=np.float64)) * run.cycles
    return computing + float(run.waits.sum()) + float(run.exchanges.sum())


def _anything_lost(run: CycleTrace, predicted: ReplayedWaiting) -> ReplayedWaiting:
    """A prediction from a run of which any waiting, and any computing beyond the shortest, may come
    from lost cores.
    """
    waited = float(run.waits.sum())
    before = _runtime_s(run)
    shortest = [float(np.quantile(times, LOW_QUANTILE)) for times in run.compute]
    quiet = float(np.mean(shortest)) * run.cycles

    def reaching(quantity: Quantity, least: float, most: float) -> Quantity:
        low, high = quantity.limits
        return replace(quantity, low=min(low, least), high=max(high, most))

    return replace(
        predicted,
        waiting=reaching(predicted.waiting, 0.0, waited),
        runtime=reaching(predicted.runtime, quiet, before),
        change=reaching(predicted.change, quiet / before, 1.0),
        saved=reaching(predicted.saved, 0.0, waited),
    )


def waiting_without_interval(run: CycleTrace, setting: Setting) -> Quantity:
    """The waiting of `predict`, in s; for means over many runs, since it takes half as long.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> rarely = Setting.meeting_rarely(run, 10)
        >>> waiting = waiting_without_interval(run, rarely)
        >>> waiting.value == predict(run, rarely).waiting.value, waiting.interval
        (True, None)
    """
    if setting.unknown:
        return _unknown(run, setting).waiting
    per_cycle = outcome_without_interval(run, setting)["waiting"]
    seconds = max(per_cycle, 0.0) * run.cycles
    return Quantity(seconds, unit="s", kind="modelled")


def outcome_without_interval(run: CycleTrace, setting: Setting) -> dict[str, float]:
    """Waiting, run time and saving of a setting in s per cycle, and the change of the run time.

    Args:
        run: a conventional run.
        setting: whose compute times are known.

    Example:
        >>> from spikemark.waiting.trace import trace
        >>> run = trace(np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000)))
        >>> sorted(outcome_without_interval(run, Setting.meeting_rarely(run, 10)))
        ['change', 'runtime', 'saved', 'waiting']
    """
    replayed = _replayed_sets(run, setting)
    per_window = _per_window(run, setting.plan, replayed)
    outcomes = _outcomes(run, setting, replayed, per_window.mean(axis=0))
    return {name: float(np.median(of_sets)) for name, of_sets in outcomes.items()}


def _replayed_sets(run: CycleTrace, setting: Setting) -> list[_Replayed]:
    """A run under a plan with each set of compute times."""
    sets = setting.moved or setting.readings
    if not sets:
        return [_replayed(run, setting)]
    all_ranks_meet = setting.plan.lockstep and setting.plan.ranks == len(setting.compute)
    replayed = []
    for number in range(len(sets)):  # the next is read when the one before is gone
        if all_ranks_meet:
            replayed.append(_replayed_in_blocks(run, setting, sets.blocks(number)))
        else:
            replayed.append(_replayed(run, replace(setting, compute=sets[number])))
    return replayed


def _replayed_in_blocks(
    run: CycleTrace, setting: Setting, blocks: Iterator[np.ndarray]
) -> _Replayed:
    """A run under a plan by which all ranks meet, with the times of some ranks at a time."""
    meetings = Meetings(setting.plan.window)
    for times in blocks:
        meetings.add(times)
    waiting = WaitingSeries(meetings.waited + _overhead(run, setting))
    return _of_choices(run, setting, [waiting], meetings.computing)


def _unknown(run: CycleTrace, setting: Setting) -> ReplayedWaiting:
    """The answer where nobody knows what the ranks would compute: the reason, and what tells."""
    reason = setting.unknown
    if run.work is not None:
        reason += f"; a run with {PLACEMENT_ADVICE} tells"
    seconds = missing(reason, "s", "not known")
    return ReplayedWaiting(
        plan=setting.plan,
        cycles=run.cycles,
        waiting=seconds,
        runtime=seconds,
        change=missing(reason, "", "not known"),
        saved=seconds,
        placement=setting.placement,
        moved=setting.placement is not None,
    )


def _per_window(run: CycleTrace, meetings: MeetingPlan, replayed: list[_Replayed]) -> np.ndarray:
    """Seconds per cycle, [window, column]: waiting of each set, then waiting and exchange of the
    run.
    """
    windows = len(replayed[0].series)
    columns = [outcome.series for outcome in replayed]
    for series in (run.waits, run.exchanges):
        columns.append(lump(series, meetings.window)[:windows] / meetings.window)
    return np.stack(columns, axis=1)


def _outcomes(
    run: CycleTrace,
    setting: Setting,
    replayed: list[_Replayed],
    x: np.ndarray,
) -> dict[str, np.ndarray]:
    """Waiting, run time, change and saving per cycle, [..., set] each.

    Args:
        run: the run as it was.
        setting: what is asked about.
        replayed: it, for each set of compute times.
        x: means [..., column], see _per_window.
    """
    meetings = setting.plan
    meetings_per_cycle = 1.0 if meetings.near else 1 / meetings.window
    overhead_stays = exchange_stays = np.zeros(len(replayed))
    if setting.moved:
        rng = np.random.default_rng(REPLAY_SEED)
        # Small shares are likelier, since most of what a meeting costs is paid once a meeting.
        share = rng.uniform(0, 1, (2, len(replayed))) ** 3
        overhead_stays, exchange_stays = MAX_SHARE_THAT_STAYS * share
    waited = x[..., -2:-1]
    exchanged = x[..., -1:]
    waiting = np.array([outcome.drain for outcome in replayed])
    exchange = np.zeros(1)
    if not meetings.lag:
        overhead = max(setting.cost * float(run.overhead.mean()), 0.0)
        waiting = waiting + overhead_stays * overhead * (1 - meetings_per_cycle)
        rate = meetings_per_cycle + exchange_stays * (1 - meetings_per_cycle)
        exchange = setting.cost * exchanged * rate
    waiting = x[..., :-2] + waiting
    computing = np.array([outcome.computing for outcome in replayed])
    runtime = computing + np.maximum(waiting + exchange, 0)
    before = run.compute.mean(dtype=np.float64) + waited + exchanged
    return {
        "waiting": waiting,
        "runtime": runtime,
        "change": runtime / before,
        "saved": waited - waiting,
    }


def _quantity(
    values: np.ndarray,
    draws: np.ndarray,
    less: float,
    more: float,
    least: float = 0.0,
    unit: str = "",
) -> Quantity:
    """A quantity whose interval covers all sets.

    Args:
        values: [set].
        draws: [draw, set].
        less: how much lower the value may be.
        more: how much higher.
        least: the value and its limits are not below.
        unit: of the quantity.
    """
    tail = (1 - LEVEL) / 2
    low, high = (float(x) for x in np.quantile(draws, (tail, 1 - tail)))
    value = float(np.median(values))
    low = min(low, value) - less
    high = max(high, value) + more
    value = max(value, least)
    return Quantity(value, max(low, least), max(high, value), unit, "modelled")


def _replayed(run: CycleTrace, setting: Setting) -> _Replayed:
    """A run with one set of compute times under a plan."""
    computing = float(setting.compute.mean(dtype=np.float64))
    return _of_choices(run, setting, waits(run, setting), computing)


def _of_choices(
    run: CycleTrace,
    setting: Setting,
    choices: list[WaitingSeries],
    computing: float,
) -> _Replayed:
    """A run with one set of compute times under a plan.

    Args:
        run: as it was.
        setting: what is asked about.
        choices: how ranks wait, for each choice of other ranks.
        computing: mean over ranks and cycles, s.
    """
    meetings = setting.plan
    windows = run.cycles / meetings.window
    windows_before_drain = windows - 1 if meetings.lag else windows
    totals = [
        float(choice.series.mean() * windows_before_drain + choice.drain) for choice in choices
    ]
    if meetings.ranks > len(setting.compute):
        middle = int(np.argsort(totals)[len(totals) // 2])
        series = choices[middle].series
        total = totals[middle]
    else:
        series = np.mean([choice.series for choice in choices], axis=0)
        total = float(np.mean(totals))
    series = series / meetings.window
    doubt_less, doubt_more = run.doubt_s or (0.0, 0.0)  # of waiting that was derived
    less = setting.cost * doubt_less * windows
    more = setting.cost * doubt_more * windows
    if meetings.lag:
        drain_error = max(choice.drain_error for choice in choices)
        drain = student(PIECES - 1) * drain_error
        less, more = drain, drain + less
    if len(choices) > 1:  # other ranks
        less = less + total - min(totals)
        more = more + max(totals) - total
    return _Replayed(
        series=series,
        drain=total / run.cycles - float(series.mean()),
        less=less / run.cycles,
        more=more / run.cycles,
        computing=computing,
    )
