"""Speed beside other simulators: what `spikemark peers` found on the same machine."""

from spikemark.core.errors import BadInput
from spikemark.peers import content as peers
from spikemark.peers.factors import RATE_TOLERANCE
from spikemark.peers.programs import REFERENCE
from spikemark.peers.show import notes
from spikemark.peers.table import QUANTITIES, Quantity
from spikemark.quantities.elements import Box, Section, Table
from spikemark.quantities.words import counted, number, percent, span
from spikemark.records.cases import View

TITLE = "Speed beside other simulators"
EXPLAINED = (
    "The mini-app and other simulators in turns on one network and one rank, of the experiment `peers`, not "
    "of this one (measured). Medians over rounds; a factor is the median of the quotients within rounds, in "
    "parentheses its interval, and above 1 the mini-app is ahead. Events that a program does not count "
    "are those expected for its spikes."
)


def section(view: View) -> Section:
    """One table, and what to know about it; a line if there is no comparison."""
    file = peers.path(view.sweep.path.name, view.sweep.path.parent.parent)
    if not file.is_file():
        reason = f"The mini-app beside other simulators on {view.sweep.path.name}: run `make peers`."
        return Section("peers", TITLE, missing=[reason])
    try:
        content = peers.read(file)
    except BadInput as error:
        return Section("peers", TITLE, missing=[f"The mini-app beside other simulators: {error}."])
    notes = " ".join(f"{line[0].upper()}{line[1:]}." for line in [*_rates(content), *_notes(content)])
    text = [EXPLAINED, notes]
    boxes = [Box("wary", line) for line in _disturbed(content)]
    missing = [f"{line[0].upper()}{line[1:]}." for line in content.complaints]
    if content.measured < content.planned:
        missing.append(f"{content.measured} of {content.planned} runs of the comparison are there.")
    tables = [("The mini-app and its peers", _table(content))]
    return Section("peers", TITLE, text=text, boxes=boxes, tables=tables, missing=missing)


def _table(content: peers.Content) -> Table:
    """Rows: quantities by threads, then scaling. Columns: each program, and the factor beside each peer."""
    medians = {(e.program, e.threads, e.quantity): e for e in content.medians}
    factors = {(e.peer, e.threads, e.quantity): e for e in content.factors}
    scaling = {(e.program, e.threads, e.over): e for e in content.scaling}
    heads, kinds = ["", "threads"], ["", "given"]
    for program in content.programs:
        beside = ["mini-app ahead by"] if program.name != REFERENCE else []
        heads += [program.title, *beside]
        kinds += ["measured"] * (1 + len(beside))
    rows = []
    for quantity in QUANTITIES:
        for threads in sorted({e.threads for e in content.medians}):
            row = [f"{quantity.title} ({quantity.unit})", str(threads)]
            for program in content.programs:
                key = (program.name, threads, quantity.name)
                row.append(_median(medians.get(key), quantity))
                if program.name != REFERENCE:
                    row.append(_factor(factors.get(key)))
            rows.append(row)
    for threads, over in sorted({(e.threads, e.over) for e in content.scaling}):
        row = [f"speed, over {counted(over, 'thread')}", str(threads)]
        for program in content.programs:
            row.append(_factor(scaling.get((program.name, threads, over))))
            row += ["–"] if program.name != REFERENCE else []
        rows.append(row)
    return Table(heads, rows, kinds)


def _median(entry: peers.Median | None, quantity: Quantity) -> str:
    return "missing" if entry is None or entry.median is None else number(entry.median)


def _factor(entry: peers.Estimated | None) -> str:
    if entry is None or entry.median is None:
        return "missing"
    limits = f" ({span([entry.low, entry.high])})" if entry.confidence else ""
    return f"{number(entry.median)}×{limits}{'*' if entry.disturbed else ''}"


def _rates(content: peers.Content) -> list[str]:
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


def _notes(content: peers.Content) -> list[str]:
    return [line for line in notes(content.model_dump()) if not line.startswith("DISTURBED")]


def _disturbed(content: peers.Content) -> list[str]:
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
