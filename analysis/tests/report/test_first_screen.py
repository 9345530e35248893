"""The first screen: what stands beside the sentence, and what a phone shows of the picture and the table."""

import re
from importlib import resources

from planned import run, view_of

from spikemark.report import first_screen
from spikemark.report.headline import headline
from spikemark.report.page import render

STYLE = (resources.files("spikemark.report") / "style.css").read_text(encoding="utf-8")
SCRIPT = (resources.files("spikemark.report") / "page.js").read_text(encoding="utf-8")
LOAD = "foreign load: other processes kept 1.75 cores busy"


def pairs(times: dict[str, float], **options) -> list[dict]:
    """Three runs of every schedule, whose cycles take `times` s on average."""
    return [
        run(schedule, 10 if schedule == "structure_aware" else 1, 2, seed, mean_s=mean, **options)
        for seed in (1, 2, 3)
        for schedule, mean in times.items()
    ]


def top(view) -> str:
    text = render(view, headline(view))
    return re.search(r'<header class="first-screen">.*?</header>', text, re.S).group()


def test_what_weakens_the_sentence_stands_right_below_it(tmp_path, undrawn):
    runs = pairs({"conventional": 4e-5, "structure_aware": 2e-5})
    assert 'class="care"' not in top(view_of(tmp_path / "quiet", runs))
    runs[0]["warnings"] = [LOAD]
    found = top(view_of(tmp_path / "loaded", runs))
    below = found[found.index("</p>", found.index('id="headline"')) :]
    assert re.match(r'</p>\s*<p class="care">Caution: measured while other processes kept up to 1.75', below)


def test_the_main_numbers_of_the_table_come_first(tmp_path):
    table = first_screen.table(view_of(tmp_path, pairs({"conventional": 4e-5, "structure_aware": 2e-5})))
    assert [column.name for column in table.columns[:4]] == ["schedule", "factor", "speed_up", "waiting"]
    assert table.columns[-1].name == "runs"


def test_names_of_tables_stay_in_sight_on_a_phone_and_numbers_fit_beside_them():
    """At 390 px, names wrap and stay at the left, and numbers of the first table wrap, too."""
    start = STYLE.index("@media screen and (max-width: 46rem)")
    phone = STYLE[start : STYLE.index("\n}", start)]
    names = re.search(r"tbody th \{(.*?)\}", phone, re.S).group(1)
    assert "position: sticky" in names and "white-space: normal" in names and "max-width" in names
    first = re.search(r"\.first-screen \.scroll table \{(.*?)\}", phone).group(1)
    assert "width: min-content" in first
    assert ".first-screen td.number { white-space: normal" in phone


def test_a_table_that_goes_on_says_so_in_words():
    assert ".scroll.more::before" in STYLE and "scrollWidth > " in SCRIPT
    assert ".scroll.more::before" in STYLE[STYLE.index("@media print") :], "paper does not scroll"
