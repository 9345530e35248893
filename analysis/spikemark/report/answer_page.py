"""The page of compare or advise: their first screen, curves with bands, parts, what decides, sources."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.files import write_output
from spikemark.prediction import answers, draws
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted

from . import plots
from .document import Page, html

MOST = 12  # rows of what decides


def write(path: Path, title: str, screen: tuple, options: dict[str, list[Any]]) -> None:
    """Write the page. `screen`: sentences, table and lines; `options`: by machine, the best first."""
    (sentence, *more), table, lines = screen
    best = {name: found[0] for name, found in options.items()}
    parts = pd.DataFrame([
        {"machine": f"{name}, {counted(one.nodes, 'node')}",
         **{part: float(np.median(values)) for part, values in one.parts.items()}}
        for name, one in best.items()
    ])  # fmt: skip
    shown = [column for column in parts.columns if column != "machine"]
    bars = plots.bars(parts, "machine", shown, "parts", "Parts", "Medians of the draws; they add up nearly.",
                      xlabel="seconds per simulated second")  # fmt: skip
    sections = [
        Section("nodes", "Real-time factor over nodes", figures=[curves(options)]),
        Section("parts", "Where the time goes", figures=[bars]),
        Section("decides", "What decides", tables=[decides(name, one) for name, one in best.items()]),
        Section("sources", "Sources", tables=[sources(name, one) for name, one in best.items()]),
    ]
    page = Page(what="spikemark", title=title, sentence=sentence, table=table, notes=[*more, *lines],
                sections=sections)  # fmt: skip
    write_output(path, html(page, Path(path).parent))


def curves(options: dict[str, list[Any]]) -> Figure:
    """Real-time factors over nodes with their 95 % bands; where ways differ, the fastest of each number."""
    rows = []
    for name, found in options.items():
        for nodes in sorted({one.nodes for one in found}):
            fastest = min((one.rtf for one in found if one.nodes == nodes), key=np.median)
            middle, low, high = draws.interval(fastest)
            rows.append(
                {"machine": name, "nodes": nodes, "real_time_factor": middle, "low": low, "high": high}
            )
    return plots.lines(
        pd.DataFrame(rows), "nodes", "real_time_factor", "over-nodes", "Real-time factor over nodes",
        "Medians, with 95 % bands; numbers that were tried.", hue="machine", low="low", high="high",
        xlabel="nodes", ylabel="real-time factor", log="xy",
    )  # fmt: skip


def decides(name: str, option: Any) -> Table:
    """Shares of the variance of a time."""
    found = answers.decides(option.rtf, option.inputs, MOST)
    columns = [Column("what", f"the time on {name} rests on"), Column("share", "share of the variance")]
    return Table(columns, [{"what": answers.words_of(n), "share": answers.chance(s)} for n, s in found])


def sources(name: str, option: Any) -> Table:
    """Where the anchor, and the values of the machine without those of single kernels, come from."""
    rows = [{"what": "anchor", "source": option.near.source}] if option.near is not None else []
    rows += [
        {"what": path, "source": f"{value.kind}: {value.reference}"}
        for path, value in option.machine.values.items()
        if ".kernels" not in f".{path}"
    ]
    return Table([Column("what", name), Column("source", "source")], rows)
