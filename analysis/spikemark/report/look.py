"""The interactive part of a drawing: the values of its points, and axes that can be zoomed.

A drawing tells of its points; `described` says where they lie in the markup, and page.js shows them. The
script only adds to a page: without it, and on paper, the drawing and the table of its numbers say the same.
"""

import json
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary, WeakSet

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from spikemark.quantities.quantity import Quantity
from spikemark.quantities.table import Cell, Column

MOST = 120  # points of a series that have words
WORDS = Column("", "")  # writes numbers as tables do


@dataclass(frozen=True)
class _Series:
    name: str
    kind: str
    at: np.ndarray  # [point, (x, y)] in data coordinates
    x: list[str]
    y: list[str]


_TOLD: WeakKeyDictionary[Axes, list[_Series]] = WeakKeyDictionary()
_WHOLE: WeakSet[Axis] = WeakSet()


def whole(axis: Axis, ticks: int | str = "auto") -> None:
    """Gives an axis that counts ticks at whole numbers, also where it is zoomed."""
    axis.set_major_locator(MaxNLocator(ticks, integer=True))
    _WHOLE.add(axis)


def tell(
    axes: Axes,
    series: str,
    x: Sequence[Cell],
    y: Sequence[Cell],
    kind: str = "",
    x_says: Sequence[str] | None = None,
    y_says: Sequence[str] | None = None,
) -> None:
    """Gives points of a drawing their words: `x_says` and `y_says`, else numbers with their intervals.

    `x` and `y`, numbers or quantities, are data coordinates; a point where one is missing has no words.
    `kind` is a key of quantity.KINDS. Of many points, some have words, at equal distances.
    """
    columns = [list(x), list(y), list(x if x_says is None else x_says), list(y if y_says is None else y_says)]
    at = np.array([[_place(cell) for cell in column] for column in columns[:2]]).T.reshape(-1, 2)
    picked = [i for i in range(0, len(at), max(1, math.ceil(len(at) / MOST))) if np.isfinite(at[i]).all()]
    if picked:
        words = [[WORDS.text(column[i]) for i in picked] for column in columns[2:]]
        _TOLD.setdefault(axes, []).append(_Series(series, kind, at[picked], *words))


def between(values: Iterable[float], lows: Iterable[float], highs: Iterable[float]) -> list[Quantity]:
    """Returns quantities with these limits, which need not be those of an interval of 95 %."""
    return [
        Quantity(float(v), float(low), float(high)) for v, low, high in zip(values, lows, highs, strict=True)
    ]


def _place(cell: Cell) -> float:
    value = cell.value if isinstance(cell, Quantity) else cell
    return math.nan if value is None else float(value)


def described(figure: Figure, zoomed: Collection[Axes]) -> str:
    """Returns JSON for page.js, of a figure that was laid out; nothing if it tells of nothing.

    A panel for every axes, in points of the drawing from the upper left: `box` (left, top, right, bottom),
    `series` of points (x, y, words, words), and both axes with their labels; where it can be zoomed, also
    with their limits, and with ticks that have names. Such panels of one figure are zoomed together.
    """
    if not zoomed and not any(axes in _TOLD for axes in figure.axes):
        return ""
    panels = [_panel(figure, axes, axes in zoomed) for axes in figure.axes]
    return json.dumps(panels, ensure_ascii=False, separators=(",", ":"))


def _panel(figure: Figure, axes: Axes, zoom: bool) -> dict:
    scale, height = 72 / figure.dpi, 72 * figure.get_size_inches()[1]

    def place(pixels: np.ndarray) -> list[list[float]]:
        return [[round(scale * x, 1), round(height - scale * y, 1)] for x, y in pixels.tolist()]

    (left, bottom), (right, top) = place(axes.bbox.get_points())
    series = [
        {"name": s.name, "kind": s.kind, "points": [
            [*at, x, y] for at, x, y in zip(place(axes.transData.transform(s.at)), s.x, s.y, strict=True)
        ]}
        for s in _TOLD.get(axes, [])
    ]  # fmt: skip
    panel = {"box": [left, top, right, bottom], "series": series}
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        panel[name] = {"label": _label(figure, axes, name)} | (_scale(axis) if zoom else {})
    return panel | ({"zoom": True} if zoom else {})


def _label(figure: Figure, axes: Axes, name: str) -> str:
    """Returns the label of an axis; panels above one another may have one label for all."""
    own = getattr(axes, f"get_{name}label")()
    others = {label for a in figure.axes if (label := getattr(a, f"get_{name}label")())}
    return own or (others.pop() if len(others) == 1 else "")


def _scale(axis: Axis) -> dict:
    limits = [float(limit) for limit in axis.get_view_interval()]
    found = {"limits": limits, "log": axis.get_scale() == "log"}
    found["whole"] = axis in _WHOLE
    if isinstance(axis.get_major_locator(), FixedLocator):
        labels = [label.get_text() for label in axis.get_ticklabels()]
        found["ticks"] = list(zip([float(at) for at in axis.get_ticklocs()], labels, strict=True))
    return found
