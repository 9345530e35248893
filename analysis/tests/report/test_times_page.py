"""The page of cycle times of another program: one slow rank is planted, and its share is known."""

import json
import re

import numpy as np
import pytest
from html_page import Page
from small_network import describe
from synthetic import write_run

from spikemark.records import imported, record
from spikemark.report import times_page
from spikemark.report.headline import MOST_WORDS
from spikemark.report.ways import LONGEST, SIGNS, bars, ways_of
from spikemark.waiting import PREDICTORS
from spikemark.waiting.allowed import MEASURED
from spikemark.waiting.show_budget import TOGETHER

RANKS, CYCLES, SLOW = 8, 1200, 5


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Times in ms of one array [rank, cycle] each, as NumPy writes them."""
    compute = 1 + 0.02 * np.random.default_rng(3).standard_normal((RANKS, CYCLES))
    compute[SLOW] += 0.2
    communicate = compute.max(axis=0) - compute + 0.05
    path = tmp_path_factory.mktemp("times")
    np.savez(path / "times.npz", compute=compute, communicate=communicate)
    return path


@pytest.fixture(scope="module")
def out(folder):
    about = {"files": ["times.npz"], "unit": "ms", "skipped": 0, "cycle_ms": None}
    found = imported.save(folder / "mine", imported.read([folder / "times.npz"], "ms"), about)
    return found.path


def test_the_page_answers_for_the_program_on_its_first_screen(out):
    path, sentence = times_page.write(imported.load(out))
    assert sentence.startswith(f"Rank {SLOW} causes ") and len(sentence.split()) <= MOST_WORDS
    text = path.read_text(encoding="utf-8")
    top = re.search(r'<header class="first-screen">.*?</header>', text, re.S).group()
    assert top.count("<svg") == 1 and top.count("<table") == 1 and sentence in top
    words = Page(text).text
    shown = " ".join(Page(top).text.split())
    waits = r"Ranks wait 1\d % \(\d % to 1\d %\) of the run time\. What would help most: replace-slowest, −"
    assert re.search(waits, shown)
    assert "cycle times of another program mine" in shown
    for said in ("as it ran", "structure-aware, D = 5", "structure-aware, D = 10", "overlapped, D = 10"):
        assert said in words
    assert "replace-slowest helps most" in words and "shortest delay between areas" in words
    assert TOGETHER in words
    assert MEASURED.split("`")[0].strip() in words, "what another placement would do is not known"


def test_meeting_less_often_saves_what_exchanges_take(out):
    times = imported.load(out)
    fitted = times_page.source(times)
    known, _ = ways_of(fitted, PREDICTORS["replay"].fit(fitted), times)
    cycle = {way.name: way.cycle.value for way in known}
    assert cycle["as it ran"] == pytest.approx(1250, rel=0.01)
    assert cycle["structure-aware, D = 10"] == pytest.approx(1200 + 5, rel=0.02)


def test_too_few_cycles_for_a_schedule_are_said(folder):
    compute = np.load(folder / "times.npz")["compute"][:, :250]
    about = {"files": ["times.npz"], "unit": "ms", "skipped": 0, "cycle_ms": None}
    short = imported.save(folder / "short", imported.Found({"compute": 1e-3 * compute}), about)
    text, _ = times_page.render(short)
    assert "structure-aware, D = 20: cycles=250" in Page(text).text


def test_the_command_writes_it_and_a_new_import_takes_it_away(spikemark, refusal, folder, undrawn):
    mine = folder / "again"
    options = ("--unit", "ms", "--out", mine)
    _, output, _ = spikemark("import", "cycles", folder / "times.npz", *options)
    assert f"spikemark report {mine}" in output
    status, output, _ = spikemark("report", mine)
    assert status == 0 and f"Rank {SLOW} causes" in output and (mine / "report.html").is_file()
    assert spikemark("import", "cycles", folder / "times.npz", *options)[0] == 0
    assert not (mine / "report.html").exists(), "it is about the earlier times"
    line = refusal("predict", mine, "--schedule", "structure_aware")
    assert "--delay-ratio" in line
    line = refusal("predict", mine, "--schedule", "overlapped", "--delay-ratio", 5)
    assert "a multiple of 2 is allowed, such as 4 or 6" in line
    _, output, _ = spikemark("predict", mine, "--schedule", "placement_only")
    assert "another placement" in output


def test_two_arrays_in_two_files_are_told_where_they_belong(refusal, folder):
    for name, array in np.load(folder / "times.npz").items():
        np.save(folder / f"{name}.npy", array)
    files = [folder / "compute.npy", folder / "communicate.npy"]
    line = refusal("import", "cycles", *files, "--unit", "ms", "--out", folder / "no")
    assert "numpy.savez('times.npz', compute=" in line


def test_advice_on_a_terminal_says_what_the_page_says(spikemark, refusal, out, tmp_path, undrawn):
    status, output, errors = spikemark("advise", out, "--html", tmp_path / "page.html")
    assert status == 0 and f"Rank {SLOW} causes" in output and "waiting was not timed" in errors
    (line,) = [
        line for line in output.splitlines() if line.startswith("What would help most: replace-slowest, −")
    ]
    middle, low, high = re.findall(r"−([\d.]+)", line)
    assert float(high) <= float(middle) <= float(low) and "." in middle + low + high
    assert "Measure next" in output and "shortest delay between areas in cycles" in output
    words = Page((tmp_path / "page.html").read_text(encoding="utf-8")).text
    assert "What would help most: replace-slowest" in words and "What to measure next" in words
    status, output, _ = spikemark("advise", out, "--json")
    rows = json.loads(output)["order"]["rows"]
    assert rows == sorted(rows, key=lambda row: row["runtime"]["value"]) and len(rows) > 8
    assert "--machine: " in refusal("advise", out, "--machine", "jureca-dc")
    assert "record.json" in refusal("advise", tmp_path)


def test_advice_on_a_run_keeps_to_the_delays_of_its_network(spikemark, tmp_path):
    """They allow D = 10, so that D = 20 is refused."""
    description = describe(areas=2, delay_ratio=10)
    run = write_run(tmp_path / "run", ranks=2, cycles=500, mean_s=1e-3, description=description)
    status, output, errors = spikemark("advise", run)
    assert status == 0 and "structure-aware, D = 10" in output and "structure-aware, D = 20 " not in output
    assert "structure-aware, D = 20: delay_ratio=20: the delays of the run allow" in errors


def test_the_terminal_shows_the_picture_of_the_page(spikemark, out, undrawn):
    made = times_page.answer(imported.load(out))
    lines = bars(made.ways)
    assert len(lines) == 1 + len(made.ways)
    for way, line in zip(made.ways, lines[1:], strict=True):
        name, signs = line[: line.index("█")], re.search("[█▒░]+", line).group()
        assert name.strip() == way.name
        for part, sign in SIGNS.items():
            expected = LONGEST * way.parts[part].value / made.ways[0].cycle.value
            assert signs.count(sign) == pytest.approx(expected, abs=1)
    _, output, _ = spikemark("advise", out)
    assert all(line in output for line in lines)
    order = [made.sentence, made.waits, made.order.title, lines[0]]
    assert [output.index(one) for one in order] == sorted(output.index(one) for one in order)
    assert output.count(made.sentence) == 1


def test_every_change_is_listed_once_and_explained(out):
    made = times_page.answer(imported.load(out))
    names = [row["change"] for row in made.order.rows]
    assert len(set(names)) == len(names) and "double-delay-ratio" not in names
    assert "structure-aware, D = 2" in names and all(row["meaning"] for row in made.order.rows)
    assert not any("below" in row[1] or re.search(r"\.\d\d", row[1]) for row in made.order.cells)


def test_what_is_not_known_of_another_program_is_a_condition(folder, tmp_path):
    """Where a schedule would help most; the delays of a run of our own are known."""
    compute = np.load(folder / "times.npz")["compute"]
    columns = {"compute": 1e-3 * np.delete(compute, SLOW, axis=0)}
    columns["communicate"] = columns["compute"].max(axis=0) - columns["compute"] + 1e-3
    about = {"files": ["times.npz"], "unit": "ms", "skipped": 0, "cycle_ms": None}
    made = times_page.answer(imported.save(tmp_path / "a", imported.Found(columns), about))
    assert made.order.title.endswith("of the run time, if the delays between areas allow it.")
    assert times_page.EXCHANGES in made.based
    assert made.next[0].startswith("Look whether every rank has cores of its own")
    run = write_run(tmp_path / "run", ranks=2, cycles=500, mean_s=1e-3, description=describe(areas=2))
    assert "if the delays" not in times_page.answer(record.load(run)).order.title
