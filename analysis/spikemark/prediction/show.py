"""Predictions as tables, lines and JSON."""

from collections.abc import Iterable, Mapping
from typing import Any

from spikemark.machines.inputs import WITHIN
from spikemark.machines.plain import named, plain
from spikemark.network.lanes import Lane
from spikemark.quantities.quantity import KINDS, Quantity
from spikemark.quantities.table import Cells, Column, Table
from spikemark.quantities.words import counted

from . import asked, by_part, simulators
from .by_part import OfPart
from .intervals import COUNTED, EXTRAPOLATED
from .layout import inside
from .loads import Loads
from .measured import MODELLED
from .predict import FIGURES, Prediction

ABREAST = 4  # columns of numbers that fit on a terminal
#: Kinds that a predicted number may have.
POSSIBLE = [kind for kind in KINDS if kind in {COUNTED, *WITHIN, EXTRAPOLATED}]
OF_DRY_RUN = "computing measured by a dry run, the rest modelled"
FITS = {None: "unknown", True: "yes", False: "NO"}
#: Around a value of a profile that commands warn of.
ODD = "The machine's profile may be wrong: {}"


def table(predictions: list[Prediction]) -> Table:
    """One row per prediction, all of one network, schedule and machine."""
    first = predictions[0]
    columns = {
        Column("place", ""): lambda p: f"{counted(p.ranks, 'rank')}\n{counted(p.nodes, 'node')}",
        **figures(FIGURES),
        **WAYS,
        Column("longest_part", "longest part"): lambda p: p.slowest or "unknown",
        Column("fits_memory", "fits into memory"): lambda p: FITS[p.fits],
    }
    whose = simulators.find(first.simulator).label
    title = f"{first.title}: times of {whose} ({first.schedule}, placement {first.placement}, "
    made = MODELLED if first.measured is None else OF_DRY_RUN
    return Table.of(columns, predictions, f"{title}{counted(first.threads, 'thread')} per rank); {made}")


def tables(predictions: list[Prediction]) -> list[Table]:
    """The table of all predictions, and of each on a machine of unequal nodes, one of its parts."""
    return [table(predictions), *(parts(p) for p in predictions if p.by_part)]


def parts(prediction: Prediction) -> Table:
    """One row for each part of a machine of unequal nodes, of one prediction."""
    p = prediction
    columns = {
        Column("part", ""): lambda part: part.share.part,
        Column("place", "ranks and nodes"): _place,
        **_figures({name: _head(*figure) for name, figure in by_part.FIGURES.items()}),
        Column("fits_memory", "fits into memory"): lambda part: FITS[part.fits],
    }
    where = f"{counted(p.ranks, 'rank')} on {counted(p.nodes, 'node')}"
    title = f"Parts of {p.machine}, {where}: times are means over the ranks of a part; {MODELLED}"
    return Table.of(columns, p.by_part, title, "parts")


def _place(part: OfPart) -> str:
    share = part.share
    return f"{counted(share.ranks, 'rank')}\n{counted(share.node.nodes, 'node')} of {part.profile}"


#: How a predicted run goes, besides its schedule and placement.
WAYS: Cells = {
    Column("delay_ratio", "D (cycles)"): lambda p: (
        "not used" if p.loads.delay_ratio is None else str(p.loads.delay_ratio)
    ),
    Column("lag", "lag (windows)"): lambda p: (
        ", ".join(str(lane.lag) for lane in p.loads.lanes if lane.lag) or "0"
    ),
    Column("exchanges", "exchanges"): lambda p: "\n".join(
        f"{lane.name}: {used(lane)}" for lane in p.loads.lanes
    ),
}


def used(lane: Lane) -> str:
    """The exchange of a lane, in words."""
    return "none, each rank is alone" if lane.alone else lane.exchange


def figures(names: Iterable[str]) -> Cells:
    """Cells for the figures of these names of a prediction; each says its interval and kind."""
    return _figures({name: head(name) for name in names})


def _figures(heads: Mapping[str, str]) -> Cells:
    return {
        Column(name, words, each=True): lambda one, name=name: one.figures[name]
        for name, words in heads.items()
    }


def head(name: str) -> str:
    """What a figure is, and its unit."""
    return _head(*FIGURES[name])


def _head(what: str, unit: str) -> str:
    return what if unit == "1" else f"{what} ({unit.replace('uJ', 'µJ')})"


def lines(predictions: list[Prediction], sources: Mapping[str, str] | None = None) -> list[str]:
    """Says whose times these are, where D comes from, what is extrapolated, unknown or assumed, and what
    matters most.

    `sources`: of asked.Network.
    """
    found = simulators.find(predictions[0].simulator, predictions[0].loads.description).said()
    for p in predictions:
        found += [] if p.measured is None else p.measured.lines
        found += [ODD.format(line) for line in p.odd]
        found += where_from(p.loads, sources or {})
        found += [f"extrapolated: {line}" for line in p.outside]
        found += [reason.removeprefix(f"{p.machine}: ") for reason in p.reasons.values()]
        found += [reason for part in p.by_part for reason in part.reasons.values()]
        if p.fits is False:
            found.append(f"{counted(p.ranks, 'rank')}: does not fit into the memory of {_too_small(p)}")
    factor = predictions[-1].figures["real_time_factor"]
    if factor.depends:
        most = ", ".join(map(_named, factor.depends[:3]))
        ranks = counted(predictions[-1].ranks, "rank")
        found.append(f"The real-time factor on {ranks} depends most on {most}.")
    found += [f"assumed: {line}" for p in predictions for line in p.assumptions]
    possible = [
        kind for kind in KINDS if kind in {*POSSIBLE, *(p.figures["waiting"].kind for p in predictions)}
    ]
    found.append(
        f"Kinds of numbers, best first: {', '.join(possible)}. A number is as good as its worst input."
    )
    return list(dict.fromkeys(found))


def _too_small(p: Prediction) -> str:
    """The nodes that have too little memory."""
    names = [part.share.part for part in p.by_part if part.fits is False]
    return f"the nodes of {' and '.join(names)}" if names else "the nodes"


def _named(path: str) -> str:
    """A value in words, with its path."""
    return named(path) if inside(path) == path else f"{plain(inside(path))} (`{path}`)"


def where_from(loads: Loads, sources: Mapping[str, str]) -> list[str]:
    """Where D comes from, and what would be exact besides; nothing for a schedule that does not use D."""
    ratio, largest = loads.delay_ratio, loads.largest_delay_ratio
    if ratio is None:
        return []
    source = sources.get("delay_ratio", asked.STATED)
    lag = max(lane.lag for lane in loads.lanes)
    line = f"D = {ratio}: {source}{f', with lag {lag}' if lag else ''}"
    if source == asked.UNSTATED:
        line += f"; the mini-app itself takes 1 unless the description states delay_ratio = {ratio}"
    elif ratio < largest:
        line += f"; up to {largest} is exact"
    return [line]


def content(predictions: list[Prediction]) -> list[dict[str, Any]]:
    """Predictions for JSON."""
    return [
        {
            "simulator": p.simulator, "machine": p.machine,
            "ranks": p.ranks, "threads": p.threads, "nodes": p.nodes,
            "ranks_per_node": None if p.by_part else p.node.ranks,
            "schedule": p.schedule, "placement": p.placement,
            **way_content(p.loads),
            "figures": {name: figure_content(p.figures[name]) for name in FIGURES},
            "reasons": p.reasons, "longest_part": p.slowest, "fits_memory": p.fits,
            "extrapolated": p.outside, "odd_values": list(p.odd), "assumptions": p.assumptions,
            "compute_from": None if p.measured is None else p.measured.content(),
            **({"parts": [part_content(part) for part in p.by_part]} if p.by_part else {}),
        }
        for p in predictions
    ]  # fmt: skip


def part_content(part: OfPart) -> dict[str, Any]:
    """A part of a machine for JSON."""
    share = part.share
    return {
        "part": share.part, "profile": part.profile, "ranks": share.ranks, "nodes": share.node.nodes,
        "ranks_per_node": share.node.ranks,
        "figures": {name: figure_content(part.figures[name]) for name in by_part.FIGURES},
        "reasons": part.reasons, "fits_memory": part.fits,
    }  # fmt: skip


def way_content(loads: Loads) -> dict[str, Any]:
    """How a run goes, besides its schedule and placement."""
    return {
        "delay_ratio": loads.delay_ratio, "largest_delay_ratio": loads.largest_delay_ratio,
        "lanes": [
            {"name": lane.name, "period": lane.period, "lag": lane.lag,
             "exchange": None if lane.alone else lane.exchange}
            for lane in loads.lanes
        ],
    }  # fmt: skip


def figure_content(figure: Quantity) -> dict[str, Any] | None:
    """A number with unit, interval, kind and the values it depends on most; None where it is missing."""
    if not figure:
        return None
    return {
        "value": figure.value, "interval": [figure.low, figure.high], "unit": figure.unit,
        "kind": figure.kind, "depends": list(figure.depends[:5]),
    }  # fmt: skip
