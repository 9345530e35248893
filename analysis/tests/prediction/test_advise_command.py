"""The command `spikemark advise`: table, page and JSON agree, and what it refuses in one line."""

import json
import re

import pytest
import typer
from advised import MACHINE, few
from html_page import Page

from spikemark.cli.output import print_json
from spikemark.prediction import advise_show, asked
from spikemark.prediction.advise import advise
from spikemark.report import advice_page

ASKED = ("advise", "mam-benchmark", "--option", "areas=4", "--option", "neurons_per_area=2000",
         "--option", "indegree=200", "--machine", "made-up")  # fmt: skip


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    few(monkeypatch)


def test_a_refused_d_is_one_line_on_the_terminal(refusal, known):
    line = refusal(*ASKED, "--delay-ratio", "20")
    assert "delay_ratio=20: exact for no schedule that uses it; the largest exact one is 10" in line


def test_table_json_and_page_agree(spikemark, known, tmp_path):
    page = tmp_path / "advice.html"
    status, text, errors = spikemark(*ASKED, "--html", page)
    assert (status, errors) == (0, "")
    content = json.loads(spikemark(*ASKED, "--json")[1])
    assert content["simulator"] == "mini_app" and content["sentence"] == text.splitlines()[0]
    assert len(content["sentence"].split()) <= 30
    assert "Times are those of the mini-app" in text.splitlines()[1]
    assert all(line in text.splitlines() for line in content["explained"])
    assert content["as_described"] in text and content["commands"]["predict"] in text
    assert re.sub(r"\s+", " ", content["sentence"]) in re.sub(r"\s+", " ", page.read_text())
    made = advise(
        asked.for_all_schedules(asked.of_preset("mam-benchmark", False, list(ASKED[3:8:2]))), MACHINE
    )
    assert [o["schedule"] for o in content["options"]] == [r.prediction.schedule for r in made.ranked]
    for row, option in zip(advise_show.table(made).rows, content["options"], strict=True):
        assert row["nodes"] == option["nodes"] and row["placement"] == option["placement"]
        assert row["real_time_factor"].value == pytest.approx(option["figures"]["real_time_factor"]["value"])
        assert row["delay_ratio"] == str(option["delay_ratio"] or "not used")
    assert "Glossary" in Page(advice_page.render(made)).text


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("--target-rtf", "0"), "target_rtf=0.0: a real-time factor above 0"),
        (("--delay-ratio", "x"), "delay_ratio='x'; allowed: auto, or a whole number above 0"),
        (("--simulator", "brian"), "simulator='brian': known are mini_app, nest"),
        (("--exchange", "p2p", "--exchange", "direct"), "one name for all lanes"),
        (("--html", "."), "is a folder"),
        (("--placement", "x"), "placement='x'; allowed: round_robin, area, area_group"),
        (("--exchange", "x"), "exchange='x'; allowed: alltoallv"),
        (("--schedule", "x"), "schedule='x': known are conventional"),
        (("--schedule", "conventional", "--delay-ratio", "3"), "delay_ratio=3: conventional does not use it"),
        (("--run", "network.json"), "one network is needed"),
    ],
)
def test_bad_questions_are_refused_in_one_line(refusal, known, arguments, complaint):
    assert complaint in refusal(*ASKED, *arguments)


def test_an_unknown_network_is_refused(refusal, known):
    assert "preset='mam-bench': known are" in refusal("advise", "mam-bench", "--machine", "made-up")
    assert "nothing.json" in refusal("advise", "nothing.json", "--machine", "made-up")


def test_a_missing_machine_is_said(refusal, known):
    assert "machine: missing; allowed: " in refusal("advise", "mam-benchmark")
    assert "machine: missing" in refusal("predict", "network.json", "--ranks", "2")


def test_a_network_is_named_in_the_same_ways_by_all_commands(spikemark, refusal, known):
    presets = ("mam-benchmark",), ("--run", "mam-benchmark"), ("--preset", "mam-benchmark")
    for command, more in (("predict", ("--ranks", "1,2")), ("advise", ("--schedule", "conventional"))):
        printed = {
            spikemark(command, *named, *ASKED[2:], *more, "--json")[1].partition('"commands"')[0]
            for named in presets
        }
        assert len(printed) == 1 and "mam-benchmark" in printed.pop()
    assert "one network is needed" in refusal("predict", *presets[0], *presets[1], *ASKED[2:], "--ranks", "1")


def test_a_number_that_json_cannot_hold_is_named(capsys):
    content = {"options": [{"figures": {"energy_j": 1.0, "ratio": float("nan")}}], "tried": 2}
    with pytest.raises(typer.Exit) as ended:
        print_json(content)
    printed = capsys.readouterr()
    assert ended.value.exit_code == 1 and printed.out == ""
    assert printed.err == "options.0.figures.ratio: not a finite number, so there is no JSON to print\n"
