"""The section on exchanges: what is drawn, what stands beside it, and what it says when nothing is there."""

import pytest
from benched import write_exchanges
from fake_exchanges import LINES, SIZES, content
from html_page import page
from planned import grid, write_experiment

from spikemark.bench import exchange_bench, kernel_bench
from spikemark.quantities.words import number
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.sections import SECTIONS, exchanges

FEW = {"ranks": (1,), "ratios": (10,), "seeds": (1,), "cycles": 50}


def section(tmp_path, *contents):
    experiment = write_experiment(tmp_path, grid(**FEW))
    if contents:
        write_exchanges(tmp_path, *contents)
    return exchanges.section(look(gather(experiment)))


def test_without_times_the_page_says_how_to_get_them(tmp_path):
    found = section(tmp_path)
    assert found.missing == ["Exchanges on their own, on here: missing; run `spikemark bench --exchange`."]
    assert not (found.figures or found.tables or found.text)
    assert exchanges.section in SECTIONS


def test_a_spoiled_table_does_not_cost_the_page(tmp_path):
    write_exchanges(tmp_path, content())
    (kernel_bench.folder("here", tmp_path) / exchange_bench.TABLE).write_text("spoiled")
    assert "not a Parquet file" in section(tmp_path).missing[0]


def test_the_most_ranks_with_a_core_each_are_drawn_and_all_are_fitted(tmp_path):
    crowded = content(ranks=4, oversubscribed=True, targets=("all", "ring"))
    found = section(tmp_path, content(ranks=1), content(ranks=2), crowded)
    assert [f.id for f in found.figures] == ["exchanges-times", "exchanges-growth"]
    assert all("2 ranks" in f.caption for f in found.figures) and not found.boxes
    (fits,) = found.tables
    assert "* more ranks than cores" in fits.title
    assert {row[2] for row in fits.cells} == {"1", "2", "4*"}
    assert {(row[1], row[2]) for row in fits.cells if row[1] == "ring"} == {("ring", "4*")}


def test_times_and_ratios_are_those_of_the_table(tmp_path):
    found = section(tmp_path, content(noise=0))
    times, growth = (f.table for f in found.figures)
    assert [row[0] for row in times.cells][:4] == ["4", "8", "16", "20"]
    for i, (alpha, beta) in enumerate(LINES.values(), 1):
        assert [row[i] for row in times.cells] == [number(1e6 * (alpha + beta * n)) for n in SIZES]
    assert [row[:2] for row in growth.cells] == [[e, d] for e in LINES for d in ("2", "5", "10")]
    alpha, beta = LINES["alltoall"]
    expected = number((alpha + beta * 40) / (10 * (alpha + beta * 4)))
    assert growth.cells[2][2] == "4" and growth.cells[2][3].startswith(expected)
    rows = {row[0]: row for row in found.tables[0].cells}
    for name, (alpha, beta) in LINES.items():
        assert rows[name][7].startswith(number(1e6 * alpha)) and rows[name][8].startswith(number(1e9 * beta))


def test_only_crowded_times_are_shown_with_a_warning(tmp_path):
    found = section(tmp_path, content(ranks=4, oversubscribed=True))
    assert len(found.figures) == 2 and found.boxes[0].tone == "wary"
    assert "no evidence of speed" in found.boxes[0].text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"targets": ("ring",)}, "no exchange was measured with targets `all`"),
        ({"skews": (5.0,)}, "no exchange was measured with targets `all`"),
        ({"sizes": (4, 12, 36)}, "for no size was its 2, 5, 10-fold measured too"),
    ],
)
def test_what_cannot_be_drawn_is_named(tmp_path, options, words):
    found = section(tmp_path, content(**options))
    assert [line for line in found.missing if words in line] and found.tables


def test_few_sizes_and_one_repetition_have_no_fit_or_interval(tmp_path):
    rows = section(tmp_path, content(sizes=(4, 8), repetitions=1)).tables[0].cells
    assert {row[7] for row in rows} == {"missing: fewer than 3 sizes"}
    rows = section(tmp_path / "more", content(repetitions=1)).tables[0].cells
    assert not any("(" in row[6] for row in rows)


def test_the_page_is_whole_with_more_exchanges_than_colours(tmp_path):
    lines = {f"exchange_{i}": ((1 + i) * 1e-7, 1e-9) for i in range(12)}
    write_exchanges(tmp_path, content(lines=lines, repetitions=2))
    found = page(tmp_path, grid(**FEW))
    assert [alt for alt in found.images if "exchange_11" in alt]
    assert "exchange_11" in found.text and "MPI of the tests" in found.text
