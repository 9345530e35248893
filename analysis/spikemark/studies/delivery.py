"""How long delivery takes: a model of three times, fitted to some list lengths and checked on the others."""

import json
from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.models import delivery_time as model
from spikemark.quantities.elements import Box, Figure, KeyFigure
from spikemark.quantities.words import NARROW, counted, number, percent
from spikemark.records.cases import COMPARED
from spikemark.records.gather import Measured
from spikemark.studies.table import Column, Estimate, Missing, StudyTable

from . import blocks, delivery_figure, delivery_kernel
from .runs import CROWDED, group, timed
from .study import Findings, Part, Study

MEANINGS = {
    "first": "to enter a list",
    "next": "for each synapse",
    "spike": "for each spike that has come",
    "enter": "both, t_first + t_spike",
}
GOAL = 0.15  # largest error of a held-out point
DRAWS, SEED = 1000, 1
ONE_RUN = Missing("one run says nothing of the spread", "one run")
TOGETHER = Missing("no spike came to a thread without a list of it, so it is part of t_first", "in t_first")
EXPLAINED = (
    "A thread that delivers goes through the spikes that have come (t_spike each), enters the lists that "
    "hold synapses of its own (t_first each), and visits their synapses (t_next each, the first among them). "
    "The mini-app counts all three and times the whole. Every second list length, the ends aside, was held "
    "out: the fit has not seen it. Times are means over ranks. By how much a whole repetition of all "
    "configurations was slower than the others, the machine's drift, is divided out; a configuration counts "
    "with the mean of the middle third of its repetitions."
)
NOTE = (
    f"Intervals: 95 %, from {DRAWS} fits to runs drawn with replacement. The kernel delivers lists of one "
    "thread, each of which holds synapses, into a ring buffer of 8 MB (20 000 neurons, delays to 20 ms) that "
    "does not fit into a cache of the second level as that of the runs does; its times are fitted to those "
    "of `spikemark bench`."
)


@dataclass(frozen=True)
class Point:
    """A configuration: `counts` (first, synapses, spikes) of a thread and `seconds` without drift, by run."""

    label: str
    ranks: int
    threads: int
    placement: str
    counts: np.ndarray
    seconds: np.ndarray
    held_out: bool

    @property
    def length(self) -> float:
        """Mean length of the lists entered."""
        return float(self.counts[:, 1].sum() / self.counts[:, 0].sum())

    @property
    def middle_s(self) -> float:
        return model.middle(self.seconds)

    @property
    def spread(self) -> float:
        """Standard deviation of the runs, relative."""
        return float(np.std(np.log(self.seconds), ddof=1)) if len(self.seconds) > 1 else float("nan")

    def ns_per_event(self, seconds: float) -> float:
        return 1e9 * seconds / float(self.counts[:, 1].mean())


def counts(m: Measured) -> tuple[float, float, float]:
    """n_first, n_synapses and n_spikes of a thread, mean over the threads of all ranks."""
    record = m.run.record
    parts = record.ranks * record.threads
    first = record.totals.first_accesses / parts
    sent = sum(lane.spikes_sent for lane in record.lanes) / record.ranks  # every thread goes through them
    return first, record.totals.synaptic_events / parts, max(sent, first)


def points(runs: list[Measured]) -> list[Point]:
    """The configurations whose times count, by list length."""
    usable = [m for m in runs if m.run.record.totals.synaptic_events and _seconds(m)]
    networks = {
        key: float(np.mean([_length(m) for m in members])) for key, members in group(usable, _network).items()
    }
    held = set(sorted(networks, key=networks.get)[1:-1:2])
    setups = {
        setup: counting
        for setup, members in group(usable, _setup).items()
        if (counting := timed(members)) is not CROWDED
    }
    slower = blocks.slower((setup, _block(m), _seconds(m)) for setup, runs in setups.items() for m in runs)
    found = []
    for (network, ranks, threads, placement), counting in setups.items():
        label = f"{ranks} × {threads}, {placement.replace('_', ' ')}"
        rows = np.array([counts(m) for m in counting])
        seconds = np.array([_seconds(m) / slower[_block(m)] for m in counting])
        found.append(Point(label, ranks, threads, placement, rows, seconds, network in held))
    return sorted(found, key=lambda p: p.length)


def _seconds(m: Measured) -> float | None:
    return m.run.record.timing.phases["deliver"].mean_s


def _length(m: Measured) -> float:
    totals = m.run.record.totals
    return totals.synaptic_events / totals.first_accesses


def _network(m: Measured) -> str:
    """What was varied of the network."""
    fields = {k: v for k, v in m.planned.fields.items() if k not in COMPARED}
    return json.dumps(fields, sort_keys=True)


def _block(m: Measured) -> tuple:
    return m.planned.seed, m.planned.repetition


def _setup(m: Measured) -> tuple:
    return _network(m), m.run.record.ranks, m.run.record.threads, m.run.placement


def read(runs: list[Measured]) -> Findings:
    """Fit, intervals, and the points that were held out."""
    found = points(runs)
    try:
        fitted = _fit([p for p in found if not p.held_out])
    except BadInput as reason:
        sentence, missing = f"Nothing to compare yet: no fit, {reason}", [f"The fit: {reason}."]
        tables = [_times(None, [], delivery_kernel.UNKNOWN)]
        return Findings(
            sentence, [], [Part("times", "Times of delivery", [EXPLAINED], tables=tables, missing=missing)]
        )
    draws = model.bootstrap([(p.counts, p.seconds) for p in found if not p.held_out], DRAWS, SEED)
    errors = [_error(p, fitted) for p in found if p.held_out]
    parts = [
        Part("times", "Times of delivery", [EXPLAINED], _verdict(errors), [_figure(found, fitted)],
             [_times(fitted, draws, delivery_kernel.times(runs))]),
        Part("points", "Predicted and measured", tables=[_points(found, fitted)]),
    ]  # fmt: skip
    return Findings(_sentence(fitted, errors), _key_figures(fitted, draws, errors), parts)


def _fit(found: list[Point]) -> model.Times:
    owner = np.repeat(np.arange(len(found)), [len(p.seconds) for p in found])
    if not found:
        raise BadInput("no run whose times count is complete")
    rows, seconds = (np.concatenate([getattr(p, name) for p in found]) for name in ("counts", "seconds"))
    return model.fit(*model.middles(owner, rows, seconds))


def _predicted_s(p: Point, fitted: model.Times) -> float:
    return float(fitted.predict(p.counts.mean(axis=0)))


def _error(p: Point, fitted: model.Times) -> float:
    return _predicted_s(p, fitted) / p.middle_s - 1


def _times(fitted: model.Times | None, draws: list[model.Times], alone: model.Times | Missing) -> StudyTable:
    rows = []
    for name, meaning in MEANINGS.items():
        value = getattr(fitted, name) if fitted else Missing("no fit")
        kernel = (
            alone
            if isinstance(alone, Missing)
            else 1e9 * getattr(alone, name)
            if name in ("next", "enter")
            else ""
        )
        if value is None:
            value = TOGETHER
        if isinstance(value, float):
            limits = model.interval([x for d in draws if (x := getattr(d, name)) is not None])
            value = (
                Estimate(*(1e9 * x for x in (value, *(limits or ())))) if limits else Estimate(1e9 * value)
            )
        label = "t_first + t_spike" if name == "enter" else f"t_{name}"
        rows.append({"time": label, "meaning": meaning, "fitted_ns": value, "kernel_ns": kernel})
    columns = [
        Column("time", "time"),
        Column("meaning", "what for"),
        Column("fitted_ns", "in runs (ns)", "modelled"),
        Column("kernel_ns", "kernel on its own (ns)", "modelled"),
    ]
    return StudyTable("times", "What delivery is made of", columns, rows, [NOTE])


def _points(found: list[Point], fitted: model.Times) -> StudyTable:
    rows = [
        {
            "setup": p.label,
            "length": p.length,
            "empty_percent": 100 * (1 - float(p.counts[:, 0].sum() / p.counts[:, 2].sum())),
            "measured_ns": p.ns_per_event(p.middle_s),
            "spread_percent": 100 * p.spread if len(p.seconds) > 1 else ONE_RUN,
            "predicted_ns": p.ns_per_event(_predicted_s(p, fitted)),
            "error_percent": 100 * _error(p, fitted),
            "role": "held out" if p.held_out else "fitted",
        }
        for p in found
    ]
    columns = [
        Column("setup", "ranks × threads, placement", "given"),
        Column("length", "list length", "counted"),
        Column("empty_percent", "spikes without a list (%)", "counted", 2),
        Column("measured_ns", "ns per synaptic event", "measured"),
        Column("spread_percent", "spread of repetitions (%)", "measured", 2),
        Column("predicted_ns", "predicted", "modelled"),
        Column("error_percent", "error (%)", "", 2),
        Column("role", "role"),
    ]
    return StudyTable("points", "Delivery by list length", columns, rows)


def _verdict(errors: list[float]) -> list[Box]:
    if not errors:
        return []
    within = sum(abs(e) <= GOAL for e in errors)
    reached = within == len(errors)
    text = (
        f"{within} of {counted(len(errors), 'held-out point')} within {percent(GOAL)} of the measured time; "
        f"the goal, all of them, is {'reached' if reached else 'NOT reached'}."
    )
    return [Box("good" if reached else "bad", text)]


def _sentence(fitted: model.Times, errors: list[float]) -> str:
    enter, each = number(1e9 * fitted.enter), number(1e9 * fitted.next)
    parts = f"{enter} ns for a spike that enters a list and {each} ns for each synapse"
    held = f"; held-out points are off by at most {percent(max(map(abs, errors)))}" if errors else ""
    return f"Delivery takes {parts}{held}."


def _key_figures(fitted: model.Times, draws: list[model.Times], errors: list[float]) -> list[KeyFigure]:
    figures = []
    for label, name in (("Entering a list", "enter"), ("Each synapse", "next")):
        limits = model.interval([getattr(d, name) for d in draws])
        note = f"{number(1e9 * limits[0])} to {number(1e9 * limits[1])} ns" if limits else ""
        figures.append(KeyFigure(label, f"{number(1e9 * getattr(fitted, name))}{NARROW}ns", "modelled", note))
    if errors:
        median = percent(float(np.median(np.abs(errors))), 1)
        figures.append(
            KeyFigure("Held-out points, median error", median, "modelled", "of lengths not fitted")
        )
    return figures


def _figure(found: list[Point], fitted: model.Times) -> Figure:
    shown = [(p, p.ns_per_event(p.middle_s), p.ns_per_event(_predicted_s(p, fitted))) for p in found]
    alt = "Time per synaptic event by list length. " + " ".join(
        f"{p.label}, length {number(p.length)}: {number(ns)} ns measured, {number(model_ns)} ns predicted."
        for p, ns, model_ns in shown
    )
    caption = (
        "Nanoseconds per synaptic event on a thread, over the mean length of the lists entered. Dots: "
        "measured, filled where fitted, open where held out. Crosses: predicted."
    )
    svg = delivery_figure.draw(shown, "delivery", alt)
    return Figure("delivery", "Predicted against measured", svg, alt, caption, _points(found, fitted).shown())


STUDY = Study(
    "delivery",
    "time of delivery from lists entered, synapses and spikes, checked on list lengths not fitted",
    "delivery",
    read,
    delivery_kernel.prepare,
)
