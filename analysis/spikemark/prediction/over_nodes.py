"""The figure of predictions: real-time factors over nodes, a line for each machine."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from spikemark.quantities.figure import new_axes

from . import draws
from .option import Option

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

MARKERS = "osD^vPX*"  #: of machines, for print without colours


def over_nodes(
    options_by_machine: Mapping[str, Sequence[Option]], axes: "Axes | None" = None
) -> "Axes":
    """Lines through the fastest option of each number of nodes, with 95 % bands; log-log.

    Args:
        options_by_machine: any number of options of each machine.
        axes: where to draw.

    Example:
        >>> import spikemark as sm
        >>> options = sm.predict("mam-benchmark", "jureca-dc", ranks=[128, 256]).options
        >>> axes = over_nodes({"jureca-dc": options})
        >>> axes.lines[0].get_xdata()
        array([128, 256])
    """
    axes = axes or new_axes()
    for place, (machine, options) in enumerate(options_by_machine.items()):
        frame = _fastest(options)
        marker = MARKERS[place % len(MARKERS)]
        (line,) = axes.plot(frame["nodes"], frame["median"], marker=marker, label=machine)
        axes.fill_between(
            frame["nodes"], frame["low"], frame["high"], color=line.get_color(), alpha=0.2
        )
    axes.set(xscale="log", yscale="log", xlabel="nodes", ylabel="real-time factor")
    axes.set_title("Predicted real-time factors, with 95 % bands")
    axes.legend(frameon=False, fontsize="small")
    return axes


def _fastest(options: Sequence[Option]) -> "pd.DataFrame":
    """Nodes, median, low and high of the fastest option of each number of nodes."""
    import pandas as pd

    rows = []
    for option in options:
        median, low, high = draws.interval(option.rtf)
        rows.append({"nodes": option.nodes, "median": median, "low": low, "high": high})
    frame = pd.DataFrame(rows).sort_values("median").drop_duplicates("nodes")
    return frame.sort_values("nodes")
