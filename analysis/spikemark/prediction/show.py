"""Predictions as tables, lines and JSON."""

from typing import Any

from spikemark.quantities.words import number

from .inputs import KINDS, Figure
from .machine import FIGURES, Prediction

ABREAST = 4  # columns of numbers that a page of a terminal holds


def tables(predictions: list[Prediction]) -> list:
    """One column per prediction: value, interval, kind; so many columns in each table as can be read."""
    return [_table(predictions[i : i + ABREAST]) for i in range(0, len(predictions), ABREAST)]


def _table(predictions: list[Prediction]):
    from rich.table import Table

    first = predictions[0]
    made = Table(title=heading(first), title_justify="left")
    made.add_column("")
    for p in predictions:
        made.add_column(f"{p.ranks} ranks\n{p.nodes} nodes", justify="right", overflow="fold")
    for name in FIGURES:
        made.add_row(head(name), *(cell(p.figures[name]) for p in predictions))
    made.add_row("longest part", *(p.slowest for p in predictions))
    made.add_row(
        "fits into memory", *({None: "unknown", True: "yes", False: "NO"}[p.fits] for p in predictions)
    )
    return made


def head(name: str) -> str:
    """What a figure is, and its unit."""
    what, unit = FIGURES[name]
    return what if unit == "1" else f"{what} ({unit.replace('uJ', 'µJ')})"


def heading(p: Prediction) -> str:
    """What all columns share."""
    return f"{p.title}: {p.schedule}, placement {p.placement}, {p.threads} threads a rank; modelled"


def cell(figure: Figure | None) -> str:
    """'1.20 (1.0-1.4)' and the kind below."""
    if figure is None:
        return "unknown"
    if figure.low == figure.high:
        return f"{number(figure.value)}\n{figure.kind}"
    return f"{number(figure.value)} ({number(figure.low)}–{number(figure.high)})\n{figure.kind}"


def phrase(figure: Figure | None) -> str:
    """The same on one line."""
    return cell(figure).replace("\n", ", ")


def lines(predictions: list[Prediction]) -> list[str]:
    """What must be known to read the numbers: unknown, outside, dependent on, assumed."""
    found = []
    for p in predictions:
        found += [f"extrapolated: {line}" for line in p.outside]
        found += [reason.removeprefix(f"{p.machine}: ") for reason in p.reasons.values()]
        if p.fits is False:
            found.append(f"{p.ranks} ranks: does not fit into the memory of the nodes")
    factor = predictions[-1].figures["real_time_factor"]
    if factor is not None and factor.depends:
        most = ", ".join(factor.depends[:3])
        found.append(f"the real-time factor on {predictions[-1].ranks} ranks depends most on {most}")
    found += [f"assumed: {line}" for p in predictions for line in p.assumptions]
    found.append(
        f"kinds, from the best to the worst: {', '.join(KINDS)}; a number is as good as its worst input"
    )
    return list(dict.fromkeys(found))


def content(predictions: list[Prediction]) -> list[dict[str, Any]]:
    """For JSON."""
    return [
        {
            "machine": p.machine, "ranks": p.ranks, "threads": p.threads, "nodes": p.nodes,
            "ranks_per_node": p.node.ranks, "schedule": p.schedule, "placement": p.placement,
            "figures": {name: figure_content(name, p.figures[name]) for name in FIGURES},
            "reasons": p.reasons, "longest_part": p.slowest, "fits_memory": p.fits,
            "extrapolated": p.outside, "assumptions": p.assumptions,
        }
        for p in predictions
    ]  # fmt: skip


def figure_content(name: str, figure: Figure | None) -> dict[str, Any] | None:
    """A number with unit, interval, kind, and the values it depends on most."""
    if figure is None:
        return None
    return {
        "value": figure.value, "interval": [figure.low, figure.high], "unit": FIGURES[name][1],
        "kind": figure.kind, "depends": list(figure.depends[:5]),
    }  # fmt: skip
