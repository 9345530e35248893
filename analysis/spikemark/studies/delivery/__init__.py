"""How long delivery takes: a model of three times, fitted to some list lengths and checked on the others."""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models import delivery_time
from spikemark.models.delivery_time import Times
from spikemark.quantities.elements import Box, Figure, KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import NARROW, counted, number, percent
from spikemark.records.gather import Sweep
from spikemark.studies.study import Findings, Study

from . import drawing, kernel
from .timing import Point, points

MEANINGS = {
    "first": "to enter a list",
    "next": "for each synapse",
    "spike": "for each spike that has arrived",
    "enter": "both, t_first + t_spike",
}
GOAL = 0.15  # largest error of a held-out point
DRAWS, SEED = 1000, 1
ONE_RUN = missing("one run says nothing about the spread", mark="one run")
TOGETHER = missing("every spike had a list on its thread, so t_spike is part of t_first", mark="in t_first")
NO_FIT = missing("no fit")
EXPLAINED = (
    "What does it cost to deliver spikes? A thread goes through the spikes that have arrived (t_spike "
    "each), "
    "enters the lists that hold synapses of its own (t_first each), and visits their synapses (t_next each, "
    "the first among them). The mini-app counts all three and times the whole. Every second list length, "
    "apart from the ends, was held out: the fit has not seen it. Times are means over ranks. The machine's "
    "drift, by which a whole repetition of all configurations was slower than the others, is divided out. "
    "The time of a configuration is the mean of the middle third of its repetitions."
)
NOTE = (
    f"Intervals: 95 %, from {DRAWS} fits to runs drawn with replacement. The kernel delivers lists of one "
    "thread, and each holds synapses. Its ring buffer of 8 MB (20 000 neurons, delays up to 20 ms) does not "
    "fit into a second-level cache; that of the runs does. Its times are fitted to those of "
    "`spikemark bench`."
)


def read(sweep: Sweep) -> Findings:
    """Fit, intervals, and the points that were held out."""
    found = points(sweep.runs)
    seen = [p for p in found if not p.held_out]
    try:
        fitted = _fit(seen)
    except BadInput as reason:
        table = _times(None, [], kernel.UNKNOWN)
        part = Section("times", "Times of delivery", [EXPLAINED], tables=[table],
                       missing=[f"The fit: {reason}."])  # fmt: skip
        return Findings(f"Nothing to compare yet: no fit, {reason}", [], [part])
    draws = delivery_time.bootstrap([(p.counts, p.seconds) for p in seen], DRAWS, SEED)
    errors = [_error(p, fitted) for p in found if p.held_out]
    table = _points(found, fitted, sweep.kind)
    parts = [
        Section("times", "Times of delivery", [EXPLAINED], _verdict(errors),
                [_figure(found, fitted, table, sweep.kind)],
                [_times(fitted, draws, kernel.times(sweep))]),
        Section("points", "Predicted and actual times", tables=[table]),
    ]  # fmt: skip
    return Findings(_sentence(fitted, errors), _key_figures(fitted, draws, errors), parts)


def _fit(found: list[Point]) -> Times:
    """Raises BadInput where the runs do not tell the times apart."""
    if not found:
        raise BadInput("no run whose times count is complete")
    owner = np.repeat(np.arange(len(found)), [len(p.seconds) for p in found])
    rows, seconds = (np.concatenate([getattr(p, name) for p in found]) for name in ("counts", "seconds"))
    return delivery_time.fit(*delivery_time.middles(owner, rows, seconds))


def _predicted_s(p: Point, fitted: Times) -> float:
    return float(fitted.predict(p.counts.mean(axis=0)))


def _error(p: Point, fitted: Times) -> float:
    return _predicted_s(p, fitted) / p.middle_s - 1


def _times(fitted: Times | None, draws: list[Times], alone: Times | Quantity) -> Table:
    columns = {
        Column("time", "time"): lambda name: "t_first + t_spike" if name == "enter" else f"t_{name}",
        Column("meaning", "what for"): MEANINGS.get,
        Column("fitted_ns", "in runs (ns)", "modelled"): lambda name: (
            _fitted_ns(name, fitted, draws) if fitted else NO_FIT
        ),
        Column("kernel_ns", "kernel on its own (ns)", "modelled"): lambda name: _kernel_ns(name, alone),
    }
    return Table.of(columns, MEANINGS, "What delivery is made of", "times", [NOTE])


def _fitted_ns(name: str, fitted: Times, draws: list[Times]) -> Quantity:
    value = getattr(fitted, name)
    if value is None:
        return TOGETHER
    limits = delivery_time.interval([x for d in draws if (x := getattr(d, name)) is not None])
    return Quantity(value, *(limits or ())).times(1e9, "ns")


def _kernel_ns(name: str, alone: Times | Quantity) -> float | Quantity | str:
    """Returns nothing where the kernel cannot tell, since every spike in it has a list."""
    if isinstance(alone, Quantity):
        return alone
    return 1e9 * getattr(alone, name) if name in ("next", "enter") else ""


def _points(found: list[Point], fitted: Times, kind: str) -> Table:
    columns = {
        Column("setup", "ranks × threads, placement", "given"): lambda p: p.label,
        Column("length", "list length", "counted"): lambda p: p.length,
        Column("empty_percent", "spikes without a list (%)", "counted", 2): lambda p: (
            100 * (1 - float(p.counts[:, 0].sum() / p.counts[:, 2].sum()))
        ),
        Column("measured_ns", "ns per synaptic event", kind): lambda p: p.ns_per_event(p.middle_s),
        Column("spread_percent", "spread of repetitions (%)", kind, 2): lambda p: (
            100 * p.spread if len(p.seconds) > 1 else ONE_RUN
        ),
        Column("predicted_ns", "predicted", "modelled"): lambda p: p.ns_per_event(_predicted_s(p, fitted)),
        Column("error_percent", "error (%)", "", 2): lambda p: 100 * _error(p, fitted),
        Column("role", "role"): lambda p: "held out" if p.held_out else "fitted",
    }
    return Table.of(columns, found, "Delivery by list length", "points")


def _verdict(errors: list[float]) -> list[Box]:
    if not errors:
        return []
    within = sum(abs(e) <= GOAL for e in errors)
    reached = within == len(errors)
    text = (
        f"{within} of {counted(len(errors), 'held-out point')} within {percent(GOAL)} of the actual time; "
        f"the goal, all of them, is {'reached' if reached else 'NOT reached'}."
    )
    return [Box("good" if reached else "bad", text)]


def _sentence(fitted: Times, errors: list[float]) -> str:
    enter, each = number(1e9 * fitted.enter), number(1e9 * fitted.next)
    parts = f"{enter} ns for a spike that enters a list and {each} ns for each synapse"
    held = f"; held-out points are off by at most {percent(max(map(abs, errors)))}" if errors else ""
    return f"Delivery takes {parts}{held}."


def _key_figures(fitted: Times, draws: list[Times], errors: list[float]) -> list[KeyFigure]:
    figures = []
    for label, name in (("Entering a list", "enter"), ("Each synapse", "next")):
        limits = delivery_time.interval([getattr(d, name) for d in draws])
        note = f"{number(1e9 * limits[0])} to {number(1e9 * limits[1])} ns" if limits else ""
        figures.append(KeyFigure(label, f"{number(1e9 * getattr(fitted, name))}{NARROW}ns", "modelled", note))
    if errors:
        median = percent(float(np.median(np.abs(errors))), 1)
        figures.append(
            KeyFigure("Held-out points, median error", median, "modelled", "of lengths not fitted")
        )
    return figures


def _figure(found: list[Point], fitted: Times, table: Table, kind: str) -> Figure:
    shown = [(p, p.ns_per_event(p.middle_s), p.ns_per_event(_predicted_s(p, fitted))) for p in found]
    alt = "Time per synaptic event by list length. " + " ".join(
        f"{p.label}, length {number(p.length)}: {number(ns)} ns in runs, {number(expected)} ns predicted."
        for p, ns, expected in shown
    )
    caption = (
        "Nanoseconds per synaptic event on a thread, over the mean length of the lists entered. Dots: runs, "
        "filled where fitted, open where held out. Crosses: predicted."
    )
    svg = drawing.draw(shown, kind, "delivery", alt)
    return Figure("delivery", "Predicted against actual times", svg, alt, caption, table)


STUDY = Study(
    "delivery",
    "time of delivery from lists entered, synapses and spikes, checked on list lengths not fitted",
    "delivery",
    read,
    kernel.prepare,
)
