"""Two categories of one figure can be told apart, in both schemes and with the common colour blindnesses."""

import re
from importlib import resources
from itertools import combinations

import numpy as np
import pytest

from spikemark.network.schedules import SCHEDULES
from spikemark.records.phases import COMPUTE_PHASES, PARTS
from spikemark.report import first_screen, style
from spikemark.report.sections import budget, exchanges
from spikemark.report.sections.speed.drawing import PARTS as MEMORY

STYLE = (resources.files("spikemark.report") / "style.css").read_text(encoding="utf-8")
NAME = {colour: name for name, colour in style.COLOUR.items()}
ALL_PHASES = [*COMPUTE_PHASES, *(phase for part in PARTS.values() for phase in part)]
#: The names of all colours that may stand in one figure.
FIGURES = {
    "the first picture": set(first_screen.COLOURS.values()),
    "phases": {NAME[style.phase_colour(phase, list(dict.fromkeys(ALL_PHASES)))] for phase in ALL_PHASES},
    "causes of waiting": set(budget.COLOURS.values()),
    "memory": {*(NAME[colour] for colour in MEMORY.values()), "rule"},
    "schedules": {NAME[style.schedule_colour(name)] for name in (*SCHEDULES, "another")},
    "exchanges": set(exchanges.COLOURS),
}
#: Machado, Oliveira, Fernandes (2009), doi 10.1109/TVCG.2009.113, severity 1, on linear RGB.
BLIND = {
    "none": np.eye(3),
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
LEAST = {"none": 20, "protanopia": 8, "deuteranopia": 8, "tritanopia": 8}  # differences in CIELAB


def scheme(dark: bool) -> dict[str, str]:
    """The colours of a scheme by name; the dark one takes over what it does not define."""
    light, rest = STYLE.split("prefers-color-scheme: dark", 1)
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    return found | (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", rest[: rest.index("* {")])) if dark else {}
    )


def lab(colour: str, blindness: str) -> np.ndarray:
    """CIELAB of a colour as people see it."""
    srgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(BLIND[blindness]) @ linear, 0, 1)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = np.asarray(to_xyz) @ seen / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("blindness", BLIND)
@pytest.mark.parametrize("figure", FIGURES)
def test_two_categories_can_be_told_apart(figure, blindness, dark):
    colours = scheme(dark)
    apart = {
        (a, b): np.linalg.norm(lab(colours[a], blindness) - lab(colours[b], blindness))
        for a, b in combinations(sorted(FIGURES[figure]), 2)
    }
    assert {pair: round(x, 1) for pair, x in apart.items() if x < LEAST[blindness]} == {}


@pytest.mark.parametrize(
    "table", [first_screen.COLOURS, budget.COLOURS, MEMORY], ids=["first", "causes", "memory"]
)
def test_no_two_categories_share_a_colour(table):
    assert len(set(table.values())) == len(table)
