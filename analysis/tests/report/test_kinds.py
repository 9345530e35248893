"""A page over simulated runs never calls their times measured, one over measured runs never simulated."""

import re

import pytest
from benched import write_caches, write_exchanges, write_kernels
from fake_exchanges import content
from fake_simulation import simulated
from html_page import Page, page_of
from planned import grid, run, write_experiment
from printed import kinds

from spikemark.records.cases import look
from spikemark.records.gather import MEASURED, SIMULATED, gather
from spikemark.report import build, first_screen
from spikemark.report.cautions import cautions
from spikemark.report.headline import headline
from spikemark.report.sections import SECTIONS, exchanges, glossary

pytestmark = pytest.mark.slow

OTHER = {MEASURED: SIMULATED, SIMULATED: MEASURED}
# "simulated time" and "simulated caches" are what they are on every page
OF_THE_MODEL = re.compile(r"s(econds?)? (of )?simulated|simulated (time|s / s|caches)|simulates? the caches")
TITLE = "Measured delays of a simulated cortex, on this machine"


def results(folder, kind: str):
    """Runs of every schedule on one and two ranks and threads: enough for every section about times."""
    one = grid(ranks=(1, 2), ratios=(2, 10), seeds=(1, 2, 3), cycles=200)
    two = [dict(m, threads=2, label=m["label"] + " threads=2") for m in one if m["ranks"] == 2]
    meters = [{"name": "minor_faults", "unit": "count", "source": "getrusage", "status": "ok", "value": 5.0}]
    runs = [dict(m, meters=meters, warnings=[]) for m in one + two]
    found = write_experiment(folder, runs, experiment={"name": "demo", "title": TITLE})
    return simulated(found) if kind == SIMULATED else found


@pytest.fixture(scope="module", params=[MEASURED, SIMULATED])
def made(request, tmp_path_factory):
    """Kind, view, and headline of a page that was written."""
    folder = results(tmp_path_factory.mktemp(request.param), request.param)
    return request.param, look(gather(folder)), build(gather(folder), folder / "report.html")


def tables(section) -> list:
    return [*section.tables, *(figure.table for figure in section.figures)]


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__module__.split("sections.")[1])
def test_no_section_gives_a_time_the_other_kind(made, section):
    kind, view, _ = made
    found = section(view)
    assert OTHER[kind] not in {name for table in tables(found) for name in kinds(table)}
    if section is glossary.section:  # it explains all kinds
        return
    words = [*found.text, *found.missing, *(box.text for box in found.boxes)]
    words += [text for figure in found.figures for text in (figure.title, figure.alt, figure.caption)]
    words += [head for table in tables(found) for head, _ in table.heads]
    words += [table.title for table in tables(found)]
    words += re.findall(r"<text[^>]*>([^<]*)", "".join(figure.svg for figure in found.figures))
    for text in words:
        own = OF_THE_MODEL.sub("", text.replace(TITLE, ""))
        assert not re.search(rf"\b{OTHER[kind]}\b", own, re.IGNORECASE), text


def test_the_sections_about_times_say_the_kind(made):
    kind, view, _ = made
    found = [section(view) for section in SECTIONS]
    telling = {section.id for section in found if any(kind in kinds(table) for table in tables(section))}
    assert telling == {
        *("phases", "speed", "growth", "cycle-times", "evolution", "correlation", "waiting", "validation"),
        *("budget", "counters", "runs"),
    }


def test_the_top_of_the_page_says_where_and_of_what_kind(made):
    kind, view, first = made
    where = "this machine" if kind == MEASURED else "the simulated machine"
    assert str(first) == str(headline(view)) and f"n 2 ranks of {where}, " in str(first)
    assert set(kinds(first_screen.table(view))) == {kind, "counted", "given"}
    assert f"({kind})" in first_screen.picture(view).caption
    assert any(line.startswith("simulated: ") for line in cautions(view)) == (kind == SIMULATED)


def test_what_people_wrote_is_left_as_they_wrote_it(made):
    """Regular expressions over the finished page made "Simulated delays …" of the title."""
    _, view, _ = made
    words = Page((view.sweep.path / "report.html").read_text(encoding="utf-8")).text
    assert TITLE in words
    assert "published by others, not measured here" in words.lower()


def test_what_was_measured_besides_stays_measured_beside_simulated_runs(tmp_path):
    """Kernels, exchanges and peers of the machine were measured, whatever its runs are."""
    folder = simulated(write_experiment(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=100)))
    write_kernels(folder)
    write_exchanges(tmp_path, content(repetitions=2))
    view = look(gather(folder))
    bound = next(f for s in SECTIONS for f in s(view).figures if f.id == "speed-bound")
    assert kinds(bound.table) == ["given", "measured", "measured", "measured"]
    assert "(measured, interleaved)" in bound.caption and "wall-clock time (simulated)" in bound.caption
    times, growth = exchanges.section(view).figures
    assert "measured" in kinds(times.table) and "simulated" not in kinds(times.table)
    assert "(measured)" in growth.caption


def test_simulated_caches_of_a_measured_run_stay_simulated(tmp_path):
    folder = write_experiment(tmp_path, [run("conventional", 1, 2)])
    write_caches(folder, "000000000000")
    words = page_of(folder).text
    assert "last-level misses per event simulated" in words and "Simulated (kind of number)" not in words
    assert "simulated (kind of number)" in words  # the glossary explains it
