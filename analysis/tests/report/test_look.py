"""What a page lets people look into, and how it fits a desktop, a phone and paper."""

import json
import re
import xml.etree.ElementTree as ET
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from planned import grid, view_of

from spikemark.quantities.quantity import Quantity, missing
from spikemark.report import look, style
from spikemark.report.page import typeset
from spikemark.report.sections import SECTIONS

STYLE, SCRIPT = (
    (resources.files("spikemark.report") / name).read_text(encoding="utf-8")
    for name in ("style.css", "page.js")
)
SVG = f"{{{style.SVG}}}"


def told(svg: str) -> list[dict]:
    """The panels of a drawing as page.js reads them."""
    found = ET.fromstring(svg).find(f"{SVG}metadata")
    return [] if found is None else json.loads(found.text)


def dots(**options) -> str:
    with style.drawing() as (figure, (axes,)):
        axes.plot([1, 10, 100], [3, 2, 4], "o", color=style.COLOUR["deliver"])
        axes.set(xscale="log", xlabel="ranks", ylabel="time (s)")
        values = [Quantity(3.0, 2.5, 3.5), Quantity(2.0), missing("not run")]
        look.tell(axes, "conventional", [1, 10, 100], values, "measured", ["1", "10", "100"])
        return style.markup(figure, "dots", "three dots", **dict.fromkeys(options, axes))


def test_words_lie_where_the_marks_are():
    svg = dots()
    (panel,) = told(svg)
    (series,) = panel["series"]
    groups = ET.fromstring(svg).findall(f".//{SVG}g[@clip-path]")
    marks = [(float(u.get("x")), float(u.get("y"))) for g in groups for u in g.findall(f"{SVG}use")]
    assert len(marks) == 3
    assert [at[:2] for at in series["points"]] == [pytest.approx(at, abs=0.06) for at in marks[:2]]
    assert [at[2:] for at in series["points"]] == [["1", "3.00 (2.50–3.50)"], ["10", "2.00"]]
    assert (series["name"], series["kind"]) == ("conventional", "measured")
    assert (panel["x"], panel["y"]) == ({"label": "ranks"}, {"label": "time (s)"})
    left, top, right, bottom = panel["box"]
    assert 0 < left < right < 339 and 0 < top < bottom < 216


def test_a_panel_that_can_be_zoomed_knows_its_axes():
    (panel,) = told(dots(zoom=True))
    left, _, right, _ = panel["box"]
    x = panel["x"]
    assert panel["zoom"] and x["log"] and not panel["y"]["log"] and "ticks" not in x
    low, high = np.log(x["limits"])
    places = [left + (np.log(value) - low) / (high - low) * (right - left) for value in (1, 10)]
    assert [at[0] for at in panel["series"][0]["points"]] == pytest.approx(places, abs=0.1)


def test_axes_keep_their_named_ticks_and_whole_numbers():
    with style.drawing() as (figure, (axes,)):
        axes.set_xticks([0, 1], ["few", "many"])
        axes.set_ylim(9, -1)
        look.whole(axes.yaxis)
        (panel,) = told(style.markup(figure, "ticks", "nothing", zoom=axes))
    assert panel["x"]["ticks"] == [[0.0, "few"], [1.0, "many"]] and not panel["x"]["whole"]
    assert panel["y"]["whole"] and panel["y"]["limits"] == [9.0, -1.0]


def test_a_drawing_that_tells_of_nothing_carries_nothing():
    with style.drawing() as (figure, (axes,)):
        axes.plot([1, 2], [1, 2])
        look.tell(axes, "none", [1.0], [missing("not run")])
        assert told(style.markup(figure, "plain", "a line")) == []


def test_many_points_are_thinned():
    with style.drawing() as (figure, (axes,)):
        look.tell(axes, "long", np.arange(1000), np.arange(1000))
        (panel,) = told(style.markup(figure, "long", "a line"))
    assert look.MOST / 2 < len(panel["series"][0]["points"]) <= look.MOST


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    view = view_of(tmp_path_factory.mktemp("figures"), grid(cycles=200))
    return [figure for section in SECTIONS for figure in section(view).figures]


@pytest.mark.slow
def test_every_figure_has_the_width_of_a_phone_and_letters_that_can_be_read(figures):
    """Content of a phone of 390 px is 358 px wide, a column of a desktop of 1280 px is 588 px wide."""
    assert len(figures) >= 6
    for figure in figures:
        root = ET.fromstring(figure.svg)
        width = float(root.get("viewBox").split()[2])
        assert width == pytest.approx(72 * style.WIDTH) and not root.get("width")
        sizes = [float(x) for x in re.findall(r"font-size: ([\d.]+)px", figure.svg)]
        assert min(sizes) * 358 / width >= 9 and max(sizes) * 588 / width <= 20, figure.id


def test_no_drawing_has_a_size_of_its_own():
    package = Path(style.__file__).parents[1]
    sizes = {p.name for p in package.rglob("*.py") if re.search(r"figsize|set_size_inches", p.read_text())}
    assert sizes == {"style.py"}


@pytest.mark.slow
def test_figures_can_be_looked_into(figures):
    zoomed = {figure.id for figure in figures for panel in told(figure.svg) if panel.get("zoom")}
    assert {"waiting-2", "evolution-0", "autocorrelation", "access-published"} <= zoomed
    for figure in figures:
        panels = told(figure.svg)
        for left, top, right, bottom, point in (
            (*p["box"], point) for p in panels for s in p["series"] for point in s["points"]
        ):
            assert left - 1 <= point[0] <= right + 1 and top - 1 <= point[1] <= bottom + 1, figure.id
    dots = [s for f in figures if f.id == "waiting-2" for p in told(f.svg) for s in p["series"]]
    assert {s["kind"] for s in dots} == {"measured", "modelled"}


@pytest.mark.parametrize("label", ["time (s)", "million synaptic events / s / core, of all ranks together"])
def test_no_label_ends_beyond_the_drawing(label):
    with style.drawing() as (figure, (axes,)):
        style.stacked(axes, ["a rather long name of a row"], {"deliver": ([1.0], style.COLOUR["deliver"])})
        axes.set_xlabel(label)
        style.markup(figure, "label", "a bar")
        FigureCanvasAgg(figure).draw()
        assert axes.xaxis.label.get_window_extent().x1 <= figure.bbox.x1


def block(query: str) -> str:
    """The rules of a media query of the style sheet."""
    start = STYLE.index(f"@media {query} {{")
    return STYLE[start : STYLE.index("\n}", start)]


def test_tables_scroll_visibly_and_can_be_reached():
    rule = re.search(r"^\.scroll \{(.*?)\}", STYLE, re.S | re.M).group(1)
    assert "overflow-x: auto" in rule and rule.count(" local") == 2 and rule.count(" scroll") == 2
    template = (resources.files("spikemark.report") / "page.html.j2").read_text(encoding="utf-8")
    assert template.count("<table") == template.count('<div class="scroll" role="region" aria-label=') == 1
    assert 'tabindex="0"' in template and ".scroll:focus-visible" in STYLE


def test_nothing_is_cut_on_paper():
    paper = block("print")
    assert ".scroll { overflow: visible" in paper and "white-space: normal" in paper
    assert "size: A4" in paper and ".tools, .tip { display: none; }" in paper
    assert re.search(r"figure, [^{]*\{ break-inside: avoid; \}", paper)
    assert "@media (prefers-color-scheme" not in STYLE, "the dark scheme is for screens"


def test_the_script_is_well_formed():
    assert "</script" not in SCRIPT and "document.write" not in SCRIPT
    bare = re.sub(r"//[^\n]*|\"[^\"\n]*\"", "", SCRIPT)
    for opening, closing in ("()", "[]", "{}"):
        assert bare.count(opening) == bare.count(closing)


def test_the_script_finds_what_drawings_have():
    root = ET.fromstring(dots(zoom=True))
    classes = [e.get("class") for e in root.iter() if e.get("class")]
    assert classes.count("axes") == 1 and classes.count("axis") == 2 and classes.count("tick") >= 4
    for name in (".axes", ".axis", ".tick", ".cells", ".drawing", "metadata"):
        assert name in SCRIPT


def bars(totals: list[float]) -> tuple[ET.Element, list]:
    parts = {"deliver": ([x / 2 for x in totals], "#111111"), "update": ([x / 2 for x in totals], "#222222")}
    with style.drawing() as (figure, (axes,)):
        style.stacked(axes, [f"bar {i}" for i in range(len(totals))], parts, end=style.axis_end(totals))
        found = axes.get_xlim()
        return ET.fromstring(style.markup(figure, "bars", "bars")), found


def test_one_long_bar_does_not_make_the_others_invisible():
    svg, (_, end) = bars([0.039, 0.038, 3.68, 0.013])
    assert 0.039 < end < 0.1
    assert "3.68 →" in "".join(svg.itertext()), "what is cut says how long it is"
    for panel in told(ET.tostring(svg, encoding="unicode")):
        assert all(at[0] <= panel["box"][2] + 1 for series in panel["series"] for at in series["points"])


@pytest.mark.parametrize("totals", [[1.0, 2.0, 3.0], [0.01, 3.0, 3.1], [0.01, 1.0], [5.0], [0.0, 0.0]])
def test_bars_are_whole_unless_few_of_them_are_far_longer_than_the_others(totals):
    svg, (_, end) = bars(totals)
    assert end >= max(totals) and "→" not in "".join(svg.itertext())


def test_options_stay_on_a_line():
    """A browser may break a line at every dash, and then --simulator on a phone begins with `--` alone."""
    whole = '<span class="option">--ranks-here</span>'
    assert typeset("by --ranks-here 2, `dryrun --ranks-here`") == f"by {whole} 2, <code>dryrun {whole}</code>"
    assert typeset("a -- b, a--b, ---c, x-y") == "a -- b, a--b, ---c, x-y"
    assert re.search(r"^\.option \{ white-space: nowrap; \}", STYLE, re.MULTILINE)
