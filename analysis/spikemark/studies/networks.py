"""The networks of the papers: their activity and their speed here, beside the published ones."""

from collections.abc import Callable

from spikemark.core.errors import BadInput
from spikemark.models.published import papers
from spikemark.presets import cortex
from spikemark.quantities.elements import KeyFigure, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number, percent, span
from spikemark.records.gather import Sweep
from spikemark.report.columns import known
from spikemark.report.sections.activity import EXPLAINED, figure, reasons
from spikemark.report.sections.activity.networks import Group, Network, networks

from .runs import mean_time
from .study import Findings, Study

UNPUBLISHED = missing("not published, or not for this network", mark="–")
NONE = "none"  # a finding: searched for, and absent
OTHER_SIZE = missing("not run at the published size")
SCALED = (
    "The networks run at laptop scale, the microcircuit also at its published size. A scaled network has "
    "fewer neurons and synapses. Weights and a constant current keep the mean and variance of the input as "
    "they are at the published rates. But correlations grow as networks shrink (van Albada et al. "
    "2015), so rates differ."
)
TIMES = (
    "The real-time factor is wall-clock time over simulated time: below 1 is faster than real time. Only "
    "networks of the same size can be compared. Published factors come from the papers' abstracts or "
    "tables, on other machines. Here the network runs on one rank with as many threads as the experiment "
    "says."
)
TITLE, NEURONS = Column("network", "network", "given"), Column("neurons", "neurons", "given")
PUBLISHED = Column("published_hz", "published (Hz)", "literature")
CV = Column("cv", "CV of intervals", "counted")
#: Neurons of a preset at its published size.
PUBLISHED_NEURONS = {"microcircuit": int(cortex.NEURONS.sum()), "dpsnn": 20_480}


def read(sweep: Sweep) -> Findings:
    """Every network with spikes: rates, rhythms, picture; then times."""
    found = networks(sweep.runs, "network")
    firing = [n for n in found if n.recording.spikes.size]
    without = sum(m.run.spikes is None for m in sweep.runs)
    lacking = [line for n in found for line in reasons(n)]
    if without:
        lacking.append(f"{counted(without, 'run')} without recorded spikes.")
    parts = [
        Section("networks", "The networks", [EXPLAINED, SCALED], tables=[_main(found, sweep.kind)],
                missing=lacking, figures=[figure(n, i) for i, n in enumerate(firing)]),
        Section("rates", "Rates by population", tables=[_rates(found)]),
        Section("real-time", "How fast they run", [TIMES], tables=[_real_time(found, sweep.kind)]),
    ]  # fmt: skip
    return Findings(_sentence(found), _key_figures(found), parts)


def _main(found: list[Network], kind: str) -> Table:
    columns = {
        TITLE: lambda n: n.title,
        NEURONS: lambda n: n.everyone.neurons,
        Column("synapses", "synapses", "counted"): lambda n: n.measured.run.record.totals.synapses,
        Column("rate_hz", "mean rate (Hz)", "counted"): lambda n: n.everyone.rate_hz,
        PUBLISHED: lambda n: _published(n.everyone.published_hz),
        CV: lambda n: _cv(n.everyone),
        Column("peak_hz", "spectrum peak (Hz)", "counted"): lambda n: _or_missing(
            lambda: n.spectrum.peak_hz or NONE
        ),
        Column("up_down_hz", "up/down (Hz)", "counted"): lambda n: _or_missing(
            lambda: n.alternation.states.frequency_hz or NONE
        ),
        Column("real_time_factor", "real-time factor", kind): _factor,
    }
    return Table.of(columns, found, "The networks of the papers", "networks")


def _rates(found: list[Network]) -> Table:
    columns = {
        TITLE: lambda pair: pair[0].title,
        Column("population", "population", "given"): lambda pair: pair[1].label,
        NEURONS: lambda pair: pair[1].neurons,
        Column("rate_hz", "rate (Hz)", "counted"): lambda pair: pair[1].rate_hz,
        PUBLISHED: lambda pair: _published(pair[1].published_hz),
        Column("ratio", "rate / published"): lambda pair: (
            pair[1].rate_hz / published if (published := pair[1].published_hz) else UNPUBLISHED
        ),
        CV: lambda pair: _cv(pair[1]),
        Column("synchrony", "synchrony", "counted"): lambda pair: known(
            pair[1].synchrony, "no spike, or shorter than a bin"
        ),
    }
    folded = [f"{n.title}: {n.folding}" for n in found if n.folding]
    sources = dict.fromkeys(f"{n.title}: {n.published.source}." for n in found if n.published)
    notes = [*folded, *([f"Published rates: {' '.join(sources)}"] if sources else [])]
    return Table.of(columns, [(n, g) for n in found for g in n.groups], "Rates by population", "rates", notes)


def _real_time(found: list[Network], kind: str) -> Table:
    """Published real-time factors, each network followed by its own here."""
    rows = []
    printed = papers.rows("real_time")
    for name in dict.fromkeys(line["network"] for line in printed):
        for line in printed:
            if line["network"] == name:
                rows.append({
                    "network": name,
                    "who": line["who"],
                    "machine": line["machine"],
                    "published": float(line["real_time_factor"]),
                    "source": f"{line['source']}, {line['where']}",
                })  # fmt: skip
        own = [n for n in found if full_size(n) and n.measured.preset == name]
        for n in own:
            record = n.measured.run.record
            where = f"here, {counted(record.ranks, 'rank')} × {counted(record.threads, 'thread')}"
            rows.append({"network": n.title, "who": "mini-app", "machine": where, "here": _factor(n)})
        if not own:
            rows.append({"network": name, "who": "mini-app", "machine": "here", "here": OTHER_SIZE})
    columns = [
        Column("network", "network"),
        Column("who", "program"),
        Column("machine", "machine"),
        Column("published", "published", "literature"),
        Column("here", "here", kind),
        Column("source", "source"),
    ]
    return Table(columns, rows, "Real-time factor of networks of the published size", "real_time")


def full_size(n: Network) -> bool:
    """Tells whether a network of this size was published in this state."""
    return n.published is not None and n.everyone.neurons == PUBLISHED_NEURONS.get(n.measured.preset)


def _published(hz: float | None) -> float | Quantity:
    return UNPUBLISHED if hz is None else hz


def _cv(neurons: Group) -> float | Quantity:
    return known(neurons.irregularity.cv, "no neuron fired four times")


def _factor(n: Network) -> Quantity:
    return mean_time(n.runs, lambda m: m.real_time_factor)


def _or_missing(value: Callable[[], Cell]) -> Cell:
    try:
        return value()
    except BadInput as error:
        return missing(str(error))


def _off(n: Network) -> float | None:
    """The largest distance of a population's rate from the published one, as a share of that."""
    return max((abs(g.rate_hz / g.published_hz - 1) for g in n.groups if g.published_hz), default=None)


def _sentence(found: list[Network]) -> str:
    if not found:
        return "Nothing to compare yet: no run with recorded spikes is complete."
    compared = [n for n in found if _off(n) is not None]
    words = [
        f"{n.title} within {percent(_off(n))} of the published rates of all populations" for n in compared
    ]
    words += [
        f"{n.title} at {number(n.everyone.rate_hz)} Hz, published {number(n.everyone.published_hz)} Hz"
        for n in found
        if n.everyone.published_hz is not None and n not in compared
    ]
    fires = f": {'; '.join(words)}" if words else ". No rates of them were published"
    sentence = f"{counted(len(found), 'network')} fired{fires}."
    for n in found:
        factor = _factor(n)
        theirs = [float(r["real_time_factor"]) for r in papers.rows("real_time")
                  if r["network"] == n.measured.preset]  # fmt: skip
        if full_size(n) and theirs and factor:
            sentence += (
                f" At the published size, {n.title} took {number(factor.value)} s per simulated second "
                f"here; published: {span(theirs, 2)}."
            )
    return sentence


def _key_figures(found: list[Network]) -> list[KeyFigure]:
    figures = []
    for n in found[:8]:
        theirs = n.everyone.published_hz
        note = "mean rate" + ("" if theirs is None else f"; published {number(theirs)} Hz")
        figures.append(KeyFigure(n.title, f"{number(n.everyone.rate_hz)} Hz", "counted", note))
    return figures


STUDY = Study(
    "networks",
    "the networks of the papers: rates, irregularity, rhythms and speed beside the published ones",
    "networks",
    read,
)
