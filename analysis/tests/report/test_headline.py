"""Every number of a headline follows from summary.parquet, and what it says is true of these
runs.
"""

import json
import re
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
import swept
from random_sweeps import random_sweep
from scipy import stats

from spikemark.records.collect import collect
from spikemark.records.frames import load_folder
from spikemark.records.judged import SHORTEST_S, enough_ms
from spikemark.records.ratios import of_means
from spikemark.records.results import Results
from spikemark.report import conclude
from spikemark.report.answer import answer, picture, table, unlike_conditions
from spikemark.report.comparison import _shared_keys
from spikemark.report.document import typeset
from spikemark.report.export import FORMATS
from spikemark.report.sections import SECTIONS
from spikemark.running.sweeps import SweepOutcome

FACTOR = "real_time_factor"
TOOK = re.compile(
    r"On (?P<ranks>\d+) ranks? of this machine(?: at (?P<case>[^,]+))?, (?P<best>.+) took"
    r" (?P<ratio>[\d.]+)"
    r" of the time of (?P<base>.+) \((?P<interval>no interval|[\d.]+ to [\d.]+); (?P<pairs>\d+)"
    r" pairs? of"
    r" runs\)"
)
SLOWER = re.compile(
    r"On (?P<ranks>\d+) ranks? of this machine(?: at (?P<case>[^,]+))?, (?P<base>.+) is fastest;"
    r" next,"
    r" (?P<best>.+) took (?P<ratio>[\d.]+) times as long \((?P<interval>[\d.]+ to [\d.]+);"
    r" (?P<pairs>\d+)"
    r" pairs? of runs\)"
)
LESS = re.compile(
    r"On (?P<ranks>\d+) ranks?, (?P<name>.+) took less: (?P<there>\S+) times real time instead of"
    r" (?P<here>[\d.,\u202f]+\d)(?: of (?P<fastest>.+))? on (?P<ranks_here>\d+) ranks?"
)


def words(row) -> str:
    """The configuration of a row of the Parquet file, as this test has it."""
    label = row["schedule"].replace("_", " ").replace("structure aware", "structure-aware")
    more = [f"D\u00a0=\u00a0{row['delay_ratio']}"] if row["schedule"] == "structure_aware" else []
    more += [f"exchange {row['exchange']}"] if row["exchanges"] > 1 else []
    return f"{label} ({', '.join(more)})" if more else label


def shows(text: str, value: float) -> bool:
    """Is this the value, rounded to the digits of the text?"""
    digits = text.replace("\u202f", "").replace(",", "")
    places = len(digits.partition(".")[2])
    return abs(float(digits) - value) <= 0.5 * 10.0**-places + 1e-9 * abs(value)


def interval(first: pd.Series, second: pd.Series, candidates: int) -> tuple[float, float, float]:
    """The ratio of two means and its limits, with the interval of the ratio estimator."""
    ratio = first.mean() / second.mean()
    n = len(first)
    if n < 3:
        return ratio, np.nan, np.nan
    error = np.sqrt(((first - ratio * second) ** 2).sum() / (n - 1) / n) / first.mean()
    factor = np.exp(stats.t.ppf(1 - 0.05 / candidates / 2, n - 1) * error)
    return (ratio, ratio / factor, ratio * factor) if factor**2 <= 100 else (ratio, np.nan, np.nan)


def parquet(frames) -> pd.DataFrame:
    """The rows of summary.parquet, with the words of their configuration and a key of network,
    repetition.
    """
    collect(frames)
    runs = pd.read_parquet(Results(frames.path).summary)
    runs["exchanges"] = runs["exchange"].nunique()
    runs["words"] = [words(row) for row in runs.to_dict("records")]
    runs["key"] = list(zip(runs["network"], runs["repetition"], strict=True))
    return runs


def check(sweep) -> str:
    """Compares the answer of a sweep with its Parquet file; returns the verdict."""
    found = answer(sweep.frames)
    if found.verdict in ("none", "short"):
        assert found.elsewhere == "" and not found.ratios
        return found.verdict
    said = (SLOWER if found.verdict == "slower" else TOOK).match(found.sentence)
    assert said, found.sentence
    runs = parquet(sweep.frames)
    case = runs
    for name, value in found.case.items():
        case = case[case[name] == value]
        assert str(value) in said["case"]
    here = case[case["ranks"] == int(said["ranks"])]
    rows = {row["configuration"]: row for row in table(found).rows}
    names = [name for name in rows if name == said["base"] or rows[name].get("time_ratio")]
    keys = set.intersection(*(set(here[here["words"] == name]["key"]) for name in names))
    times = {
        name: here[(here["words"] == name) & here["key"].isin(keys)]
        .set_index("key")[FACTOR]
        .sort_index()
        for name in names
    }
    assert int(said["pairs"]) == len(keys) == found.pairs
    if sweep.complete:
        assert set(names) == set(here["words"]) and not found.chosen.left_out
    assert "conventional" not in " ".join(names) or "conventional" in said["base"]
    for name in names:
        assert rows[name][FACTOR] == pytest.approx(times[name].mean()) and rows[name][
            "runs"
        ] == len(keys)
    others = [name for name in names if name != said["base"]]
    for name in others:
        wanted = interval(times[name], times[said["base"]], len(others))
        cell = rows[name]["time_ratio"]
        ends = [np.nan if end is None else end for end in (cell.value, cell.low, cell.high)]
        assert ends == pytest.approx(wanted, nan_ok=True)
        assert cell.value == pytest.approx(rows[name][FACTOR] / rows[said["base"]][FACTOR])
    ratio, low, high = interval(times[said["best"]], times[said["base"]], len(others))
    assert shows(said["ratio"], ratio) and len(said["ratio"].replace(".", "").lstrip("0")) >= 2
    if np.isnan(low):
        assert said["interval"] == "no interval"
    else:
        lowest, highest = said["interval"].split(" to ")
        assert shows(lowest, low) and shows(highest, high)
    assert all(times[said["best"]].mean() <= times[name].mean() for name in others)
    verdicts = {
        "few": np.isnan(low),
        "faster": high < 1,
        "slower": low > 1,
        "open": low <= 1 <= high,
    }
    assert [name for name, is_so in verdicts.items() if is_so] == [found.verdict]
    drawn = {row["configuration"] for row in picture(found).table.rows}
    assert drawn == set(rows)
    check_elsewhere(found, case, keys, times, sweep.complete)
    return found.verdict


def check_elsewhere(found, case, keys, times, complete: bool) -> None:
    """The sentence about other ranks names the fastest configuration there, and its own number.

    In a complete sweep, it is there whenever it is surely true.
    """
    candidates = {}
    for (ranks, name), own in case[case["ranks"] != found.ranks].groupby(["ranks", "words"]):
        own = own[own["key"].isin(keys)].set_index("key")[FACTOR].sort_index()
        if set(own.index) == keys:
            candidates[ranks, name] = own
    if not candidates:
        assert found.elsewhere == ""
        return
    here = min(times.values(), key=lambda one: one.mean())
    said = LESS.match(found.elsewhere)
    fastest = min(candidates, key=lambda place: candidates[place].mean())
    place = (int(said["ranks"]), said["name"]) if said else fastest
    ratio, _, high = interval(candidates[place], here, len(candidates))
    surely = (ratio if np.isnan(high) else high) < 1
    if complete:
        assert candidates[place].mean() == pytest.approx(candidates[fastest].mean())
        assert bool(said) == surely
    if said:
        assert shows(said["there"], candidates[place].mean()) and shows(said["here"], here.mean())
        assert candidates[place].mean() < here.mean()
        fastest_here = min(times, key=lambda name: times[name].mean())
        assert (said["fastest"] or said["name"]) == fastest_here
        assert int(said["ranks_here"]) == found.ranks


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(first, marks=pytest.mark.nightly if first else pytest.mark.slow)
        for first in range(0, 240, 5)
    ],
)
def test_every_number_of_the_headline_follows_from_the_parquet_file(first, tmp_path, undrawn):
    """Five random sweeps a time."""
    verdicts = [check(random_sweep(tmp_path / str(seed), seed)) for seed in range(first, first + 5)]
    assert {"faster", "slower", "open", "few"} & set(verdicts)


@pytest.mark.slow
def test_the_terminal_and_json_have_the_numbers_of_the_page(tmp_path, undrawn):
    """`sweep` and `report` print what the page says; `export` has the same means."""
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": 10}]
    results, runs = swept.planned(tmp_path, grid=grid, ranks=[1, 2], seeds=[1, 2, 3])
    for run in runs:
        factor = 0.5 if run.description["schedule"] == "structure_aware" else 1.0
        swept.write(results, run, mean_s=1e-2 * factor * run.ranks)
    outcome = SweepOutcome(results, len(runs))
    conclude(outcome)
    found = answer(outcome.frames)
    assert found.verdict == "faster" and found.elsewhere
    assert outcome.headline.startswith(found.sentence) and found.elsewhere in outcome.headline
    assert typeset(found.sentence) in outcome.results.report.read_text()
    lines = [json.loads(line) for line in FORMATS["figures"](outcome.frames)[0].splitlines()]
    exported = sorted(line[FACTOR]["value"] for line in lines)
    shown = sorted(mean for one in found.comparisons for mean in one.means)
    assert exported == pytest.approx(shown)


def numbers(found) -> dict[tuple, set]:
    """Numbers of all tables and figures by (column, configuration, ranks, item, case)."""
    tables = [table(found), picture(found).table]
    for section in (make(found) for make in SECTIONS):
        tables += section.tables + [figure.table for figure in section.figures]
    values = defaultdict(set)
    for row in (row for one in tables for row in one.rows if "configuration" in row):
        own = dict(row)
        if "predictor" in own:
            name = {"theory": "iid", "replay": "replay"}.get(own.pop("predictor"), "waited")
            own[name] = own.pop("waiting_us")
        case = {name: own.pop(name, found.case.get(name)) for name in found.case}
        place = (
            own.pop("configuration"),
            own.pop("ranks", found.ranks),
            own.pop("item", ""),
            str(case),
        )
        for name, value in own.items():
            value = getattr(value, "value", value)
            if name not in ("low", "high", "runs", "pairs") and isinstance(value, float | int):
                values[(name, *place)].add(float(value))
    return values


@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(100, 130))]
)
def test_one_column_has_one_number_on_the_whole_page(seed, tmp_path, undrawn):
    """Columns of one name agree in all sections; waiting in its two units, and parts with their
    sums.
    """
    found = answer(random_sweep(tmp_path, seed, planted=False).frames)
    if found.chosen is None:
        return
    known = numbers(found)
    assert len(known) > 5
    for place, values in known.items():
        assert max(values) == pytest.approx(min(values), rel=1e-6, abs=1e-12), (place, values)
    value = {place: min(values) for place, values in known.items()}
    per_cycle_us = 1e6 * found.runs["model_s"].iloc[0] / found.runs["cycles"].iloc[0]
    for (name, *place), waited in value.items():
        if name == "waited":
            if ("waiting", *place) in value:
                assert waited == pytest.approx(value["waiting", *place] * per_cycle_us, rel=1e-5)
            assert waited == pytest.approx(value["synchronise", *place] * per_cycle_us, rel=1e-5)
            if ("barrier", *place) in value:
                parts = [
                    value[part, *place] for part in ("imbalance", "drift", "jitter", "barrier")
                ]
                assert waited == pytest.approx(sum(parts), rel=1e-4)
        if name == "computing":
            parts = [
                value[part, *place]
                for part in ("deliver", "update", "thread_wait", "collocate")
                if (part, *place) in value
            ]
            assert waited == pytest.approx(sum(parts))


def test_the_interval_of_a_ratio_of_means_holds_the_truth():
    """Of planted ratios, 95 of 100 intervals hold them, with noise of pairs and of single runs."""
    rng, inside, tries = np.random.default_rng(1), 0, 2000
    for _ in range(tries):
        pair, noise = rng.uniform(0, 0.5), rng.uniform(0.01, 0.2)
        n = rng.integers(3, 12)
        common = np.exp(pair * rng.standard_normal(n))
        first, second = (common * np.exp(noise * rng.standard_normal(n)) for _ in range(2))
        ratio = of_means(0.7 * first, second)
        inside += ratio.low <= 0.7 <= ratio.high
    assert inside / tries > 0.94


def test_one_incomplete_configuration_does_not_cost_the_others_their_runs():
    keys = {(seed, 1) for seed in range(6)}
    compared, shared = _shared_keys({"base": keys, "a": keys, "b": keys - {(0, 1)}, "c": {(3, 1)}})
    assert compared == ["base", "a", "b"] and len(shared) == 5
    assert _shared_keys({"base": keys, "a": {(9, 1)}})[1] == set()


def test_runs_that_are_too_short_have_no_ratio_but_advice(tmp_path, undrawn):
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": 10}]
    results, runs = swept.planned(tmp_path, grid=grid, seeds=[1, 2, 3])
    for run in runs:
        brief = {
            "timing__simulate_s": 0.0004 * run.seed,
            "timing__real_time_factor": 0.04 * run.seed,
        }
        swept.write(results, run, **brief)
    found = answer(load_folder(results.path))
    assert found.verdict == "short" and not found.ratios and found.time_ratio is None
    assert "0.40 to 1.2 ms" in found.sentence and "7500" in found.sentence
    assert not any("time_ratio" in row for row in table(found).rows)
    assert enough_ms(0.04) * 0.04e-3 == pytest.approx(1.5 * SHORTEST_S)
    for section in (make(found) for make in SECTIONS):
        assert not any("Fastest" in text or "would help most" in text for text in section.text)


def test_a_clock_that_takes_a_third_of_the_time_is_no_evidence(tmp_path):
    grid = [{"schedule": "conventional"}, {"schedule": "structure_aware", "delay_ratio": 10}]
    results, runs = swept.planned(tmp_path, grid=grid, seeds=[1])
    for run in runs:
        swept.write(results, run, timing__simulate_s=5.0, timing__timer_overhead=0.33)
    found = answer(load_folder(results.path))
    assert (
        found.verdict == "short" and "33" in found.sentence and "simulate_ms" not in found.sentence
    )


def test_a_run_without_the_table_of_its_ranks_is_complete_to_nobody(tmp_path):
    results, runs = swept.planned(tmp_path, seeds=[1, 2])
    for run in runs:
        swept.write(results, run)
    (results.run(runs[0].id) / "ranks.csv").unlink()
    frames = load_folder(results.path)
    assert len(frames.runs) == 1 and "ranks.csv" in frames.unreadable[runs[0].id]
    assert any("ranks.csv" in line for line in collect(frames))
    assert len(pd.read_parquet(results.summary)) == 1
    assert any("ranks.csv" in line for line in FORMATS["figures"](frames)[1])


def test_runs_of_unlike_conditions_are_named():
    alike = pd.DataFrame({"cpu": "EPYC", "commit": "1a2b", "nodes": 1}, index=range(4))
    assert unlike_conditions(alike) == ""
    planted = {
        "cpu": ["EPYC", "EPYC", "Xeon", "Xeon"],
        "commit": ["1a2b", "3c4d", "1a2b", "3c4d"],
        "nodes": [1, 2, 1, 2],
    }
    for column, values in planted.items():
        sentence = unlike_conditions(alike.assign(**{column: values}))
        assert all(str(value) in sentence for value in values)
    assert unlike_conditions(alike.assign(cpu=None)) == ""
