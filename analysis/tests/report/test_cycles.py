"""Cycle times on the page: from cycles to windows, modes, independent ranks, every rank over time."""

import re
import xml.etree.ElementTree as ET
from types import SimpleNamespace as Space

import numpy as np
import pytest
from html_page import page
from planned import grid, run, view_of
from small_network import describe

from spikemark.report.sections import cycle_times, evolution
from spikemark.report.sections.access import published
from spikemark.report.sections.cycle_times import lumping

PAIR = [run("conventional", 1, 4, cycles=4000), run("structure_aware", 10, 4, cycles=4000)]


@pytest.fixture(scope="module")
def independent(tmp_path_factory):
    """Four ranks of independent normal cycles: what the theory assumes."""
    return view_of(tmp_path_factory.mktemp("independent"), PAIR)


def lumping_table(view) -> dict[str, list[str]]:
    table = cycle_times.section(view).tables[0]
    assert table.title == "From cycles to windows"
    return {row[0]: row[1:] for row in table.cells}


def value(words: str) -> float:
    return float(re.match(r"[\d.\u202f]+", words).group().replace("\u202f", ""))


def test_independent_cycles_follow_the_theory(independent):
    rows = lumping_table(independent)
    tolerance = {"longest (µs)": 0.1, "independent ranks": 0.12, "CV over that of cycles": 0.06, "CV": 0.06,
                 "SD (µs)": 0.06, "slowest rank, mean (µs)": 0.02}  # fmt: skip
    for name, (_, summed, windows, theory) in rows.items():
        if name.startswith("further"):
            assert summed == windows == theory == "none"
            continue
        for found in (summed, windows):
            assert value(found) == pytest.approx(value(theory), rel=tolerance.get(name, 0.03)), name
    assert value(rows["shift of the mean"][3]) == 10 and rows["CV over that of cycles"][3] == "0.316"
    text = " ".join(cycle_times.section(independent).text)
    assert "a shift by 10.0, a spread of 0.3" in text and "(section 2.4.1) also report" in text


def test_correlated_cycles_keep_their_spread(tmp_path):
    rows = lumping_table(view_of(tmp_path, [dict(m, ar1=0.95) for m in PAIR]))
    spread = [value(x) for x in rows["CV over that of cycles"]]
    assert spread[1] > 0.8 and spread[2] > 0.8 and spread[3] == 0.316


def test_without_a_window_there_is_nothing_to_compare(tmp_path):
    for name, runs in (
        ("D1", grid(ranks=(2,), ratios=(1,), seeds=(1,), cycles=100)),
        ("short", grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=10)),
        ("alone", grid(ranks=(2,), ratios=(), seeds=(1,), cycles=100)),
    ):
        section = cycle_times.section(view_of(tmp_path / name, runs))
        assert section.tables == [] and len(section.figures) == 1


def test_modes_in_words():
    modes = [lumping.Mode(2e-5, 0.9), lumping.Mode(8e-5, 0.1)]
    assert lumping.modes_in_words(modes) == "20.0 (90\u202f%); 80.0 (10\u202f%)"
    assert lumping.modes_in_words(modes[:1]) == "20.0" and lumping.modes_in_words([]) == "none"


def test_the_published_network_has_the_published_reductions():
    figure = published.figure()
    saved = {(row[0], row[1]): row[4] for row in figure.table.cells}
    for ranks, threads, reduction in ((32, 48, 11.1), (32, 128, 29.1), (128, 48, 36.9), (128, 128, 42.9)):
        assert saved[str(ranks), str(threads)] == f"{reduction}\u202f%"
        if ranks == 128:
            assert f"{reduction}\u202f%" in figure.caption
    assert len(saved) == 14


def painted(svg: str) -> list[np.ndarray]:
    """Opacity of every cell [row, column] of the map and of the scale, painted from the paths."""
    maps = []
    for group in (g for g in ET.fromstring(svg).iter() if g.get("shape-rendering") == "crispEdges"):
        strokes = [
            (int(x), int(y), int(n), float(path.get("stroke-opacity")))
            for path in group
            for x, y, n in re.findall(r"M(\d+) (\d+)h(\d+)", path.get("d"))
        ]
        cells = np.full((1 + max(y for _, y, _, _ in strokes), max(x + n for x, _, n, _ in strokes)), np.nan)
        for x, y, n, opacity in strokes:
            assert np.isnan(cells[y, x : x + n]).all()  # no cell twice
            cells[y, x : x + n] = opacity
        assert not np.isnan(cells).any()
        maps.append(cells)
    return maps


def test_the_map_shows_slow_ranks_and_slow_phases():
    compute = np.full((300, 1003), 1e-5)
    compute[150:] *= 2  # slow ranks
    compute[:, 500:] += 1e-5  # a slow phase
    seen = evolution.Course("t", "r", 1.0, *cells(compute))
    assert seen.cells_s.shape == (evolution.ROWS, evolution.COLUMNS)
    shown, scale = painted(evolution._draw(seen, "name", "words"))
    assert shown.shape == seen.cells_s.shape and scale.shape == (1, evolution.LEVELS)
    assert (np.diff(scale) > 0).all() and scale[0, -1] == 1
    assert shown[0, 0] == scale[0, 0] and shown[-1, -1] == 1
    assert shown[0, 0] < shown[0, -1] == shown[-1, 0] < shown[-1, -1]


def cells(compute):
    record = Space(timing=Space(model_s=1.0))
    measured = Space(run=Space(compute=lambda: compute, record=record), planned=Space(seed=1, repetition=1))
    return evolution.course(measured, "t").cells_s, compute


def test_means_of_cells_add_up():
    compute = np.random.default_rng(1).random((7, 640))
    found, _ = cells(compute)
    assert found.shape == (7, 200)
    sizes = np.diff(np.arange(201) * 640 // 200)
    assert (found * sizes).sum(axis=1) == pytest.approx(compute.sum(axis=1))


def test_every_network_gets_a_map_of_its_most_ranks(tmp_path):
    runs = [
        *grid(ranks=(1, 2, 4), ratios=(10,), seeds=(1, 2), cycles=100),
        run("conventional", 1, 2, cycles=100, fields={"preset.neurons_per_area": 7}),
    ]
    section = evolution.section(view_of(tmp_path, runs))
    assert [f.caption.split(" on ")[1].split(" (")[0] for f in section.figures] == [
        "4 ranks, seed 1, repetition 1",
        "2 ranks, seed 1, repetition 1",
    ]
    assert section.figures[1].title.endswith("neurons_per_area = 7") and not section.missing
    table = section.figures[0].table
    assert len(table.cells) == 4
    assert sum(float(row[4].split("\u202f")[0]) for row in table.cells) == pytest.approx(100, abs=0.3)


def test_rows_of_ranks():
    compute = np.array([[1e-6, 3e-6, 5e-6], [2e-6, 2e-6, 2e-6]])
    first, second = evolution.table(compute, "measured").rows
    means = {"rank": 0, "mean_us": 3, "sd_us": np.std([1, 3, 5]), "longest_us": 5, "slowest": 2 / 3}
    assert first == pytest.approx(means)
    assert second == pytest.approx(
        {"rank": 1, "mean_us": 2, "sd_us": 0, "longest_us": 2, "slowest": 1 / 3}, abs=1e-9
    )


def test_a_page_of_128_ranks_stays_small(tmp_path):
    network = describe(areas=128, neurons=2, indegree=2)
    made = page(tmp_path, [run(ranks=128, cycles=400, description=network)])
    assert (tmp_path / "demo" / "here" / "report.html").stat().st_size < 1_000_000
    assert "Map of compute time per cycle, 128 ranks" in " ".join(made.images)


def test_without_recorded_cycles_there_is_no_map(tmp_path, undrawn):
    assert evolution.NOTHING in page(tmp_path, grid(ranks=(1,), cycles=100)).text
