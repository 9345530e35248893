"""Stores what a study or a model gives under docs/figures/."""

import datetime
import re
import subprocess
from collections.abc import Callable

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.quantities.table import Table
from spikemark.records.gather import SIMULATED
from spikemark.studies.carry_out import Done

from . import inputs
from .simulated import TABLES
from .stored import Made, Stored

UNKNOWN = "unknown"


def study(done: Done) -> Stored:
    """Stores the tables of a simulated study that pages show.

    Raises BadInput for a study that is not simulated, not complete, or on no page.
    """
    sweep, name = done.sweep, done.study.name
    if not sweep.simulated:
        raise BadInput(f"study {name}: only results of simulated machines are stored for docs/")
    if name not in TABLES:
        raise BadInput(f"study {name}: no page of docs/ shows it; allowed: {', '.join(TABLES)}")
    if len(sweep.runs) < len(sweep.planned):
        raise BadInput(f"study {name}: {sweep.progress}; docs/ shows complete studies only")
    records = [m.run.record for m in sweep.runs]
    date = max(record.provenance.started for record in records)[:10]
    simgrid = {m.simulation["simgrid"].removesuffix(".").split()[-1] for m in sweep.runs}
    minutes = sum(m.simulation["cost_s"] for m in sweep.runs) / 60
    versions = " and ".join(sorted(simgrid))
    words = f"{len(records)} runs took {max(1, round(minutes))} min of one core ({host(records[0].host)})."
    made = Made(f"spikemark study {name} --docs", date, known_commit(), f"SimGrid {versions}", words)
    findings = done.findings
    tables = {table.name: table.content() for table in findings.tables if table.name in TABLES[name]}
    kept = Stored(
        name, SIMULATED, made, tables, findings.sentence, findings.remarks, inputs.of(done.study.experiment)
    )
    kept.write()
    return kept


def tables(
    name: str,
    kind: str,
    made_of: list[Table],
    command: str,
    markdown: Callable[[Table], str],
    source: str,
) -> Stored:
    """Stores tables by their names, as `markdown` writes them. `source` says from what."""
    made = Made(command, today(), known_commit(), source)
    content = {table.name: {"markdown": markdown(table)} for table in made_of}
    kept = Stored(name, kind, made, content)
    kept.write()
    return kept


def host(found) -> str:
    """The processor, as a reader knows it."""
    cpu = " ".join(re.sub(r"\(R\)|\(TM\)", " ", found.cpu or "unknown processor").split())
    return f"virtual machine, {cpu}" if found.virtual_machine else cpu


def known_commit() -> str:
    """Like `commit`, but raises BadInput if there is none."""
    if (found := commit()) == UNKNOWN:
        raise BadInput("docs/figures names the commit: this needs git and a clone of Spikemark")
    return found


def today() -> str:
    """The date, year first."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def commit() -> str:
    """The commit of the checkout, and whether its sources differ from it; `unknown` without git."""
    of_sources = ("status", "--porcelain", "--", "analysis", "machines", "miniapp", "workflows")
    try:
        head, changed = (_git(*words) for words in (("rev-parse", "--short=7", "HEAD"), of_sources))
    except (OSError, subprocess.CalledProcessError):
        return UNKNOWN
    return head + (" with changes" if changed else "")


def _git(*words: str) -> str:
    command = ["git", "-C", str(places.root()), *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
