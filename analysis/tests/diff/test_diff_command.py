"""`spikemark diff`: exit statuses, the same answer as text, JSON and page, and refusals in one
line.
"""

import json
from pathlib import Path

import pytest
from compared import run, sweep
from html_page import Page

import spikemark as sm
from spikemark.core.errors import BadInput
from spikemark.diff import compare

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Sweeps by how much slower they are than the first one."""
    folder = tmp_path_factory.mktemp("results")
    steps = {"first": 1.0, "same": 1.0, "slower": 1.1, "faster": 0.9, "bit": 1.04}
    return {
        name: sweep(folder / name, slower, 0.005, seed=n)
        for n, (name, slower) in enumerate(steps.items())
    }


DECISIONS = {
    ("same", "5%"): (0, compare.PASS),
    ("slower", "5%"): (1, compare.FAIL),
    ("slower", "20%"): (0, compare.PASS),
    ("faster", "0%"): (0, compare.PASS),
    ("bit", "4%"): (0, compare.INCONCLUSIVE),
}


@pytest.mark.parametrize(("second", "limit"), DECISIONS)
def test_the_exit_status_follows_what_is_sure(spikemark, results, second, limit):
    status, state = DECISIONS[second, limit]
    found, output, _ = spikemark("diff", results["first"], results[second], "--fail-above", limit)
    assert found == status and len(output.splitlines()) <= 24
    found, output, _ = spikemark(
        "diff", results["first"], results[second], "--fail-above", limit, "--json"
    )
    assert found == status and json.loads(output)["fail_above"]["state"] == state
    assert spikemark("diff", results["first"], results[second])[0] == 0


def test_other_limits_are_refused():
    for text in ("5", "0.05", "-5%", ""):
        with pytest.raises(BadInput, match="fail_above="):
            compare.limit(text)
    assert compare.limit(" 5 % ") == pytest.approx(0.05) and compare.limit("2.5%") == pytest.approx(
        0.025
    )


def test_bad_input_is_one_line(refusal, tmp_path):
    one = run(tmp_path / "a")
    assert "--fail-above='5'" in refusal("diff", one, one, "--fail-above", "5")
    assert "--html" in refusal("diff", one, one, "--html", tmp_path)
    assert "no synthetic.jsonl" in refusal("diff", one, run(tmp_path / "b"), "--history", tmp_path)
    other = run(tmp_path / "c", seed=2)
    assert "seed=2" in refusal("diff", one, other)


HOSTILE = "</style></svg><script>alert(1)</script><img src=x onerror='alert(1)'>\"&lt;$x^2$"


def test_names_in_records_are_words_on_the_page(tmp_path, spikemark):
    pages = []
    for kind, name in (("plain", "x"), ("hostile", HOSTILE)):
        about = {"host__cpu": name, "host__name": name, "provenance__compiler": name}
        sides = [
            run(tmp_path / kind / x, mean_s=1e-2, **about, provenance__version=name + x)
            for x in "ab"
        ]
        assert spikemark("diff", *sides, "--html", tmp_path / kind / "page.html")[0] == 0
        pages.append(Page((tmp_path / kind / "page.html").read_text()))
    allowed, found = pages
    assert found.loads == [] and set(found.tags) <= set(allowed.tags)
    assert (
        found.tags.count("script") == allowed.tags.count("script") <= 1 and "alert(1)" in found.text
    )


SEVERAL = {"same": "not told apart", "slower": "slower", "faster": "faster"}


def test_several_results_beside_the_first(spikemark, results, tmp_path):
    """Verdicts are those that were planted, on the screen, in JSON, on the page and the badge."""
    paths = [results[name] for name in ("first", *SEVERAL)]
    page, badge = tmp_path / "several.html", tmp_path / "speed.svg"
    status, output, _ = spikemark("diff", *paths, "--html", page, "--badge", badge, "--json")
    content = json.loads(output)
    assert status == 0 and content["state"] == "slower"
    changes = [each["overall"]["value"] for each in content["differences"]]
    assert changes == pytest.approx([0.0, 0.1, -0.1], abs=0.02)
    levels = {each["level"] for each in content["differences"]}
    assert sorted(levels) == pytest.approx([1 - 0.05 / len(SEVERAL)])
    assert ">slower<" in badge.read_text()
    shown = Page(page.read_text(encoding="utf-8")).text
    assert f"{paths[0].parent}." in shown
    answer = sm.diff(paths[0], paths[1:])
    assert answer.table["results"].tolist() == [str(path) for path in paths[1:]]
    for table in answer.screen(details=True).tables:
        for row in table.rows:
            assert row["results"] in shown and not Path(row["results"]).is_absolute()
    heads = [column.head for column in answer._bars().table.columns]
    assert "deliver (µs / cycle)" in heads and not any("s / s" in head for head in heads)
    assert answer.table["verdict"].tolist() == list(SEVERAL.values())
    assert answer.table["change"].tolist() == pytest.approx(changes)


def test_one_result_that_is_too_slow_fails(spikemark, results, tmp_path):
    badge = tmp_path / "speed.svg"
    for others, status in ((["same", "slower"], 1), (["same", "faster"], 0)):
        paths = [results[name] for name in ("first", *others)]
        found, _, _ = spikemark("diff", *paths, "--fail-above", "5%", "--badge", badge)
        state = {0: compare.PASS, 1: compare.FAIL}[status]
        assert found == status and f">{state}<" in badge.read_text()
    with pytest.raises(BadInput):
        sm.diff(results["first"], [])


def test_unchanged_results_are_seldom_called_different(tmp_path):
    """Twelve copies of an unchanged machine: at a level of 95 % for all of them, not one in each
    of four answers.
    """
    alarms = 0
    for answer_number in range(4):
        folders = []
        for number in range(4):
            seed = 10 * answer_number + number
            folders.append(sweep(tmp_path / f"{seed}", 1.0, 0.005, seed=seed))
        verdicts = sm.diff(folders[0], folders[1:]).table["verdict"]
        alarms += int((verdicts != SEVERAL["same"]).any())
    assert alarms <= 1


def test_the_page_of_a_history_shows_the_change_that_was_planted(spikemark, tmp_path):
    """Eight entries, of which the last four take a fifth longer."""
    lines = []
    for number in range(8):
        cycle_s = 0.01 * (1.2 if number >= 4 else 1.0) * (1 + 0.001 * (number % 3))
        day = f"2026-01-{number + 1:02d}"
        parts = {"cycle": cycle_s}
        entry = {"started": day, "experiment": "demo", "setup": "D=10", "key": "1a2b"}
        versions = {"commit": "old" if number < 4 else "new"}
        runs = [{"started": day, "seed": seed, "parts": parts} for seed in (1, 2)]
        lines.append(json.dumps(entry | {"versions": versions, "runs": runs}))
    folder = tmp_path / "times"
    folder.mkdir()
    (folder / "cluster.jsonl").write_text("\n".join(lines) + "\n")
    page = tmp_path / "history.html"
    assert spikemark("diff", "--history", folder, "--html", page)[0] == 0
    (section,) = sm.history(folder).sections()
    (row,) = section.tables[0].rows
    assert row["since"] == "2026-01-05" and row["differs"] == "commit"
    assert (row["entry"], row["commit"]) == (5, "new")
    assert len(section.text) == 2 and "entry 5" in section.text[0]
    assert row["change"].value == pytest.approx(0.2, abs=0.005)
    assert len(section.figures[0].table.rows) == len(lines)
    text = Page(page.read_text(encoding="utf-8")).text
    assert "2026-01-05" in text
    first_screen = text.partition("Changes")[0]
    for fact in ("network", "experiment demo", "mini-app", "cluster", "2026-01-01 to 2026-01-08"):
        assert fact in first_screen, fact


def test_entries_tell_their_network_and_are_added_once(spikemark, results, tmp_path):
    """Also where an entry was added before entries told the network."""
    folder, page = tmp_path / "times", tmp_path / "history.html"
    add = ["diff", "--history", folder, "--add", results["first"]]
    assert spikemark(*add, "--html", page)[0] == 0
    (file,) = folder.glob("*.jsonl")
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    assert all("neurons" in entry["network"] for entry in entries)
    assert entries[0]["network"] in Page(page.read_text(encoding="utf-8")).text
    older = [{**entry, "network": ""} for entry in entries]
    file.write_text("".join(f"{json.dumps(entry)}\n" for entry in older))
    before = file.read_text()
    assert spikemark(*add)[0] == 0
    assert file.read_text() == before
