"""Did anything go wrong: checksums, disturbed runs, failures, and where the numbers come from."""

from collections.abc import Iterable

import pandas as pd

from spikemark.quantities.elements import Box, Section
from spikemark.quantities.words import counted, number, percent
from spikemark.records.collect import differing_checksums
from spikemark.records.frames import Frames
from spikemark.report import plots
from spikemark.report.answer import Answer

TITLE = "Checks: did anything go wrong?"
COSTLY_TIMERS = 0.02  # share of a run spent reading the clock that deserves a line
MIXED = {"commit": "commits", "host": "hosts", "cpu": "models of processors", "machine": "machines"}


def section(found: Answer) -> Section:
    """One sentence, the cautions, the runs, provenance."""
    frames = found.frames
    if not frames.planned and frames.runs.empty:
        return Section("checks", TITLE, missing=["Checks: no run is complete."])
    differ = differing_checksums(frames)
    boxes = [Box("bad", line) for line in differ] + [Box("wary", line) for line in cautions(frames)]
    networks = frames.runs.groupby("network").size()
    compared = int(networks[networks > 1].sum())
    if differ:
        text = [f"Yes: {counted(len(differ), 'network')} gave different checksums; do not use the times."]
    elif boxes:
        text = [
            f"Nothing wrong in the results ({compared} checksums agree); {counted(len(boxes), 'caution')}."
        ]
    else:
        text = [f"No: {compared} checksums agree, and nothing disturbed the runs."]
    tables = [plots.tabulated(runs_table(frames), "Runs"), plots.tabulated(provenance(frames), "Provenance")]
    return Section("checks", TITLE, text, boxes=boxes, tables=[t for t in tables if t.rows])


def cautions(frames: Frames) -> list[str]:
    """What to be wary of, one line each, the most severe first."""
    runs, lines = frames.runs, []
    for id, why in (frames.failed | frames.unreadable).items():
        label = next((one.label for one in frames.planned if one.id == id), id)
        lines.append(f"{label}: {why}")
    for column, words in (
        ("oversubscribed", "had more threads than cores: the times are no evidence of speed"),
        ("disturbed", "ran beside other programs"),
        ("dirty", "ran code that was changed after its commit"),
    ):
        if count := int(runs[column].fillna(False).sum()):
            load = f" (up to {number(runs['foreign_load'].max(), 2)} cores)" if column == "disturbed" else ""
            lines.append(f"{counted(count, 'run')} {words}{load}.")
    lost = [run for run in frames.records.values() if run.launched is None] if frames.planned else []
    if lost:
        lines.append(f"launch.json of {counted(len(lost), 'run')} is lost: when they began is unknown.")
    if len(runs) and (most := runs["timer_overhead"].max()) > COSTLY_TIMERS:
        lines.append(f"Reading the clock took up to {percent(most, 1)} of a run.")
    for column, words in MIXED.items():
        if (several := runs[column].nunique()) > 1 and (runs["kind"] == "measured").all():
            lines.append(f"The runs come from {several} {words}.")
    further = {
        text.split(":")[0].split(",")[0]: text
        for run in frames.records.values()
        for text in run.record.warnings
        if not text.startswith(("oversubscribed", "foreign load", "virtual machine"))
    }
    return lines + [f"A run warns: {text}" for text in further.values()]


def runs_table(frames: Frames) -> pd.DataFrame:
    """Every planned run and what became of it."""
    known = frames.runs.set_index("id")
    rows = []
    for one in frames.planned:
        done = one.id in known.index
        state = "complete" if done else (frames.failed | frames.unreadable).get(one.id, "not run yet")
        row = known.loc[one.id] if done else None
        cells = {
            name: row[name] if done else None for name in ("real_time_factor", "foreign_load", "checksum")
        }
        rows.append({"label": one.label, "state": state.splitlines()[0], **cells})
    return pd.DataFrame(rows)


def provenance(frames: Frames) -> pd.DataFrame:
    """Where the numbers come from: what all runs share, or up to four values."""
    if frames.runs.empty:
        return pd.DataFrame()
    runs, records = frames.runs, [run.record for run in frames.records.values()]
    host, first = records[0].host, records[0].provenance
    sizes = {"nodes": host.nodes, "sockets": host.sockets, "cores": host.cores}
    facts = {
        "commit": _distinct(runs["commit"]) + (" with changes" if runs["dirty"].fillna(False).any() else ""),
        "mini-app": _distinct(record.provenance.version for record in records),
        "compiler": f"{first.compiler} {first.flags}",
        "MPI library": first.mpi_library,
        "host": _distinct(runs["host"]),
        "system": host.system,
        "processor": _distinct(runs["cpu"]),
        "topology": ", ".join(f"{n} {name}" for name, n in sizes.items() if n) or "unknown",
        "virtual machine": {True: "yes", False: "no", None: "unknown"}[host.virtual_machine],
        "started by": _distinct(run.launched.launcher for run in frames.records.values() if run.launched),
        "first and last start": " and ".join(sorted({runs["started"].min(), runs["started"].max()})),
        "results": frames.path.name,
    }
    if runs["job"].notna().any():
        facts["Slurm"] = f"{_distinct(runs['cluster'])}, jobs {_distinct(runs['job'])}"
    facts |= simulation([run.simulation for run in frames.records.values() if run.simulation])
    return pd.DataFrame([{"item": name, "value": value} for name, value in facts.items()])


def simulation(found: list[dict]) -> dict[str, str]:
    """What was simulated, on what assumptions, and what it cost, from the simulation.json of runs."""
    if not found:
        return {}
    heads = {"machine": "simulated machine", "compute": "compute times", "facts": "simulated network"}
    heads["simgrid"] = "SimGrid"
    facts = {head: _distinct(one.get(name) for one in found) for name, head in heads.items()}
    parts = [
        ", ".join(f"{own['ranks']} ranks on {name}" for name, own in one.get("parts", {}).items())
        for one in found
    ]
    if any(parts):
        facts["ranks by part"] = "; ".join(dict.fromkeys(filter(None, parts)))
    assumed = {
        text if isinstance(text, str) else ", ".join(map(str, dict(text).values())): None
        for one in found
        for text in one.get("assumptions", [])
    }
    facts["assumed, since the profile does not say"] = "; ".join(assumed) or "nothing"
    costs = [one["cost_s"] for one in found if one.get("cost_s")]
    if costs:
        facts["cost of simulating"] = f"{number(sum(costs))} s for {counted(len(costs), 'run')}"
    return facts


def _distinct(values: Iterable) -> str:
    found = list(dict.fromkeys(str(value) for value in values if not pd.isna(value)))
    return ", ".join(found[:4]) + (" …" if len(found) > 4 else "") if found else "unknown"
