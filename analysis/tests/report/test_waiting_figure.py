"""The figure of waiting: no dot hides another, and the least can be read beside the most."""

import json
import xml.etree.ElementTree as ET
from collections import defaultdict
from itertools import combinations

import pytest
from planned import run, view_of

from spikemark.report import style
from spikemark.report.sections import waiting
from spikemark.report.sections.waiting.drawing import side_by_side


def figure(folder, spreads: dict[tuple[str, int], float]):
    """The figure of one run of every schedule and D, whose cycle times have these CV."""
    runs = [run(schedule, d, 2, seed=1, mean_s=3e-5, cv=cv) for (schedule, d), cv in spreads.items()]
    (found,) = waiting.section(view_of(folder, runs)).figures
    return found


def dots(found) -> dict[str, list[list]]:
    """The places of the measured dots in points, by schedule."""
    (panel,) = json.loads(ET.fromstring(found.svg).find(f"{{{style.SVG}}}metadata").text)
    places = defaultdict(list)
    for one in panel["series"]:
        if one["kind"] == "measured":
            places[one["name"]] += [point[:2] for point in one["points"]]
    return places


def test_schedules_with_one_d_stand_side_by_side(tmp_path):
    alike = ("structure_aware", "overlapped", "hierarchical")
    found = dots(figure(tmp_path, {("conventional", 1): 0.1} | {(name, 10): 0.1 for name in alike}))
    places = [at for name in ("structure-aware", "overlapped", "hierarchical") for at in found[name]]
    assert len(places) == 3 and all(abs(a[0] - b[0]) >= 6 for a, b in combinations(places, 2))


@pytest.mark.parametrize("ratios", [[1, 1, 1, 1], [1, 10, 12, 10, 12], [1], [2, 2, 100]])
def test_dots_stand_nearest_to_their_own_d(ratios):
    places = side_by_side(ratios)
    assert len(set(places)) == len(ratios)
    for d, at in zip(ratios, places, strict=True):
        assert min(set(ratios), key=lambda other: abs(other / at - 1)) == d


def test_little_waiting_can_be_read_beside_much(tmp_path):
    spreads = {("conventional", 1): 0.004, ("structure_aware", 2): 0.5, ("structure_aware", 10): 0.001}
    found = dots(figure(tmp_path, spreads))
    (_, some), (_, least) = found["conventional"][0], found["structure-aware"][1]
    assert least - some > 20, "in points; on an axis from 0 both would lie on it"
    found = figure(tmp_path / "alike", {("conventional", 1): 0.2, ("structure_aware", 10): 0.3})
    assert ">0.0" in found.svg, "where all is alike, the axis begins at 0"
