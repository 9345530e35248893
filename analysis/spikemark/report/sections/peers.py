"""Speed beside other simulators: what `spikemark peers` found on the same machine."""

from spikemark.core.errors import BadInput
from spikemark.peers.content import Content, Estimated, Known, Median, path, read
from spikemark.peers.factors import RATE_TOLERANCE
from spikemark.peers.programs import REFERENCE
from spikemark.peers.show import notes
from spikemark.peers.table import QUANTITIES
from spikemark.quantities.elements import Box, Section
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, percent
from spikemark.records.cases import View
from spikemark.report.columns import THREADS

TITLE = "Speed beside other simulators"
EXPLAINED = (
    "How fast is the mini-app beside other simulators? The experiment `peers`, not this one, ran them in "
    "turns on one network and one rank (measured). The table shows medians over rounds. A factor is the "
    "median of the quotients within rounds, with its interval in parentheses; above 1 the mini-app is ahead. "
    "For a program that does not count its synaptic events, they are those expected for its spikes."
)


def section(view: View) -> Section:
    """One table, and what to know about it; a line if there is no comparison."""
    file = path(view.sweep.path.name, view.sweep.path.parent.parent)
    if not file.is_file():
        reason = f"The mini-app beside other simulators on {view.sweep.path.name}: run `make peers`."
        return Section("peers", TITLE, missing=[reason])
    try:
        content = read(file)
    except BadInput as error:
        return Section("peers", TITLE, missing=[f"The mini-app beside other simulators: {error}."])
    notes = " ".join(f"{line[0].upper()}{line[1:]}." for line in [*_rates(content), *_notes(content)])
    text = [EXPLAINED, notes]
    boxes = [Box("wary", line) for line in _disturbed(content)]
    lacking = [f"{line[0].upper()}{line[1:]}." for line in content.complaints]
    if content.measured < content.planned:
        lacking.append(f"{content.measured} of {content.planned} runs of the comparison are there.")
    return Section("peers", TITLE, text=text, boxes=boxes, tables=[_table(content)], missing=lacking)


def _table(content: Content) -> Table:
    """Rows: quantities by threads, then scaling. Columns: each program, and the factor beside each peer."""
    medians = {(e.program, e.threads, e.quantity): e for e in content.medians}
    factors = {(e.peer, e.threads, e.quantity): e for e in content.factors}
    scaling = {(e.program, e.threads, e.over): e for e in content.scaling}
    columns = [Column("what", ""), THREADS]
    for program in content.programs:
        columns.append(Column(program.name, program.title, "measured"))
        if program.name != REFERENCE:
            columns.append(Column(_beside(program), "mini-app ahead by (factor)", "measured"))
    rows = []
    for quantity in QUANTITIES:
        for threads in sorted({e.threads for e in content.medians}):
            row: dict[str, Cell] = {"what": f"{quantity.title} ({quantity.unit})", "threads": threads}
            for program in content.programs:
                key = (program.name, threads, quantity.name)
                row[program.name] = _median(medians.get(key))
                row[_beside(program)] = _factor(factors.get(key))
            rows.append(row)
    for threads, over in sorted({(e.threads, e.over) for e in content.scaling}):
        row = {"what": f"speed, over {counted(over, 'thread')}", "threads": threads}
        for program in content.programs:
            gain = _factor(scaling.get((program.name, threads, over)))
            row |= {program.name: gain, _beside(program): "–"}
        rows.append(row)
    return Table(columns, rows, "The mini-app and its peers")


def _beside(program: Known) -> str:
    """Name of the column that compares the program with the mini-app."""
    return f"{program.name} factor"


def _median(entry: Median | None) -> float | Quantity:
    if entry is None or entry.median is None:
        return missing(_why(entry))
    return entry.median


def _factor(entry: Estimated | None) -> Quantity:
    if entry is None or entry.median is None:
        return missing(_why(entry))
    low, high = (entry.low, entry.high) if entry.confidence else (None, None)
    return Quantity(entry.median, low, high, sign="*" if entry.disturbed else "")


def _why(entry: Estimated | None) -> str:
    return (entry.reason if entry else None) or "there is no such run"


def _rates(content: Content) -> list[str]:
    """Whether the programs fire alike, and which models they run."""
    known = [p for p in content.programs if p.mean_rate_hz is not None]
    lines = [f"models: {', '.join(f'{p.title}: {p.model}' for p in known)}"] if known else []
    ours = next((p.mean_rate_hz for p in known if p.name == REFERENCE), None)
    if ours is None or len(known) < 2:
        return lines
    apart = [p.title for p in known if abs(p.mean_rate_hz - ours) > RATE_TOLERANCE * ours]
    if apart:
        return [*lines, f"mean rates do NOT agree with that of the mini-app: {', '.join(apart)}"]
    return [*lines, f"mean rates agree within {percent(RATE_TOLERANCE)}"]


def _notes(content: Content) -> list[str]:
    return [line for line in notes(content.model_dump()) if not line.startswith("DISTURBED")]


def _disturbed(content: Content) -> list[str]:
    """Which trials others disturbed, by program and threads."""
    lines = [
        f"{title}, {counted(e.threads, 'thread')}: {e.disturbed} of {counted(e.rounds, 'round')}"
        for e in content.medians
        for title in [p.title for p in content.programs if p.name == e.program]
        if e.quantity == QUANTITIES[0].name and e.disturbed
    ]
    if not lines:
        return []
    limit = content.conditions.get("foreign_limit")
    return [f"Disturbed (*), others kept more than {limit} cores busy in each attempt: {'; '.join(lines)}."]
