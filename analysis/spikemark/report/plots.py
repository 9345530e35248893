"""Every figure of every page: four marks, drawn by seaborn from tidy frames, as inline SVG.

`bars` (stacked, one row per label), `points` (a row per label, or over a number), `lines` (with a
band) and `histogram`. Each takes the frame that it draws and returns an elements.Figure: the
drawing, its caption, and the frame as a table. Values appear under the pointer (SVG titles).
Colours are CSS variables, so one drawing serves the light scheme, the dark one and paper; the
native width is that of a phone.

A figure takes a tenth to half a second, most of it in matplotlib. Its `name` begins the ids of the
drawing, and has to be unique on a page.
"""

import io
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from importlib import resources
from textwrap import fill
from typing import Any, cast

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullLocator

from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.elements import Figure
from spikemark.quantities.table import Cell, Table
from spikemark.quantities.terms import columns, term
from spikemark.quantities.words import counted, number

WIDTH = 4.7  # inches = 338 points
LABEL_WIDTH = 30  # characters of a line in the label of a row
MAX_PANELS = 6
MAX_LINES = 4  # of a panel; beyond, each has a panel of its own
MAX_DOTS = 40  # of a bar
FAR = 2.0  # times the longest bar of a panel, beyond which a dot would squeeze the bars
BEHIND_BARS = 1.1  # times the longest bar, where an arrow stands for such a dot
LONGEST_OF_TWO = 24  # letters of a label in a legend of two columns
LONGEST_OF_THREE = 14  # and of three
WIDTH_OF_NAME = 17  # characters of a line in the name of a line of a figure
HEIGHT_OF_NAME = 0.085  # of a line of such a name, as a share of the axes
#: Lines of one schedule differ in these.
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)))
ALIKE_SPREAD = 1e-3  # of values over their size, below which they count as alike
MANY = 1e5  # from which numbers at an axis are written with k, M, G
MAX_MARKERS = 60  # values on the horizontal axis, up to which lines have markers
QUANTILES = {0.05: "q05", 0.5: "median", 0.95: "q95"}  # of the table below a histogram
SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
ET.register_namespace("", SVG)
ET.register_namespace("xlink", XLINK)
#: Heights of panels, in inches.
HEIGHT_OF_LINES = 2.6
HEIGHT_OF_ONE_LINE = 1.3  # one of several panels
HEIGHT_OF_HISTOGRAM = 1.7
HEIGHT_OF_ROW = 0.36
HEIGHT_OF_LABEL_LINE = 0.16

#: Names of colours; style.css gives each a value in the light and the dark scheme.
COLOUR_NAMES = [
    *("ink", "muted", "rule", "paper", "band", "model"),
    *("deliver", "update", "collocate", "synchronise", "exchange", "other-1", "other-2", "other-3"),
    *(name.replace("_", "-") for name in SCHEDULES),
    "other-schedule",
    *("persistent", "jitter", "drift", "barrier"),
]
#: Stand-ins while matplotlib draws; the markup has `var(--name)`.
COLOUR = {name: f"#0000{0xA0 + i:02x}" for i, name in enumerate(COLOUR_NAMES)}
#: What else has the colour of another.
COLOUR_OF_OTHER = {
    "thread_wait": "other-1",
    "inject": "other-3",
    "overlap_wait": "jitter",
    "imbalance": "persistent",
    "computing": "update",
    "waiting": "synchronise",
    "measured": "ink",
    "predicted": "model",
}
#: In an order in which the first ones differ most in lightness, too.
SPARE = (
    "deliver",
    "jitter",
    "collocate",
    "other-2",
    "exchange",
    "update",
    "other-1",
    "other-3",
)
#: Dots of the colours of a figure, in their order.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
GAP = 0.5  # points of paper between the parts of a bar

#: A line to compare with.
BESIDE: dict[str, Any] = {"color": COLOUR["model"], "linewidth": 1, "linestyle": (0, (2, 2))}
#: Draws a panel: its axes, the rows of its frame, and the value of the panel.
DrawPanel = Callable[[Axes, pd.DataFrame, object], None]
_INK = COLOUR["ink"]
_MUTED = COLOUR["muted"]
SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "spikemark",
    "path.simplify_threshold": 0.5,
    "font.size": 10.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 10.5,
    "xaxis.labellocation": "right",
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.6,
    "axes.axisbelow": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "figure.constrained_layout.use": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "axes.edgecolor": _MUTED,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "grid.color": COLOUR["rule"],
    **dict.fromkeys(("axes.labelcolor", "axes.titlecolor", "text.color"), _INK),
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "grid.linewidth": 0.8,
}


def standalone(figure: Figure) -> str:
    """A figure as a file of its own: its drawing on paper, with the colours of the light scheme.

    Raises ValueError where style.css has no colours.

    Example:
        >>> frame = pd.DataFrame({"ranks": [2, 4], "seconds": [4.0, 2.1]})
        >>> figure = lines(frame, "ranks", "seconds", "scaling", "Strong scaling", "")
        >>> standalone(figure).startswith("<svg")
        True
    """
    style = (resources.files(__package__) / "style.css").read_text(encoding="utf-8")
    light_scheme = re.search(r":root \{[^}]*\}", style)
    if light_scheme is None:
        raise ValueError("style.css: expected :root with the colours of the light scheme")
    colours = dict(re.findall(r"--([\w-]+): (#\w+);", light_scheme[0]))
    drawing = ET.fromstring(figure.svg)
    drawing.set("font-family", "sans-serif")
    paper = ET.Element(f"{{{SVG}}}rect", width="100%", height="100%", fill=colours["paper"])
    drawing.insert(0, paper)
    title = ET.Element(f"{{{SVG}}}title")
    title.text = figure.alt
    drawing.insert(0, title)
    text = ET.tostring(drawing, encoding="unicode")
    return re.sub(r"var\(--([\w-]+)\)", lambda name: colours[name[1]], text) + "\n"


def palette(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name.

    It is its own if it has one (phases, parts, schedules) that no other name has, else a spare one.

    Example:
        >>> palette(["deliver", "mine"])["deliver"] == COLOUR["deliver"]
        True
    """
    colours: dict[str, str] = {}
    spare = iter(SPARE * 10)
    for name in dict.fromkeys(names):
        colour = COLOUR.get(_colour_name(str(name)))
        while colour is None or colour in colours.values():
            colour = COLOUR[next(spare)]
        colours[name] = colour
    return colours


def _colour_name(name: str) -> str:
    """What the colour of a phase, a part, a schedule or a configuration would be called."""
    name = name.removeprefix("part.")
    first_word = re.split(r"[,(]| D=", name)[0].strip()  # structure-aware (D = 10)
    return COLOUR_OF_OTHER.get(name, first_word.replace(" ", "-").replace("_", "-"))


def bars(
    frame: pd.DataFrame,
    row: str,
    parts: Sequence[str],
    name: str,
    title: str,
    caption: str,
    *,
    xlabel: str,
    panel: str | None = None,
    dots: pd.DataFrame | None = None,
    dot: str = "a run",
    unit: str = "",
) -> Figure:
    """Stacked horizontal bars of the columns `parts`, a bar per `row`, a panel per value of
    `panel`.

    `dots`: a frame with the columns `row`, `panel` and `value` of single runs, or of what
    `dot` says, drawn over the bars; a column `name` says what each is instead. Of more than
    MAX_DOTS of a bar, some are drawn, the lowest and the highest included. Those beyond FAR times
    the longest bar of the panel are arrows at the end of the axis, and the caption has the farthest
    value.

    `unit`: of the parts, in the heads of the table; by default, that of their terms.

    Example:
        >>> parts = ["waiting", "exchange"]
        >>> frame = pd.DataFrame({"schedule": ["conventional"], "waiting": 2.0, "exchange": 1.0})
        >>> figure = bars(frame, "schedule", parts, "parts", "Parts", "", xlabel="s")
        >>> figure.id, figure.title
        ('parts', 'Parts')
    """
    if dots is not None:
        all_dots = len(dots)
        dots = _few_dots(dots, _named(row, panel))
        if len(dots) < all_dots:
            caption += f" Dots: {len(dots)} of {all_dots}, the extremes included."
        dots = dots.assign(_is_far=_are_far(frame, row, parts, panel, dots))
        if dots["_is_far"].any():
            farthest = dots["value"].max()
            caption += f" Arrows: dots beyond the axis, up to {number(farthest, 2)}."
    long = frame.melt(_named(row, panel), list(parts), "part", "value").fillna({"value": 0.0})
    totals = long["value"].abs().groupby(long["part"]).sum()
    shown = [part for part in parts if totals[part] > 0]
    heads = {part: term(part).head for part in shown}
    colours = {heads[part]: colour for part, colour in palette(shown).items()}
    long = long[long["part"].isin(shown)]
    long = long.assign(part=long["part"].map(heads))

    def draw(axes: Axes, part: pd.DataFrame, value: object) -> None:
        import seaborn as sns  # with scipy.stats, half of the time to import of a report

        labels = list(dict.fromkeys(part[row]))
        wrapped = {label: _on_lines(label) for label in labels}
        part = part.assign(**{row: pd.Categorical(part[row].map(wrapped), list(wrapped.values()))})
        sns.histplot(
            part,
            y=row,
            hue="part",
            hue_order=list(colours)[::-1],
            weights="value",
            multiple="stack",
            palette=colours,
            alpha=1,
            shrink=0.66,
            edgecolor=COLOUR["paper"],
            linewidth=GAP,
            ax=axes,
            legend=False,
            discrete=True,
        )
        for container, head in zip(axes.containers, list(colours), strict=False):
            for bar, label in zip(container, labels, strict=False):
                told(bar, [f"{label}: {head} {number(bar.get_width())}"])
        if dots is not None:
            of_panel = dots if panel is None else dots[dots[panel] == value]
            behind_bars = BEHIND_BARS * part.groupby(row, observed=True)["value"].sum().max()
            for is_far, alike in of_panel.groupby("_is_far"):
                places = [labels.index(label) for label in alike[row]]
                drawn_at = alike["value"]
                if is_far:
                    nearer = of_panel["value"].mask(of_panel["_is_far"], 0.0).max()
                    drawn_at = alike["value"].clip(upper=max(behind_bars, nearer))
                paper, marker = COLOUR["paper"], ">" if is_far else MARKERS[0]
                spots = axes.scatter(
                    drawn_at, places, 16, paper, marker=marker, edgecolors=_INK, zorder=3
                )
                names = alike["name"] if "name" in alike else [dot] * len(alike)
                values = zip(names, alike["value"], strict=True)
                told(spots, [f"{name}: {number(value)}" for name, value in values])
        axes.set(ylabel="", xlabel=xlabel)
        _rows(axes)
        _ticks(axes)

    rows = [frame[row].nunique()]
    if panel is not None:
        rows = frame.groupby(panel)[row].nunique().tolist()
    height_of_row = _height_of_row(frame[row])
    heights = [0.55 + height_of_row * number_of_rows for number_of_rows in rows]
    legend = {head: Patch(color=colour) for head, colour in colours.items()}
    svg = _panels(long, panel, draw, heights, legend, name, title)
    caption += _left_out(frame, panel)
    figure = _figure(frame, [*_named(panel, row), *shown], name, title, caption, svg)
    if not unit:
        return figure
    heads_in_unit = {part: f"{heads[part]} ({unit})" for part in shown}
    table_columns = [
        replace(column, head=heads_in_unit.get(column.name, column.head))
        for column in figure.table.columns
    ]
    return replace(figure, table=replace(figure.table, columns=table_columns))


def _are_far(
    frame: pd.DataFrame,
    row: str,
    parts: Sequence[str],
    panel: str | None,
    dots: pd.DataFrame,
) -> pd.Series:
    """Which dots of `bars` are beyond FAR times the longest bar of their panel."""
    lengths = frame[list(parts)].fillna(0.0).sum(axis=1)
    bar_lengths = lengths.groupby([frame[key] for key in _named(row, panel)]).sum()
    longest = pd.Series(float(bar_lengths.max()), index=dots.index)
    if panel is not None:
        longest = dots[panel].map(bar_lengths.groupby(level=panel).max()).astype(float)
    return (dots["value"] > FAR * longest) & (longest > 0)


def _on_lines(label: object) -> str:
    """The label of a row, on lines of at most LABEL_WIDTH characters where its words allow it.

    A path goes on after a slash.
    """
    marked = str(label).replace("/", "/\v")  # a space of no width
    return fill(marked, LABEL_WIDTH, replace_whitespace=False).replace("\v", "")


def _height_of_row(labels: Iterable[object]) -> float:
    """The height of the rows of these labels, in inches."""
    lines = max((_on_lines(label).count("\n") + 1 for label in labels), default=1)
    return max(HEIGHT_OF_ROW, HEIGHT_OF_LABEL_LINE * (lines + 0.5))


def _few_dots(dots: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """At most MAX_DOTS rows of each group by `keys`, evenly over their values, extremes
    included.
    """
    dots = dots.reset_index(drop=True)
    chosen: list[int] = []
    for _, alike in dots.groupby(keys, sort=False):
        in_order = alike["value"].sort_values(kind="stable").index
        places = np.linspace(0, len(in_order) - 1, min(len(in_order), MAX_DOTS))
        chosen += list(in_order[places.astype(int)])
    return dots.loc[sorted(chosen)]


def points(
    frame: pd.DataFrame,
    x: str,
    y: str,
    name: str,
    title: str,
    caption: str,
    *,
    hue: str | None = None,
    low: str | None = None,
    high: str | None = None,
    panel: str | None = None,
    xlabel: str = "",
    ylabel: str = "",
    log: str = "",
    line: float | None = None,
    joined: bool = False,
) -> Figure:
    """Dots with their intervals `low` to `high`; over rows where `y` holds text, else over the
    number `x`.

    `log`: "x", "y" or "xy". `line`: a vertical (rows) or horizontal line to compare with. `joined`:
    thin lines between the dots of one hue.

    Example:
        >>> frame = pd.DataFrame({"schedule": ["a", "b"], "waiting_us": [2.0, 1.0]})
        >>> points(frame, "waiting_us", "schedule", "waiting", "Waiting", "", xlabel="µs").title
        'Waiting'
    """
    over_rows = not pd.api.types.is_numeric_dtype(frame[y])
    colours = palette(frame[hue]) if hue else {}
    markers = dict(zip(colours, MARKERS * 10, strict=False))

    def draw(axes: Axes, part: pd.DataFrame, value: object) -> None:
        part = part[part[x].notna()]
        place = y
        if over_rows:
            place = "_place"
            part = part.assign(_place=_row_places(part, y, hue, colours))
            _label_rows(axes, list(dict.fromkeys(part[y])))
        else:
            part = part[part[y].notna()]
        for key, group in _groups(part, hue):
            colour = colours.get(key, COLOUR["update"])
            if low and high:
                with_interval = group[group[low].notna()]
                ends = with_interval[low], with_interval[high]
                if over_rows:
                    intervals = axes.hlines(with_interval[place], *ends, color=colour)
                else:
                    intervals = axes.vlines(with_interval[x], *ends, color=colour)
                intervals.set_linewidth(1.4)
            if joined:
                axes.plot(group[x], group[place], color=colour, linewidth=1)
            marker = markers.get(key, MARKERS[0])
            spots = axes.scatter(group[x], group[place], 26, colour, marker=marker, zorder=3)
            told(spots, _tips(key, group, x, y, low, high))
        _logs(axes, log)
        if over_rows:
            _compare_rows(axes, line, xlabel)
        else:
            _ticks(axes, part[x])
            _compare_values(axes, line, xlabel, ylabel)

    height = HEIGHT_OF_LINES
    if over_rows:
        rows = frame.groupby(panel)[y].nunique().max() if panel else frame[y].nunique()
        height = 0.6 + _height_of_row(frame[y]) * rows
    heights = _equal_heights(height, frame, panel)
    legend = {
        key: Line2D([], [], color=colour, marker=markers[key], linestyle="", markersize=5)
        for key, colour in colours.items()
    }
    svg = _panels(frame, panel, draw, heights, legend, name, title)
    caption += _left_out(frame, panel)
    first, second = (y, x) if over_rows else (x, y)
    cells = _named(panel, hue, first, second, low, high)
    return _figure(frame, cells, name, title, caption, svg)


def _compare_rows(axes: Axes, line: float | None, xlabel: str) -> None:
    """A vertical line to compare rows with, the label of their values, and few ticks."""
    if line is not None:
        axes.axvline(line, **BESIDE)
    axes.set(xlabel=xlabel, ylabel="")
    _ticks(axes)


def _compare_values(axes: Axes, line: float | None, xlabel: str, ylabel: str) -> None:
    """A horizontal line to compare values with, their grid, and the labels of both axes."""
    if line is not None:
        axes.axhline(line, **BESIDE)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(axis="y")
    if axes.get_yscale() == "linear" and max(map(abs, axes.get_ylim())) >= MANY:
        axes.yaxis.set_major_formatter(EngFormatter(sep=""))


def _row_places(part: pd.DataFrame, y: str, hue: str | None, colours: dict[str, str]) -> pd.Series:
    """On which row each dot lies, from 0; the hues of a row lie a little apart."""
    labels = list(dict.fromkeys(part[y]))
    places = part[y].map({label: row for row, label in enumerate(labels)}).astype(float)
    if hue and len(colours) > 1:
        offsets = np.linspace(-0.2, 0.2, len(colours))
        places += part[hue].map(dict(zip(colours, offsets, strict=True)))
    return places


def _label_rows(axes: Axes, labels: list[str]) -> None:
    """The vertical axis has a row for each label, the first one on top."""
    axes.set_yticks(range(len(labels)), [_on_lines(label) for label in labels])
    axes.set_ylim(len(labels) - 0.4, -0.6)
    _rows(axes)


def lines(
    frame: pd.DataFrame,
    x: str,
    y: str,
    name: str,
    title: str,
    caption: str,
    *,
    hue: str | None = None,
    low: str | None = None,
    high: str | None = None,
    panel: str | None = None,
    xlabel: str = "",
    ylabel: str = "",
    log: str = "",
    line: float | None = None,
    style: str | None = None,
    markers: bool = True,
    split: bool = False,
) -> Figure:
    """Lines over the number `x`, with intervals from `low` to `high`; a panel per value of `panel`.

    Each line is named at its end; more than MAX_LINES hues, or those of `split`, have a panel each.
    Lines of one schedule share its colour and differ in their dashes. Intervals are whiskers, or a
    band where values are too many for markers. `style`: a column of two values, such as measured
    and modelled; the second one is dashed. Rows without a place on both axes are among the numbers
    of the figure, but not drawn: the caption counts them.

    Example:
        >>> frame = pd.DataFrame({"ranks": [2, 4, 8], "seconds": [4.0, 2.1, 1.2]})
        >>> lines(frame, "ranks", "seconds", "scaling", "Strong scaling", "", log="xy").title
        'Strong scaling'
    """
    height = HEIGHT_OF_LINES
    is_split = split
    numbers = frame
    has_place = frame[x].notna() & frame[y].notna()
    if not has_place.all():
        rows = counted(int((~has_place).sum()), "row")
        missing = [_heads([axis])[axis] for axis in (x, y) if frame[axis].isna().any()]
        caption = f"{caption} Not drawn: {rows} without {' or '.join(missing)}."
        frame = frame[has_place]
    if hue and panel is None and frame[hue].nunique() > MAX_LINES:
        is_split = True
    if is_split:
        panel = hue
        height = HEIGHT_OF_ONE_LINE
    names = list(dict.fromkeys(frame[hue])) if hue else [""]
    looks = line_looks(names, is_split)
    styles = list(dict.fromkeys(frame[style])) if style else []

    def draw(axes: Axes, part: pd.DataFrame, value: object) -> None:
        if "y" in log:
            part = part[part[y] > 0]
        ends: dict[str, tuple[float, float]] = {}
        for key, group in _groups(part, hue):
            group = group.sort_values(x)
            colour, dash = looks[key]
            for style_value, line_part in _groups(group, style):
                means = line_part.groupby(x, as_index=False)[y].mean()
                dash_of_part = DASHES[1] if style_value in styles[1:] else dash
                axes.plot(means[x], means[y], color=colour, linestyle=dash_of_part)
                ends[label_of(hue, key)] = (means[x].iloc[-1], means[y].iloc[-1])
            has_markers = markers and group[x].nunique() <= MAX_MARKERS
            if low and high and has_markers:
                whiskers = axes.vlines(group[x], group[low], group[high], color=colour)
                whiskers.set_linewidth(1.2)
            elif low and high:
                band = axes.fill_between(group[x], group[low], group[high], color=colour)
                band.set(alpha=0.2, linewidth=0)
            if has_markers:
                spots = axes.scatter(group[x], group[y], 16, colour, zorder=3)
                told(spots, _tips(key, group, x, y, low, high))
        _logs(axes, log)
        _ticks(axes, part[x])
        _compare_values(axes, line, xlabel or term(x).heading, "" if is_split else ylabel)
        if len(ends) > 1:
            name_lines(axes, ends, {label_of(hue, key): looks[key][0] for key in names})

    heights = _equal_heights(height, frame, panel)
    svg = _panels(frame, panel, draw, heights, {}, name, title, share_y=is_split)
    if is_split and ylabel:
        caption = f"Upwards: {ylabel}. {caption}"
    caption += _left_out(frame, panel)
    return _figure(numbers, _named(panel, hue, style, x, y, low, high), name, title, caption, svg)


def line_looks(names: Sequence[Any], is_split: bool) -> dict[Any, tuple[str, Any]]:
    """Colour and dashes of each line, by its name.

    Lines of one schedule have its colour. `is_split`: each line has a panel of its own.

    Example:
        >>> looks = line_looks(["overlapped (D = 5)", "overlapped (D = 10)"], False)
        >>> [colour == COLOUR["overlapped"] for colour, _ in looks.values()]
        [True, True]
        >>> len({str(dashes) for _, dashes in looks.values()})
        2
    """
    looks: dict[Any, tuple[str, Any]] = {}
    of_schedules = {name: COLOUR.get(_colour_name(str(name))) for name in names}
    spare = palette([name for name, colour in of_schedules.items() if colour is None])
    for name, of_schedule in of_schedules.items():
        colour = of_schedule or (COLOUR["update"] if is_split else spare[name])
        alike = [other for other, _ in looks.values() if other == colour]
        dashes = DASHES[0] if is_split else DASHES[len(alike) % len(DASHES)]
        looks[name] = (colour, dashes)
    return looks


def label_of(hue: str | None, value: object) -> str:
    """What a line or a step is called: a word as it is; a number with what it is.

    Example:
        >>> label_of("rank", 3), label_of("configuration", "conventional")
        ('rank 3', 'conventional')
    """
    text = str(value)
    if hue is None or (isinstance(value, str) and not text.isdigit()):
        return text
    return f"{_heads([hue])[hue]} {value}"


def name_lines(axes: Axes, ends: dict[str, tuple[float, float]], colours: dict[str, str]) -> None:
    """Write the name of each line beside its end, names a line apart, tied to the ends by colour.

    Args:
        axes: whose limits are final.
        ends: the last point of each line, by its name.
        colours: by the names of lines.

    Example:
        >>> from matplotlib.figure import Figure
        >>> axes = Figure().subplots()
        >>> ends = {"D = 1": (32, 2.0), "D = 10": (32, 1.9)}
        >>> name_lines(axes, ends, colours={"D = 1": "C0", "D = 10": "C1"})
        >>> [text.get_text() for text in axes.texts]  # the lowest first
        ['D = 10', 'D = 1']
    """
    axes.margins(x=0.02)
    to_fraction = axes.transData + axes.transAxes.inverted()
    heights = {name: float(to_fraction.transform(end)[1]) for name, end in ends.items()}
    labels = {name: fill(name, WIDTH_OF_NAME) for name in heights}
    place = -np.inf
    places: dict[str, float] = {}
    for name in sorted(heights, key=lambda name: heights[name]):
        half = 0.5 * HEIGHT_OF_NAME * (1 + labels[name].count("\n"))
        place = max(heights[name], place + half)
        places[name] = place
        place += half
    overlap = max(0.0, place - 1 - HEIGHT_OF_NAME)
    for name, place in places.items():
        lowered = place - overlap
        tie = [[1.0, 1.04], [heights[name], lowered]]
        axes.plot(*tie, color=colours[name], clip_on=False, transform=axes.transAxes, linewidth=1)
        axes.text(1.05, lowered, labels[name], va="center", fontsize=9.5, transform=axes.transAxes)


def histogram(
    frame: pd.DataFrame,
    x: str,
    name: str,
    title: str,
    caption: str,
    *,
    hue: str | None = None,
    panel: str | None = None,
    bins: int = 60,
    xlabel: str = "",
    log: str = "",
    clip: float = 0.999,
    marks: dict[object, dict[str, float]] | None = None,
    table: Table | None = None,
) -> Figure:
    """Distribution of `x` as a density, up to the quantile `clip`.

    `marks`: places on the horizontal axis by panel and label. `table`: instead of quantiles.

    Example:
        >>> frame = pd.DataFrame({"cycle_us": [100.0, 101.0, 99.0, 140.0]})
        >>> histogram(frame, "cycle_us", "cycles", "Cycle times", "", bins=4, xlabel="µs").title
        'Cycle times'
    """
    colours = palette(frame[hue]) if hue else {}
    dashes = dict(zip(colours, DASHES * 10, strict=False))
    one_colour = {} if hue else {"color": COLOUR["update"], "alpha": 0.8, "linewidth": 0}
    limits = frame[x].min(), frame[x].quantile(clip)

    def draw(axes: Axes, part: pd.DataFrame, value: object) -> None:
        import seaborn as sns

        sns.histplot(
            part,
            x=x,
            hue=hue,
            bins=bins,
            binrange=limits,
            stat="density",
            common_norm=False,
            element="step",
            fill=not hue,
            palette=colours or None,
            ax=axes,
            legend=False,
            **one_colour,
        )
        for step, key in zip(reversed(axes.lines), colours, strict=False):
            step.set_linestyle(dashes[key])
        for label, place in (marks or {}).get(value, {}).items():
            axes.axvline(place, **BESIDE)
            axes.text(place, axes.get_ylim()[1], f" {label}", va="top", fontsize=9)
        _logs(axes, log)
        axes.set(xlabel=xlabel, ylabel="", yticks=[])
        axes.spines["left"].set_visible(False)

    heights = _equal_heights(HEIGHT_OF_HISTOGRAM, frame, panel)
    legend = {
        label_of(hue, key): Line2D([], [], color=colour, linestyle=dashes[key])
        for key, colour in colours.items()
    }
    svg = _panels(frame, panel, draw, heights, legend, name, title)
    caption += _left_out(frame, panel)
    if table is None:
        table = tabulated(_quantiles(frame, x, _named(panel, hue)))
    return Figure(name, title, svg, f"{title}. {caption}", caption, table)


def _quantiles(frame: pd.DataFrame, x: str, keys: list[str]) -> pd.DataFrame:
    """QUANTILES of `x`, a row for each group by `keys`."""
    levels = np.array(list(QUANTILES))
    if keys:
        quantiles = frame.groupby(keys, sort=False)[x].quantile(levels).unstack().reset_index()
    else:
        quantiles = frame[x].quantile(levels).to_frame().T
    quantiles.columns = pd.Index([*keys, *QUANTILES.values()])
    return quantiles


def if_several(frame: pd.DataFrame, column: str) -> str | None:
    """The column, as panels, if it has several values; None else.

    >>> if_several(pd.DataFrame({"ranks": [1, 2]}), "ranks")
    'ranks'
    """
    if frame[column].nunique() > 1:
        return column
    return None


def _named(*columns: str | None) -> list[str]:
    """The columns that are named, each once."""
    return list(dict.fromkeys(column for column in columns if column))


def _equal_heights(height: float, frame: pd.DataFrame, panel: str | None) -> list[float]:
    """The height of each panel, in inches; one without `panel`."""
    if panel is None:
        return [height]
    return [height for _ in frame[panel].dropna().unique()]


def _left_out(frame: pd.DataFrame, panel: str | None) -> str:
    """A sentence about panels for which there is no room; empty if there are none."""
    if panel is None or frame[panel].nunique() <= MAX_PANELS:
        return ""
    return f" Drawn: the first {MAX_PANELS} of {frame[panel].nunique()}; the numbers have all."


def _groups(frame: pd.DataFrame, hue: str | None) -> list[tuple[Any, pd.DataFrame]]:
    """The rows of each hue; all of them, named "", without one."""
    return list(frame.groupby(hue, sort=False)) if hue else [("", frame)]


def tabulated(frame: pd.DataFrame, title: str = "", notes: Iterable[str] = ()) -> Table:
    """A frame as a Table; headings, digits and units come from terms.yaml.

    Example:
        >>> print(tabulated(pd.DataFrame({"ranks": [2, 4]})).markdown())
        | ranks |
        | --- |
        | 2 |
        | 4 |
    """
    plain = frame.astype(object).where(frame.notna(), None)
    rows = cast("list[dict[str, Cell]]", plain.to_dict("records"))
    return Table(columns(frame), rows, title, notes=list(notes))


def told(artist: Artist, words: list[str]) -> None:
    """Words that a person sees when the pointer is on the artist, or on each of its dots.

    Example:
        >>> from matplotlib.figure import Figure as Canvas
        >>> canvas = Canvas()
        >>> dots = canvas.add_subplot().scatter([8], [1.2])
        >>> told(dots, ["8 ranks: 1.2 s"])
        >>> "8 ranks: 1.2 s" in markup(canvas, "scaling", "Run time by ranks")
        True
    """
    tips = artist.figure.__dict__.setdefault("tips", {})
    artist.set_gid(f"tip-{len(tips)}")
    tips[f"tip-{len(tips)}"] = words


def _tips(
    key: object, group: pd.DataFrame, x: str, y: str, low: str | None, high: str | None
) -> list[str]:
    """What is told of each row: its hue, its values with their names, and the interval."""
    heads = _heads([x, y])
    tips = []
    for row in group.to_dict("records"):
        values = [f"{heads[column]} {_value(row[column])}" for column in (x, y)]
        if low and high and pd.notna(row[low]):
            values.append(f"{number(row[low])} to {number(row[high])}")
        text = ", ".join(values)
        tips.append(f"{key}: {text}" if str(key) else text)
    return tips


def _value(value: object) -> str:
    """A cell in words."""
    return number(value) if isinstance(value, float | int) else str(value)


def _heads(names: Iterable[str]) -> dict[str, str]:
    """Heads of columns by their names."""
    return {column.name: column.head for column in columns(pd.DataFrame(columns=list(names)))}


def _figure(
    frame: pd.DataFrame, cells: list[str], name: str, title: str, caption: str, svg: str
) -> Figure:
    """A drawing with its caption, and the columns `cells` of the frame as a table."""
    table = tabulated(frame[[column for column in cells if column in frame]])
    return Figure(name, title, svg, f"{title}. {caption}", caption, table)


def _panels(
    frame: pd.DataFrame,
    panel: str | None,
    draw: DrawPanel,
    heights: list[float],
    legend: Mapping[str, Artist],
    name: str,
    title: str,
    share_y: bool = False,
) -> str:
    """The drawing as markup: a panel for each value of `panel`, one above another, and a legend.

    `heights`: of the panels, in inches. `legend`: a sample of each mark, by what it means.
    """
    groups = list(frame.groupby(panel, sort=False)) if panel else [(None, frame)]
    groups = groups[:MAX_PANELS]
    heights = heights[:MAX_PANELS]
    has_legend = len(legend) > 1
    margin = 0.1
    if has_legend:
        rows = -(-len(legend) // min(2, _columns_of_legend(legend)))
        margin = 0.25 * rows + 0.1
    with matplotlib.rc_context(SETTINGS):
        canvas = Canvas(figsize=(WIDTH, sum(heights) + margin + 0.3))
        grid = canvas.subplots(
            len(groups), 1, squeeze=False, sharex=True, sharey=share_y, height_ratios=heights
        )
        column = grid[:, 0]
        for axes, (value, part) in zip(column, groups, strict=True):
            draw(axes, part, value)
            if panel:
                axes.set_title(_panel_title(panel, value))
            if axes is not column[-1]:
                axes.set_xlabel("")
        if has_legend:
            _add_legend(canvas, legend)
        return markup(canvas, name, title)


def _panel_title(panel: str, value: object) -> str:
    """A word as it is; a number with what it is."""
    if isinstance(value, str):
        return label_of(panel, value)
    return f"{_heads([panel])[panel]} = {value}"


def _columns_of_legend(legend: Mapping[str, Artist]) -> int:
    """How many labels fit beside each other."""
    longest = max(len(str(label)) for label in legend)
    if longest > LONGEST_OF_TWO:
        return 1
    return 2 if longest > LONGEST_OF_THREE else 3


def _add_legend(canvas: Canvas, legend: Mapping[str, Artist]) -> None:
    """A legend above the panels."""
    canvas.legend(
        handles=list(legend.values()),
        labels=[str(label) for label in legend],
        loc="outside upper left",
        ncols=_columns_of_legend(legend),
        handlelength=1.1,
        handleheight=0.9,
        columnspacing=1.2,
        handletextpad=0.5,
        borderpad=0.1,
    )


def _rows(axes: Axes) -> None:
    """The vertical axis has rows instead of numbers."""
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="x")


def _ticks(axes: Axes, values: pd.Series | None = None) -> None:
    """At most five plain numbers on a linear axis; integers where the values are."""
    if axes.get_xscale() != "linear":
        return
    integers = values is not None and pd.api.types.is_integer_dtype(values)
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=integers))
    low, high = axes.dataLim.intervalx
    if high - low < ALIKE_SPREAD * max(abs(low), abs(high)):
        # Alike values: an axis that shows that they are.
        axes.set_xlim(min(0, 1.1 * high), max(0, 1.1 * high))
    axes.ticklabel_format(axis="x", useOffset=False)
    if max(abs(low), abs(high)) >= MANY:
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))


def _logs(axes: Axes, log: str) -> None:
    """Logarithmic axes; `log`: "x", "y" or "xy"."""
    for letter in log:
        getattr(axes, f"set_{letter}scale")("log")
        axis = getattr(axes, f"{letter}axis")
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(lambda value, _: f"{value:g}")
        axis.set_minor_locator(NullLocator())


def markup(canvas: Canvas, name: str, alt: str) -> str:
    """The drawing as inline SVG: colours are CSS variables, ids are unique to `name`, tips are SVG
    titles.

    Example:
        >>> from matplotlib.figure import Figure as Canvas
        >>> canvas = Canvas()
        >>> line = canvas.add_subplot().plot([4, 8], [2.1, 1.2])
        >>> markup(canvas, "scaling", "Run time by ranks").startswith("<svg")
        True
    """
    buffer = io.BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    with matplotlib.rc_context(SETTINGS):
        canvas.savefig(buffer, format="svg", metadata=nothing)
    root = ET.fromstring(buffer.getvalue())
    _drop(root, {f"{{{SVG}}}metadata", f"{{{SVG}}}style"})
    _tell(root, canvas.__dict__.get("tips", {}))
    _rename_ids(root, name)
    for picture in root.iter(f"{{{SVG}}}image"):
        picture.set("image-rendering", "pixelated")  # fields of a heat map have sharp edges
    for element in root.iter():
        if "style" in element.attrib:
            element.set("style", _style(element.attrib["style"]))
        for key in {"d", "x", "y", "transform"} & element.attrib.keys():
            element.set(key, _short(element.attrib[key]))
        has_words = element.tag in (f"{{{SVG}}}text", f"{{{SVG}}}title")
        if not has_words and not (element.text or "").strip():
            element.text = None
        element.tail = None
    for attribute in ("width", "height"):
        root.attrib.pop(attribute, None)
    root.set("role", "img")
    root.set("aria-label", alt)
    root.set("preserveAspectRatio", "xMidYMid meet")
    return ET.tostring(root, encoding="unicode")


def _tell(root: ET.Element, tips: dict[str, list[str]]) -> None:
    """Gives each dot of an artist its words, or all of it the first ones."""
    for element in root.iter(f"{{{SVG}}}g"):
        words = tips.get(element.get("id", ""))
        if not words:
            continue
        dots = list(element.iter(f"{{{SVG}}}use"))
        if len(dots) == len(words):
            for dot, text in zip(dots, words, strict=True):
                ET.SubElement(dot, f"{{{SVG}}}title").text = text
        else:
            title = ET.Element(f"{{{SVG}}}title")
            title.text = words[0]
            element.insert(0, title)


def _drop(parent: ET.Element, tags: set[str]) -> None:
    """Removes all elements with these tags."""
    for child in list(parent):
        if child.tag in tags:
            parent.remove(child)
        else:
            _drop(child, tags)


def _rename_ids(root: ET.Element, name: str) -> None:
    """Keeps only ids that something refers to, and makes them unique, since several drawings share
    a page.
    """
    everything = " ".join(value for element in root.iter() for value in element.attrib.values())
    used = set(re.findall(r"#([\w.-]+)", everything))
    for element in root.iter():
        for key, value in list(element.attrib.items()):
            if key == "id" and value in used:
                element.set("id", f"{name}-{value}")
            elif key == "id":
                del element.attrib["id"]
            elif key == f"{{{XLINK}}}href":
                del element.attrib[key]
                is_picture = value.startswith("data:")
                element.set("href", value if is_picture else f"#{name}-{value[1:]}")
            elif "url(#" in value:
                element.set(key, value.replace("url(#", f"url(#{name}-"))


def _style(style: str) -> str:
    """A style without a font, and with CSS variables for the stand-ins of colours."""
    style = re.sub(r"font-family:[^;]*;?\s*", "", style)
    for name, colour in COLOUR.items():
        style = style.replace(colour, f"var(--{name})")
    return style


def _short(path: str) -> str:
    """Rounds numbers to a hundredth of a point: a third of the size, and nobody sees it."""
    path = re.sub(r"-?\d+\.\d+", _rounded, path)
    return re.sub(r"\s+", " ", path).strip()


def _rounded(match: re.Match[str]) -> str:
    return f"{float(match.group()):.2f}".rstrip("0").rstrip(".")
