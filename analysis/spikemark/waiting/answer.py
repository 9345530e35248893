"""Why ranks waited in a run and what would help: the answer behind `spikemark waiting`."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.core.fields import check_whole
from spikemark.network.schedules import SCHEDULES, plan
from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.figure import intervals
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Table

from . import details, sentences, theory
from .another_run import predict_another_run
from .changes import ChangeOutcome, outcomes
from .interruptions import uninterrupted
from .ladder import Ladder, ladder
from .replay import ReplayedWaiting, Setting, check_exact, predict
from .sentences import MEANS, MICRO
from .spells import spells
from .theory import ShareAboveQuantile
from .trace import MIN_TRACE_WINDOWS, USUAL_RATIO, CycleTrace

LAG_OF_TRIED = {"structure_aware": 0, "overlapped": 1}  #: schedules that are tried, and their lags
if TYPE_CHECKING:
    from matplotlib.axes import Axes

EQUAL_WORK = "equal work on all ranks"
#: Changes that a user can bring about, in words.
HELPFUL_CHANGES = {
    EQUAL_WORK: "level-ranks",
    "exchange in half the time": "halve-latency",
}
NO_INTERRUPTIONS = "no interruptions, as an idle core on each node may bring"
#: Cycles of a slow spell that are longer by more than this share may look interrupted.
LOOKS_INTERRUPTED = 0.5
#: Columns of WaitingAnswer.table, times in µs per cycle.
PART_COLUMNS = ("part", "mean_us", "low_us", "high_us", "long_cycles_us", "kind", "meaning")


@dataclass(frozen=True, repr=False)
class WaitingAnswer(Answer):
    """Why ranks waited in a run, and what would help.

    `table` has a row for each part of a cycle, means over ranks in µs per cycle, with 95 %
    intervals.
    """

    verb = "waiting"

    run: CycleTrace
    ladder: Ladder  #: the parts of the waiting
    rarely: ReplayedWaiting | None  #: ranks that meet every D cycles
    asked: ReplayedWaiting | None  #: the schedule that was asked for, by replay
    iid: Quantity | None  #: the same by the published theory
    changes: list[ChangeOutcome]  #: `base` first; empty where none were asked for
    #: What would shorten the run, the most helpful first; empty for a disturbed run.
    helps: list[ChangeOutcome]
    d_given: bool = False  #: whether the caller said D
    remarks: list[str] = field(default_factory=list)  #: warnings besides those of the run

    @property
    def cycle_s(self) -> float:
        """Mean time of a cycle in s: computing, waiting and exchange."""
        parts = (self.ladder.computing, self.ladder.waiting, self.ladder.exchange)
        return sum(part.number for part in parts if part) or 1.0

    @property
    def lines(self) -> list[str]:
        """What stands on the screen: sentences, the parts of the waiting, and what would help.

        Of the sentences, the first ones answer the changes that were asked about. Empty lines stand
        between the three. Of times that seem to be wrong, there is only this.
        """
        if self.run.doubtful:
            return [sentences.nothing_predicted(self.run)]
        help_lines = [*self._helps(), *self._delays()]
        return [*self._sentences(), "", *self._parts(), "", *help_lines]

    def _sentences(self) -> list[str]:
        run = self.run
        lines = []
        if run.disturbed:
            lines.append(sentences.disturbed(run))
        lines += self._what_if()
        lines.append(sentences.how_long(run, self.ladder, self.cycle_s))
        small_delay_ratio = sentences.small_delay_ratio(run)
        prediction = self.asked
        if prediction is None and not run.disturbed and not small_delay_ratio:
            prediction = self.rarely
        if prediction is not None:
            waiting = self.ladder.waiting
            lines += sentences.outlook(prediction, run, waiting, self.cycle_s)
            if self._assumes_d and (self.asked is None or _rests_on_d(self.asked)):
                lines.append(sentences.assumed(prediction.plan.delay_ratio))
        if self.ladder.longest:
            lines.append(sentences.longest_event(self.ladder.longest))
        lines += sentences.slow_spells(self.ladder)
        imbalance = self.ladder.parts["imbalance"]
        slow_rank = sentences.slow_rank(self.ladder.slowest, imbalance, self.cycle_s)
        return lines + [line for line in (small_delay_ratio, slow_rank) if line]

    @property
    def _assumes_d(self) -> bool:
        """Whether D is an assumption: neither the caller nor the run says it."""
        run = self.run
        return not self.d_given and run.description is None and run.delay_ratio is None

    def _parts(self) -> list[str]:
        names = list(self.ladder.parts)
        if self.ladder.exchange:
            names.append("exchange")
        return [sentences.part_line(name, self.ladder, self.cycle_s) for name in names]

    def _what_if(self) -> list[str]:
        return [sentences.change_line(change, self.run.cycles) for change in self.changes[1:]]

    def _helps(self) -> list[str]:
        if not self.helps:
            if self.run.period > 1 or self.run.disturbed:
                return []
            return [sentences.NOTHING_HELPS]
        return [sentences.what_helps(self.helps)]

    def _delays(self) -> list[str]:
        """That nobody knows whether the network allows a D, where predictions rest on one."""
        predictions = [change.prediction for change in (*self.changes[1:], *self.helps)]
        spoken_of = self.rarely if self.asked is None else self.asked
        if spoken_of is not None and not self._assumes_d:
            predictions.append(spoken_of)
        rarer = any(each.waiting and each.plan.window > 1 for each in predictions)
        return [sentences.NEEDS_DELAYS] if rarer and self.run.description is None else []

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """The parts of the waiting in µs per cycle, means over ranks, with 95 % intervals."""
        names = [name for name, part in self.ladder.parts.items() if part]
        columns = {"mean_us": "value", "low_us": "low", "high_us": "high"}
        parts = self.table.set_index("part").loc[names].rename(columns=columns)
        axes = intervals(names, parts, axes)
        axes.set(xlabel="waiting (µs per cycle)", title="Parts of the waiting, with 95 % intervals")
        return axes

    @property
    def tables(self) -> list[Table]:
        """Intervals, eq 12, estimates, ranks and nodes."""
        return details.tables(self.run, self.ladder)

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark waiting` prints; with `details`, its tables, too."""
        return Screen(
            lines=self.lines,
            tables=self.tables if details else [],
            warnings=[*self.run.warnings, *self.remarks],
        )

    @property
    def table(self) -> pd.DataFrame:
        """The parts of a cycle: means over ranks with 95 % intervals, in µs per cycle."""
        rows = []
        for name, part in details.parts_of(self.ladder).items():
            low, high = part.limits
            rare = self.ladder.rare.get(name)
            rows.append(
                {
                    "part": name,
                    "mean_us": MICRO * part.number,
                    "low_us": MICRO * low,
                    "high_us": MICRO * high,
                    "long_cycles_us": None if rare is None else MICRO * rare.number,
                    "kind": part.kind,
                    "meaning": MEANS.get(name, "").format(d=self.ladder.delay_ratio),
                }
            )
        frame = pd.DataFrame(rows, columns=list(PART_COLUMNS))
        frame["long_cycles_us"] = frame["long_cycles_us"].astype(float)
        times = ("mean_us", "low_us", "high_us", "long_cycles_us")
        frame.attrs["units"] = dict.fromkeys(times, "µs per cycle")
        return frame

    def content(self) -> dict[str, Any]:
        """All of it for JSON; times in s over the run."""
        run = self.run
        parts = self.ladder
        of_run = {
            "waiting_s": parts.waiting,
            "exchange": parts.exchange,
            "computing": parts.computing,
            "common": parts.common,
        }
        totals = {name: part and part.times(run.cycles) for name, part in of_run.items()}
        content = {
            "ranks": run.ranks,
            "first_rank": run.first_rank,
            "cycles": run.cycles,
            "meets_every": run.period,
            "rank_sd": run.rank_sd,
            "kind": run.kind,
            "disturbed": run.disturbed or None,
            "doubtful": run.doubtful or None,
            "delay_ratio": parts.delay_ratio,
            "waiting_per_cycle_s": parts.waiting,
            **totals,
            "parts": {name: part.times(run.cycles) for name, part in parts.parts.items()},
            "rare": {name: part.times(run.cycles) for name, part in parts.rare.items()},
            "efficiency": parts.efficiency,
            "drift_share": parts.drift_share,
            "slowest": vars(parts.slowest),
            "longest": parts.longest and vars(parts.longest),
            "spells": [vars(spell) for spell in parts.spells],
            "estimates": vars(theory.estimates(run)),
            "maxima": [_share(share) for share in theory.maxima(run, parts.delay_ratio)],
            "rarely": self.rarely,
            "replay": self.asked,
            "iid": self.iid,
            "changes": {change.name: change.prediction for change in self.changes},
            "helps": [{"name": change.name} | _plain(change.prediction) for change in self.helps],
            "warnings": list(run.warnings),
        }
        return {name: _plain(value) for name, value in content.items()}


def _rests_on_d(prediction: ReplayedWaiting) -> bool:
    """Whether the schedule of a prediction has a D."""
    return SCHEDULES[prediction.plan.schedule].uses_delay_ratio


def _share(share: ShareAboveQuantile) -> dict[str, float]:
    """A share of eq 12 as JSON calls it."""
    return {
        "delay_ratio": share.delay_ratio,
        "nominal": share.nominal,
        "found": share.measured,
    }


def _plain(value: object) -> Any:
    """Quantities and predictions as their content, at any depth."""
    if isinstance(value, ReplayedWaiting):
        fields = dict(vars(value))
        same_speeds = fields["same_speeds"]
        if same_speeds is not None:
            quantities = ("waiting", "runtime", "change", "saved")
            fields["same_speeds"] = {name: getattr(same_speeds, name) for name in quantities}
        meetings = fields.pop("plan")
        names = ("schedule", "delay_ratio", "lag", "ranks")
        value = {name: getattr(meetings, name) for name in names} | fields
    if isinstance(value, Quantity):
        return value.content()
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value


def answer(
    run: CycleTrace,
    schedule: str | None = None,
    delay_ratio: int | None = None,
    changes: Sequence[str] = (),
    *,
    lag: int | None = None,
    group_period: int | None = None,
    ranks: int | None = None,
) -> WaitingAnswer:
    """Why the ranks of a run waited, and what a schedule or changes would make of it.

    Args:
        run: as `trace` makes it.
        schedule: a key of SCHEDULES to replay.
        delay_ratio: D, cycles; without one, the largest that is exact.
        changes: see `changes.outcomes`.
        lag: L of the schedule, windows.
        group_period: of the schedule, cycles.
        ranks: number of ranks under the schedule.

    Raises:
        BadInput: for a schedule, a number or a change that the run cannot answer.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.trace import trace
        >>> times = np.random.default_rng(1).normal(1e-3, 1e-5, (4, 1000))
        >>> explanation = answer(trace(times), "structure_aware", delay_ratio=10)
        >>> explanation.asked.waiting.kind
        ''
    """
    d_given = delay_ratio is not None
    numbers = {
        "delay_ratio": (delay_ratio, 1),
        "lag": (lag, 0),
        "group_period": (group_period, 1),
        "ranks": (ranks, 2),
    }
    for name, (number, least) in numbers.items():
        if number is not None:
            check_whole(name, number, least)
    if schedule is None:
        for name, value in (("lag", lag), ("group_period", group_period), ("ranks", ranks)):
            if value is not None:
                line = f"{name}: expected only with schedule"
                raise BadInput(line, field=name, code="conflict")
        if delay_ratio is not None and run.period == 1:
            check_exact(run, plan("structure_aware", delay_ratio, run.ranks))
    elif schedule in SCHEDULES and SCHEDULES[schedule].uses_delay_ratio and delay_ratio is None:
        delay_ratio = _largest(run, schedule, lag)
    windows_of_d = schedule is None or (
        schedule == "structure_aware" and run.period == 1 and delay_ratio not in (None, 1)
    )
    parts = ladder(run, delay_ratio if windows_of_d else None)
    asked = None
    iid = None
    base = None
    if schedule is not None:
        base = Setting.from_run(
            run, schedule, delay_ratio or 1, ranks=ranks, lag=lag, group_period=group_period
        )
        asked = predict_another_run(run, base)
        iid = theory.iid(run, base.plan)
        if base.moved or base.unknown:
            reason = "the schedule places neurons elsewhere, where ranks compute something else"
            iid = missing(run.doubtful or reason, "s")
    return WaitingAnswer(
        run=run,
        ladder=parts,
        rarely=_rarely(run, parts.delay_ratio),
        asked=asked,
        iid=iid,
        changes=outcomes(run, changes, base) if changes else [],
        helps=[] if run.disturbed else helps(run, delay_ratio),
        d_given=d_given,
    )


def _largest(run: CycleTrace, schedule: str, lag: int | None) -> int:
    """The largest D that is exact; where nothing says it, the usual one that the lag allows."""
    lag_of_schedule = 0
    if schedule == "overlapped":
        lag_of_schedule = 1 if lag is None else lag
    largest = run.largest(lag_of_schedule)
    if largest is None:
        windows = lag_of_schedule + 1
        largest = max(USUAL_RATIO - USUAL_RATIO % windows, windows)
    return largest


def _rarely(run: CycleTrace, delay_ratio: int) -> ReplayedWaiting | None:
    """Ranks that meet every D cycles: structure-aware, or where nobody knows its work, that of the
    run.

    None for a run whose ranks do so already, or with too few cycles.
    """
    if run.period > 1 or run.doubtful:
        return None
    with suppress(BadInput):
        setting = Setting.from_run(run, "structure_aware", delay_ratio)
        if setting.unknown:
            setting = Setting.meeting_rarely(run, delay_ratio)
        return predict_another_run(run, setting)
    return None


def helps(run: CycleTrace, delay_ratio: int | None = None) -> list[ChangeOutcome]:
    """What a user can do about a conventional run, the most helpful first.

    Only what surely shortens it.

    Args:
        run: that was measured.
        delay_ratio: D that is tried, if the delays allow it; by default the largest one, or 10.

    Example:
        >>> import numpy as np
        >>> from spikemark.waiting.trace import trace
        >>> times = np.random.default_rng(1).normal(1e-5, 5e-7, (4, 1000))
        >>> times[2, ::50] += 8e-3  # rank 2 loses its core
        >>> [change.name for change in helps(trace(times))][:1]
        ['no interruptions, as an idle core on each node may bring']
    """
    if run.period > 1 or run.doubtful:
        return []
    predictions = _schedules_tried(run, delay_ratio)
    for words, name in HELPFUL_CHANGES.items():
        _base, changed = outcomes(run, [name])
        predictions[words] = changed.prediction
    interrupted = any(len(one.cycles) for one in run.interrupted)
    as_interrupted = [spell for spell in spells(run.compute) if spell.longer > LOOKS_INTERRUPTED]
    if interrupted and not as_interrupted:
        calm = partial(uninterrupted, of_ranks=run.interrupted)
        predictions[NO_INTERRUPTIONS] = predict(run, Setting.from_run(run).with_times(calm))
    helpful = []
    for name, prediction in predictions.items():
        if prediction.change and prediction.change.limits[1] < 1:
            helpful.append(ChangeOutcome(name, prediction))
    return sorted(helpful, key=lambda outcome: outcome.prediction.change.number)


def _schedules_tried(run: CycleTrace, delay_ratio: int | None) -> dict[str, ReplayedWaiting]:
    """The schedules that the run can answer, with D, or the largest that leaves enough windows."""
    predictions = {}
    for schedule, lag in LAG_OF_TRIED.items():
        with suppress(BadInput):
            exact = run.largest(lag)
            d = min(delay_ratio or exact or USUAL_RATIO, run.cycles // MIN_TRACE_WINDOWS)
            d = min(d, exact or d)
            d -= d % (lag + 1)
            if d > 1:
                setting = Setting.from_run(run, schedule, d, lag=lag or None)
                predictions[f"{SCHEDULES[schedule].label} (D = {d})"] = predict(run, setting)
    return predictions
