"""Studies: tables and pages from planted records, published figures as printed, the command."""

import json
import re

import numpy as np
import pytest
from html_page import Page
from planned import ABSENT, write_experiment
from synthetic import describe

from spikemark.cli import main
from spikemark.core.errors import BadInput
from spikemark.presets import microcircuit
from spikemark.published import papers
from spikemark.records.gather import gather
from spikemark.running import experiments
from spikemark.studies import STUDIES, carry_out, exchange_music, exchange_shehzad, networks, waits
from spikemark.studies.table import Column, Estimate, Missing, StudyTable, estimate

OVERSUBSCRIBED = ["oversubscribed: 4 ranks x 1 threads on 2 cores of a node; times are no evidence of speed"]


def planned(ranks: int, repetition: int = 1, exchange: str = "allgather", **options) -> dict:
    """One run on `ranks`, of one network."""
    fields = {"exchange": exchange, **options.pop("fields", {})}
    warnings = OVERSUBSCRIBED if ranks > 2 else []
    description = {**describe(areas=2, neurons=50, indegree=10, delay_ratio=10), "exchange": exchange}
    named = {"schedule": "conventional", "delay_ratio": 1, "ranks": ranks, "seed": 1}
    return {
        "label": f"{exchange} {ranks} {repetition}",
        "repetition": repetition,
        "fields": fields,
        "cycles": 200,
        "warnings": warnings,
        "description": description,
        **named,
        **options,
    }


def write(study, folder, runs) -> tuple[carry_out.Done, Page]:
    done = carry_out.write(study, gather(write_experiment(folder, runs)))
    return done, Page(done.page.read_text(encoding="utf-8"))


def table(done: carry_out.Done, name: str) -> StudyTable:
    return next(t for t in done.findings.tables if t.name == name)


@pytest.mark.parametrize("study", STUDIES.values(), ids=list(STUDIES))
class TestEveryStudy:
    def test_is_named_and_has_its_experiment(self, study):
        assert STUDIES[study.name] is study
        assert len(study.summary) > 40 and "\n" not in study.summary
        assert experiments.expand(experiments.load(study.experiment))

    def test_page_without_any_run(self, study, tmp_path):
        done, page = write(study, tmp_path, [planned(2, state=ABSENT)])
        assert "Nothing to compare yet" in page.text
        assert page.loads == [] and len(page.ids) == len(set(page.ids))
        content = json.loads(done.tables.read_text())
        assert content["study"] == study.name
        assert content["runs"] == {"planned": 1, "complete": 0}
        assert list(content["tables"]) == [t.name for t in done.findings.tables]

    def test_tables_are_rectangular_and_say_what_kind_their_numbers_are(self, study, tmp_path):
        runs = [planned(r, n, e) for r in (1, 2, 4) for n in (1, 2) for e in ("allgather", "rma_doubling")]
        done, page = write(study, tmp_path, runs)
        for shown in (t.shown() for t in done.findings.tables):
            assert all(len(row) == len(shown.columns) for row in shown.rows)
            assert len(shown.kinds) == len(shown.columns)
        assert page.loads == []
        json.loads(done.tables.read_text(), parse_constant=lambda x: pytest.fail(f"{x} in JSON"))


def shehzad_runs(**options) -> list[dict]:
    """Like the experiment: 2525 cells for 1000 ms; recursive doubling spends 10 us less per exchange."""
    runs = []
    for ranks in (2, 4):
        for repetition in (1, 2, 3):
            for exchange in ("allgather", "rma_doubling"):
                simulate_s = (2.0 if exchange == "allgather" else 1.8) + 0.01 * repetition
                given = {
                    "timing__simulate_s": simulate_s,
                    "timing__model_s": 1.0,
                    "timing__real_time_factor": simulate_s,
                }
                description = {
                    **describe(areas=1, neurons=2525, indegree=2, delay_ratio=1),
                    "exchange": exchange,
                }
                options = {"description": description, "placement": "round_robin", **given}
                runs.append(planned(ranks, repetition, exchange, **options))
    return runs


@pytest.fixture(scope="module")
def shehzad(tmp_path_factory):
    return write(STUDIES["exchange-shehzad"], tmp_path_factory.mktemp("shehzad"), shehzad_runs())


def test_shehzad_puts_published_figures_beside_ours(shehzad):
    done, page = shehzad
    rows = {(r["simulated_ms"], r["ranks"]): r for r in table(done, "run_time_by_simulated_time").rows}
    assert len(rows) == 15  # those of Table 2
    row = rows[1000, 2]
    assert row["allgather_s"].value == pytest.approx(2.02)
    assert row["rma_doubling_s"].value == pytest.approx(1.82)
    pairs = [(2 + 0.01 * k, 1.8 + 0.01 * k) for k in (1, 2, 3)]
    ratio = np.prod([b / a for a, b in pairs]) ** (1 / 3)
    assert row["reduction_percent"].value == pytest.approx(100 * (1 - ratio))
    assert row["reduction_percent"].low < row["reduction_percent"].value < row["reduction_percent"].high
    assert (row["published_mpi_s"], row["published_rma_s"]) == (117.94, 104.25)
    assert "117.94" in page.text and "literature" in page.text


def test_shehzad_shows_no_times_of_more_ranks_than_cores(shehzad):
    done, page = shehzad
    rows = {(r["simulated_ms"], r["ranks"]): r for r in table(done, "run_time_by_simulated_time").rows}
    for ranks in (4, 32):
        for name in ("allgather_s", "rma_doubling_s", "reduction_percent"):
            assert rows[1000, ranks][name].word == "not shown"
    assert "evidence of counts" in page.text
    counts = table(done, "counts").rows
    assert {(r["ranks"], r["exchange"]) for r in counts} == {
        (r, e) for r in (2, 4) for e in ("allgather", "rma_doubling")
    }
    four = next(r for r in counts if r["ranks"] == 4)
    assert four["messages"] == 3  # synthetic runs send one to every other rank
    assert isinstance(four["exchange_us"], Missing)


def test_slips_of_shehzad_follow_from_the_tables(shehzad):
    exceeding, sums, _ = exchange_shehzad.slips()
    assert exceeding.startswith("In 8 of the 10 cells")
    assert sums.startswith("In 19 of the 20 rows") and "99.99" in sums
    assert exceeding in shehzad[1].text
    for name in ("shehzad_table2", "shehzad_table3"):
        for row in papers.rows(name):
            mpi, rma, printed = (float(row[k]) for k in ("mpi_s", "rma_s", "reduction_pct"))
            assert 100 * (1 - rma / mpi) == pytest.approx(printed, abs=0.011)


def test_music_compares_by_connectivity(tmp_path):
    runs = [
        planned(ranks, repetition, exchange, fields={"preset.structure": structure})
        for structure in (0.5, 0)
        for ranks in (2, 4)
        for repetition in (1, 2)
        for exchange in ("allgatherv", "p2p")
    ]
    for run in runs:
        if run["fields"]["exchange"] == "allgatherv" and run["fields"]["preset.structure"] == 0.5:
            run["mean_s"] = 40e-6
    done, page = write(STUDIES["exchange-music"], tmp_path, runs)
    rows = {(r["connectivity"], r["ranks"]): r for r in table(done, "exchange").rows}
    assert list(rows) == [(exchange_music.CONNECTIVITY[s], r) for s in (0, 0.5) for r in (2, 4)]
    two, four = rows["all to all", 2], rows["all to all", 4]
    assert two["collective_us"].value == pytest.approx(2.0, rel=1e-3)  # synthetic.EXCHANGE_S
    assert two["time_ratio"].value == pytest.approx(1.0)
    assert two["bytes_ratio"] == four["bytes_ratio"] == 1.0
    assert four["p2p_us"].word == "not shown"
    assert "twice as fast" in page.text and "What differs" in page.text


@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks_leave_no_cycle_out(blocks):
    waiting = np.random.default_rng(1).random((3, 20 * blocks + 7))
    found = waits.blocks(waiting)
    assert len(found) == blocks
    sizes = [len(waiting[0]) // blocks] * blocks
    sizes[-1] = len(waiting[0]) - sum(sizes[:-1])
    assert np.average(found, weights=sizes) == pytest.approx(1e6 * waiting.mean())


def test_factor_of_waiting_is_paired():
    """Blocks that wait in proportion have one factor exactly, however much they differ from each other."""
    rng = np.random.default_rng(1)
    small = {(1, 1): rng.exponential(1.0, 10), (2, 1): rng.exponential(1.0, 10), (3, 1): rng.random(4)}
    large = {place: 3 * values for place, values in small.items() if place[0] < 3}
    exact = waits.factor(large, small)
    assert (exact.value, exact.low, exact.high) == pytest.approx((3, 3, 3))
    noisy = waits.factor(large, {k: v * rng.uniform(0.5, 1.5, len(v)) for k, v in small.items()})
    assert noisy.low < noisy.value < noisy.high
    assert isinstance(waits.factor(large, {}), Missing)
    assert isinstance(waits.factor({(1, 1): np.zeros(3)}, {(1, 1): np.zeros(3)}), Missing)


def test_interval_of_the_factor_covers():
    """Planted ratio 2 of means of independent exponential blocks: 95 % intervals hold it about as often."""
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        a, b = {(1, 1): 2 * rng.gamma(4, size=20)}, {(1, 1): rng.gamma(4, size=20)}
        found = waits.factor(a, b)
        held += found.low <= 2 <= found.high
    assert held / 400 == pytest.approx(0.95, abs=0.04)


def skewed(schedule: str, delay_ratio: int, seed: int, correlation: float) -> dict:
    description = describe(areas=2, neurons=20, indegree=4, delay_ratio=10)
    description["inject"] = {"mean_us": 1000, "sd_us": 100, "correlation": correlation, "wait": "sleep"}
    named = {"schedule": schedule, "delay_ratio": delay_ratio, "ranks": 2, "seed": seed}
    label = f"{schedule} {delay_ratio} {seed} {correlation}"
    times = {"cycles": 1000, "mean_s": 1e-3, "cv": 0.1, "ar1": correlation}
    return {"label": label, "description": description, "warnings": [], **named, **times}


@pytest.fixture(scope="module")
def schedules(tmp_path_factory):
    runs = [
        skewed(schedule, ratio, seed, correlation)
        for schedule, ratio in (("conventional", 1), ("structure_aware", 10))
        for seed in (1, 2)
        for correlation in (0.0, 0.9)
    ]
    return write(STUDIES["schedules"], tmp_path_factory.mktemp("schedules"), runs)


def test_recursion_agrees_with_planted_waiting(schedules):
    done, _ = schedules
    rows = table(done, "waiting").rows
    assert len(rows) == 4
    for row in rows:
        assert row["waiting_us_replayed"].value == pytest.approx(row["waiting_us"].value, rel=1e-3)
        assert (
            row["waiting_us_drawn"].low * 0.8 < row["waiting_us"].value < 1.25 * row["waiting_us_drawn"].high
        )


def test_waiting_predicted_from_the_conventional_runs(schedules):
    done, _ = schedules
    independent, drifting = table(done, "held_out").rows  # structure-aware, at either correlation
    for row in (independent, drifting):
        assert row["schedule"] == "structure-aware, D\xa0=\xa010"
        for name in ("correlated", "replay"):
            assert abs(row[f"{name}_error"]) < 15
            assert row[f"{name}_us"].low < row["measured_us"].high
            assert row[f"{name}_us"].high > row["measured_us"].low
    assert abs(independent["iid_error"]) < 15
    assert drifting["iid_error"] < -50


def test_waiting_predicted_from_half_of_the_ranks(schedules, tmp_path):
    """Of two ranks one is too few to say anything of further ones; four of eight are enough."""
    done, _ = schedules
    assert len(table(done, "held_out_ranks").rows) == 4
    assert all(isinstance(row["replay_us"], Missing) for row in table(done, "held_out_ranks").rows)
    pairs = (("conventional", 1), ("structure_aware", 10))
    runs = [skewed(*pair, seed, 0.9) | {"ranks": 8} for pair in pairs for seed in (1, 2)]
    done, page = write(STUDIES["schedules"], tmp_path, runs)
    for row in table(done, "held_out_ranks").rows:
        for name in ("correlated", "replay"):
            assert abs(row[f"{name}_error"]) < 15
    assert "every second rank" in page.text


def test_schedules_page_has_a_figure_for_each_correlation(schedules):
    _, page = schedules
    assert len(page.images) == 2
    assert "structure-aware" in page.images[0]
    assert "Nothing to compare yet" in page.text  # nothing overlaps in synthetic runs


def test_estimates_and_cells():
    assert estimate([2.0]) == Estimate(2.0)
    assert estimate([]).reason
    spread = estimate([1.0, 2.0, 3.0])
    assert (spread.value, spread.high) == pytest.approx((2.0, 2 + 4.3027 / 3**0.5), rel=1e-4)
    assert spread.low == 0  # what is never negative has no negative mean
    assert estimate([-1.0, 0.0, 1.0]).low == pytest.approx(-4.3027 / 3**0.5, rel=1e-4)
    columns = [Column("name", "name"), Column("value", "value (s)", "measured")]
    rows = [
        {"name": "a", "value": Estimate(2.0, 1.0, 3.0)},
        {"name": "b", "value": Missing("why", "not shown")},
    ]
    found = StudyTable("t", "Title", columns, rows)
    assert found.shown().rows == [["a", "2.00 (1.00–3.00)"], ["b", "not shown"]]
    assert found.reasons() == ["Title: why: value (s) (in 1 of 2 rows)."]
    content = found.content()
    assert [row["value"] for row in content["rows"]] == [{"value": 2.0, "low": 1.0, "high": 3.0}, None]
    assert content["missing"] == found.reasons()


def command(capsys, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as end:
        main.main(list(arguments))
    captured = capsys.readouterr()
    return end.value.code, captured.out, captured.err


def test_command_without_a_name_lists_the_studies(capsys):
    status, output, _ = command(capsys, "study")
    assert status == 0
    assert [line.split()[0] for line in output.splitlines()] == list(STUDIES)


def test_command_refuses_a_study_that_there_is_not(capsys):
    status, output, errors = command(capsys, "study", "nope")
    assert (status, output) == (2, "")
    assert re.fullmatch(rf"spikemark: study 'nope' not found: one of {', '.join(STUDIES)}\n", errors)


def test_no_plan_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no plan"):
        carry_out.write(STUDIES["schedules"], gather(tmp_path))


def test_networks_stand_beside_published_rates_and_times(tmp_path):
    """Spikes planted for two layers; a network of the published size is the only one whose time compares."""
    description = describe(areas=2, neurons=100, indegree=10, delay_ratio=10)
    description["record"]["spikes"] = True
    text = json.dumps(description).replace("area0", "L4E").replace("area1", "L4I")
    given = {"fields": {"preset.name": "microcircuit"}, "description": json.loads(text), "cycles": 10_000}
    results = write_experiment(tmp_path, [planned(1, **given), planned(2, **given, state=ABSENT)])
    (run,) = (results / "runs").iterdir()
    number = json.loads((run / "record.json").read_text())["totals"]["spikes"]
    steps = np.sort(np.random.default_rng(1).integers(0, 10_000, number))
    gids = np.where(np.arange(number) % 4, 3, 150)  # three of four in L4E
    np.save(run / "spikes.npy", np.column_stack([gids, steps]).astype(np.uint32))
    done = carry_out.write(STUDIES["networks"], gather(results))
    one, two = table(done, "rates").rows
    assert (one["population"], two["population"]) == ("L4E", "L4I")
    assert one["rate_hz"] == pytest.approx(0.75 * number / 100, rel=0.01)
    assert one["published_hz"] == microcircuit.RATES.hz["L4E"]
    assert one["ratio"] == pytest.approx(one["rate_hz"] / one["published_hz"])
    assert "within" in done.findings.sentence and "published size" not in done.findings.sentence
    times = table(done, "real_time").rows
    assert [r["published"] for r in times if r.get("who") == "INC-3000"] == [0.25]
    own = [r["here"] for r in times if r["who"] == "mini-app"]
    assert own and all(cell is networks.OTHER_SIZE for cell in own)
    page = Page(done.page.read_text(encoding="utf-8"))
    assert any(image.startswith("Activity of microcircuit") for image in page.images)


def test_every_published_time_follows_from_what_is_printed():
    """The factor is the number that is printed, or one over it where it says how much faster."""
    for line in papers.rows("real_time"):
        factor, numbers = float(line["real_time_factor"]), re.findall(r"[\d.]+", line["printed"])
        values = [float(n) for n in numbers]
        words = {"four times larger than biological real time": 4.0, "very close to real time": 1.0}
        values = values or [words[line["printed"]]]
        candidates = [*values, *(1 / v for v in values), values[0] / values[-1]]
        assert any(factor == pytest.approx(c, rel=0.01) for c in candidates), line
        assert line["source"] and line["where"]
