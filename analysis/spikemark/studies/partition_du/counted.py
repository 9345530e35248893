"""Words and connections that the runs counted, beside what traffic expects of their descriptions."""

from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.prediction.partition import forwarding, graph, levels, traffic
from spikemark.prediction.partition.placement import of_rule
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.records.gather import Measured

NOTE = (
    "Words after the warm-up, all ranks together, with those that a rank keeps for itself. The expectation"
    " is over all networks of the description; a run has one of them. Connections: the most of any rank. In"
    " two levels, a word counts once."
)


def table(runs: list[Measured]) -> Table:
    """One row for each run."""
    columns = [
        Column("placement", "placement"),
        Column("exchange", "exchange"),
        Column("ranks", "ranks", "given"),
        Column("words", "words", "counted", 6),
        Column("expected_words", "expected", "modelled", 6),
        Column("off", "counted / expected - 1 (%)", "modelled", words=lambda x: f"{x:.2f}"),
        Column("connections", "connections", "counted"),
        Column("expected_connections", "expected", "modelled"),
    ]
    return Table(columns, [_row(m) for m in runs], "What small brains send", "counted", [NOTE])


def _row(m: Measured) -> dict[str, Any]:
    record = m.run.record
    words = sum(lane.spikes_sent for lane in record.lanes)
    expected, connections = _expected(m)
    off = 100 * (words / expected - 1) if isinstance(expected, float) and expected else missing("no words")
    known = [lane.connections for lane in record.lanes]
    return {
        "placement": m.run.placement,
        "exchange": ", ".join(dict.fromkeys(lane.exchange for lane in record.lanes)),
        "ranks": record.ranks,
        "words": words,
        "expected_words": expected,
        "off": off,
        "connections": missing("the record is from before the field") if None in known else max(known),
        "expected_connections": connections,
    }


def _expected(m: Measured) -> tuple[float | Quantity, int | Quantity]:
    """Words and most connections."""
    record = m.run.record
    try:
        network = graph.of_description(record.described)
        placement = of_rule(record.described, record.described.placement, record.ranks)
    except BadInput as reason:
        return (missing(str(reason)),) * 2
    hits = traffic.Hits(network, placement)
    found = traffic.of_hits(hits, placement)
    per_run = 1e-3 * record.described.time.simulate_ms * network.rates_hz
    words = float(hits.onto(np.arange(record.ranks), per_run).sum())
    if record.lanes[-1].composed is None:
        return words, int(found.partners().max())
    try:
        way = forwarding.way_of(record)
        files = forwarding.read(way, record.ranks)
    except BadInput as reason:
        return words, missing(str(reason))
    hops = levels.hops(found.pairs, way.dimensions(record.ranks), way.side, files=files)
    connections = sum(np.diff(hop.flow.indptr) for hop in hops)
    merged = missing("a merged word stands for a spike that several ranks need")
    return merged if way.merged else words, int(np.max(connections))
