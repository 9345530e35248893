"""Ledgers that docs/ledger.md shows: docs/figures/ledger-NAME.jsonl, and tables made of their scores."""

from spikemark.core import places
from spikemark.core.files import write_output
from spikemark.prediction.ledger import show
from spikemark.prediction.ledger.score import MISSED, NOT_VALID, Scores
from spikemark.quantities.table import Table

from . import keep
from .stored import FOLDER, Stored

MOST = 4  # failures that a page shows
SHOWN = ("verdict", "run", "method", "quantity", "predicted", "measured")


def store(name: str, made: Scores) -> Stored:
    """Stores a ledger and its scores under docs/figures/."""
    kinds = {entry.run.kind for entry in made.ledger.entries}
    kind = "simulated" if kinds == {"simulated"} else "measured"
    hosts = {run.record.host.name: run for score in made.scores for run in score.runs}
    hosts = {keep.host(run.record.host) for run in hosts.values()}
    failed = [one for one in made.failures_first if one.verdict in (NOT_VALID, MISSED)]
    whole = show.table(made, failed[:MOST])
    failures = Table([c for c in whole.columns if c.name in SHOWN], whole.rows, name="failures")
    source = f"{show.sentence(made)} Made on {', '.join(sorted(hosts)) or 'no machine yet'}"
    command = f"spikemark ledger score docs/figures/ledger-{name}.jsonl"
    kept = keep.tables(f"ledger-{name}", kind, [failures, *show.rates(made)], command, Table.markdown, source)
    text = made.ledger.path.read_text(encoding="utf-8")
    write_output(places.root() / FOLDER / f"ledger-{name}.jsonl", text)
    return kept
