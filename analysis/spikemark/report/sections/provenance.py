"""Where the numbers come from: code, machine, dates, what became of each run, and what to be wary of."""

from collections import Counter
from collections.abc import Callable

from spikemark.quantities.elements import Box, Section, Table
from spikemark.quantities.words import counted, number, span
from spikemark.records.cases import View
from spikemark.records.gather import Measured, Sweep
from spikemark.report import simulated
from spikemark.report.cautions import CHECKSUMS, cautions


def section(view: View) -> Section:
    """Warnings first, then the facts about code and machine."""
    sweep = view.sweep
    boxes = [Box("bad" if text.startswith(CHECKSUMS) else "wary", text) for text in cautions(view)]
    if not sweep.runs:
        return Section(
            "provenance", "Provenance and warnings", boxes=boxes, missing=["Provenance: no run is complete."]
        )
    boxes = boxes or [Box("good", "No warnings.")]
    terms = [(name, _distinct(sweep.runs, read)) for name, read in FACTS] + _over_runs(sweep.runs)
    terms += simulated.terms(sweep.runs)
    return Section("provenance", "Provenance and warnings", boxes=boxes, terms=terms)


def runs(view: View) -> Section:
    """Every planned run by name, in the order of the plan, with what became of it."""
    sweep = view.sweep
    whole = {m.planned.id: m for m in sweep.runs}
    rows = []
    for planned in sweep.planned:
        m = whole.get(planned.id)
        if m:
            rows.append([planned.label, "complete", number(m.real_time_factor), m.run.record.checksum])
        else:
            rows.append([planned.label, _state(sweep, planned.id), "missing", "missing"])
    table = Table(
        ["run", "state", "real-time factor", "checksum"],
        rows,
        ["given", "", "measured", "counted"],
        words=(0, 1, 3),
    )
    missing = [
        f"{p.label}: {_state(sweep, p.id)}" for p in sweep.planned if p.id in sweep.failed | sweep.unreadable
    ]
    text = [f"{sweep.progress}. Runs are measured in shuffled order (seed {sweep.shuffle_seed})."]
    return Section(
        "runs", "Runs", text=text, tables=[(f"All {len(rows)} planned runs", table)], missing=missing
    )


def _state(sweep: Sweep, run: str) -> str:
    if run in sweep.failed:
        return f"failed: {sweep.failed[run]}"
    return f"unreadable: {sweep.unreadable[run]}" if run in sweep.unreadable else "not run yet"


def _distinct(measured: list[Measured], read: Callable[[Measured], str | None]) -> str:
    """The value all runs share, or each value with the number of runs that have it."""
    counts = Counter(read(m) or "unknown" for m in measured)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{value} ({counted(count, 'run')})" for value, count in counts.most_common())


def _over_runs(measured: list[Measured]) -> list[tuple[str, str]]:
    """Facts that differ from run to run by nature: dates, load, cost of the clock."""
    records = [m.run.record for m in measured]
    started = sorted({r.provenance.started[:16].replace("T", " ") + " UTC" for r in records})
    loads = [r.host.foreign_load for r in records if r.host.foreign_load is not None]
    clock = span([100 * r.timing.timer_overhead for r in records], 2)
    return [
        (
            "first and last start of a run",
            started[0] if len(started) == 1 else f"{started[0]} and {started[-1]}",
        ),
        ("foreign load (cores kept busy by others)", span(loads, 2) if loads else "unknown"),
        (
            "time spent reading the clock",
            f"{clock} % of a run, {span([1e9 * r.timing.timer_read_s for r in records], 2)} ns each",
        ),
    ]


def _yes(value: bool | None) -> str:
    return {True: "yes", False: "no", None: "unknown"}[value]


def _caches(m: Measured) -> str:
    known = {name: size for name, size in m.run.record.host.cache_bytes.items() if size}
    return ", ".join(f"{name} {_bytes(size)}" for name, size in known.items())


def _bytes(size: int | None) -> str | None:
    if size is None:
        return None
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size >= factor:
            return f"{number(size / factor)} {unit}"
    return f"{size} B"


def _topology(m: Measured) -> str:
    h = m.run.record.host
    known = [
        ("node", h.nodes),
        ("socket", h.sockets),
        ("core", h.cores),
        ("hardware thread per core", h.threads_per_core),
    ]
    return ", ".join(
        counted(n, word, word.replace("thread", "threads") if "thread" in word else None)
        for word, n in known
        if n
    )


FACTS: tuple[tuple[str, Callable[[Measured], str | None]], ...] = (
    ("commit", lambda m: m.run.record.provenance.commit),
    ("uncommitted changes", lambda m: _yes(m.run.record.provenance.dirty)),
    ("mini-app version", lambda m: m.run.record.provenance.version),
    ("compiler", lambda m: m.run.record.provenance.compiler),
    ("flags", lambda m: m.run.record.provenance.flags),
    ("MPI library", lambda m: m.run.record.provenance.mpi_library),
    ("host", lambda m: m.run.record.host.name),
    ("system", lambda m: m.run.record.host.system),
    ("processor", lambda m: m.run.record.host.cpu),
    ("topology", _topology),
    ("caches (per cache)", _caches),
    ("memory", lambda m: _bytes(m.run.record.host.memory_bytes)),
    ("virtual machine", lambda m: _yes(m.run.record.host.virtual_machine)),
)
