"""Figures of answers: marks show the numbers, files hold the caption, colours can be told apart."""

import itertools

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import colors

import spikemark as sm
from spikemark.api import figures
from spikemark.quantities import figure

matplotlib.use("Agg")
#: Machado, Oliveira and Fernandes (2009), severity 1: what the colour-blind see of linear RGB.
SEEN = {
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = np.array([0.9505, 1.0, 1.089])
LEAST_DISTANCE = 9.0  #: in CIELAB; from about 2.3 on, colours side by side look different


def lab(colour: str, seen: list) -> np.ndarray:
    """A colour in CIELAB, as the colour-blind see it."""
    srgb = np.array(colors.to_rgb(colour))
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    relative = TO_XYZ @ np.clip(seen @ linear, 0, 1) / WHITE
    f = np.where(relative > 0.008856, np.cbrt(relative), 7.787 * relative + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("blindness", SEEN)
def test_colours_can_be_told_apart(blindness):
    seen = [lab(colour, np.array(SEEN[blindness])) for colour in figure.PALETTE]
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)]
    assert min(distances) > LEAST_DISTANCE


def test_stacked_bars_are_bars_one_behind_the_other():
    parts = pd.DataFrame({"deliver": [1.0, 2.0], "waiting": [0.5, 0.0]}, index=["one", "two"])
    axes = figure.stacked_bars(parts)
    bars = [(bar.get_x(), bar.get_width()) for bar in axes.patches]
    assert bars == [(0, 1), (0, 2), (1, 0.5), (2, 0)]
    heights = {bar.get_facecolor() for bar in axes.patches}
    assert len(heights) == 2 and axes.yaxis_inverted()


def test_intervals_have_points_and_lines_and_nothing_where_nothing_is_known():
    values = pd.DataFrame(
        {"value": [1.0, None, 3.0], "low": [0.5, None, None], "high": [2.0, None, None]}
    )
    axes = figure.intervals(["a", "b", "c"], values)
    (points,) = [line for line in axes.lines if line.get_marker() == "o"]
    assert np.array_equal(np.array(points.get_xdata(), float), [1, np.nan, 3], equal_nan=True)
    (lines,) = axes.collections
    segments = [segment for segment in lines.get_segments() if np.isfinite(segment).all()]
    assert [segment[:, 0].tolist() for segment in segments if len(segment)] == [[0.5, 2.0]]


@pytest.mark.parametrize("ending", figures.CAPTION_FIELDS)
def test_files_hold_figure_and_caption_and_are_the_same_each_time(ending, tmp_path):
    caption = "Ranks wait for the slowest of them."
    contents = []
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
        axes = figure.new_axes()
        axes.plot([1, 2], [3, 4])
        axes.set_title("Waiting")
        file = sm.save_figure(axes, tmp_path / folder / f"figure{ending}", caption)
        contents.append(file.read_bytes())
        assert not axes.figure.texts  # the figure itself is as before
    assert contents[0].startswith((b"%PDF", b"<?xml", b"\x89PNG"))
    assert caption.encode() in contents[0] or ending == ".pdf"
    assert contents[0] == contents[1]


def test_a_caption_stands_below_tick_labels_however_long_they_are(tmp_path, monkeypatch):
    axes = figure.new_axes()
    axes.bar(["(conventional, 1, a long name)", "(structure_aware, 10)"], [1, 2])
    axes.tick_params(axis="x", rotation=90)
    drawn = []
    savefig = axes.figure.savefig

    def saved(*arguments, **options):
        axes.figure.draw_without_rendering()
        (caption,) = axes.figure.texts
        labels = [label.get_window_extent() for label in axes.get_xticklabels()]
        drawn.append(min(label.y0 for label in labels) - caption.get_window_extent().y1)
        savefig(*arguments, **options)

    monkeypatch.setattr(axes.figure, "savefig", saved)
    sm.save_figure(axes, tmp_path / "figure.png", "A caption. " * 20)
    assert drawn[0] > 0


@pytest.mark.parametrize("name", ["figure.jpg", "figure", "no-folder/figure.pdf"])
def test_what_cannot_be_written_is_refused(name, tmp_path):
    with pytest.raises(sm.BadInput) as error:
        sm.save_figure(figure.new_axes(), tmp_path / name)
    assert error.value.field == "file"
    assert not list(tmp_path.iterdir())
