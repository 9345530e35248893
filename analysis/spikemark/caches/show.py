"""Misses in simulated caches as a table for people."""

from spikemark.quantities.table import Column, Table

from .cachesim import Outcome

READ, WRITTEN = ("lists", "starts", "words"), ("ring", "buffers")
FITS = 0.5  # fewer predicted misses of a run count as none


def table(outcome: Outcome) -> Table:
    """The misses of delivery by term, and in all: predicted from the counts, and simulated."""
    reads, writes = (sum(r.simulated[name] for r in outcome.ranks) for name in ("DLmr", "DLmw"))
    rows = []
    for what, terms, simulated in ("read", READ, reads), ("written", WRITTEN, writes):
        found = {term: outcome.total(term) for term in terms}
        rows += [
            {"term": t, "visits": round(f.visits), "predicted": round(f.misses)} for t, f in found.items()
        ]
        predicted = round(sum(f.misses for f in found.values()))
        rows.append({"term": f"all that are {what}", "predicted": predicted, "simulated": simulated})
    rows.append({"term": "all", "predicted": round(outcome.expected), "simulated": outcome.misses})
    columns = [
        Column("term", ""),
        Column("visits", "lines visited", "counted"),
        Column("predicted", "misses", "modelled"),
        Column("simulated", "misses", "simulated"),
    ]
    title = (
        f"Delivery in simulated caches: D1 {outcome.first.option}, last level {outcome.last.option}"
        f" (bytes, ways, line); {len(outcome.ranks)} x {outcome.threads}"
    )
    return Table(columns, rows, title)


def remarks(outcome: Outcome) -> list[str]:
    """Misses per synaptic event, how far the prediction is off, and whether there are any misses at all."""
    off = "" if not outcome.misses else f", predicted {100 * (outcome.expected / outcome.misses - 1):+.1f} %"
    each = f"{outcome.misses / outcome.events:.4f}" if outcome.events else "no"
    found = [f"{each} last-level misses per synaptic event (simulated{off})"]
    if outcome.events and outcome.expected < FITS:
        found.append(
            "Everything fits into the last level; a larger network, or a smaller cache (--ll), would have "
            "misses."
        )
    return found
