"""Connections, messages, words and bytes that ranks counted level by level, beside what traffic expects."""

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network.named_files import OF_EXCHANGES
from spikemark.prediction.partition import forwarding, graph, levels, routed, traffic
from spikemark.prediction.partition.placement import of_rule
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.records.gather import Measured
from spikemark.records.record_fields import Lane, Record

NOTE = (
    "After the warm-up, all ranks together; level 1 is the innermost. Connections are those of the rank with"
    " the most. A rank sends each a message in every window, empty or not, and with `direct` a second one"
    " where the words do not fit. Words are those of spikes; bytes include frames. The expectation is over"
    " all networks of the description; a run has one of them. It expects no second messages."
)
COUNTS = ("connections", "messages", "words", "bytes")
BEFORE = missing("the record is from before the field")


def table(runs: list[Measured]) -> Table:
    """One row for each run and level."""
    return of_rows([row for m in runs for row in rows(m.run.record)], "Counted in levels", "counted")


def of_rows(found: list[dict[str, Cell]], title: str, name: str) -> Table:
    """The table of such rows."""
    columns = [Column("exchange", "exchange"), Column("ranks", "ranks", "given"), Column("level", "level")]
    for count in COUNTS:
        columns += [
            Column(count, count, "counted", 6),
            Column(f"expected_{count}", "expected", "modelled", 6),
        ]
    columns.append(Column("off", "bytes: counted / expected - 1 (%)", "modelled", words=_two_digits))
    return Table(columns, found, title, name, [NOTE])


def _two_digits(value: float) -> str:
    return f"{value:.2f}"


def rows(record: Record) -> list[dict[str, Cell]]:
    """Counts and expectations of a record with one lane, level by level."""
    lane = record.lanes[-1]
    about = {"exchange": _words(lane), "ranks": record.ranks}
    counted = _counted(lane)
    try:
        known: list[dict[str, Cell]] = [dict(level) for level in expected(record)]
    except BadInput as reason:
        known = [dict.fromkeys(COUNTS, missing(str(reason)))] * len(counted)
    found = []
    for number, (own, other) in enumerate(zip(counted, known, strict=True), 1):
        found.append(about | {
            "level": str(number), **own, **{f"expected_{name}": value for name, value in other.items()},
            "off": _off(own["bytes"], other["bytes"]),
        })  # fmt: skip
    return found


def _off(counted: Cell, known: Cell) -> Cell:
    if isinstance(counted, Quantity) or isinstance(known, Quantity):
        return missing("one of the two is not known")
    return 100 * (counted / known - 1) if known else missing("no bytes")


def _counted(lane: Lane) -> list[dict[str, Cell]]:
    """COUNTS of each level. Of a lane without levels, words that a rank keeps are not told apart."""
    if lane.composed is None:
        words = missing("counted with words that ranks keep for themselves", mark="–")
        parts = [{"connections": lane.connections, "messages": lane.messages, "bytes_sent": lane.bytes_sent}]
        parts[0]["words"] = words
    else:
        parts = lane.levels or [dict.fromkeys(("connections", "messages", "words", "bytes_sent"))]
    return [
        {name: BEFORE if part[key] is None else part[key]
         for name, key in zip(COUNTS, ("connections", "messages", "words", "bytes_sent"), strict=True)}
        for part in parts
    ]  # fmt: skip


def _words(lane: Lane) -> str:
    """The exchange of a lane of a record, with its parts and groups."""
    if lane.composed is None:
        return lane.exchange
    sizes = lane.composed.get("dimensions")
    more = [f"groups of {lane.composed['group']}"] if sizes is None else ["x".join(map(str, sizes))]
    more.append(f"bridges of the {lane.composed.get('side', 'sender')}")
    more += ["merged"] * bool(lane.composed.get("merge"))
    more += [f"with {field}" for field in OF_EXCHANGES if lane.composed.get(field)]
    parts = lane.composed.get("parts") or [lane.composed.get("inner"), lane.composed.get("outer")]
    return f"{lane.exchange} of {' and '.join(dict.fromkeys(parts))}, {', '.join(more)}"


def expected(record: Record) -> list[dict[str, float]]:
    """COUNTS of each level of a record with one lane by point-to-point exchanges, the innermost first.

    Raises BadInput for a placement, levels, an order or a table that traffic does not know.
    """
    lane, described = record.lanes[-1], record.described
    network = graph.of_description(described)
    placement = of_rule(described, described.placement, record.ranks)
    hits = traffic.Hits(network, placement)
    window = lane.period * 1e-3 * described.time.cycle_ms * network.rates_hz  # spikes of a neuron
    windows = described.time.cycles / lane.period
    way = None if lane.composed is None else forwarding.way_of(record)
    sizes = (record.ranks,) if way is None else way.dimensions(record.ranks)
    side = "sender" if way is None else way.side
    onto = (lambda sets: hits.onto(sets, window)) if way is not None and way.merged else None
    frame = 0.0 if way is None else routed.FRAME_BYTES
    files = forwarding.NONE if way is None else forwarding.read(way, record.ranks)

    def framed(words: np.ndarray) -> np.ndarray:
        return traffic.WORD * words - frame * np.expm1(-words)

    pairs = hits.between(window)
    words = levels.hops(pairs, sizes, side, onto, files)
    carried = levels.hops(framed(pairs), sizes, side, onto and (lambda sets: framed(onto(sets))), files)
    routes = levels.hops(hits.between(), sizes, side, onto and hits.onto, files)
    found = []
    for plain, whole, drawn in zip(words, carried, routes, strict=True):
        partners = np.diff(plain.flow.indptr)
        totals = (windows * float(hop.flow.sum()) for hop in (plain, whole))
        linked = -np.expm1(-drawn.flow.data).sum()  # pairs of ranks with any route in a network
        counts = (int(partners.max()), windows * float(linked), *totals)
        found.append(dict(zip(COUNTS, counts, strict=True)))
    return found if side == "sender" else found[::-1]
