"""Figures of results and answers, as Matplotlib axes to go on with.

What has a figure draws it with `plot()`: into axes of the caller, or into a new figure. The three
marks are stacked bars, points with intervals, and lines with bands; the colours are those of Okabe
and Ito, which people with any kind of colour blindness can tell apart.

Matplotlib and pandas take a third of a second each to import, so that only functions that draw do
so.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

#: Okabe and Ito, Color Universal Design (2008), black last: it is for lines to compare with.
PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#000000")

WIDTH = 7.0  #: of a figure, in inches: the text width of a page
HEIGHT = 3.5  #: of a figure without rows, in inches
HEIGHT_OF_ROW = 0.45  #: inches for each bar or point


def new_axes(rows: int | None = None) -> "Axes":
    """Axes of a figure of their own, in the colours of PALETTE; `rows`: how many it has to hold.

    Example:
        >>> few, many = new_axes(rows=3), new_axes(rows=30)
        >>> bool(few.figure.get_figheight() < many.figure.get_figheight())
        True
    """
    from matplotlib import pyplot

    height = HEIGHT if rows is None else 1.0 + HEIGHT_OF_ROW * rows
    _, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
    axes.set_prop_cycle(color=PALETTE)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def stacked_bars(parts: "pd.DataFrame", axes: "Axes | None" = None) -> "Axes":
    """A bar for each row, from top to bottom, in which the columns lie one behind the other.

    Args:
        parts: [row, part] lengths; names of rows and columns are the labels.
        axes: where to draw.

    Example:
        >>> import pandas as pd
        >>> parts = pd.DataFrame({"update": [1.0, 1.2], "waiting": [0.5, 0.1]}, index=["1", "10"])
        >>> axes = stacked_bars(parts)
        >>> [float(bar.get_x()) for bar in axes.patches]  # waiting begins where update ends
        [0.0, 0.0, 1.0, 1.2]
    """
    import pandas as pd

    axes = axes or new_axes(len(parts))
    rows = [str(name) for name in parts.index]
    start = pd.Series(0.0, index=parts.index)
    for number, part in enumerate(parts.columns):
        colour = PALETTE[number % len(PALETTE)]
        lengths = parts[part].astype(float)
        axes.barh(rows, lengths, left=start, height=0.7, color=colour, label=str(part))
        start += lengths
    axes.invert_yaxis()
    axes.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return axes


def intervals(
    labels: Sequence[str],
    values: "pd.DataFrame",
    axes: "Axes | None" = None,
    label: str = "",
) -> "Axes":
    """A point for each row, from top to bottom, with a line from its low to its high value.

    Args:
        labels: of the rows.
        values: columns value, low and high; a row without an interval has no line, one without a
            value no point.
        axes: where to draw.
        label: of the points in a legend.

    Example:
        >>> import pandas as pd
        >>> times = pd.DataFrame({"value": [1.0, 2.0], "low": [0.8, None], "high": [1.3, None]})
        >>> axes = intervals(["conventional", "structure-aware"], times, label="time")
        >>> axes.get_legend_handles_labels()[1]
        ['time']
    """
    axes = axes or new_axes(len(values))
    middle = values["value"].astype(float)
    below = (middle - values["low"].astype(float)).clip(lower=0.0)
    above = (values["high"].astype(float) - middle).clip(lower=0.0)
    axes.errorbar(
        middle,
        list(labels),
        xerr=[below, above],
        fmt="o",
        color=PALETTE[0],
        capsize=3,
        label=label or None,
    )
    axes.invert_yaxis()
    axes.margins(y=0.5 / max(1, len(values)))
    axes.grid(axis="x", alpha=0.3)
    return axes
