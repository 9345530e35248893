"""Why ranks waited in a run and what would help, as one screen, tables and JSON."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change, counted, integer, number, percent

from . import theory
from .changes import Outcome, outcomes
from .ladder import MEANS as RUNGS
from .ladder import Ladder, clipped, ladder
from .replay import Prediction, Setting, predict
from .trace import FEWEST, USUAL_RATIO, Trace

MICRO, MOST, MATTERS = 1e6, 3, 0.1
MEANS = RUNGS | {"exchange": "moving the data"}
TRIED = {"structure_aware": 0, "overlapped": 1}  # schedules and their lags
HELPFUL = {"equal work on all ranks": "level-ranks", "exchange in half the time": "halve-latency"}


@dataclass(frozen=True)
class Answer:
    """`rarely`: meeting every D cycles; `asked`: the schedule that was asked for, by replay, with `iid`.

    `helps`: what would shorten the run, the most helpful first; empty for a disturbed run.
    """

    run: Trace
    ladder: Ladder
    rarely: Prediction | None
    asked: Prediction | None
    iid: Quantity | None
    changes: list[Outcome]
    helps: list[Outcome]


def answer(
    run: Trace, schedule: str | None = None, delay_ratio: int | None = None, changes: Sequence[str] = (),
    **how: int | None,
) -> Answer:  # fmt: skip
    """The answer for a run. `how`: ranks, lag and group_period of the schedule that is asked for.

    Raises BadInput for a schedule, a number or a change that the run cannot answer.
    """
    how = {name: value for name, value in how.items() if value is not None}
    if schedule is None and how:
        raise BadInput(f"{next(iter(how))}: expected only with --schedule")
    if schedule in SCHEDULES and SCHEDULES[schedule].uses_delay_ratio and delay_ratio is None:
        delay_ratio = run.largest(how.get("lag", 1) if schedule == "overlapped" else 0)
        if delay_ratio is None:
            raise BadInput("delay_ratio: missing; expected --delay-ratio, as nothing says what delays allow")
    separates = not schedule or (schedule == "structure_aware" and run.period == 1 and delay_ratio > 1)
    parts, asked, iid, rarely = ladder(run, delay_ratio if separates else None), None, None, None
    if schedule is not None:
        wanted = Setting.of(run, schedule, delay_ratio or 1, **how)
        asked, iid = predict(run, wanted), theory.iid(run, wanted.plan)
    under = (schedule, delay_ratio or 1) if schedule else ("conventional", 1)
    found = outcomes(run, changes, *under, **how) if changes else []
    if run.period == 1:
        with suppress(BadInput):
            rarely = predict(run, Setting.of(run, "structure_aware", parts.delay_ratio))
    return Answer(run, parts, rarely, asked, iid, found, [] if run.disturbed else helps(run))


def helps(run: Trace) -> list[Outcome]:
    """What a user can do about a conventional run, the most helpful first: only what surely shortens it."""
    if run.period > 1:
        return []
    found = {}
    for schedule, lag in TRIED.items():
        with suppress(BadInput):
            d = min(run.largest(lag) or USUAL_RATIO, run.cycles // FEWEST)
            if (d := d - d % (lag + 1)) > 1:
                now = Setting.of(run, schedule, d, **({"lag": lag} if lag else {}))
                found[f"{SCHEDULES[schedule].label} (D = {d})"] = predict(run, now)
    found |= {words: outcomes(run, [name])[1].prediction for words, name in HELPFUL.items()}
    idle = replace(Setting.of(run), compute=clipped(run.compute, run.place))
    found["an idle core on each node, at most"] = predict(run, idle)
    kept = [Outcome(name, one) for name, one in found.items() if one and one.change.high < 1]
    return sorted(kept, key=lambda one: one.prediction.change.value)


# ---------------------------------------------------------------- the screen


def _us(q: Quantity) -> str:
    return number(q.value * MICRO, 2)


def _with_interval(q: Quantity) -> str:
    low, high = (number(x * MICRO, 2) for x in q.interval)
    return f"{_us(q)}\u202fµs ({low} to {high})"


def _change(q: Quantity) -> str:
    return f"{change(q.value)} ({change(q.low)} to {change(q.high)})"


def _saved(made: Prediction, waiting: Quantity, ranks: int) -> str:
    """What a schedule would save, per cycle."""
    p, q = made.plan, made.saved.times(1 / made.cycles)
    saves, what = "save", f"Meeting every {p.window} cycles"
    if not p.lockstep or p.window == 1:
        d = f", D = {p.delay_ratio}" if SCHEDULES[p.schedule].uses_delay_ratio else ""
        what = f"{SCHEDULES[p.schedule].label.capitalize()}{d}{f', lag {p.lag}' * (p.lag > 0)}"
    if q.value < 0:
        saves, q = "cost", replace(q, value=-q.value, low=-q.high, high=-q.low)
    what += f" on {p.ranks} ranks" * (p.ranks != ranks)
    waits = f"waiting {_us(made.waiting.times(1 / made.cycles))} instead of {_us(waiting)}"
    return f"{what} would {saves} {_with_interval(q)}: {waits}."


def lines(made: Answer) -> list[str]:
    """The screen, line by line, without the commands that lead on."""
    run, parts, slow = made.run, made.ladder, made.ladder.slowest
    cycle = sum(q.value for q in (parts.computing, parts.waiting, parts.exchange) if q) or 1.0
    found = []
    if run.disturbed:
        again = "Run again on a quiet machine; these times say nothing of speed."
        found.append(f"Disturbed: {run.disturbed}. {again}")
    found.append(
        f"{counted(run.ranks, 'rank')}, {integer(run.cycles)} cycles of {number(MICRO * cycle)}\u202fµs:"
        f" ranks waited {_us(parts.waiting)}\u202fµs per cycle ({percent(parts.waiting.value / cycle)})"
        f"{', as derived' if run.kind == 'modelled' else ''}."
    )
    if asked := made.asked or (None if run.disturbed else made.rarely):
        found.append(_saved(asked, parts.waiting, run.ranks))
    if slow.certain and slow.share.value >= MATTERS:
        found.append(
            f"Rank {slow.rank}{f' on {slow.node}' if slow.node else ''} computes {percent(slow.longer.value)}"
            f" longer than the others; {percent(slow.share.value)} of the waiting would go if it did not."
        )
    found.append("")
    for name, q in (parts.parts | ({"exchange": parts.exchange} if parts.exchange else {})).items():
        rare, more = parts.rare.get(name), []
        if name == "drift" and q.value > 0:
            more.append(f"{percent(parts.drift_share)} of its variance in slow spells")
        if rare and q and rare.value > MATTERS * q.value > 0:
            more.append(f"of this, rare long cycles: {_us(rare)}")
        means = MEANS[name].format(d=parts.delay_ratio) + (f" ({'; '.join(more)})" if more else "")
        found.append(f"  {name:<10} {_us(q) if q else '–':>6}   {means}")
    found.append("")
    for one in made.changes[1:]:
        said, q = f"refused, {one.refused}", one.prediction
        if q:
            waits = _with_interval(q.waiting.times(1 / run.cycles))
            said = f"waiting {waits}, run time {_change(q.change)}"
        found.append(f"{one.name}: {said}.")
    if made.helps:
        best = (f"{one.name}: {_change(one.prediction.change)}" for one in made.helps[:MOST])
        found.append(f"What would help: {'; '.join(best)}.")
        if run.description is None:
            found.append("D needs delays between areas of at least D cycles, which these times do not tell.")
    elif run.period == 1 and not run.disturbed:
        found.append("Nothing that was tried surely shortens this run.")
    return found


def tables(made: Answer) -> list[Table]:
    """What `--details` adds: intervals, eq 12, estimates, ranks and nodes."""
    run, parts, known = made.run, made.ladder, theory.estimates(made.run)
    long = {name: q.times(MICRO) for name, q in parts.rare.items()}
    quantities = {"computing": parts.computing, "waiting": parts.waiting} | parts.parts
    quantities |= {"exchange": parts.exchange, "all slow at once": parts.common}
    values = {
        "mean (µs)": known.mean_s.times(MICRO), "SD of a rank (µs)": known.own_sd_s.times(MICRO),
        "serial correlation": known.rho_1, "correlation time (cycles)": known.correlation_time,
        "second mode, share": known.minor_share, "second mode, times as long": known.minor_factor,
        **{f"POP {name.replace('_', ' ')}": value for name, value in (parts.efficiency or {}).items()},
    }  # fmt: skip
    means = run.compute.mean(axis=1, dtype=np.float64)
    ranks = np.argsort(-means)
    ranks = ranks if run.ranks <= 2 * MOST else [*ranks[:MOST], *ranks[-MOST:]]
    nodes = pd.Series(means / means.mean()).groupby(list(run.nodes or [""] * run.ranks)).mean()

    def table(rows: Iterable[tuple], *columns: tuple, title: str = "", **how: Any) -> Table:
        names = [name for name, *_ in columns]
        heads = [Column(*column, **how) for column in columns]
        return Table(heads, [dict(zip(names, row, strict=True)) for row in rows], title)

    found = [
        table(((name, q.times(MICRO), long.get(name)) for name, q in quantities.items() if q),
              ("part", "µs per cycle"), ("value", "with 95 % interval"), ("rare", "long cycles")),
        table(values.items(), ("what", "cycle times"), ("value", "measured")),
        table((vars(one).values() for one in theory.maxima(run, parts.delay_ratio)), ("delay_ratio", "D"),
              ("nominal", "expected", "modelled"), ("found", "found", "measured"),
              title="Share of the slowest rank's times above the quantile of eq 12"),
        table(((int(m), MICRO * means[m], known.effects_s[m].times(MICRO)) for m in ranks),
              ("rank", "rank"), ("us", "µs per cycle", "measured"), ("effect", "beyond mean (µs)")),
    ]  # fmt: skip
    if len(nodes) > 1:
        slow = nodes.sort_values(ascending=False)[: 2 * MOST]
        found.append(table(slow.items(), ("node", "node"), ("change", "computes"), words=change))
    return found


def _plain(value: Any) -> Any:
    """Quantities and predictions as their content, at any depth."""
    if isinstance(value, Prediction):
        of_plan = {name: getattr(value.plan, name) for name in ("schedule", "delay_ratio", "lag", "ranks")}
        value = of_plan | {name: one for name, one in vars(value).items() if name != "plan"}
    if isinstance(value, Quantity):
        return value.content()
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def content(made: Answer) -> dict[str, Any]:
    """All of it for JSON; times in s over the run."""
    run, parts = made.run, made.ladder
    totals = {"waiting_s": parts.waiting, "exchange": parts.exchange, "computing": parts.computing}
    totals |= {"common": parts.common}
    of_run = {name: q and q.times(run.cycles) for name, q in totals.items()}
    return _plain({
        "ranks": run.ranks, "cycles": run.cycles, "meets_every": run.period, "kind": run.kind,
        "disturbed": run.disturbed or None, "delay_ratio": parts.delay_ratio,
        "waiting_per_cycle_s": parts.waiting, **of_run,
        "parts": {name: q.times(run.cycles) for name, q in parts.parts.items()},
        "rare": {name: q.times(run.cycles) for name, q in parts.rare.items()},
        "efficiency": parts.efficiency, "drift_share": parts.drift_share, "slowest": vars(parts.slowest),
        "estimates": vars(theory.estimates(run)),
        "maxima": [vars(one) for one in theory.maxima(run, parts.delay_ratio)],
        "rarely": made.rarely, "replay": made.asked, "iid": made.iid,
        "changes": {one.name: one.prediction or {"refused": one.refused} for one in made.changes},
        "helps": [{"name": one.name} | _plain(one.prediction) for one in made.helps],
        "warnings": list(run.warnings),
    })  # fmt: skip
