"""Where the numbers come from: code, machine and dates."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from spikemark.quantities.elements import Section
from spikemark.quantities.words import counted, number, span
from spikemark.records.cases import View
from spikemark.records.gather import Measured, Sweep
from spikemark.records.order import beside_others, jobs
from spikemark.report.cautions import governors, order_not_kept

TITLE = "Provenance"


def section(view: View) -> Section:
    """Shows the facts about code and machine."""
    sweep = view.sweep
    if not sweep.runs:
        return Section("provenance", TITLE, missing=["Provenance: no run is complete."])
    terms = [(name, _distinct(sweep.runs, read)) for name, read in FACTS] + _over_runs(sweep.runs)
    terms += _conduct(sweep) + _simulation(sweep.runs)
    return Section("provenance", TITLE, terms=terms)


def _distinct(measured: list[Measured], read: Callable[[Measured], str | None]) -> str:
    """Returns the value that all runs share, or each value with the number of runs that have it."""
    counts = Counter(read(m) or "unknown" for m in measured)
    if len(counts) == 1:
        return next(iter(counts))
    return "; ".join(f"{value} ({counted(count, 'run')})" for value, count in counts.most_common())


def _over_runs(measured: list[Measured]) -> list[tuple[str, str]]:
    """Returns facts that naturally differ from run to run: dates, load, cost of the clock."""
    records = [m.run.record for m in measured]
    started = sorted({r.provenance.started[:16].replace("T", " ") + " UTC" for r in records})
    loads = [r.host.foreign_load for r in records if r.host.foreign_load is not None]
    clock = span([100 * r.timing.timer_overhead for r in records], 2)
    each = span([1e9 * r.timing.timer_read_s for r in records], 2)
    return [
        ("first and last start of a run", " and ".join(dict.fromkeys((started[0], started[-1])))),
        ("foreign load (cores kept busy by others)", span(loads, 2) if loads else "unknown"),
        ("time spent reading the clock", f"{clock} % of a run, {each} ns each"),
    ]


def _conduct(sweep: Sweep) -> list[tuple[str, str]]:
    """Returns where and how the runs were carried out, and in which order."""
    if sweep.simulated:
        return []
    runs, total = sweep.runs, len(sweep.runs)
    used = Counter(name for m in runs for name in dict.fromkeys(m.run.node_of_rank or []))
    together = len(beside_others(sweep))
    launchers = Counter((m.run.launched and m.run.launched.launcher) or "unknown" for m in runs)
    rows = [
        ("nodes (runs on each)", ", ".join(f"{name} ({n})" for name, n in sorted(used.items())) or "unknown"),
        ("frequency governor", _distinct(runs, _governor)),
        ("binding of ranks", _distinct(runs, _binding)),
        ("waiting of threads and ranks", _distinct(runs, _waiting)),
        ("started by", ", ".join(f"{name} ({n})" for name, n in launchers.items())),
        ("order of the runs", order_not_kept(sweep) or "as planned"),
        ("runs beside others", f"{together} of {total}" if together else "none"),
    ]
    if ids := jobs(sweep):
        allocations = [m.run.launched.allocation for m in runs if m.run.launched]
        kept = [one for one in allocations if one]
        for head, values in (
            ("cluster", [one.cluster or "unknown" for one in kept]),
            ("partition", [one.partition or "unknown" for one in kept]),
            ("modules", [", ".join(one.modules) or "none" for one in kept]),
        ):
            rows.append((head, "; ".join(dict.fromkeys(values))))
        rows.append((f"jobs of Slurm ({len(ids)})", ", ".join(ids)))
    return rows


def _governor(m: Measured) -> str | None:
    nodes = m.run.record.host.per_node or []
    reason = next((node.governor_reason for node in nodes if node.governor_reason), None)
    return ", ".join(governors(m) or ()) or (f"unknown: {reason}" if reason else None)


def _binding(m: Measured) -> str | None:
    """Says on how many hardware threads the ranks of a run may run."""
    host = m.run.record.host
    sets = [each for each in host.binding or [] if each is not None]
    if not sets or len(sets) < len(host.binding):
        return None
    if host.cores and host.threads_per_core and len(sets[0]) == host.cores * host.threads_per_core > 1:
        return "none: a rank may run on the whole node"
    alike = sorted({len(each) for each in sets})
    counts = (
        counted(alike[0], "hardware thread")
        if len(alike) == 1
        else f"{alike[0]}–{alike[-1]} hardware threads"
    )
    return f"each rank to {counts}"


def _waiting(m: Measured) -> str | None:
    """Says whether threads slept while they waited, and who chose that."""
    found = m.run.record.host.waiting
    if found is None:
        return None
    policy = "passive" if found.passive else "as the libraries do"
    return f"{policy}, chosen by the {found.chosen_by}" if found.chosen_by else policy


def _simulation(runs: list[Measured]) -> list[tuple[str, str]]:
    """Says what was simulated, on what assumptions, and what it cost."""
    found = [m.simulation for m in runs if m.simulation]
    if not found:
        return []
    rows = [
        (head, "; ".join(dict.fromkeys(str(entry.get(name, "unknown")) for entry in found)))
        for head, name in (
            ("simulated machine (profile)", "machine"),
            ("compute times", "compute"),
            ("ranks per node", "ranks_per_node"),
            ("threads of a rank", "threads"),
            ("simulated network", "facts"),
            ("SimGrid", "simgrid"),
        )
    ]
    if parted := dict.fromkeys(filter(None, map(_of_parts, found))):
        rows.append(("ranks by part of the machine", "; ".join(parted)))
    assumed = dict.fromkeys(_line(text) for entry in found for text in entry.get("assumptions", []))
    rows.append(("assumed, since the profile does not say", "; ".join(assumed) or "nothing"))
    costs = [(m, m.simulation["cost_s"]) for m in runs if m.simulation and m.simulation.get("cost_s")]
    if costs:
        each = [1e6 * cost / (m.run.record.ranks * m.run.record.timing.cycles) for m, cost in costs]
        rows.append((
            "cost of simulating",
            f"{number(sum(cost for _, cost in costs))} s for {counted(len(costs), 'run')}, "
            f"{span([cost for _, cost in costs])} s each, {span(each)} µs per rank and cycle",
        ))  # fmt: skip
    return rows


def _of_parts(about: dict[str, Any]) -> str:
    """How many ranks are on each part of a machine, in words; empty where all nodes are equal."""
    return ", ".join(
        f"{counted(own['ranks'], 'rank')} on {counted(own['nodes'], 'node')} of {name}"
        for name, own in about.get("parts", {}).items()
    )


def _line(assumption) -> str:
    return assumption if isinstance(assumption, str) else ", ".join(map(str, dict(assumption).values()))


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
    known = {"node": h.nodes, "socket": h.sockets, "core": h.cores}
    words = [counted(n, word) for word, n in known.items() if n]
    each = h.threads_per_core
    return ", ".join([*words, *([f"{counted(each, 'hardware thread')} per core"] if each else [])])


FACTS: tuple[tuple[str, Callable[[Measured], str | None]], ...] = (
    ("commit", lambda m: m.run.record.provenance.commit),
    ("uncommitted changes", lambda m: _yes(m.run.record.provenance.dirty)),
    ("mini-app version", lambda m: m.run.record.provenance.version),
    ("compiler", lambda m: m.run.record.provenance.compiler),
    ("flags", lambda m: m.run.record.provenance.flags),
    ("MPI library", lambda m: m.run.record.provenance.mpi_library),
    ("host", lambda m: m.run.record.host.name),
    ("system", lambda m: m.run.record.host.system),
    ("processor", lambda m: ", ".join(filter(None, m.run.cpus))),
    ("topology", _topology),
    ("caches (per cache)", _caches),
    ("memory", lambda m: _bytes(m.run.record.host.memory_bytes)),
    ("virtual machine", lambda m: _yes(m.run.record.host.virtual_machine)),
)
