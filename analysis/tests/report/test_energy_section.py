"""The section on energy, of runs with and without synaptic events."""

from types import SimpleNamespace

import pandas as pd
import pytest

from spikemark.quantities.quantity import Quantity, missing
from spikemark.report.sections import energy


def quantity(value, unit):
    if value is None:
        return missing("no synaptic event", unit)
    return Quantity(value, value, value, unit, "measured")


def made_up(gross_j, per_event_uj):
    """What of_run says of a run, without its readings."""
    per_event = SimpleNamespace(gross_uj=quantity(per_event_uj, "µJ"))
    return SimpleNamespace(
        kind="measured",
        gross_j=quantity(gross_j, "J"),
        net_j=quantity(None, "J"),
        per_event=[per_event],
    )


@pytest.mark.parametrize(
    ("per_event_uj", "best"),
    [((None, None), None), ((None, 2.0), "b"), ((3.0, None), "a"), ((3.0, 2.0), "b")],
)
def test_runs_without_synaptic_events_are_left_out_of_the_least(monkeypatch, per_event_uj, best):
    energies = {0: made_up(10.0, per_event_uj[0]), 1: made_up(20.0, per_event_uj[1])}
    runs = pd.DataFrame({"id": [0, 1], "configuration": ["a", "b"], "ranks": [2, 2]})
    monkeypatch.setattr(energy, "compared", lambda sweep: runs)
    monkeypatch.setattr(energy, "of_run", lambda record: energies[record])
    section = energy.section(SimpleNamespace(frames=SimpleNamespace(records={0: 0, 1: 1})))
    assert [row["energy_j"] for row in section.tables[0].rows] == [10.0, 20.0]
    assert len(section.figures) == (best is not None)
    (text,) = section.text
    if best is None:
        assert "No run has a synaptic event" in text
    else:
        assert f": {best} on 2 ranks" in text
