"""How every figure looks, and how a matplotlib drawing becomes markup that fits into the page.

Figures are drawn with marker colours that stand for names; in the markup they become CSS variables, so that
one drawing serves the light and the dark scheme. Text stays text, in the font of the page. The native width
is that of a phone, so letters keep their size there.
"""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from textwrap import fill

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerTuple
from matplotlib.ticker import LogLocator, NullLocator

from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.words import number

from . import look

WIDTH = 4.7  # inches = 338 points
FAR = 8  # times as long as the next bar: such bars are cut
LABEL_WIDTH = 30  # characters of a line in the label of a row
SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"

NAMES = [
    *("ink", "muted", "rule", "paper", "band", "model"),
    *("deliver", "update", "collocate", "synchronise", "exchange", "other-1", "other-2", "other-3"),
    *(name.replace("_", "-") for name in SCHEDULES),
    "other-schedule",
    *("persistent", "jitter", "drift", "rare", "barrier", "undivided"),
]
COLOUR = {name: f"#0000{0xA0 + i:02x}" for i, name in enumerate(NAMES)}

LABEL_BOX = {"facecolor": COLOUR["paper"], "edgecolor": "none", "boxstyle": "round,pad=0.15"}

#: Classes of the groups of a drawing that page.js looks for, by how matplotlib begins their ids.
PARTS = {"axes_": "axes", "matplotlib.axis_": "axis", "xtick_": "tick", "ytick_": "tick"}

SETTINGS = {
    "svg.fonttype": "none",
    "svg.hashsalt": "spikemark",
    "font.size": 10.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10.5,
    "xaxis.labellocation": "right",  # a long label may begin left of its axis, but not end beyond the drawing
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.edgecolor": COLOUR["muted"],
    "axes.labelcolor": COLOUR["ink"],
    "axes.titlecolor": COLOUR["ink"],
    "text.color": COLOUR["ink"],
    "xtick.color": COLOUR["muted"],
    "ytick.color": COLOUR["muted"],
    "xtick.labelcolor": COLOUR["ink"],
    "ytick.labelcolor": COLOUR["ink"],
    "grid.color": COLOUR["rule"],
    "grid.linewidth": 0.8,
    "lines.linewidth": 1.6,
    "axes.unicode_minus": True,
    "figure.constrained_layout.use": True,
    "path.simplify_threshold": 0.5,
}


@contextmanager
def canvas(height: float) -> Iterator[Figure]:
    """Yields an empty figure of phone width."""
    with matplotlib.rc_context(SETTINGS):
        yield Figure(figsize=(WIDTH, height))


@contextmanager
def drawing(rows: int = 1, height: float = 3.0, **options) -> Iterator[tuple[Figure, list[Axes]]]:
    """Yields a figure of phone width with `rows` axes, one above the other."""
    with canvas(height) as figure:
        axes = figure.subplots(rows, 1, squeeze=False, **options)[:, 0]
        yield figure, list(axes)


def rows_height(rows: int, titles: int = 0) -> float:
    """Returns the height, in inches, of a drawing with labelled rows, in panels with `titles`."""
    return 1.15 + 0.33 * rows + 0.36 * titles


def label_rows(axes: Axes, at: Sequence[float], labels: list[str]) -> None:
    """Labels rows, which have a grid across them and no line on the left."""
    axes.set_yticks(at, [fill(label, LABEL_WIDTH) for label in labels])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def axis_end(totals: Sequence[float]) -> float:
    """Returns where an axis of bars ends: beyond the longest, or beyond most where few are FAR times as long.

    `stacked` cuts the longer ones, and writes how long they are.
    """
    order = sorted(totals)
    below = len(order)
    for i in range(1, len(order)):
        if 2 * i > len(order) and order[i] > FAR * order[i - 1] > 0:
            below = i
            break
    return 1.15 * order[below - 1] or 1.0


def stacked(
    axes: Axes,
    bars: list[str],
    parts: dict[str, tuple[list[float], str]],
    kind: str = "",
    end: float | None = None,
) -> list:
    """Draws bars, the first one above, of `parts`: widths in all bars, and colour. Returns their handles.

    Bars longer than `end`, the end of the axis, are cut there and say how long they are.
    """
    at, left, handles = np.arange(len(bars))[::-1], np.zeros(len(bars)), []
    last = np.inf if end is None else end
    for name, (widths, colour) in parts.items():
        handles.append(axes.barh(at, widths, 0.66, left=left, color=colour, label=name))
        middle = np.minimum(left + np.array(widths) / 2, last)
        look.tell(axes, name, middle, at, kind, widths, bars)
        left += widths
    label_rows(axes, at, bars)
    if end is not None:
        axes.set_xlim(0, end)
        for y, total in zip(at, left, strict=True):
            if total > end:
                axes.text(end, y, f"{number(total)} →", ha="right", va="center", bbox=LABEL_BOX)
    return handles


def plain_ticks(axis: Axis, **places) -> None:
    """Marks a logarithmic axis with plain numbers at `places` (see LogLocator) and nothing in between."""
    axis.set_major_locator(LogLocator(**places))
    axis.set_major_formatter(lambda x, _: f"{x:g}")
    axis.set_minor_locator(NullLocator())


def phase_colour(name: str, names: list[str]) -> str:
    """Returns the colour of a phase; phases that this file does not know share three spare colours."""
    if name in COLOUR:
        return COLOUR[name]
    unknown = [n for n in names if n not in COLOUR]
    return COLOUR[f"other-{unknown.index(name) % 3 + 1}"]


def schedule_colour(schedule: str) -> str:
    """Returns the colour of a schedule; all that this file does not know share one."""
    return COLOUR.get(schedule.replace("_", "-"), COLOUR["other-schedule"])


def markup(figure: Figure, name: str, alt: str, zoom: Axes | Sequence[Axes] = ()) -> str:
    """Returns the drawing as inline SVG: colours are CSS variables, ids are unique to `name`.

    On a screen, a person can zoom the axes `zoom` and read the points that were told of (see look.tell).
    """
    buffer = io.BytesIO()
    with matplotlib.rc_context(SETTINGS):
        figure.savefig(
            buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    ET.register_namespace("", SVG)
    ET.register_namespace("xlink", XLINK)
    root = ET.fromstring(buffer.getvalue())
    _drop(root, {f"{{{SVG}}}metadata", f"{{{SVG}}}style"})
    _rename_ids(root, name)
    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", _style(element.get("style")))
        for key in {"d", "x", "y", "transform"} & element.attrib.keys():
            element.set(key, _short(element.get(key)))
        if not element.tag.endswith("}text") and not (element.text or "").strip():
            element.text = None
        element.tail = None
    for attribute in ("width", "height"):
        root.attrib.pop(attribute, None)
    root.set("role", "img")
    root.set("aria-label", alt)
    root.set("preserveAspectRatio", "xMidYMid meet")
    if words := look.described(figure, (zoom,) if isinstance(zoom, Axes) else zoom):
        ET.SubElement(root, f"{{{SVG}}}metadata").text = words
    return ET.tostring(root, encoding="unicode")


def _drop(parent: ET.Element, tags: set[str]) -> None:
    for child in list(parent):
        if child.tag in tags:
            parent.remove(child)
        else:
            _drop(child, tags)


def _rename_ids(root: ET.Element, name: str) -> None:
    """Keeps only ids that something refers to, and makes them unique, since several drawings share a page."""
    everything = " ".join(value for element in root.iter() for value in element.attrib.values())
    used = set(re.findall(r"#([\w.-]+)", everything))
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id":
                if value in used:
                    element.set("id", f"{name}-{value}")
                else:
                    del element.attrib["id"]
                    if part := re.match(r"axes_|matplotlib\.axis_|[xy]tick_", value):
                        element.set("class", PARTS[part[0]])
            elif key == f"{{{XLINK}}}href":
                del element.attrib[key]
                element.set("href", f"#{name}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))


def _style(style: str) -> str:
    style = re.sub(r"font-family:[^;]*;?\s*", "", style)
    for name, colour in COLOUR.items():
        style = style.replace(colour, f"var(--{name})")
    return style


def _short(path: str) -> str:
    """Rounds numbers to a hundredth of a point: a third of the size, and nobody sees it."""
    path = re.sub(r"-?\d+\.\d+", lambda m: f"{float(m.group()):.2f}".rstrip("0").rstrip("."), path)
    return re.sub(r"\s+", " ", path).strip()


def legend_above(figure: Figure, handles: list, columns: int) -> None:
    """Puts a legend of labelled artists on top of the drawing; a tuple has the label of its first artist."""
    labels = [(h[0] if type(h) is tuple else h).get_label() for h in handles]
    figure.legend(
        handles, labels, handler_map={tuple: HandlerTuple(ndivide=None, pad=0)},
        loc="outside upper left", ncols=columns, handlelength=1.3, handleheight=0.9,
        columnspacing=1.2, handletextpad=0.5, borderpad=0.1,
    )  # fmt: skip
