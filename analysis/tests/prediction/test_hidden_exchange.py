"""An exchange that goes on while ranks compute is shown with the time that it takes."""

import numpy as np
import pytest

import spikemark as sm

NETWORK = sm.network("mam-benchmark", areas=64)
LAYOUT = {"ranks": 64, "ranks_per_node": 8, "exchange": "ialltoallv"}


@pytest.mark.parametrize("machine", ["jureca-dc", "supermuc-ng"])
def test_it_takes_what_the_same_lanes_take_where_ranks_wait_for_it(machine):
    hidden = sm.predict(NETWORK, machine, schedule="overlapped", lag=1, **LAYOUT).options[0]
    cycles = hidden.way.delay_ratio // 2  # half of the delay is left for the exchange
    shown = sm.predict(
        NETWORK, machine, schedule="structure_aware", delay_ratio=cycles, **LAYOUT
    ).options[0]
    quantity = hidden.hidden_exchange
    assert hidden.parts["exchange"].max() == 0 and shown.hidden_exchange is None
    assert quantity.number == pytest.approx(np.median(shown.parts["exchange"]), rel=0.1)
    low, high = quantity.limits
    assert 0 < low < quantity.number < high


def test_screens_and_json_say_so():
    answers = [
        sm.predict(NETWORK, "jureca-dc", schedule="overlapped", **LAYOUT),
        sm.compare(NETWORK, ["jureca-dc", "supermuc-ng"], nodes=8, schedule="overlapped"),
    ]
    for answer in answers:
        tables = answer.screen(details=True).tables
        texts = [cell for table in tables for row in table.cells for cell in row]
        assert any("hidden behind computing: " in text for text in texts)
        assert any("hidden" in note for table in tables for note in table.notes)
    figures = answers[0].content()["predictions"][0]["figures"]
    assert figures["hidden_exchange"]["value"] > 0 == figures["exchange"]["value"]
    schedules = [row for row in answers[1].screen().tables[0].rows if row["what"] == "schedule"]
    assert len(schedules) == 1 and schedules[0]["jureca-dc"].startswith("overlapped")


def test_a_machine_of_parts_has_it_too():
    network = sm.network("mam-benchmark", areas=32)
    option = sm.predict(network, "two-generations", ranks=32, schedule="overlapped").options[0]
    assert option.hidden_exchange.number > 0
