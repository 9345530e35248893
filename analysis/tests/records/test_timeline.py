"""`spikemark export --format timeline`: what Perfetto would show of a run."""

import json
from pathlib import Path

import numpy as np
import pytest

from spikemark.records import timeline as module
from spikemark.records.record import load_run

RECORDS = Path(__file__).parents[3] / "tests" / "golden" / "analysis" / "records"
NANOSECOND_US = 1e-3


@pytest.mark.parametrize("name", sorted(path.name for path in RECORDS.iterdir()))
def test_every_time_is_found_again(name):
    """As the format says: events of a row do not overlap, and last as long as their phases."""
    run = load_run(RECORDS / name)
    text, remarks = module.timeline(run)
    content = json.loads(text)
    events = [event for event in content["traceEvents"] if event["ph"] == "X"]
    rows = {
        event["tid"]: event["args"]["name"]
        for event in content["traceEvents"]
        if event["name"] == "thread_name"
    }
    assert rows == {rank: f"rank {rank}" for rank in range(run.record.ranks)}
    found = np.zeros(run.cycles.shape)
    ends = dict.fromkeys(rows, 0.0)
    for event in events:
        place = event["tid"], event["args"]["cycle"], run.record.phases.index(event["name"])
        found[place] += 1e-6 * event["dur"]
        assert event["ts"] >= ends[event["tid"]] - NANOSECOND_US
        ends[event["tid"]] = event["ts"] + event["dur"]
    np.testing.assert_allclose(found, np.nan_to_num(run.cycles), rtol=1e-6, atol=1e-12)
    for rank, end_us in ends.items():
        assert end_us == pytest.approx(1e6 * np.nansum(run.cycles[rank], dtype=float), rel=1e-6)
    assert not remarks or np.isnan(run.cycles).any()


def test_a_long_run_is_cut_and_said_so(monkeypatch):
    run = load_run(RECORDS / "aware-4")
    events_of_cycle = run.record.ranks * len(run.record.phases)
    monkeypatch.setattr(module, "MAX_EVENTS", 10 * events_of_cycle)
    text, remarks = module.timeline(run)
    cycles = {event["args"].get("cycle") for event in json.loads(text)["traceEvents"]}
    assert cycles - {None} == set(range(10))
    assert len(remarks) == 1 and "10 of 1000" in remarks[0]
