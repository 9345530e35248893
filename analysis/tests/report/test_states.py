"""The page is whole in every state of a sweep: nothing run, failed, unreadable, records without parts."""

import re

import pytest
from html_page import page, page_of
from planned import ABSENT, grid, write_experiment
from synthetic import describe

from spikemark.report.headline import MOST_WORDS

pytestmark = pytest.mark.slow


def states(runs):
    """A name for every state of a sweep that must still give a page."""
    network, silent = describe(delay_ratio=10), describe(delay_ratio=10, rate_hz=0)
    no_cycles, no_barrier = ({**network, "record": {name: False}} for name in ("cycles", "barrier"))
    return {
        "nothing run": [dict(m, state=ABSENT) for m in runs],
        "all failed": [dict(m, state="mpirun ended with status 1") for m in runs],
        "first run only": [dict(m, state=ABSENT) if i else m for i, m in enumerate(runs)],
        "one rank": [m for m in runs if m["ranks"] == 1],
        "no conventional": [m for m in runs if m["schedule"] != "conventional"],
        "no cycles": [dict(m, description=no_cycles) for m in runs],
        "no barrier": [dict(m, description=no_barrier) for m in runs],
        "no spikes": [dict(m, description=silent) for m in runs],
        "no spread": [dict(m, cv=0.0) for m in runs],
        "few cycles": [dict(m, cycles=10) for m in runs],
        "no plan lines": [],
    }


MISSING = {
    "nothing run": ["Nothing to report yet: 0 of 6 runs are complete, 6 not run yet", "no run is complete"],
    "all failed": ["6 failed", "mpirun ended with status 1"],
    "first run only": ["1 of 6 runs are complete", "nothing to compare"],
    "one rank": ["one rank waits for nobody", "Maxima over ranks: the runs have only one rank"],
    "no conventional": [
        "or placement only: it gave a speed-up of",
        "Serial correlation: no conventional run",
    ],
    "no cycles": ["not recorded (record.cycles is false)", "no conventional run with recorded cycle times"],
    "no barrier": ["not timed on its own", "record.barrier is false"],
    "no spikes": ["no synaptic event occurred"],
    "no spread": ["the cycle times do not vary"],
    "few cycles": ["Correctness"],
    "no plan lines": ["Nothing to report yet: 0 of 0 runs are complete"],
}


@pytest.mark.parametrize("state", MISSING)
def test_a_page_in_every_state(tmp_path, state):
    runs = states(grid(ratios=(10,), seeds=(1,), cycles=100))
    assert runs.keys() == MISSING.keys()
    words = page(tmp_path, runs[state]).text
    text = (tmp_path / "demo" / "here" / "report.html").read_text(encoding="utf-8")
    sentence = re.search(r'<p class="headline" id="headline">(.*?)</p>', text, re.S).group(1)
    for expected in MISSING[state]:
        assert expected in words
    assert len(sentence.split()) <= MOST_WORDS
    for word in ("nan", "None", "not a number"):
        assert not re.search(rf"\b{word}\b", words)


def test_failed_unreadable_and_absent_runs_are_named(tmp_path):
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1, 2))
    runs[0]["state"] = "out of memory on rank 1"
    runs[1]["state"] = ABSENT
    experiment = write_experiment(tmp_path, runs)
    truncated = experiment / "runs" / f"{2:012x}" / "cycles.npy"
    truncated.write_bytes(truncated.read_bytes()[:-100])
    words = page_of(experiment).text
    assert "3 of 6 runs are complete, 1 failed, 1 unreadable, 1 not run yet" in words
    assert "failed: out of memory on rank 1" in words and "more of the log" not in words
    assert "unreadable" in words and "cycles.npy" in words
