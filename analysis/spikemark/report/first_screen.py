"""The part below the first sentence of a page: one picture, one table, and the progress of the sweep."""

from dataclasses import dataclass

from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import change, counted, geometric_mean, number
from spikemark.records.agreement import agreements, broken
from spikemark.records.cases import Ratio, View
from spikemark.records.gather import Configuration, Measured
from spikemark.records.phases import NOT_TIMED, PARTS

from .columns import LABEL, RUNS
from .sections import phases
from .style import COLOUR, axis_end, drawing, legend_above, markup, stacked

COMPUTING, WAITING, EXCHANGE = "computing", "waiting", "exchange"
BOTH = "exchange, with waiting"
COLOURS = {COMPUTING: "update", WAITING: "synchronise", EXCHANGE: "exchange", BOTH: "other-1"}
NO_RANK = "one rank waits for nobody"


@dataclass(frozen=True)
class Row:
    """One configuration on the ranks of the view; `runs` in the order of seeds and repetitions."""

    configuration: Configuration
    runs: list[Measured]


def picture(view: View) -> Figure | None:
    """Draws the real-time factor of every configuration as computing, waiting and exchange."""
    if view.case is None or view.case.counting:
        return None
    bars = phases.prepare(view.case, view.ranks)
    parts = [_parts(bar.phases) for bar in bars]
    where = counted(view.ranks, "rank")
    alt = f"Seconds of wall-clock time per simulated second on {where}, as stacked bars. " + " ".join(
        f"{bar.configuration.label}: {number(bar.mean)}, of which "
        + ", ".join(f"{number(value)} {name}" for name, value in part.items())
        + "."
        for bar, part in zip(bars, parts, strict=True)
    )
    caption = (
        f"Seconds of wall-clock time per second of simulated time on {where} ({view.kind}). A shorter "
        "bar is faster; below 1 is faster than real time."
    )
    names = list(dict.fromkeys(name for part in parts for name in part))
    columns = {Column(name, name, view.kind): lambda i, name=name: parts[i].get(name, 0.0) for name in names}
    label = {Column("schedule", "schedule", "given"): lambda i: bars[i].configuration.label}
    table = Table.of(label | columns, range(len(bars)))
    svg = _draw([bar.configuration.label for bar in bars], parts, names, alt)
    return Figure("first-picture", f"On {where}", svg, alt, caption, table)


def _parts(times: dict[str, float | None]) -> dict[str, float]:
    """Sums phases; waiting that was not timed on its own is within the exchange."""
    communicating = {name: part for part in (WAITING, EXCHANGE) for name in PARTS[part]}
    found = dict.fromkeys((COMPUTING, WAITING, EXCHANGE), 0.0)
    for name, value in times.items():
        found[communicating.get(name, COMPUTING)] += value or 0.0
    if any(value is None and communicating.get(name) == WAITING for name, value in times.items()):
        found = {(BOTH if name == EXCHANGE else name): value for name, value in found.items()}
    return {name: value for name, value in found.items() if value}


def _draw(labels: list[str], parts: list[dict[str, float]], names: list[str], alt: str) -> str:
    with drawing(height=1.05 + 0.36 * len(labels)) as (figure, (axes,)):
        widths = {n: ([part.get(n, 0.0) for part in parts], COLOUR[COLOURS[n]]) for n in names}
        handles = stacked(axes, labels, widths, end=axis_end([sum(part.values()) for part in parts]))
        axes.set(ylim=(-0.6, len(labels) - 0.4), xlabel="real-time factor (s / s simulated)")
        legend_above(figure, handles, columns=3)
        return markup(figure, "first-picture", alt)


def table(view: View) -> Table | None:
    """Makes a row for every configuration on the ranks of the view: speed, waiting, memory."""
    if view.case is None or view.case.counting:
        return None
    rows = [Row(c, view.case.of(c, view.ranks)) for c in view.case.configurations(view.ranks)]
    columns = {
        **LABEL,
        Column("factor", "real-time factor", view.kind): lambda row: geometric_mean(
            [m.real_time_factor for m in row.runs]
        ),
    }
    if view.comparable:
        columns[Column("speed_up", f"times as fast as {view.base.label}", view.kind)] = lambda row: _ratio(
            view, row, view.speed_up(row.configuration)
        )
    columns[Column("waiting", "waiting (s / s)", view.kind)] = lambda row: _waiting(view, row)
    if view.comparable and view.ranks > 1:
        column = Column("change", "change of waiting", view.kind, words=change)
        columns[column] = lambda row: _ratio(
            view, row, view.against_base(row.configuration, lambda m: m.waiting), " times"
        )
    columns[Column("memory", "peak memory (B / synapse)", view.kind)] = _memory
    columns[RUNS] = lambda row: len(row.runs)
    found = Table.of(columns, rows)
    return Table(found.columns, found.rows, notes=_notes(view))


def _ratio(view: View, row: Row, found: Ratio | None, times: str = "") -> Cell:
    if row.configuration == view.base:
        return missing("the others are compared with it", mark="–")
    if found is None:
        return missing("no pair of runs has it", mark="not comparable")
    if found.low is None:
        return f"{counted(len(found.pairs), 'pair')}: {found.each}{times}"
    return found.quantity


def _waiting(view: View, row: Row) -> float | Quantity:
    if view.ranks == 1:
        return missing(NO_RANK, mark="–")
    values = [m.waiting for m in row.runs]
    return missing(NOT_TIMED, mark="not timed") if None in values else geometric_mean(values)


def _memory(row: Row) -> float | Quantity:
    values = [b for m in row.runs if (b := m.run.record.memory.bytes_per_synapse) is not None]
    return geometric_mean(values) if values else missing("unknown to the mini-app, or no synapses", mark="–")


def _notes(view: View) -> list[str]:
    """Says what the numbers are means of, and how sure they are."""
    neurons = sorted(
        {m.run.record.totals.neurons for m in view.case.runs if m.run.record.ranks == view.ranks}
    )
    network = " to ".join(number(n) for n in dict.fromkeys((neurons[0], neurons[-1])))
    words = (
        f"On {counted(view.ranks, 'rank')} × {counted(view.case.threads, 'thread')}, {network} neurons; "
        "geometric means over runs."
    )
    if view.comparable:
        together = ""
        if view.candidates > 1:
            together = f", wide enough that {counted(view.candidates, 'comparison')} hold together"
        words += (
            " In parentheses: 95 % intervals over pairs of runs of one network and repetition"
            + together
            + ". There is none where the pairs are too few or too different."
        )
    return [words]


def progress(view: View) -> str:
    """Says how many runs are complete, and whether their checksums agree."""
    found = agreements(view.sweep)
    words = f"{view.sweep.progress}."
    if not found:
        return words
    if broken(view.sweep):
        return f"{words} Checksums: NOT EQUAL, see Correctness; do not compare the times."
    if all(len(a.runs) == 1 for a in found):
        return f"{words} Checksums: one run per network, so there is nothing to compare."
    runs = counted(sum(len(a.runs) for a in found), "run")
    return f"{words} Checksums: equal in {runs} of {counted(len(found), 'network')}."
