"""The headline for every case a sweep can be in."""

import json
import re

import pytest
from html_page import page
from planned import ABSENT, grid, run, write_experiment
from synthetic import describe

from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.headline import headline

# Spread between seeds is small: the schedules differ by their mean compute time alone.
QUICK, SLOW = {"mean_s": 20e-6, "cv": 0.01}, {"mean_s": 40e-6, "cv": 0.01}


def of(folder, runs):
    return headline(look(gather(write_experiment(folder, runs))))


def pair(plain, aware, ranks=2, seeds=(1, 2, 3), delay_ratio=10):
    return [
        m
        for seed in seeds
        for m in (
            run("conventional", 1, ranks, seed, **plain),
            run("structure_aware", delay_ratio, ranks, seed, **aware),
        )
    ]


def test_faster(tmp_path):
    found = of(tmp_path, pair(SLOW, QUICK))
    assert found.verdict == "faster"
    assert found.speed_up.low > 1
    assert "times as fast (95 % interval" in found.sentence and "over 3 pairs of runs" in found.sentence
    assert "Waiting fell by" in found.sentence and "expects 68\u202f%" in found.sentence
    assert found.caution is None and str(found) == found.sentence


def test_slower_is_said(tmp_path):
    found = of(tmp_path, pair(QUICK, SLOW))
    assert found.verdict == "slower"
    assert found.speed_up.high < 1
    assert "slower by a factor of" in found.sentence


def test_more_waiting_is_said(tmp_path):
    jittery = {"mean_s": 20e-6, "cv": 0.9}
    found = of(tmp_path, pair({"mean_s": 20e-6, "cv": 0.01}, jittery))
    assert found.waiting.value > 1
    assert "Waiting rose by" in found.sentence and "expects a fall of 68\u202f%" in found.sentence


def test_a_difference_within_the_spread_is_not_told_from_none(tmp_path):
    times = [(20e-6, 24e-6), (24e-6, 20e-6), (22e-6, 22.5e-6)]
    runs = []
    for seed, (plain, aware) in enumerate(times):
        runs += pair({"mean_s": plain}, {"mean_s": aware}, seeds=(seed,))
    found = of(tmp_path, runs)
    assert found.verdict == "open"
    assert found.speed_up.low < 1 < found.speed_up.high
    assert "3 pairs of runs cannot tell which is faster (speed-up" in found.sentence
    for claim in ("no difference", "did not change", "times as fast"):
        assert claim not in found.sentence


def test_a_single_pair_claims_no_interval(tmp_path):
    found = of(tmp_path, pair(SLOW, QUICK, seeds=(1,)))
    assert found.verdict == "single"
    assert "only pair of runs" in found.sentence and "interval" not in found.sentence


def test_every_repetition_of_every_seed_is_a_pair(tmp_path):
    def block(seed, repetition, plain_s, aware_s):
        runs = pair({"mean_s": plain_s, "cv": 0.01}, {"mean_s": aware_s, "cv": 0.01}, seeds=(seed,))
        return [dict(m, repetition=repetition) for m in runs]

    blocks = {(1, 1): (20e-6, 10e-6), (1, 2): (90e-6, 30e-6), (2, 1): (40e-6, 10e-6), (2, 2): (100e-6, 20e-6)}
    runs = [m for key, means in blocks.items() for m in block(*key, *means)]
    found = of(tmp_path / "whole", runs)
    assert found.speed_up.pairs == pytest.approx([2, 3, 4, 5], rel=0.2)
    assert found.speed_up.pairs == sorted(found.speed_up.pairs)
    assert "over 4 pairs of runs" in found.sentence
    fewer = of(tmp_path / "one absent", [dict(runs[0], state=ABSENT), *runs[1:]])
    assert fewer.speed_up.pairs == found.speed_up.pairs[1:]


def test_one_rank_says_nothing_about_waiting(tmp_path):
    found = of(tmp_path, pair(SLOW, QUICK, ranks=1))
    assert found.verdict == "faster" and found.waiting is None
    assert "on 1 rank" in found.sentence and "waits for nobody" in found.sentence
    assert "Waiting fell" not in found.sentence and "Waiting rose" not in found.sentence


def test_nothing_complete(tmp_path):
    found = of(tmp_path, [dict(m, state=ABSENT) for m in pair(SLOW, QUICK)])
    assert found.verdict == "none" and found.speed_up is None
    assert "0 of 6 runs are complete" in found.sentence


@pytest.mark.parametrize(("absent", "name"), [("structure_aware", "structure-aware"), ("conventional",) * 2])
def test_one_schedule_alone_is_not_compared(tmp_path, absent, name):
    runs = [dict(m, state=ABSENT) if m["schedule"] == absent else m for m in pair(SLOW, QUICK)]
    found = of(tmp_path, runs)
    assert found.verdict == "none"
    assert f"No run of the {name} schedule" in found.sentence


def test_what_was_never_planned_is_not_missed(tmp_path):
    found = of(tmp_path, [run("conventional", 1, 2, seed=seed) for seed in (1, 2)])
    assert found.sentence == (
        "This experiment has no run of the structure-aware schedule and compares no schedules: 2 of 2 runs"
        " are complete."
    )


@pytest.mark.parametrize(("status", "words"), [("ok", "processor here: l1 misses ("), ("denied", "None of")])
def test_runs_that_read_counters_say_nothing_of_speed(tmp_path, status, words):
    meter = {"name": "l1_misses", "unit": "count", "source": "papi", "status": status, "event": None}
    meter |= {"value": 1.0, "reason": None} if status == "ok" else {"value": None, "reason": "not allowed"}
    network = describe(delay_ratio=10)
    network["record"]["counters"] = True
    both = {"description": network, "meters": [meter]}
    runs = pair(SLOW | both, QUICK | both)
    found = of(tmp_path / "some", runs)
    assert found.verdict == "none" and found.speed_up is None
    assert words in found.sentence and "6 of 6 runs" in found.sentence and "times as" not in found.sentence
    words = page(tmp_path / "page", runs).text
    assert found.sentence in words and "Runs complete" in words and "Speed-up" not in words
    runs[0]["checksum"] = "0123456789abcdef"
    assert of(tmp_path / "broken", runs).verdict == "broken"


def test_different_networks_are_not_a_pair(tmp_path):
    runs = [run("conventional", 1, 2, seed=1), run("structure_aware", 10, 2, seed=2)]
    assert of(tmp_path, runs).sentence.startswith("No pair of")


def test_the_most_ranks_and_the_largest_ratio_that_have_a_pair(tmp_path):
    runs = grid(seeds=(1, 2))
    missing = [m for m in runs if m["ranks"] == 2 and m["delay_ratio"] in (5, 10)]
    found = of(tmp_path, [dict(m, state=ABSENT) if m in missing else m for m in runs])
    assert "D\u00a0=\u00a02 " in found.sentence and "on 2 ranks" in found.sentence


def test_waiting_not_measured(tmp_path):
    network = describe(delay_ratio=10)
    network["record"]["barrier"] = False
    found = of(tmp_path, pair(SLOW | {"description": network}, QUICK | {"description": network}))
    assert found.waiting is None
    assert "Waiting was not timed on its own" in found.sentence


def test_waiting_within_its_spread_is_left_open(tmp_path):
    spreads = [(0.1, 0.9), (0.9, 0.1), (0.3, 0.9)]
    runs = []
    for seed, (plain, aware) in enumerate(spreads):
        runs += pair({"cv": plain}, {"cv": aware}, seeds=(seed,))
    found = of(tmp_path, runs)
    assert found.waiting.low < 1 < found.waiting.high
    assert "tell whether the waiting changed (ratio" in found.sentence
    assert "expects a ratio of 0.316" in found.sentence and "did not change" not in found.sentence


def test_the_numbers_in_the_sentence_give_the_ratio(tmp_path):
    found = of(tmp_path, [*pair(SLOW, QUICK), run("conventional", 1, 2, seed=9, mean_s=1e-3)])
    assert found.speed_up.first / found.speed_up.second == pytest.approx(found.speed_up.value)
    assert len(found.speed_up.pairs) == 3  # the run without a partner does not count
    assert found.speed_up.value == pytest.approx(2, rel=0.2)


def test_different_checksums_leave_nothing_to_compare(tmp_path):
    runs = pair(SLOW, QUICK)
    runs[0]["checksum"] = "0123456789abcdef"
    found = of(tmp_path, runs)
    assert found.verdict == "broken"
    assert found.sentence.startswith("NOT EQUAL") and "times as fast" not in found.sentence


def test_the_strongest_load_on_the_compared_runs_is_the_caution(tmp_path):
    runs = [*pair(SLOW, QUICK), *pair(SLOW, QUICK, ranks=1)]
    compared = [m for m in runs if m["ranks"] == 2]
    runs[-1]["warnings"] = ["oversubscribed: 1 ranks x 1 threads on 0 cores of a node"]
    compared[0]["warnings"] = ["foreign load: other processes kept 1.75 cores busy"]
    compared[1]["warnings"] = [
        "virtual machine: other guests",
        "foreign load: other processes kept 0.30 cores busy",
        "stolen time: the hypervisor took 0.90 cores away",
    ]
    found = of(tmp_path, runs)
    assert found.caution == "measured while other processes kept up to 1.75 cores busy: compare with care"
    assert str(found) == f"{found.sentence} Caution: {found.caution}."


def test_the_theory_that_misses_its_own_runs_is_named_in_the_headline(tmp_path):
    kept = of(tmp_path / "hit", pair(SLOW, QUICK))
    assert "what was measured" not in kept.sentence
    folder = write_experiment(tmp_path / "missed", pair(SLOW, QUICK))
    for record in folder.glob("runs/*/record.json"):
        content = json.loads(record.read_text())
        content["timing"]["phases"]["synchronise"]["mean_s"] /= 10
        record.write_text(json.dumps(content))
    missed = headline(look(gather(folder)))
    assert re.search(r"puts the conventional waiting itself at (9|1[01])[.\d]* times", missed.sentence)
