"""The headline for every case a sweep can be in."""

import re

import numpy as np
import pytest
from edited_record import set_times
from html_page import page
from planned import ABSENT, grid, run, view_of, write_experiment
from synthetic import PHASES, describe

from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.headline import MOST_WORDS, headline
from spikemark.report.sections.speed.compared import statement as speed_statement
from spikemark.report.sections.waiting.compared import statement as waiting_statement

# Spread between seeds is small: the schedules differ by their mean compute time alone.
QUICK, SLOW = {"mean_s": 20e-6, "cv": 0.01}, {"mean_s": 40e-6, "cv": 0.01}


def of(folder, runs):
    return headline(view_of(folder, runs))


def told(view) -> str:
    """The sentence, and what the page says of speed and waiting at more length."""
    details = [*speed_statement(view), *waiting_statement(view)]
    return " ".join([headline(view).sentence, *details])


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
    "This experiment compares no schedules: its only one is conventional (2 of 2 runs are complete)."
)
WHOLE = pair(SLOW, QUICK)
#: Runs, the verdict on them, what the headline says, and what it does not say.
CASES = {
    "faster": (
        WHOLE, "faster",
        ["On 2 ranks of this machine, structure-aware (D\u00a0=\u00a010) ran ",
         "times as fast as conventional.",
         "times as fast (95 % interval", "over 3 pairs of runs", "waiting fell by", "expects 68\u202f%"],
        ["the fastest of"],
    ),
    "slower": (
        pair(QUICK, SLOW), "slower", ["took", "times as long as conventional.", "slower by a factor of"], [],
    ),
    "the best of several": (
        [*WHOLE, *(run("placement_only", 1, 2, s, **SLOW) for s in (1, 2, 3))], "faster",
        ["times as fast as conventional, with the shortest time", "fastest of 2 that are compared"], [],
    ),
    "none of several is faster": (
        [*pair(QUICK, SLOW), *(run("placement_only", 1, 2, s, **SLOW) for s in (1, 2, 3))], "slower",
        ["conventional was fastest: the next, structure-aware"], [],
    ),
    "without a conventional run": (
        [m for s in (1, 2, 3) for m in (
            run("placement_only", 1, 2, s, **SLOW), run("structure_aware", 10, 2, s, **QUICK))],
        "faster", ["times as fast as placement only."], [],
    ),
    "several D of one schedule": (
        [m for s in (1, 2, 3) for m in (
            run("structure_aware", 1, 2, s, **SLOW), run("structure_aware", 10, 2, s, **QUICK))],
        "faster", ["times as fast as structure-aware (D\u00a0=\u00a01)."], [],
    ),
    "more waiting": (
        pair(STEADY, JITTERY), None, ["waiting rose by", "expects a fall of 68\u202f%"], [],
    ),
    "a difference within the spread": (
        each("mean_s", [(20e-6, 24e-6), (24e-6, 20e-6), (22e-6, 22.5e-6)]), "open",
        ["3 pairs of runs cannot tell whether structure-aware (D\u00a0=\u00a010) or conventional is faster.",
         "3 pairs of runs cannot tell which is faster (speed-up"],
        ["no difference", "did not change", "times as fast"],
    ),
    "waiting within its spread": (
        each("cv", [(0.4, 0.9), (0.9, 0.4), (0.5, 0.9)]), None,
        ["tell whether the waiting changed (ratio", "expects a ratio of 0.316"], ["did not change"],
    ),
    "a single pair": (
        pair(SLOW, QUICK, seeds=(1,)), "few",
        ["1 pair of runs is too few to tell which is faster, structure-aware", "it gave a speed-up of ",
         "1 pair of runs, too few for an interval, gave ", "waited 0."], ["95 %"],
    ),
    "two pairs": (
        each("mean_s", [(20e-6, 24e-6), (24e-6, 20e-6)]), "few",
        ["2 pairs of runs are too few to tell which is faster, structure-aware", "they gave speed-ups of 0.",
         "2 pairs of runs, too few for an interval, gave 0."], ["95 %", "10⁻", "fell", "rose"],
    ),
    "pairs that differ by orders of magnitude": (
        each("mean_s", [(20e-6, 400e-6), (400e-6, 20e-6), (20e-6, 20e-6)]), "few",
        ["3 pairs of runs cannot tell whether", "3 pairs of runs, too different for an interval, gave 0.0"],
        ["95 %"],
    ),
    "one rank": (
        pair(SLOW, QUICK, ranks=1), "faster", ["On 1 rank of this machine", "waits for nobody"],
        ["aiting fell", "aiting rose"],
    ),
    "waiting not timed": (
        pair(SLOW | without_barrier(), QUICK | without_barrier()), "faster",
        ["was not timed on its own"], [],
    ),
    "nothing complete": (
        absent(WHOLE, lambda m: True), "none", ["Nothing to report yet: 0 of 6 runs are complete"], [],
    ),
    "one schedule alone": (
        absent(WHOLE, lambda m: m["schedule"] == "structure_aware"), "none",
        ["Nothing can be compared yet: so far, only runs of the conventional schedule are complete"], [],
    ),
    "the other alone": (
        absent(WHOLE, lambda m: m["schedule"] == "conventional"), "none",
        ["Nothing can be compared yet: so far, only runs of the structure-aware schedule are complete"], [],
    ),
    "never planned": ([run("conventional", 1, 2, seed=s) for s in (1, 2)], "none", [NO_COMPARISON], []),
    "different networks": (
        [run("conventional", 1, 2, seed=1), run("structure_aware", 10, 2, seed=2)], "none",
        ["No runs of one network and different schedules on equally many ranks are complete: 2 of 2"], [],
    ),
    "the most ranks and the largest ratio that have a pair": (
        absent(grid(), lambda m: m["ranks"] == 2 and m["delay_ratio"] in (5, 10)), None,
        ["D\u00a0=\u00a02)", "n 2 ranks"], [],
    ),
    "different checksums": (
        [dict(WHOLE[0], checksum="0123456789abcdef"), *WHOLE[1:]], "broken", ["NOT EQUAL"], ["times as fast"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_said(tmp_path, case):
    runs, verdict, said, unsaid = CASES[case]
    view = view_of(tmp_path, runs)
    found, words = headline(view), told(view)
    assert verdict in (None, found.verdict)
    assert [text for text in said if text not in words] == []
    assert verdict not in ("none", "broken") or found.sentence.startswith(said[0])
    assert [text for text in unsaid if text in (found.sentence if verdict == "broken" else words)] == []
    assert (found.speed_up is None) == (found.verdict == "none")
    assert len(found.sentence.split()) <= MOST_WORDS
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
    assert "over 4 pairs of runs" in told(view_of(tmp_path / "whole", runs))
    fewer = of(tmp_path / "one absent", [dict(runs[0], state=ABSENT), *runs[1:]])
    assert fewer.speed_up.pairs == found.speed_up.pairs[1:]


@pytest.mark.parametrize(("status", "words"), [("ok", "processor here: l1 misses."), ("denied", "None of")])
def test_runs_that_read_counters_say_nothing_of_speed(tmp_path, status, words, undrawn):
    meter = {"name": "l1_misses", "unit": "count", "source": "papi", "status": status, "event": None}
    meter |= {"value": 1.0, "reason": None} if status == "ok" else {"value": None, "reason": "not allowed"}
    network = describe(delay_ratio=10)
    network["record"]["counters"] = True
    both = {"description": network, "meters": [meter]}
    runs = pair(SLOW | both, QUICK | both)
    found = of(tmp_path / "some", runs)
    assert found.verdict == "none" and found.speed_up is None
    assert words in found.sentence and "times as" not in found.sentence
    words = page(tmp_path / "page", runs).text
    assert found.sentence in words and "6 of 6 runs are complete" in words and "times as fast" not in words
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


def test_the_theory_that_misses_its_own_runs_is_named(tmp_path):
    assert "what was measured" not in told(view_of(tmp_path / "hit", pair(SLOW, QUICK)))
    folder = write_experiment(tmp_path / "missed", pair(SLOW, QUICK))
    for path in folder.glob("runs/*/cycles.npy"):
        times = np.load(path)
        times[:, :, PHASES.index("synchronise")] /= 10
        set_times(path.parent, times)
    missed = told(look(gather(folder)))
    assert re.search(r"puts the conventional waiting itself at (9|1[01])[.\d]* times", missed)
