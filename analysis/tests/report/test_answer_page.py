"""The page of compare and advise comes from the template of all pages, with the options' own
numbers.
"""

import datetime
import json
import re
from types import SimpleNamespace

import numpy as np
import pytest
from html_page import Page
from small_network import describe

import spikemark as sm
from spikemark.machines.profile import Value
from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.table import Column, Table
from spikemark.report import answer_page


def option(nodes, middle):
    draws = middle * np.exp(0.1 * np.random.default_rng(nodes).standard_normal(400))
    value = Value(64, "1", "literature", "data sheet", (60, 70))
    machine = SimpleNamespace(values={"node.cores": value, "kernels.update": value})
    known = {"inputs": {"one.node.cores": draws}, "anchor": None, "title": "the mini-app"}
    known["question"] = SimpleNamespace(title="a network")
    return SimpleNamespace(
        nodes=nodes, rtf=draws, parts={"update": draws / 2}, machine=machine, **known
    )


def test_curves_have_the_fastest_option_of_each_number_of_nodes(tmp_path):
    table = Table([Column("a", "a")], [{"a": 1}])
    screen = Screen(["a is faster.", "By how much."], [table], ["spikemark compare"])
    found = {"one": [option(4, 2.0), option(4, 3.0), option(8, 1.5)], "two": [option(4, 4.0)]}
    drawn = answer_page._curves(found).table.rows
    assert [(row["machine"], row["nodes"]) for row in drawn] == [("one", 4), ("one", 8), ("two", 4)]
    for row, middle in zip(drawn, (2.0, 1.5, 4.0), strict=True):
        assert row["low"] < row["real_time_factor"] < row["high"]
        assert abs(row["real_time_factor"] / middle - 1) < 0.05
    path = tmp_path / "page.html"
    sections = answer_page._about_options(found)
    answer_page.write(path, "comparison", Shown(screen), "spikemark compare one two", sections)
    text = path.read_text()
    page = Page(text)
    today = datetime.date.today().isoformat()
    assert today in page.text and "spikemark compare one two" in page.text
    assert "a is faster." in page.text and "data sheet" in page.text
    assert set(page.ids) >= {"parts", "decides", "sources", "over-nodes"}
    assert "kernels.update" not in page.text and not page.loads
    assert "64 (60 to 70)" in page.text


def test_a_page_of_a_partition_names_the_network_and_the_machine(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(describe()))
    answer = sm.partition(tmp_path / "run.json", 2)
    path = tmp_path / "page.html"
    answer_page.write(path, "neurons on ranks", answer, "spikemark partition run.json --ranks 2")
    text = path.read_text()
    facts = re.findall(r"<dt>(.*?)</dt>", text.partition("</dl>")[0])
    assert facts[:2] == ["network", "machine"]
    assert f"{answer.placement.ranks} ranks" in Page(text).text


class Shown(Answer):
    """An answer that is its screen."""

    def __init__(self, screen: Screen):
        self.all = screen

    table = content = None

    def screen(self, details=False):
        return self.all


def test_pages_of_placements_draw_the_numbers_of_their_tables(tmp_path):
    network = tmp_path / "network.json"
    network.write_text(json.dumps(describe(areas=4, neurons=40, indegree=10)))
    answer = sm.partition(network, 4)
    (section,) = answer_page._drawings(answer)
    rows = section.figures[0].table.rows
    peaks = {row["method"]: row["routes"] for row in rows if row["item"] == "busiest rank"}
    assert [*peaks] == answer.table["method"].tolist()
    sent = {each.placement.method: each.sent for each in answer.methods}
    assert peaks == {name: pytest.approx(routes.max()) for name, routes in sent.items()}
    one = sm.partition(network, 4, method="sequential")
    (section,) = answer_page._drawings(one)
    drawn = [row["routes"] for row in section.figures[0].table.rows]
    assert drawn == sorted(sent["sequential"].tolist(), reverse=True) and len(drawn) == 4
