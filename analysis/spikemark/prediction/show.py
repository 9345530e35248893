"""Predictions as tables, lines and JSON."""

from typing import Any

from spikemark.machines.inputs import WITHIN
from spikemark.quantities.quantity import KINDS, Quantity
from spikemark.quantities.table import Column, Table

from .intervals import COUNTED, EXTRAPOLATED
from .predict import FIGURES, Prediction

ABREAST = 4  # columns of numbers that fit on a terminal
#: Kinds that a predicted number may have.
POSSIBLE = [kind for kind in KINDS if kind in {COUNTED, *WITHIN, EXTRAPOLATED}]
FITS = {None: "unknown", True: "yes", False: "NO"}


def table(predictions: list[Prediction]) -> Table:
    """One row per prediction, all of one network, schedule and machine."""
    first = predictions[0]
    columns = [Column("place", ""), *columns_of(FIGURES)]
    columns += [Column("longest_part", "longest part"), Column("fits_memory", "fits into memory")]
    rows = [
        {"place": f"{p.ranks} ranks\n{p.nodes} nodes", **p.figures}
        | {"longest_part": p.slowest, "fits_memory": FITS[p.fits]}
        for p in predictions
    ]
    title = f"{first.title}: {first.schedule}, placement {first.placement}, {first.threads} threads per rank"
    return Table(columns, rows, f"{title}; modelled")


def columns_of(names: Any) -> list[Column]:
    """Columns for the figures of these names; each cell says its interval and kind."""
    return [Column(name, head(name), each=True) for name in names]


def head(name: str) -> str:
    """What a figure is, and its unit."""
    what, unit = FIGURES[name]
    return what if unit == "1" else f"{what} ({unit.replace('uJ', 'µJ')})"


def lines(predictions: list[Prediction]) -> list[str]:
    """Says what is extrapolated, unknown or assumed in the numbers, and what matters most."""
    found = []
    for p in predictions:
        found += [f"extrapolated: {line}" for line in p.outside]
        found += [reason.removeprefix(f"{p.machine}: ") for reason in p.reasons.values()]
        if p.fits is False:
            found.append(f"{p.ranks} ranks: does not fit into the memory of the nodes")
    factor = predictions[-1].figures["real_time_factor"]
    if factor.depends:
        most = ", ".join(factor.depends[:3])
        found.append(f"the real-time factor on {predictions[-1].ranks} ranks depends most on {most}")
    found += [f"assumed: {line}" for p in predictions for line in p.assumptions]
    found.append(
        f"kinds, from the best to the worst: {', '.join(POSSIBLE)}; a number is as good as its worst input"
    )
    return list(dict.fromkeys(found))


def content(predictions: list[Prediction]) -> list[dict[str, Any]]:
    """Predictions for JSON."""
    return [
        {
            "machine": p.machine, "ranks": p.ranks, "threads": p.threads, "nodes": p.nodes,
            "ranks_per_node": p.node.ranks, "schedule": p.schedule, "placement": p.placement,
            "figures": {name: figure_content(p.figures[name]) for name in FIGURES},
            "reasons": p.reasons, "longest_part": p.slowest, "fits_memory": p.fits,
            "extrapolated": p.outside, "assumptions": p.assumptions,
        }
        for p in predictions
    ]  # fmt: skip


def figure_content(figure: Quantity) -> dict[str, Any] | None:
    """A number with unit, interval, kind and the values it depends on most; None where it is missing."""
    if not figure:
        return None
    return {
        "value": figure.value, "interval": [figure.low, figure.high], "unit": figure.unit,
        "kind": figure.kind, "depends": list(figure.depends[:5]),
    }  # fmt: skip
