"""An exchange that goes on while ranks compute is shown with the time that it takes."""

import numpy as np
import pytest
import yaml
from leaves import leaf

import spikemark as sm
from spikemark.core import places

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


def test_what_a_slow_exchange_is_short_of_being_hidden_is_as_uncertain_as_it(tmp_path):
    """An exchange on a network whose latency is hardly known, far longer than computing."""
    content = yaml.safe_load((places.root() / "machines" / "jureca-dc.yaml").read_text())
    del content["measured_as"]
    latency = leaf(300, "us") | {"kind": "measured", "interval": [100, 900]}
    content["interconnect"] = {"fabric": leaf("ethernet"), "latency": latency}
    content["name"] = "slow"
    path = tmp_path / "slow.yaml"
    path.write_text(yaml.safe_dump(content))
    option = sm.predict(NETWORK, path, schedule="overlapped", lag=1, **LAYOUT).options[0]
    low, high = option.hidden_exchange.limits
    computing = sum(np.median(option.parts[part]) for part in ("deliver", "update", "collocate"))
    assert low > 3 * computing
    factor_low, middle, factor_high = np.quantile(option.rtf, [0.025, 0.5, 0.975])
    at_a_time = 2  # exchanges that are under way: that of the window before, too
    assert middle == pytest.approx(option.hidden_exchange.number / at_a_time, rel=0.3)
    assert np.log(factor_high / factor_low) > 0.9 * np.log(high / low)
