"""The page: self-contained, well-formed, and true to the records."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from html_page import Page, page
from planned import ABSENT, grid, run, write_experiment
from scipy.stats import gmean

from spikemark.core.errors import BadInput
from spikemark.prediction.simulators import MINE
from spikemark.quantities.words import number
from spikemark.records import record
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report import build, first_screen
from spikemark.report.page import typeset
from spikemark.report.sections import SECTIONS, phases

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    experiment = write_experiment(tmp_path_factory.mktemp("whole"), grid(cycles=400))
    out = experiment / "report.html"
    headline = build(gather(experiment), out)
    text = out.read_text(encoding="utf-8")
    return SimpleNamespace(experiment=experiment, text=text, page=Page(text), headline=headline)


@pytest.fixture(scope="module")
def sections(whole):
    view = look(gather(whole.experiment))
    return [section(view) for section in SECTIONS]


def shown(section) -> bool:
    """Whether a section has more than words about itself and about what is missing."""
    parts = (section.boxes, section.figures, section.tables, section.terms, section.links)
    return any(parts) or not section.missing


def test_loads_nothing(whole):
    text, found = whole.text, whole.page
    assert found.loads == []
    assert not {"link", "iframe", "object", "embed", "img", "image", "base"} & set(found.tags)
    script = re.search(r"<script>(.*)</script>", text, re.S).group(1)
    assert not re.search(r"fetch|XMLHttp|WebSocket|sendBeacon|import\b|eval|innerHTML", script)
    assert re.findall(r"\w+://[^\"]*", script) == ["http://www.w3.org/2000/svg"]  # a name, not an address
    assert "@import" not in text and "@font-face" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(\s*['\"]?([^)'\"]*)", text))
    for tag, target in found.hrefs:
        assert target.startswith("#") or (tag == "a" and target.startswith("https://"))


def test_ids_are_unique_and_local_links_lead_somewhere(whole):
    text, found = whole.text[: whole.text.index("<script>")], whole.page
    assert len(found.ids) == len(set(found.ids))
    targets = [h[1:] for _, h in found.hrefs if h.startswith("#")] + re.findall(r"url\(#([^)]*)\)", text)
    assert targets and set(targets) <= set(found.ids)


def test_every_section_is_there_in_order(whole, sections):
    found = whole.page
    absent = [section for section in sections if not shown(section)]
    present = [section for section in sections if shown(section)]
    positions = [found.ids.index(section.id) for section in [*present, *absent]]
    assert positions == sorted(positions)
    assert {s.id for s in absent} >= {"peers", "exchanges", "activity", "energy"}
    assert all(section.missing for section in absent)
    assert [s.id for s in present[:4]] == ["waiting", "budget", "validation", "cycle-times"]
    for section in sections:
        assert section.title in found.text


def test_the_contents_lead_to_every_section_in_order(whole, sections):
    text = re.search(r'<nav class="contents".*?</nav>', whole.text, re.S).group()
    wanted = [section.id for section in sections if shown(section)]
    assert re.findall(r'href="#([\w-]+)"', text) == [*wanted, "absent"]


def test_the_first_screen_has_one_sentence_one_picture_and_one_table(whole):
    top = re.search(r'<header class="first-screen">.*?</header>', whole.text, re.S).group()
    assert top.count("<svg") == 1 and top.count("<table") == 1 and 'class="tiles"' not in top
    assert f'<p class="headline" id="headline">{whole.headline.sentence}' in top
    sentence, progress = Page(top).text.index("times as"), Page(top).text.index("36 of 36 runs are complete")
    said = Page(top).text.index(MINE)
    assert sentence < said < progress
    assert 'href="#term-mini-app"' in top and 'id="term-mini-app"' in whole.text


def test_cautions_stand_in_one_place(whole):
    """They come before the sections, with those of single sections, and nowhere else."""
    before, after = whole.text.split('<nav class="contents"')
    assert before.count('class="box wary caution"') >= 1 and "box wary" not in after
    assert "virtual machine: times may be disturbed" in before
    assert "virtual machine: times may be disturbed" not in after


def test_every_figure_has_words_and_numbers_beside_it(whole, sections):
    figures = [figure for section in sections for figure in section.figures]
    found = whole.page
    assert len(figures) >= 6
    picture = first_screen.picture(look(gather(whole.experiment)))
    assert found.images == [picture.alt, *(figure.alt for figure in figures)]
    assert len(figures) + 1 == found.tags.count("figcaption")
    assert found.tags.count("details") >= len(figures)
    for figure in figures:
        assert len(figure.alt) > 40 and len(figure.caption) > 40 and figure.table.cells


def test_every_title_of_a_table_stands_on_the_page(whole, sections):
    """A title may hold the units; it stands above the table, or as the title of its section."""
    tables = [table for section in sections for table in section.tables if table.title]
    text = whole.page.text
    assert any(len(section.tables) == 1 for section in sections)
    assert [table.title for table in tables if table.title not in text] == []


def test_every_column_of_every_table_has_a_name_of_its_own_and_cells(sections):
    tables = [table for section in sections for table in section.tables]
    tables += [figure.table for section in sections for figure in section.figures]
    for table in tables:
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names) and table.rows
        assert set(names) <= {name for row in table.rows for name in row}


def test_figures_take_all_their_colours_from_the_style_sheet(whole):
    used = set(re.findall(r"var\(--([\w-]+)\)", whole.text))
    assert used <= set(re.findall(r"--([\w-]+):", whole.text))
    assert not re.search(r"(?:fill|stroke): #", whole.text)


def test_both_schemes_and_print_define_the_colours(whole):
    style = re.search(r"<style>(.*?)</style>", whole.text, re.S).group(1)
    light, dark = (
        set(re.findall(r"--([\w-]+):", part)) for part in style.split("prefers-color-scheme: dark")[:2]
    )
    assert light == dark and {"ink", "paper", "deliver"} <= light


def test_numbers_are_those_of_the_records(whole):
    plan = json.loads((whole.experiment / "plan.json").read_text())
    runs = [(line, record.load(whole.experiment / "runs" / line["id"])) for line in plan["runs"]]
    words = whole.page.text

    def factors(schedule, ratio):
        return [
            r.record.timing.real_time_factor
            for line, r in runs
            if (line["fields"]["schedule"], line["fields"]["delay_ratio"], line["ranks"])
            == (schedule, ratio, 2)
        ]

    plain, aware = factors("conventional", 1), factors("structure_aware", 10)
    ratio = gmean(plain) / gmean(aware)
    view = look(gather(whole.experiment))
    made = next(
        c for c in view.case.configurations() if (c.schedule, c.delay_ratio) == ("structure_aware", 10)
    )
    assert view.speed_up(made).value == pytest.approx(ratio)
    assert number(ratio) in words and number(gmean(aware)) in words and number(gmean(plain)) in words
    for line, r in runs:
        assert number(r.record.timing.real_time_factor) in words
        assert r.record.checksum in words and line["label"] in words
        share = r.record.totals.first_accesses / r.record.totals.synaptic_events
        assert number(share, 2)[:4] in words
    one = next(r for line, r in runs if line["ranks"] == 2)
    for name, phase in one.record.timing.phases.items():
        assert name in words and phase.mean_s is not None
    for fact in (one.record.provenance.commit, one.record.provenance.compiler, one.record.host.cpu):
        assert fact in words


def test_equal_checksums_are_said_to_be_equal(whole):
    assert "36 runs of 3 networks gave one checksum per network" in whole.page.text
    assert "Checksums: equal in 36 runs of 3 networks." in whole.page.text
    assert "NOT EQUAL" not in whole.page.text


def test_a_different_checksum_is_loud(tmp_path):
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1, 2))
    runs[-1]["checksum"] = "0123456789abcdef"
    words = page(tmp_path, runs).text
    assert words.count("NOT EQUAL") >= 3  # at the top, beside the progress, in the box
    assert "0123456789abcdef: structure_aware D=10 ranks=2 seed=2" in words


def test_warnings_of_the_runs_and_across_runs(tmp_path):
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1, 2))
    runs[0]["warnings"] = ["oversubscribed: 2 ranks on 1 core"]
    runs[1].update(provenance__commit="1" * 40, provenance__dirty=True, timing__timer_overhead=0.2)
    words = page(tmp_path, runs).text
    assert "oversubscribed: 2 ranks on 1 core (1 of 6 runs)" in words
    assert "virtual machine: times may be disturbed by other guests (5 of 6 runs)" in words
    assert "mixed commits: the runs come from 2 different ones" in words
    assert "uncommitted changes in the source of 1 of 6 runs" in words
    assert "reading the clock took up to 20.0\u202f% of a run" in words


def test_runs_that_differ_in_more_are_left_out_of_the_figures(tmp_path):
    other = [run("conventional", 1, 2, seed=1, threads=2)]
    words = page(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1,)) + other).text
    assert "not in the figures: 1 run," in words


def test_text_from_the_plan_is_escaped(tmp_path):
    runs = [dict(run(), label="<b>&amp;")]
    experiment = {"name": "demo", "title": "<script>alert(1)</script>"}
    found = page(tmp_path, runs, experiment=experiment)
    assert found.tags.count("script") == 1
    assert "<script>alert(1)</script>" in found.text and "<b>&amp;" in found.text


def test_the_same_runs_give_the_same_page(tmp_path):
    experiment = write_experiment(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=100))
    for name in ("one.html", "two.html"):
        build(gather(experiment), tmp_path / name)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_bars_end_at_the_numbers_of_the_headline(whole):
    view = look(gather(whole.experiment))
    bars = {bar.configuration: bar for bar in phases.prepare(view.case, view.ranks)}
    speed_up = whole.headline.speed_up  # of speeds, so inverse real-time factors
    means = {view.other: 1 / speed_up.first, view.base: 1 / speed_up.second}
    for configuration, factor in means.items():
        assert bars[configuration].mean == pytest.approx(factor)
        assert sum(bars[configuration].phases.values()) == pytest.approx(factor)


def test_runs_without_a_partner_are_in_the_bars_only_and_said_to_be(tmp_path):
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1, 2, 3), cycles=100)
    runs[0]["state"] = ABSENT
    words = page(tmp_path, runs).text
    assert "1 run has no partner in the other schedule" in words


def test_terms_with_an_index_are_typeset(whole):
    assert "d_min" not in whole.page.text
    assert "d<sub>min</sub>" in whole.text


def test_code_is_set_as_such_and_escaped(whole):
    assert "<code>make peers</code>" in whole.text
    assert typeset("`a < b` and 1 < 2, a ` alone") == "<code>a &lt; b</code> and 1 &lt; 2, a ` alone"


def test_the_most_severe_warning_comes_first(tmp_path):
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=100)
    runs[0]["warnings"] = ["virtual machine: guests", "foreign load: other processes kept 1.75 cores busy"]
    words = page(tmp_path, runs).text
    assert re.search(r"Read with care foreign load: other processes kept 1.75 cores", words)


def test_sources_are_those_of_the_readme(sections):
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8").split("## Sources")[1]
    entries = [line[2:] for line in readme.splitlines() if line.startswith("- ")]
    links = next(section.links for section in sections if section.id == "literature")
    assert len(entries) == len(links) == 12
    for entry, (name, address, _) in zip(entries, links, strict=True):
        assert entry.split(",")[0].split(" ")[0] == name.split(",")[0].split(" ")[0]
        assert address in readme


def test_without_a_plan_nothing_is_written(tmp_path):
    with pytest.raises(BadInput, match=r"plan\.json"):
        build(gather(tmp_path), tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []
