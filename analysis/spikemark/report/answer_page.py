"""The page of any answer: its first screen, with figures and tables that its kind of answer has.

A kind of answer without an entry in `_drawings` has a page of its sentences and tables.
"""

import re
from collections.abc import Mapping, Sequence
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from spikemark.core.files import write_output
from spikemark.machines.show import value_text
from spikemark.measuring.energy_answer import EnergyAnswer
from spikemark.prediction import draws, narrowing
from spikemark.prediction.advised import AdviceAnswer
from spikemark.prediction.beside import RunAnswer
from spikemark.prediction.compared import ComparisonAnswer
from spikemark.prediction.option import Option
from spikemark.prediction.partition.answer import PartitionAnswer
from spikemark.prediction.partition.traffic import ExpectedTraffic
from spikemark.prediction.predicted import PredictionAnswer
from spikemark.prediction.wording import chance
from spikemark.quantities.answer import Answer
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import counted, number
from spikemark.records.record import Run

from . import plots
from .document import Page, html
from .facts import facts, of_runs

MAX_DECIDING = 12  # rows of what decides


def write(
    path: Path,
    title: str,
    answer: Answer,
    made_by: str = "",
    sections: list[Section] | None = None,
) -> None:
    """Write the page of an answer, whole or not at all.

    Args:
        path: of the file.
        title: of the page.
        answer: its first table stands on top.
        made_by: the command that makes the page.
        sections: beside those of `_drawings`, such as those of an answer of another package.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from spikemark.api.waiting import waiting
        >>> answer = waiting("tests/golden/analysis/records/conventional-4")
        >>> with TemporaryDirectory() as folder:
        ...     page = Path(folder, "waiting.html")
        ...     write(page, "Waiting", answer)
        ...     page.stat().st_size > 10_000  # bytes
        True
    """
    write_output(path, html(_page(title, answer, made_by, sections)))


def _page(
    title: str, answer: Answer, made_by: str = "", sections: list[Section] | None = None
) -> Page:
    """Everything that the page of an answer shows; as `write`."""
    screen = answer.screen(details=True)
    lines = [line for line in screen.lines if line]
    first_sentence, *more_sentences = lines or [title]
    first_table = screen.tables[0] if screen.tables else None
    details = screen.tables[1:]
    shown = [*_drawings(answer), *(sections or [])]
    warnings = [Box("wary", line) for line in screen.warnings]
    if details or warnings:
        shown.append(Section("details", "Details", boxes=warnings, tables=details))
    stated = _stated_facts(answer)
    return Page(
        what=stated.get("network", "") or title,
        title=title,
        sentence=first_sentence,
        facts=facts(**stated, command=made_by),
        picture=_first_figure(shown),
        table=first_table,
        notes=[*more_sentences, *screen.notes],
        sections=_without_first_figure(shown),
    )


def _first_figure(sections: list[Section]) -> Figure | None:
    """The figure of the first screen."""
    for section in sections:
        if section.figures:
            return section.figures[0]
    return None


def _without_first_figure(sections: list[Section]) -> list[Section]:
    """The sections without the figure that stands on the first screen."""
    first = _first_figure(sections)
    left = []
    for section in sections:
        figures = [figure for figure in section.figures if figure is not first]
        left.append(
            Section(
                section.id,
                section.title,
                section.text,
                section.boxes,
                figures,
                section.tables,
                section.missing,
                section.unfolded,
            )
        )
    return left


# What a kind of answer shows beside its screen


@singledispatch
def _drawings(answer: Answer) -> list[Section]:
    """Sections with figures and tables, by the kind of answer; none by default."""
    return []


@_drawings.register
def _(answer: ComparisonAnswer) -> list[Section]:
    return _about_options(answer.options_by_machine)


@_drawings.register
def _(answer: AdviceAnswer) -> list[Section]:
    return _about_options(answer.options_by_machine)


@_drawings.register
def _(answer: PredictionAnswer) -> list[Section]:
    options = {_layout(option): option for option in answer.options}
    fastest = answer.fastest
    return [
        Section("parts", "Where the time goes", figures=[_part_bars(options)]),
        Section("decides", "What decides", tables=[_decides(fastest.place, fastest)]),
        Section("sources", "Sources", tables=[_sources(fastest.machine.name, fastest)]),
    ]


@_drawings.register
def _(answer: RunAnswer) -> list[Section]:
    name = answer.option.machine.name
    tables = [_decides(name, answer.option)]
    return [
        Section("beside", "Measured beside predicted", figures=[_beside_points(answer)]),
        Section("decides", "What decides the prediction", tables=tables),
    ]


@_drawings.register
def _(answer: EnergyAnswer) -> list[Section]:
    source = answer.energy.source
    if source is None:
        return []
    curve = answer.content()["power"]
    frame = pd.DataFrame({"time_s": curve["time_s"], "power_w": curve["power_w"]})
    figure = plots.lines(
        frame,
        "time_s",
        "power_w",
        "power",
        "Power over the run",
        f"Readings of {source.name}; 0 is the begin of the measured part.",
        xlabel="time (s)",
        ylabel="power (W)",
        markers=False,
    )
    return [Section("power", "Power", figures=[figure])]


@_drawings.register
def _(answer: PartitionAnswer) -> list[Section]:
    if answer.methods:
        figure = _method_peaks(answer.methods)
        return [Section("methods", "Methods side by side", figures=[figure])]
    figure = _sent_by_ranks(answer.loads.traffic)
    return [Section("ranks", "What ranks send", figures=[figure])]


@singledispatch
def _stated_facts(answer: Answer) -> dict[str, str]:
    """Network, program and machine that an answer is about, as far as its kind tells them."""
    return {}


@_stated_facts.register
def _(answer: ComparisonAnswer) -> dict[str, str]:
    return _facts_of([options[0] for options in answer.options_by_machine.values()])


@_stated_facts.register
def _(answer: AdviceAnswer) -> dict[str, str]:
    return _facts_of([options[0] for options in answer.options_by_machine.values()])


@_stated_facts.register
def _(answer: PredictionAnswer) -> dict[str, str]:
    return _facts_of(answer.options[:1])


@_stated_facts.register
def _(answer: RunAnswer) -> dict[str, str]:
    return _facts_of_run(answer.run)


@_stated_facts.register
def _(answer: EnergyAnswer) -> dict[str, str]:
    return _facts_of_run(answer.energy.run)


@_stated_facts.register
def _(answer: PartitionAnswer) -> dict[str, str]:
    traffic = answer.loads.traffic
    areas = counted(len(traffic.graph.areas), "area")
    neurons = counted(traffic.graph.neurons, "neuron")
    stated = {"network": f"{areas}, {neurons}, on {counted(traffic.ranks, 'rank')}"}
    if answer.equal_times is None:
        stated["machine"] = "none: routes follow from the network and the placement"
    return stated


def _facts_of_run(run: Run) -> dict[str, str]:
    """Where a run comes from, as `facts` takes it."""
    stated = of_runs([run], run.record.host.name, "")
    return {"day" if name == "date" else name: value for name, value in stated.items()}


def _facts_of(best: Sequence[Option]) -> dict[str, str]:
    """The network, the program and the machines of the best options."""
    first = best[0]
    machines = dict.fromkeys(option.machine.name for option in best)
    return {
        "network": first.question.title,
        "program": f"{first.title} (modelled)",
        "machine": ", ".join(machines),
    }


def _layout(option: Option) -> str:
    """Nodes and ranks of an option."""
    return f"{counted(option.nodes, 'node')}, {counted(option.ranks, 'rank')}"


def _about_options(options: Mapping[str, Sequence[Option]]) -> list[Section]:
    """Curves, parts, what decides and sources; `options`: by machine, the best first."""
    best = {name: of_machine[0] for name, of_machine in options.items()}
    return [
        Section("nodes", "Real-time factor over nodes", figures=[_curves(options)]),
        Section("parts", "Where the time goes", figures=[_part_bars(_with_nodes(best))]),
        Section(
            "decides",
            "What decides",
            tables=[_decides(name, option) for name, option in best.items()],
        ),
        Section(
            "sources", "Sources", tables=[_sources(name, option) for name, option in best.items()]
        ),
    ]


def _method_peaks(methods: Sequence[ExpectedTraffic]) -> Figure:
    """What the busiest and the mean rank send under each method, in the order of methods."""
    rows = []
    for traffic in methods:
        method = traffic.placement.method
        rows.append({"method": method, "item": "busiest rank", "routes": traffic.sent.max()})
        rows.append({"method": method, "item": "mean of ranks", "routes": traffic.sent.mean()})
    return plots.points(
        pd.DataFrame(rows),
        "routes",
        "method",
        "methods-side-by-side",
        "What ranks send",
        "Methods in the order of the table.",
        hue="item",
        xlabel="routes sent (lower is better)",
    )


def _sent_by_ranks(traffic: ExpectedTraffic) -> Figure:
    """What each rank sends, the busiest rank first."""
    frame = pd.DataFrame({"routes": np.sort(traffic.sent)[::-1].astype(float)})
    frame["place"] = np.arange(1, len(frame) + 1)
    return plots.lines(
        frame,
        "place",
        "routes",
        "sent-by-ranks",
        "What ranks send",
        "A level line is an even load.",
        xlabel="ranks, the busiest first",
        ylabel="routes sent (lower is better)",
    )


def _beside_points(answer: RunAnswer) -> Figure:
    """Each part of the real-time factor as measured, and as predicted with its 95 % interval."""
    parts = answer.table
    measured = parts.assign(item="measured", seconds=parts["measured"], low=np.nan, high=np.nan)
    predicted = parts.assign(
        item="predicted",
        seconds=parts["predicted"],
        low=parts["predicted_low"],
        high=parts["predicted_high"],
    )
    return plots.points(
        pd.concat([measured, predicted]).dropna(subset="seconds"),
        "seconds",
        "part",
        "beside",
        "Measured beside predicted",
        "Parts of the real-time factor; predictions with 95 % intervals.",
        hue="item",
        low="low",
        high="high",
        xlabel="s per simulated s (lower is better)",
    )


def _with_nodes(best: dict[str, Option]) -> dict[str, Option]:
    """Options by machine and nodes."""
    return {f"{name}, {counted(option.nodes, 'node')}": option for name, option in best.items()}


def _part_bars(options: dict[str, Option]) -> Figure:
    """The parts of the real-time factor of each option, by its name."""
    rows = []
    for name, option in options.items():
        row: dict[str, Any] = {"machine": name}
        for part, seconds in option.parts.items():
            row[part] = float(np.median(seconds))
        rows.append(row)
    frame = pd.DataFrame(rows)
    shown = [column for column in frame.columns if column != "machine"]
    return plots.bars(
        frame,
        "machine",
        shown,
        "parts-of-time",
        "Parts",
        "Medians of the draws; they add up nearly.",
        xlabel="s per simulated s (lower is better)",
        unit="s / s",
    )


def _curves(options: Mapping[str, Sequence[Option]]) -> Figure:
    """Real-time factors over nodes with their 95 % intervals; where ways differ, the fastest of
    each number.
    """
    rows = []
    for name, of_machine in options.items():
        for nodes in sorted({option.nodes for option in of_machine}):
            times = [option.rtf for option in of_machine if option.nodes == nodes]
            middle, low, high = draws.interval(min(times, key=np.median))
            rows.append(
                {
                    "machine": name,
                    "nodes": nodes,
                    "real_time_factor": middle,
                    "low": low,
                    "high": high,
                }
            )
    return plots.lines(
        pd.DataFrame(rows),
        "nodes",
        "real_time_factor",
        "over-nodes",
        "Real-time factor over nodes",
        "Medians, with 95 % intervals; numbers that were tried.",
        hue="machine",
        low="low",
        high="high",
        xlabel="nodes",
        ylabel="real-time factor (lower is better)",
        log="xy",
    )


def _decides(name: str, option: Option) -> Table:
    """Shares of the variance of a time."""
    columns = [
        Column("what", f"the time on {name} rests on"),
        Column("share", "share of the variance"),
    ]
    rows: list[dict[str, Cell]] = []
    for input_name, share in narrowing.decides(option.rtf, option.inputs, MAX_DECIDING):
        rows.append({"what": narrowing.words_of(input_name), "share": chance(share)})
    return Table(columns, rows)


def _sources(name: str, option: Option) -> Table:
    """The anchor, and the values of the machine without those of single kernels, each with where
    it comes from.
    """
    rows: list[dict[str, Cell]] = []
    if option.anchor is not None:
        run = option.anchor.run
        rows.append(
            {
                "what": "real-time factor of the anchor",
                "value": "" if run.seconds is None else number(run.seconds),
                "kind": "literature" if not option.anchor.is_own else "measured",
                "source": run.source,
            }
        )
    for path, value in option.machine.values.items():
        if ".kernels" not in f".{path}":
            unit = "" if value.unit in (None, "1") else re.sub(r"\bus\b", "µs", value.unit)
            row: dict[str, Cell] = {"what": path, "value": value_text(value), "unit": unit}
            source = re.sub(rf"^({value.kind}[:;] )+", "", value.reference)  # the column says it
            rows.append(row | {"kind": value.kind, "source": source})
    columns = [Column("what", name), Column("value", "value (95 % interval)")]
    columns += [Column("unit", "unit"), Column("kind", "kind"), Column("source", "source")]
    return Table(columns, rows)
