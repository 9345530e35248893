"""Compares the counts and the memory that predictions start from with those of the mini-app."""

import json

import numpy as np
import program
import pytest
from test_access_counted import RUNS, multi_area

from spikemark.prediction import memory, rates
from spikemark.prediction.loads import Loads

pytestmark = pytest.mark.slow

RANKS, THREADS = 4, 3
WITHIN = 0.02


@pytest.mark.parametrize("how", RUNS)
def test_loads_and_memory_of_a_real_run(tmp_path, how):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(multi_area() | RUNS[how] | {"record": {"cycles": False}}))
    record = program.record_of(tmp_path / "out", description=path, ranks=RANKS, threads=THREADS)
    description, totals = record["description"], record["totals"]
    found = Loads.of(description, RANKS, THREADS, rates.of(description).hz)
    cycles = record["timing"]["cycles"]
    assert cycles * found.of_rank(found.lists).sum() == pytest.approx(totals["first_accesses"], rel=WITHIN)
    assert cycles * found.total_events == pytest.approx(totals["synaptic_events"], rel=WITHIN)
    assert cycles * found.spikes.sum() == pytest.approx(totals["spikes"], rel=WITHIN)
    for lane, counted, words in zip(found.lanes, record["lanes"], found.words, strict=True):
        assert (lane.name, lane.period, lane.lag) == (counted["name"], counted["period"], counted["lag"])
        assert np.bincount(lane.group).max() == counted["ranks"]
        assert cycles * words.sum() == pytest.approx(counted["spikes_sent"], rel=WITHIN)
    parts = record["memory"]["parts"]
    expected = memory.bytes_of_ranks(found).sum()
    held = sum(bytes for name, bytes in parts.items() if name != "log")
    assert expected == pytest.approx(held, rel=0.1)
