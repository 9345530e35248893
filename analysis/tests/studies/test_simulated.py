"""Studies of simulated machines: their tables and pages, from planted records."""

import re

import pytest
from html_page import Page
from planned import run
from small_network import describe
from studied import carried_out, says_simulated

from spikemark.models import access
from spikemark.models.published import papers
from spikemark.studies import STUDIES, interconnect, overlap, weak_scaling
from spikemark.studies.runs import NO_BARRIER

SCHEDULES = (("conventional", 1), ("structure_aware", 10), ("overlapped", 10))
COMPUTE_OF = {"preset.neurons_per_area": 129_068, "preset.indegree": 5842}


def on_machine(name: str, folder, runs: list[dict], machine: dict | None = None) -> tuple[dict, Page]:
    """Tables by name, and the page, which must not call anything measured."""
    done, page = carried_out(STUDIES[name], folder, runs, True, machine)
    says_simulated(done)
    assert "simulated" in done.findings.sentence.lower()
    assert page.loads == [] and len(page.ids) == len(set(page.ids))
    return {table.name: table for table in done.findings.tables}, page


def grid(ranks, schedules=SCHEDULES, **options) -> list[dict]:
    return [run(s, d, r, seed, cycles=200, **options) for r in ranks for s, d in schedules for seed in (1, 2)]


@pytest.fixture
def weak(fake, tmp_path):
    return on_machine("weak-scaling", tmp_path, grid((2, 4)), {"compute_of": COMPUTE_OF})


def test_weak_scaling_puts_reductions_beside_the_theory(weak):
    tables, page = weak
    rows = {(r["ranks"], r["schedule"].split(",")[0]): r for r in tables["weak_scaling"].rows}
    less = next(r for r in tables["reductions"].rows if r["ranks"] == 4 and r["waiting_theory"] != "")
    plain, aware = rows[4, "conventional"], rows[4, "structure-aware"]
    expected = 100 * (1 - aware["waiting_s"].value / plain["waiting_s"].value)
    assert less["waiting_percent"].value == pytest.approx(expected, rel=0.05)  # one is a geometric mean
    assert less["waiting_theory"] == pytest.approx(100 * (1 - 10**-0.5))
    assert less["irregular_theory"] == pytest.approx(100 * access.reduction(129_068, 2921, 2921, 4, 128))
    assert "Real-time factor, JURECA-DC, Jülich (jureca-dc)" in page.text


def test_weak_scaling_phases_add_up(weak):
    for row in weak[0]["weak_scaling"].rows:
        parts = [row[f"{name}_s"].value for name in ("deliver", "update", "collocate", "waiting", "exchange")]
        assert sum(parts) == pytest.approx(row["real_time_factor"].value, rel=0.05)


def test_waiting_that_was_not_timed_is_missing_and_not_zero(fake, tmp_path):
    description = describe(areas=2)
    description["record"]["barrier"] = False
    runs = grid((2,), SCHEDULES[:2], description=description)
    done, _ = carried_out(STUDIES["weak-scaling"], tmp_path, runs, True, None)
    tables = {table.name: table.rows for table in done.findings.tables}
    assert {row["waiting_s"] for row in tables["weak_scaling"]} == {NO_BARRIER}
    assert all(row["exchange_s"].value > 0 for row in tables["weak_scaling"])
    assert NO_BARRIER in [row["waiting_percent"] for row in tables["reductions"]]


def test_weak_scaling_fits_lines_and_cycle_times(weak):
    slopes = {row["schedule"].split(",")[0]: row for row in weak[0]["slopes"].rows}
    conventional = slopes["conventional"]
    per_rank = (conventional["last"] - conventional["first"]) / 2
    assert conventional["slope"] == pytest.approx(100 * per_rank)
    aware = next(r for r in weak[0]["cycle_times"].rows if r["window"] == 10)
    assert aware["ratio"] == pytest.approx(10**-0.5, rel=0.2) and aware["cv"] == pytest.approx(0.1, rel=0.1)


def test_weak_scaling_draws_the_distributions_of_cycle_times(weak):
    _, page = weak
    where = "On 4 ranks of JURECA-DC, Jülich (jureca-dc)"
    (drawn,) = (text for text in page.images if text.startswith(where))
    for label in ("conventional: single cycles", "windows of 10 cycles", "windows of 5 cycles"):
        assert f"{label}: mean" in drawn


def test_weak_scaling_without_the_published_size_says_so(fake, tmp_path):
    tables, _ = on_machine("weak-scaling", tmp_path, grid((2,)))
    assert any(r["irregular_theory"] is weak_scaling.UNKNOWN for r in tables["reductions"].rows)


def skewed(correlation: float, lag: int = 1) -> dict:
    """Like the experiment: the network is nothing beside 1000 +- 100 us."""
    description = describe(areas=4, neurons=20, indegree=4, delay_ratio=10)
    return {**description, "inject": {"mean_us": 1000, "sd_us": 100, "correlation": correlation}, "lag": lag}


def test_overlap_shows_lags_and_predicts_from_the_conventional_run(fake, tmp_path):
    runs = [
        run(s, d, 4, 1, cycles=200, mean_s=1e-3, ar1=c, description=skewed(c), label=f"{s} {c}")
        for c in (0.0, 0.9)
        for s, d in SCHEDULES
    ]
    four = {"cycles": 200, "mean_s": 1e-3, "description": skewed(0.0, 4), "label": "lag 4"}
    tables, page = on_machine("overlap", tmp_path, [*runs, run("overlapped", 10, 4, 1, **four)])
    assert len(tables["waiting"].rows) == 7
    aware = next(r for r in tables["waiting"].rows if r["schedule"].startswith("structure"))
    assert aware["waiting_us"].value == pytest.approx(aware["waiting_us_replayed"].value, rel=0.01)
    assert aware["waiting_us_drawn"].low < aware["waiting_us"].value < aware["waiting_us_drawn"].high
    assert [(r["lag"], r["window"]) for r in tables["lag"].rows if r["correlation"] == 0] == [(1, 5), (4, 2)]
    held = [r for r in tables["held_out"].rows if r["schedule"].startswith("structure")]
    assert held and all(r["correlated_us"] for r in held)
    assert "overlapped, D = 10, lag 4" in page.text.replace("\u00a0", " ")


def test_overlap_compares_with_the_bare_loop_only_where_it_was_run(fake, tmp_path, monkeypatch):
    """Planted: a loop of as many ranks as the records have, far from them, then as one of them."""
    loop = {line["schedule"]: "1000" for line in papers.rows("bare_loop")}
    rows = [{**line, "ranks": "4"} for line in papers.rows("bare_loop")]
    monkeypatch.setattr(
        papers, "rows", lambda name: [{**line, "waiting_us": loop[line["schedule"]]} for line in rows]
    )
    places = [(*place, 0.9) for place in SCHEDULES] + [("conventional", 1, 0.5)]
    options = {"cycles": 200, "mean_s": 1e-3}
    runs = [run(s, d, 4, 1, description=skewed(c), label=f"{s} {c}", **options) for s, d, c in places]
    tables, page = on_machine("overlap", tmp_path / "far", runs)
    found = {row["correlation"]: row for row in tables["waiting"].rows if row["schedule"] == "conventional"}
    first, second = found[0.9], found[0.5]
    assert first["bare_loop_us"] == 1000
    assert first["off_percent"] == pytest.approx(100 * (first["waiting_us"].value / 1000 - 1))
    assert second["bare_loop_us"] is overlap.NO_LOOP
    assert "In 0 of 3 setups the mini-app waits as" in page.text
    loop["conventional"] = str(1.04 * first["waiting_us"].value)
    _, page = on_machine("overlap", tmp_path / "near", runs)
    assert (
        "In 1 of 3 setups the mini-app waits as" in page.text and "In 1 of 3 setups a bare loop" in page.text
    )


def test_the_bare_loop_is_of_one_machine():
    rows = papers.rows("bare_loop")
    assert len(rows) == 9 and {r["ranks"] for r in rows} == {"128"}
    assert all(float(r["waiting_us"]) > 0 for r in rows)


def test_heterogeneity_tells_where_structure_falls_behind(fake, tmp_path):
    """Planted: the structure-aware run becomes slower than the conventional one at a spread of 0.2."""
    runs = []
    for name, values in (("size_cv", (0.0, 0.1, 0.2)), ("area_rate_cv", (0.1,))):
        for value in values:
            for s, d in SCHEDULES:
                mean_s = 50e-6 if s == "conventional" else 30e-6 * (1 + 5 * value if name == "size_cv" else 1)
                runs.append(
                    run(s, d, 2, 1, cycles=200, mean_s=mean_s, fields={f"preset.{name}": value},
                        label=f"{s} {name} {value}")
                )  # fmt: skip
    runs.append(run("structure_aware", 5, 2, 1, cycles=200, fields={"preset.size_cv": 0.0}))
    tables, page = on_machine("heterogeneity", tmp_path, runs)
    assert "falls behind at a spread of area sizes of 20" in page.text
    assert "still ahead at 10" in page.text
    assert re.search(
        r"ahead up to the largest spread of area rates simulated, 10.% \(\d+ % less run time\)", page.text
    )
    assert len(tables["size_cv"].rows) == 9 and len(tables["area_rate_cv"].rows) == 6
    ratios = [r["delay_ratio"] for r in tables["delay_ratio"].rows if r["schedule"] == "structure-aware"]
    assert ratios == [5, 10]  # where there are several


def test_interconnects_stand_beside_table_i(fake, tmp_path):
    runs = [
        run(
            "conventional",
            1,
            ranks,
            1,
            cycles=200,
            fields={"machine.profile": machine},
            label=f"{machine} {ranks}",
        )
        for machine in ("dpsnn-westmere-ib", "dpsnn-westmere-eth")
        for ranks in (4, 8)
    ]
    tables, _ = on_machine("interconnect", tmp_path, runs)
    four = next(r for r in tables["table1"].rows if r["ranks"] == 4)
    assert four["published"] == 3.15 and four["published_computation_percent"] == 97.6
    shares = [four[f"{part}_percent"].value for part in ("computation", "communication", "barrier")]
    assert sum(shares) == pytest.approx(100)
    assert [r["ranks"] for r in tables["table1"].rows] == [4, 32, 256]
    assert tables["table1"].rows[1]["real_time_factor"] is interconnect.NOT_YET
    assert {r["machine"] for r in tables["interconnect"].rows} == {"dpsnn-westmere-ib", "dpsnn-westmere-eth"}


@pytest.mark.parametrize(
    ("best", "verdict"), [(32, "32 are fastest, as published"), (256, "256 are fastest; published: 32")]
)
def test_the_fastest_number_of_ranks_is_judged_by_table_i(fake, tmp_path, best, verdict):
    machine = {"fields": {"machine.profile": "dpsnn-westmere-ib"}}
    runs = [
        run("conventional", 1, n, 1, cycles=20, mean_s=1e-3 if n == best else 2e-3, label=f"{n}", **machine)
        for n in (4, 32, 256)
    ]
    _, page = on_machine("interconnect", tmp_path, runs)
    assert verdict in page.text


def test_mam_sets_whole_areas_beside_spread_ones(fake, tmp_path):
    runs = grid((2,), SCHEDULES[:1], rank_sd=0.0)
    for placement, spread in (("area", 0.3), ("area_group", 0.05)):
        for options in grid((2,), SCHEDULES[1:2], placement=placement, rank_sd=spread):
            runs.append({**options, "label": f"{placement} {options['label']}"})
    tables, page = on_machine("mam", tmp_path, runs)
    assert "Spreading areas over ranks saves" in page.text
    (row,) = tables["groups"].rows
    assert row["area"] and row["area_group"]
    unequal = {r["placement"]: r["imbalance"].value for r in tables["imbalance"].rows}
    assert unequal["area on one rank"] > unequal["area on its ranks"]
