"""Figures of frames in which values are missing."""

import re
import xml.etree.ElementTree as ET
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from spikemark.records.phases import PHASES
from spikemark.report import plots


@pytest.mark.parametrize("draw", [plots.lines, plots.points, plots.histogram])
def test_rows_without_a_panel_are_left_out(draw):
    """Of a field that only some of the runs have."""
    frame = pd.DataFrame(
        {
            "ranks": [1, 2, 1, 2, 4],
            "real_time_factor": [2.0, 1.0, 3.0, 2.0, 9.0],
            "delay_ratio": [1, 1, 10, 10, None],
        }
    )
    columns = ["real_time_factor"] if draw is plots.histogram else ["ranks", "real_time_factor"]
    figure = draw(frame, *columns, "name", "title", "caption", panel="delay_ratio")
    assert figure.svg.count("D = ") == 2


def test_a_drawing_of_its_own_has_colours_and_words_for_those_who_cannot_see_it():
    frame = pd.DataFrame({"ranks": [1, 2, 4], "seconds": [4.0, 2.0, 1.0]})
    figure = plots.lines(frame, "ranks", "seconds", "alone", "Times", "Halved.", log="xy")
    drawing = ET.fromstring(plots.standalone(figure))
    assert "var(" not in ET.tostring(drawing, encoding="unicode")
    assert drawing.find(f"{{{plots.SVG}}}title").text == figure.alt
    assert drawing.find(f"{{{plots.SVG}}}rect").get("fill") == "#ffffff"


def over_ranks(names: list[str]) -> plots.Figure:
    """A line for each name; those at the end lie close together."""
    rows = []
    for place, name in enumerate(names):
        for ranks in (1, 2, 4):
            rows.append({"ranks": ranks, "name": name, "seconds": 4 / ranks + 0.001 * place})
    return plots.lines(pd.DataFrame(rows), "ranks", "seconds", "x", "x", "x", hue="name")


def places_of(figure: plots.Figure, names: list[str]) -> dict[str, float]:
    """How far down each name stands in a drawing."""
    places = {}
    for text in ET.fromstring(figure.svg).iter(f"{{{plots.SVG}}}text"):
        words = "".join(text.itertext())
        if words in names:
            down = text.get("y") or text.get("transform", "").split("translate(")[-1]
            places[words] = float(down.split(" ")[-1].split(",")[-1].rstrip(")"))
    return places


def test_lines_are_named_at_their_ends_and_names_do_not_overlap():
    names = ["near", "far", "other", "last"]
    places = sorted(places_of(over_ranks(names), names).values())
    assert len(places) == len(names)
    assert all(below - above > 9 for above, below in pairwise(places))


def test_at_most_four_lines_share_a_panel():
    for names in (list("abcd"), list("abcde")):
        panels = over_ranks(names).svg.count("ranks</text>")
        clips = over_ranks(names).svg.count("<clipPath")
        assert panels == 1 and clips == (1 if len(names) <= plots.MAX_LINES else len(names))


def test_a_schedule_has_its_colour_in_every_figure():
    names = ["conventional", "structure-aware (D = 5)", "structure-aware (D = 10)"]
    looks = plots.line_looks(names, is_split=False)
    colours = [colour for colour, _ in looks.values()]
    assert colours[0] == plots.COLOUR["conventional"]
    assert colours[1] == colours[2] == plots.COLOUR["structure-aware"]
    assert looks[names[1]] != looks[names[2]], "told apart by their dashes"
    assert plots.line_looks(names[::-1], is_split=False)[names[0]][0] == colours[0]


#: What is drawn side by side, in the order of its drawing.
SIDE_BY_SIDE = [
    tuple(name for name in PHASES if name != "inject"),
    ("computing", "waiting", "exchange"),
    ("computing", "imbalance", "drift", "jitter", "barrier", "exchange"),
    tuple(f"kind {number}" for number in range(4)),
]
MIN_STEP = 10  #: of lightness between neighbours, of 100
MIN_DIFFERENCE = 4  #: between any two


def lightness(colour: str) -> float:
    """Of a colour such as #0072b2, from 0 to 100 (CIE L*): its grey in print."""
    shares = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return float(116 * np.cbrt(linear @ [0.2126, 0.7152, 0.0722]) - 16)


@pytest.mark.parametrize("names", SIDE_BY_SIDE, ids=len)
def test_colours_side_by_side_are_told_apart_in_grey(names):
    style = (Path(plots.__file__).parent / "style.css").read_text()
    light_scheme = dict(re.findall(r"--([\w-]+): (#\w{6});", style.partition("@media")[0]))
    name_of = {colour: name for name, colour in plots.COLOUR.items()}
    greys = [lightness(light_scheme[name_of[colour]]) for colour in plots.palette(names).values()]
    assert len(greys) == len(names)
    assert min(abs(a - b) for a, b in pairwise(greys)) >= MIN_STEP
    assert min(abs(a - b) for a, b in combinations(greys, 2)) >= MIN_DIFFERENCE


@pytest.mark.parametrize("far", [2.5, 5.9, 70.0])
def test_a_far_dot_does_not_squeeze_the_bars(far):
    frame = pd.DataFrame({"schedule": ["a", "b"], "waiting": [2.0, 1.5], "exchange": [1.0, 0.5]})
    dots = pd.DataFrame({"schedule": ["a", "b"], "value": [2.5, far]})

    def drawn(**more):
        return plots.bars(frame, "schedule", ["waiting", "exchange"], "p", "P", "", **more)

    def longest_bar(figure):
        """Of rectangles, the legend's included, but for the panel and the whole drawing."""
        corners = re.findall(r'd="M (\S+) (\S+) L (\S+) \2 L \3 (\S+) L \1 \4', figure.svg)
        numbers = [[float(text) for text in place] for place in corners]
        return max(right - left for left, top, right, bottom in numbers if abs(bottom - top) < 40)

    alone, with_dots = drawn(xlabel="s"), drawn(xlabel="s", dots=dots)
    assert longest_bar(with_dots) > 0.45 * longest_bar(alone)
    assert ("70" in with_dots.caption) == (far == 70)
    assert f"a run: {far:g}" in with_dots.svg


def test_dots_and_steps_of_several_kinds_differ_in_shape():
    frame = pd.DataFrame({"x": np.arange(12.0), "y": list("abcd") * 3, "kind": ["k", "l", "m"] * 4})
    dots = plots.points(frame, "x", "y", "dots", "Dots", "", hue="kind")
    shapes = re.findall(r'<path id="dots-[^"]*" d="([^"]*)"', dots.svg)
    assert len({re.sub(r"[\d. -]+", "", shape) for shape in shapes}) >= 3
    steps = plots.histogram(frame, "x", "steps", "Steps", "", hue="kind")
    assert len(set(re.findall(r"stroke-dasharray: ([\d., ]+)", steps.svg))) >= 2


def test_rows_have_room_for_their_labels_which_go_on_after_a_slash():
    name = "/".join(["results", "of-a-machine-with-a-name", "of-an-experiment", "and-a-run"])
    figures = {}
    for label in ("short", name):
        frame = pd.DataFrame({"x": [1.0, 2.0], "y": [f"{label} 1", f"{label} 2"]})
        drawing = ET.fromstring(plots.points(frame, "x", "y", "rows", "Rows", "").svg)
        figures[label] = float(drawing.get("viewBox").split()[3])
        texts = "".join(drawing.itertext())
        assert "\v" not in texts
    assert figures[name] > figures["short"]
