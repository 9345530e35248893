"""The page of a sweep: its answer, every axis, the marks, and what sections say of planted
results.
"""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from by_day import half_by_night
from swept import OPTIONS, planned, write

from spikemark.quantities.elements import Figure
from spikemark.records.frames import CONFIGURATION, load_folder
from spikemark.report import cases, plots, sweep_page
from spikemark.report.answer import answer, picture, table
from spikemark.report.document import typeset
from spikemark.report.sections import SECTIONS, checks, prediction, speed, waiting

GRID = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": [5, 10]}]


def swept(folder, speed_of, grid=GRID, seeds=(1, 2, 3), ms=10, **changes):
    """A sweep whose runs take `speed_of(run)` times the usual times."""
    preset = {"name": "mam-benchmark", "options": OPTIONS | {"simulate_ms": ms}}
    results, runs = planned(folder, grid=grid, seeds=list(seeds), preset=preset, **changes)
    for run in runs:
        write(results, run, mean_s=1e-2 * speed_of(run), cycles=10 * ms)
    return load_folder(results.path)


def faster(run):
    return (
        0.5
        if run.description["delay_ratio"] == 10 and run.description["schedule"] != "conventional"
        else 1.0
    )


def titles(svg: str) -> list[str]:
    return re.findall(r"<title>(.*?)</title>", svg)


def test_the_answer_is_the_ratio_of_pairs(tmp_path):
    found = answer(swept(tmp_path, faster))
    assert (found.verdict, found.ranks, found.pairs) == ("faster", 2, 3)
    assert found.time_ratio.low < found.time_ratio.value < found.time_ratio.high < 1
    assert f"{found.time_ratio.value:.2f}" in found.sentence and len(found.sentence.split()) <= 30
    rows = {row["configuration"]: row for row in table(found).rows}
    assert len(rows) == 3 and rows[found.best]["time_ratio"].value == found.time_ratio.value
    drawn = picture(found)
    assert [row["configuration"] for row in drawn.table.rows] == list(rows)
    case = {"lag": np.nan, "size_cv": 0.3}
    at = replace(found, chosen=replace(found.chosen, case=case)).sentence
    assert "nan" not in at and "0.3" in at


def scattered(run):
    return (
        1.0 if run.description["schedule"] == "conventional" else {1: 0.5, 2: 1.6, 3: 1.2}[run.seed]
    )


def test_scattered_pairs_stay_open_and_one_pair_has_no_interval(tmp_path):
    assert answer(swept(tmp_path / "a", scattered)).verdict == "open"
    few = answer(swept(tmp_path / "b", faster, seeds=[1]))
    assert few.verdict == "few" and few.time_ratio.low is None


def test_differing_checksums_come_first(tmp_path, undrawn):
    results, runs = planned(tmp_path, grid=GRID, seeds=[1])
    for run in runs:
        write(results, run)
    write(results, runs[0], checksum="0123456789abcdef")
    frames = load_folder(results.path)
    found = sweep_page.write(frames, tmp_path / "page.html")
    assert (
        found.verdict == "broken"
        and 'class="headline box bad"' in (tmp_path / "page.html").read_text()
    )
    assert any(box.tone == "bad" for box in checks.section(found).boxes)


def test_no_run_and_one_configuration_have_pages(tmp_path, undrawn):
    results, _ = planned(tmp_path / "none", grid=GRID, seeds=[1])
    assert sweep_page.write(load_folder(results.path), tmp_path / "page.html").verdict == "none"
    alone = swept(tmp_path / "alone", faster, grid=GRID[:1])
    assert sweep_page.write(alone, tmp_path / "page.html").verdict == "none"


def test_every_swept_axis_is_drawn(tmp_path):
    """Three fields: each of their values is in some figure, and every run counts."""
    grid = [
        {**entry, "preset.indegree": [8, 10], "inject.sd_us": [0.0, 0.1, 0.2]} for entry in GRID
    ]
    frames = swept(tmp_path, faster, grid=grid, seeds=[1], ranks=[1, 2])
    found = answer(frames)
    figures = [f for f in speed.section(found).figures if f.id.startswith("swept")]
    rows = pd.concat([pd.DataFrame(f.table.rows) for f in figures], ignore_index=True)
    drawn = {(f.title, *row.values()) for f in figures for row in f.table.rows}
    assert len(drawn) == len(rows) == len(frames.runs)
    for field in ("ranks", "swept.indegree", "swept.inject.sd_us"):
        values = {str(v) for v in frames.runs[field].unique()}
        assert all(any(v in str(row) for row in drawn) for v in values), field


DISJOINT = {
    "words beside numbers": [{"distribution": ["block", "cyclic"]}, {"ranks_per_node": [1]}],
    "numbers of each": [{"preset.indegree": [8, 10]}, {"inject.sd_us": [0.1, 0.2]}],
    "one beside two": [
        {"preset.indegree": [8, 10], "distribution": ["block", "cyclic"]},
        {"inject.sd_us": [0.1, 0.2], "ranks_per_node": [1, 2]},
    ],
    "schedules beside numbers": [*GRID, {"preset.indegree": [8, 12, 14]}],
}


@pytest.mark.parametrize(("name", "ranks"), half_by_night(DISJOINT, [(None, None), (4, 2)]))
@pytest.mark.slow
def test_entries_without_a_field_in_common_have_a_page(tmp_path, name, ranks, request):
    """A field that some runs lack is drawn, and no run is lost."""
    grid = DISJOINT[name]
    numbered = [
        {**entry, **({"ranks": of_entry} if of_entry else {})}
        for entry, of_entry in zip(grid, [ranks[0], *[ranks[1]] * len(grid)], strict=False)
    ]
    frames = swept(tmp_path, faster, grid=numbered, seeds=[1])
    found = answer(frames)
    assert found.chosen is not None
    figures = [f for f in speed.section(found).figures if f.id.startswith("swept")]
    rows = [row for figure in figures for row in figure.table.rows]
    assert len(rows) == len(frames.runs) and all("nan" not in f.svg for f in figures)
    words = " ".join(str(row) for row in rows)
    for entry in grid:
        for field in set(entry) - {"schedule", "delay_ratio"}:
            for value in entry[field]:
                assert str(value) in words, field
    lacking = frames.runs[frames.swept].drop(columns=CONFIGURATION, errors="ignore").isna()
    assert (speed.NOT_SET in words) == lacking.to_numpy().any()
    request.getfixturevalue("undrawn")  # again
    sweep_page.write(frames, tmp_path / "page.html")


@pytest.mark.slow
def test_sections_answer_first_and_say_what_is_missing(tmp_path, undrawn):
    found = answer(swept(tmp_path, faster))
    made = [section(found) for section in SECTIONS]
    assert len({one.id for one in made}) == len(made)
    for one in made:
        assert one.missing or (one.text and (one.figures or one.tables)), one.id
    page = sweep_page.html(sweep_page._page(found))
    assert (
        page.count("<section")
        == sum(bool(one.figures or one.tables or one.boxes) for one in made) + 1
    )
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_parts_of_the_waiting_add_up_and_errors_are_those_of_the_table(tmp_path, undrawn):
    found = answer(swept(tmp_path, lambda run: 1.0, ms=40))
    bars, _ = waiting._prepare(found)
    assert [bar.configuration for bar in bars] == [
        row["configuration"] for row in table(found).rows
    ]
    model_us = {bar.configuration: 1e6 * per_cycle_s(found, bar.configuration) for bar in bars}
    for bar in bars:
        assert sum(q.value for q in bar.parts.values()) == pytest.approx(bar.waiting, rel=1e-4)
        assert bar.waiting == pytest.approx(model_us[bar.configuration], rel=1e-3)
    assert waiting.section(found).tables[0].rows[0]["iid"] == waiting._fitted(found)[found.base, 2]
    pairs, reasons = prediction._prepare(found)
    assert not reasons and len(pairs) == 6 and (pairs[["iid", "replay"]] > 0).all(axis=None)
    for row in prediction._summary(pairs, waiting.waited_us(found)):
        own = pairs[pairs["configuration"] == row["configuration"]]
        for name in prediction.PREDICTORS:
            expected = np.exp(np.log(own[name] / own["waited"]).mean()) - 1
            assert row[f"{name}_error"].value == pytest.approx(expected)


def per_cycle_s(found, configuration):
    """Measured waiting of a cycle, in s, from the frames."""
    runs = found.runs[found.runs["configuration"] == configuration]
    return (runs["part.waiting"] * runs["model_s"] / runs["cycles"]).mean()


FRAME = pd.DataFrame(
    {
        "configuration": ["a", "a", "b", "b"],
        "ranks": [1, 2, 1, 2],
        "real_time_factor": [1.0, 2.0, 3.0, 4.0],
        "low": [0.5, 1.5, 2.5, 3.5],
        "high": [1.5, 2.5, 3.5, 4.5],
        "deliver": [0.5, 1.0, 1.0, 2.0],
        "update": [0.5, 1.0, 2.0, 2.0],
    }
)
SPAN = {"low": "low", "high": "high"}
MARKS = {
    "bars": lambda: plots.bars(
        FRAME, "configuration", ["deliver", "update"], "x", "t", "c", xlabel="s", panel="ranks"
    ),
    "points": lambda: plots.points(
        FRAME, "real_time_factor", "configuration", "x", "t", "c", panel="ranks", **SPAN
    ),
    "scatter": lambda: plots.points(
        FRAME, "ranks", "real_time_factor", "x", "t", "c", hue="configuration", log="xy"
    ),
    "lines": lambda: plots.lines(
        FRAME, "ranks", "real_time_factor", "x", "t", "c", hue="configuration", **SPAN
    ),
    "histogram": lambda: plots.histogram(
        FRAME, "real_time_factor", "x", "t", "c", hue="configuration"
    ),
}


@pytest.mark.parametrize("mark", MARKS)
def test_marks_are_svg_with_colours_of_the_page(mark):
    figure = MARKS[mark]()
    assert isinstance(figure, Figure) and figure.table.rows and figure.alt == "t. c"
    ET.fromstring(figure.svg)
    assert "var(--" in figure.svg and "#0000" not in figure.svg
    names = set(re.findall(r"var\(--([\w-]+)\)", figure.svg))
    css = Path(plots.__file__).with_name("style.css").read_text()
    assert all(
        css.count(f"--{name}:") >= 2 for name in names
    )  # in the light scheme and in the dark one


def test_values_are_under_the_pointer():
    found = titles(MARKS["bars"]().svg)
    numbers = sorted(float(re.search(r"([\d.]+)$", text)[1]) for text in found)
    assert numbers == sorted([*FRAME["deliver"], *FRAME["update"]])
    assert len(titles(MARKS["scatter"]().svg)) == 4


def test_bars_have_the_length_of_their_value():
    """The widths of the drawn bars are in the ratio of the values, part by part."""
    svg = plots.bars(
        FRAME[FRAME["ranks"] == 2],
        "configuration",
        ["deliver", "update"],
        "x",
        "t",
        "c",
        xlabel="s",
    ).svg
    widths = {}
    for group in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}g"):
        title = group.find("{http://www.w3.org/2000/svg}title")
        if title is not None:
            xs = [
                float(x)
                for x in re.findall(r"[ML] ([\d.]+) [\d.]+", group.find("{*}path").get("d"))
            ]
            widths[title.text.rsplit(" ", 1)[0]] = max(xs) - min(xs)
    unit = widths["a: deliver"]
    expected = {"a: deliver": 1, "a: update": 1, "b: deliver": 2, "b: update": 2}
    assert {name: pytest.approx(w / unit, rel=0.01) for name, w in widths.items()} == expected


def test_disturbed_runs_are_said_with_the_number(tmp_path):
    frames = swept(tmp_path, faster)
    runs = frames.runs.assign(disturbed=True, foreign_load=np.linspace(0.3, 0.9, len(frames.runs)))
    found = answer(frames.with_runs(runs))
    assert found.verdict == "few" and found.pairs == 3 and not found.chosen.judged
    assert found.time_ratio.low is None and found.time_ratio.value == pytest.approx(0.5, rel=0.1)
    assert found.sentence.index("9 of 9") < found.sentence.index("took")
    assert "0.90" in found.caution
    assert any("0.90" in line for line in checks._cautions(found.frames))


def test_one_disturbed_run_is_not_counted_in_the_plural(tmp_path):
    frames = swept(tmp_path, faster)
    runs = frames.runs.iloc[:1].assign(disturbed=True, foreign_load=0.9)
    found = answer(frames.with_runs(runs))
    assert "during this run" in found.caution and "1 of" not in found.caution


def noisy(folder, rng, disturbed, odd=None, count=6):
    """Runs that scatter by 1 %; those of `disturbed` (schedule, seed) take 1.2 to 4 times as long,
    with a load; `odd` takes 1.4 times as long, or less, without one.
    """

    def key(run):
        return run.description["schedule"], run.description["seed"]

    slowness = {place: rng.uniform(1.2, 4.0) for place in disturbed}
    if odd is not None:
        slowness[odd] = rng.choice([1 / 1.4, 1.4])

    def speed_of(run):
        return (
            0.5 ** (run.description["schedule"] != "conventional")
            * slowness.get(key(run), 1.0)
            * np.exp(0.01 * rng.standard_normal())
        )

    frames = swept(folder, speed_of, [*GRID[:1], PLANTED], range(1, count + 1), 1000)
    runs = frames.runs
    hit = [place in disturbed for place in zip(runs["schedule"], runs["seed"], strict=True)]
    load = np.where(hit, rng.uniform(0.3, 1.9, len(runs)), rng.uniform(0, 0.05, len(runs)))
    return frames.with_runs(runs.assign(disturbed=hit, foreign_load=load))


PLANTED = {"schedule": "structure_aware", "delay_ratio": 10}


@pytest.mark.parametrize(("hit", "with_odd"), half_by_night(range(6), [False, True]))
def test_the_planted_runs_are_named(hit, with_odd, tmp_path):
    """Of 6 conventional runs, 0 to 5 are disturbed, and one of the others is odd, or none."""
    rng = np.random.default_rng(100 + hit)
    seeds = [int(seed) for seed in rng.permutation(np.arange(1, 7))]
    disturbed = {("conventional", seed) for seed in seeds[:hit]}
    odd = ("conventional", seeds[-1]) if with_odd else None
    frames = noisy(tmp_path, rng, disturbed, odd)
    found = answer(frames)
    ids = {(row["schedule"], row["seed"]): row["id"] for row in frames.runs.to_dict("records")}
    named, _ = checks.odd_runs(found)
    has_siblings = 6 - hit > 3
    expected = [ids[odd]] if odd and has_siblings else []
    assert [re.search("`(.*?)`", line)[1] for line in named] == expected
    lines = checks.disturbed_groups(found)
    assert len(lines) == bool(hit)
    if hit:
        named = re.findall("`(.*?)`", lines[0])
        loads = frames.runs.set_index("id")["foreign_load"]
        worst = sorted((ids[place] for place in disturbed), key=lambda id: -loads[id])
        assert named == worst[:3] and f"{hit} of 6" in lines[0]
        assert f"{loads[worst[0]]:.2g}" in lines[0]
        assert f"Without {hit} disturbed" in found.sentence
    assert found.pairs == 6 - hit and found.chosen.judged
    if not odd:
        assert found.time_ratio.value == pytest.approx(0.5, rel=0.05)
    else:
        assert 0.3 < found.time_ratio.value < 0.75


def test_where_no_side_is_clean_nothing_is_judged(tmp_path):
    """All runs of one side, or other seeds of each, were disturbed."""
    rng = np.random.default_rng(5)
    one_side = {("conventional", seed) for seed in range(1, 5)}
    crosswise = {("conventional", 1), ("conventional", 2)}
    crosswise |= {("structure_aware", 3), ("structure_aware", 4)}
    for name, disturbed in {"one": one_side, "cross": crosswise}.items():
        found = answer(noisy(tmp_path / name, rng, disturbed, count=4))
        assert not found.chosen.judged and found.pairs == 4 and found.time_ratio.low is None
        assert found.sentence.index("4 of 8") < found.sentence.index("took")


def of_cases(folder, speed_of, seeds=(1, 2, 3), first=(0.4, 0)):
    """A sweep over the sizes of areas, in an order."""
    grid = [{**entry, "preset.size_cv": list(first)} for entry in (GRID[0], PLANTED)]
    return swept(folder, speed_of, grid=grid, seeds=seeds, ms=100)


@pytest.mark.parametrize(("first", "cost"), half_by_night([(0.4, 0), (0, 0.4)], [0.7, 1.0, 1.5]))
@pytest.mark.slow
def test_the_case_shown_and_the_cost_of_another_are_said(first, cost, tmp_path, undrawn):
    """The case does not depend on the order or on which is noisy; the cost is the planted one."""
    rng = np.random.default_rng(3)

    def speed_of(run):
        is_uneven = "size_cv=0.4" in run.label
        return (cost if is_uneven else 1.0) * np.exp(0.01 * rng.standard_normal())

    frames = of_cases(tmp_path, speed_of, first=first)
    for hit in (0.0, 0.4):
        spoiled = (frames.runs["swept.size_cv"] == hit) & (frames.runs["seed"] < 3)
        load = np.where(spoiled, 0.9, 0.0)
        runs = frames.runs.assign(disturbed=spoiled, foreign_load=load)
        assert answer(frames.with_runs(runs)).case == {"swept.size_cv": 0.0}
    found = answer(frames)
    (said,) = cases.costs(found)
    ratio, low, high = (
        float(text)
        for text in re.search(r"took ([\d.]+) times .*\(([\d.]+) to ([\d.]+);", said).groups()
    )
    assert low - 0.01 <= cost <= high + 0.01 and abs(ratio / cost - 1) < 0.05
    neurons = frames.runs.groupby("swept.size_cv")["neurons"].first()
    assert ("instead of" in said.partition("(")[2]) == (neurons[0.0] != neurons[0.4])
    assert "= 0.0" in cases.shown(found) and "2 cases" in cases.shown(found)
    page = sweep_page._page(found)
    shown = {section.id: " ".join(section.text) for section in page.sections if section.text}
    for name in ("waiting", "prediction", "cycles", "speed", "memory", "energy"):
        assert name not in shown or "= 0.0" in shown[name], name
    assert typeset(cases.shown(found)) in sweep_page.html(page)


def test_nothing_is_fastest_beside_a_quicker_layout_that_is_too_short_to_tell(tmp_path):
    for quick in (0.3, 3.0):
        preset = {"name": "mam-benchmark", "options": OPTIONS}
        results, runs = planned(
            tmp_path / str(quick),
            grid=[*GRID[:1], PLANTED],
            seeds=[1, 2],
            preset=preset,
            ranks=[1, 2],
        )
        for run in runs:
            factor = {1: quick, 2: 1.0}[run.ranks]
            seconds = {1: 0.1, 2: 1.0}[run.ranks]
            write(results, run, timing__simulate_s=seconds, timing__real_time_factor=factor)
        found = answer(load_folder(results.path))
        assert found.ranks == 2
        text = speed.section(found).text[0]
        assert ("long enough" in text) == (quick < 1)
        assert ("1 rank" in text) == (quick < 1)
        assert ("too short" in found.elsewhere) == (quick < 1)


def test_hardly_a_run_is_odd_by_chance():
    """The farthest of normal draws exceeds the limit in 1 of 100, whatever the groups."""
    rng = np.random.default_rng(2)
    for sizes in ([4], [4, 5, 6], [20] * 5):
        limit = checks.farthest_of_normal(sizes)
        beyond = 0
        for _ in range(4000):
            drawn = [rng.standard_normal(size) for size in sizes]
            distance = np.abs(np.concatenate([one - np.median(one) for one in drawn]))
            beyond += distance.max() > limit * np.median(distance)
        assert 0.004 < beyond / 4000 < 0.018


def slow_once(run):
    """One run of the sweep takes 1.3 times what its siblings take, the others scatter by 1 %."""
    is_odd = run.description["schedule"] == "conventional" and run.description["seed"] == 3
    scatter = 1 + 0.01 * np.sin(7 * run.description["seed"] + run.description["delay_ratio"])
    return 1.3 * scatter if is_odd else scatter


def test_a_run_unlike_its_siblings_is_named(tmp_path):
    """By how much it differs is planted, and runs that scatter alike are not named as odd."""
    seeds = range(1, 7)
    frames = swept(tmp_path / "odd", slow_once, seeds=seeds, ms=1000)
    odd, farthest = checks.odd_runs(answer(frames))
    assert len(odd) == 1 and not farthest
    planted = next(run.id for run in frames.planned if run.label == "conventional ranks=2 seed=3")
    assert f"`{planted}`" in odd[0]
    assert 27 < float(re.search(r"([\d.]+)\u202f%", odd[0])[1]) < 33

    def alike(run):
        return slow_once(run) / (1.3 if slow_once(run) > 1.2 else 1.0)

    odd, farthest = checks.odd_runs(answer(swept(tmp_path / "even", alike, seeds=seeds, ms=1000)))
    assert not odd and "`" in farthest


def test_checksums_are_counted_by_network(tmp_path):
    """Runs of three networks have three checksums, not as many as there are runs."""
    section = checks.section(answer(swept(tmp_path, faster)))
    assert "9 runs have 3 checksums" in section.text[0]
