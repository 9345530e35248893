"""The headline for every case a sweep can be in."""

import json
import re

import pytest
from html_page import page
from planned import ABSENT, grid, run, view_of, write_experiment
from synthetic import describe

from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.headline import headline

# Spread between seeds is small: the schedules differ by their mean compute time alone.
QUICK, SLOW = {"mean_s": 20e-6, "cv": 0.01}, {"mean_s": 40e-6, "cv": 0.01}


def of(folder, runs):
    return headline(view_of(folder, runs))


def pair(plain, aware, ranks=2, seeds=(1, 2, 3), delay_ratio=10):
    return [
        m
        for seed in seeds
        for m in (
            run("conventional", 1, ranks, seed, **plain),
            run("structure_aware", delay_ratio, ranks, seed, **aware),
        )
    ]


def each(field, values):
    """A pair for every two values of a field, each of a seed of its own."""
    return [m for seed, (a, b) in enumerate(values) for m in pair({field: a}, {field: b}, seeds=(seed,))]


def absent(runs, gone):
    return [dict(m, state=ABSENT) if gone(m) else m for m in runs]


def without_barrier():
    network = describe(delay_ratio=10)
    network["record"]["barrier"] = False
    return {"description": network}


STEADY, JITTERY = {"mean_s": 20e-6, "cv": 0.01}, {"mean_s": 20e-6, "cv": 0.9}
NO_COMPARISON = (
    "This experiment has no run of the structure-aware schedule and compares no schedules: 2 of 2 runs are"
    " complete."
)
WHOLE = pair(SLOW, QUICK)
#: Runs, the verdict on them, what the headline says, and what it does not say.
CASES = {
    "faster": (
        WHOLE, "faster",
        ["times as fast (95 % interval", "over 3 pairs of runs", "Waiting fell by", "expects 68\u202f%"], [],
    ),
    "slower": (pair(QUICK, SLOW), "slower", ["slower by a factor of"], []),
    "more waiting": (
        pair(STEADY, JITTERY), None, ["Waiting rose by", "expects a fall of 68\u202f%"], [],
    ),
    "a difference within the spread": (
        each("mean_s", [(20e-6, 24e-6), (24e-6, 20e-6), (22e-6, 22.5e-6)]), "open",
        ["3 pairs of runs cannot tell which is faster (speed-up"],
        ["no difference", "did not change", "times as fast"],
    ),
    "waiting within its spread": (
        each("cv", [(0.1, 0.9), (0.9, 0.1), (0.3, 0.9)]), None,
        ["tell whether the waiting changed (ratio", "expects a ratio of 0.316"], ["did not change"],
    ),
    "a single pair": (pair(SLOW, QUICK, seeds=(1,)), "single", ["only pair of runs"], ["interval"]),
    "one rank": (
        pair(SLOW, QUICK, ranks=1), "faster", ["on 1 rank", "waits for nobody"],
        ["Waiting fell", "Waiting rose"],
    ),
    "waiting not timed": (
        pair(SLOW | without_barrier(), QUICK | without_barrier()), "faster",
        ["Waiting was not timed on its own"], [],
    ),
    "nothing complete": (
        absent(WHOLE, lambda m: True), "none", ["Nothing to report yet: 0 of 6 runs are complete"], [],
    ),
    "one schedule alone": (
        absent(WHOLE, lambda m: m["schedule"] == "structure_aware"), "none",
        ["No run of the structure-aware schedule"], [],
    ),
    "the other alone": (
        absent(WHOLE, lambda m: m["schedule"] == "conventional"), "none",
        ["No run of the conventional schedule"], [],
    ),
    "never planned": ([run("conventional", 1, 2, seed=s) for s in (1, 2)], "none", [NO_COMPARISON], []),
    "different networks": (
        [run("conventional", 1, 2, seed=1), run("structure_aware", 10, 2, seed=2)], "none",
        ["No pair of"], [],
    ),
    "the most ranks and the largest ratio that have a pair": (
        absent(grid(seeds=(1, 2)), lambda m: m["ranks"] == 2 and m["delay_ratio"] in (5, 10)), None,
        ["D\u00a0=\u00a02 ", "on 2 ranks"], [],
    ),
    "different checksums": (
        [dict(WHOLE[0], checksum="0123456789abcdef"), *WHOLE[1:]], "broken", ["NOT EQUAL"], ["times as fast"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_said(tmp_path, case):
    runs, verdict, said, unsaid = CASES[case]
    found = of(tmp_path, runs)
    assert verdict in (None, found.verdict)
    assert [words for words in said if words not in found.sentence] == []
    assert verdict not in ("none", "broken") or found.sentence.startswith(said[0])
    assert [words for words in unsaid if words in found.sentence] == []
    assert (found.speed_up is None) == (found.verdict == "none")
    assert (found.waiting is None) == (found.verdict == "none" or case in ("one rank", "waiting not timed"))
    assert found.caution is None and str(found) == found.sentence


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


def test_the_numbers_in_the_sentence_give_the_ratio(tmp_path):
    found = of(tmp_path, [*pair(SLOW, QUICK), run("conventional", 1, 2, seed=9, mean_s=1e-3)])
    assert found.speed_up.first / found.speed_up.second == pytest.approx(found.speed_up.value)
    assert len(found.speed_up.pairs) == 3  # the run without a partner does not count
    assert found.speed_up.value == pytest.approx(2, rel=0.2)


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
