"""The page of compare and advise comes from the template of all pages, with the options' own numbers."""

from types import SimpleNamespace

import numpy as np

from spikemark.quantities.table import Column, Table
from spikemark.report import answer_page


def option(nodes, middle):
    draws = middle * np.exp(0.1 * np.random.default_rng(nodes).standard_normal(400))
    value = SimpleNamespace(reference="data sheet", kind="literature")
    machine = SimpleNamespace(values={"node.cores": value, "kernels.update": value})
    known = {"inputs": {"one.node.cores": draws}, "near": None}
    return SimpleNamespace(nodes=nodes, rtf=draws, parts={"update": draws / 2}, machine=machine, **known)


def test_curves_have_the_fastest_option_of_each_number_of_nodes(tmp_path):
    screen = ["a is faster.", "By how much."], Table([Column("a", "a")], [{"a": 1}]), ["spikemark compare"]
    found = {"one": [option(4, 2.0), option(4, 3.0), option(8, 1.5)], "two": [option(4, 4.0)]}
    drawn = answer_page.curves(found).table.rows
    assert [(row["machine"], row["nodes"]) for row in drawn] == [("one", 4), ("one", 8), ("two", 4)]
    for row, middle in zip(drawn, (2.0, 1.5, 4.0), strict=True):
        assert row["low"] < row["real_time_factor"] < row["high"]
        assert abs(row["real_time_factor"] / middle - 1) < 0.05
    path = tmp_path / "page.html"
    answer_page.write(path, "comparison", screen, found)
    page = path.read_text()
    assert 'class="headline"' in page and page.count("<section") == 4 and "kernels.update" not in page
    assert all(name in page for name in ("glossary.md", "sources.md", "data sheet"))
