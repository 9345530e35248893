"""Placement files: they come back as they were written, and what does not place every neuron is refused."""

import json

import numpy as np
import pytest

from spikemark.core.errors import BadInput
from spikemark.network import placement_file
from spikemark.network.placement_file import Placement
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.methods import METHODS

WHOLE = {"first": [0, 40, 70], "end": [40, 70, 100], "rank": [1, 0, 1]}


def written(path, columns: dict, **about):
    path.write_text(json.dumps({"kind": "placement", "format_version": 1, "ranks": 2} | about | columns))
    return path


@pytest.mark.parametrize("ending", placement_file.ENDINGS)
def test_a_file_comes_back(tmp_path, ending, brain):
    for name in ("round_robin", "sequential", "largest_first"):
        made = divide(brain, 3, METHODS[name]).placement
        path = tmp_path / f"p{ending}"
        placement_file.write(path, made)
        back = placement_file.read(path, brain.neurons)
        assert (back.ranks, back.method) == (3, name)
        for column in placement_file.COLUMNS:
            assert (getattr(back, column) == getattr(made, column)).all()


def test_over_and_origin_may_be_left_out(tmp_path):
    found = placement_file.read(written(tmp_path / "p.json", WHOLE), 100)
    assert found.per_rank.tolist() == [30, 70]


BAD = {
    "forgotten": ({"first": [0, 50, 70]}, {}, "neurons 40 to 49 are forgotten"),
    "forgotten first": ({"first": [3, 40, 70]}, {}, "neurons 0 to 2 are forgotten"),
    "forgotten last": ({"end": [40, 70, 90]}, {}, "neurons 90 to 99 are forgotten"),
    "twice": ({"first": [0, 30, 70]}, {}, "neurons 30 to 39 are placed twice"),
    "backwards": (
        {"first": [0, 70, 40], "end": [70, 40, 100]},
        {},
        "range 1: first=70, end=40: end must not be below first",
    ),
    "too many": ({"end": [40, 70, 120]}, {}, "end=120: the network has 100 neurons"),
    "no such rank": ({"rank": [1, 0, 2]}, {}, r"range 2: rank=2, over=1: the ranks are 0 to 1"),
    "below": ({"rank": [1, -1, 1]}, {}, r"range 1: rank=-1"),
    "over": ({"over": [1, 1, 2]}, {}, r"range 2: rank=1, over=2: the ranks are 0 to 1"),
    "over 0": ({"over": [0, 1, 1]}, {}, r"range 0: rank=1, over=0"),
    "origin": ({"origin": [0, 41, 70]}, {}, r"range 1: origin=41: allowed is 0 to its first neuron, 40"),
    "origin below": ({"origin": [-1, 40, 70]}, {}, r"range 0: origin=-1: allowed is 0 to"),
    "lengths": ({"rank": [1]}, {}, "rank has 1, .*; all must have as many"),
    "fraction": ({"rank": [0.5, 1, 1]}, {}, "rank: a list of whole numbers is needed"),
    "missing": ({"end": None}, {}, "end: a list of whole numbers is needed"),
    "missing first": ({"first": None}, {}, "first: missing"),
    "ragged": ({"rank": [[1], 0, 1]}, {}, "rank: a list of whole numbers is needed"),
    "ranks": ({}, {"ranks": 0}, "ranks=0: a whole number from 1 to 1000000"),
    "kind": ({}, {"kind": "machine"}, "kind='machine': a placement of format_version 1 is needed"),
    "version": ({}, {"format_version": 2}, "a placement of format_version 1 is needed"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused(tmp_path, case):
    columns, about, complaint = BAD[case]
    path = written(tmp_path / "p.json", WHOLE | columns, **about)
    with pytest.raises(BadInput, match=complaint) as error:
        placement_file.read(path, 100)
    assert "\n" not in str(error.value) and str(path) in str(error.value)


def test_files_that_are_none(tmp_path):
    for name, text, complaint in (
        ("a.json", "{", "truncated or not JSON"),
        ("b.json", "[]", "kind=None"),
        ("c.npz", "PK", "not a placement written by"),
        ("d.npz", None, "not found; `spikemark partition` writes one"),
        ("e.json", None, "not found; `spikemark partition` writes one"),
    ):
        path = tmp_path / name
        if text is not None:
            path.write_text(text)
        with pytest.raises(BadInput, match=complaint):
            placement_file.read(path, 100)
    np.savez(tmp_path / "f.npz", rank=np.zeros(3))
    with pytest.raises(BadInput, match="not a placement"):
        placement_file.read(tmp_path / "f.npz", 100)


def test_neighbouring_ranges_of_a_rank_are_one():
    made = Placement.of(2, [10, 20, 30, 40], [0, 0, 1, 0]).merged()
    assert (made.first.tolist(), made.end.tolist(), made.rank.tolist()) == (
        [0, 20, 30],
        [20, 30, 40],
        [0, 1, 0],
    )
