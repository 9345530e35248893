"""What follows from a vendor's data sheet: bandwidth from its peak, power from the processors' TDP."""

import pytest

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.digest import digest
from spikemark.prediction import asked, predict

SHEET = {"node.cores": 128, "node.clock": 2.6, "interconnect.latency": 1.5, "interconnect.bandwidth": 20}
NETWORK = asked.of_preset("mam-benchmark", options=["areas=4", "neurons_per_area=20000", "indegree=2000"])
PEAK, TDP = "node.bandwidth_peak", "power.tdp"


def offer(**known) -> machines.Profile:
    """The machine of the sheet with more values, `__` for a dot."""
    empty = machines.checked({"format_version": 1, "name": "offer", "title": "offer"}, "a test")
    values = SHEET | {path.replace("__", "."): value for path, value in known.items()}
    return machines.filled(empty.assume_all({path: (v, "a test", (v, v)) for path, v in values.items()}))


def ratios(path: str, per) -> list[float]:
    """What profiles that know both have, of a value over another."""
    known = [machines.load(name) for name in machines.names()]
    return [p.get(path).value / per(p) for p in known if path in p.values and per(p)]


def of(path: str):
    return lambda p: p.values[path].value if path in p.values else None


def answer(**known) -> dict:
    return predict.predict(NETWORK.description, offer(**known), 4, 128, None, None, 1, NETWORK.rates).figures


def test_the_bandwidth_follows_from_its_peak_by_the_worst_ratio():
    known = ratios("node.bandwidth", of(PEAK))
    assert len(known) >= 3 and max(known) < 1
    found = offer(node__bandwidth_peak=600.0).get("node.bandwidth")
    assert found.kind == "assumed" and PEAK in found.reference
    assert found.value == pytest.approx(600 * min(known), rel=1e-3)
    assert found.interval[0] <= 600 * min(known) / 2 * 1.001 and 600 * max(known) <= found.interval[1] <= 600
    assert offer(node__bandwidth_peak=600.0, node__bandwidth=500.0).get("node.bandwidth").value == 500


def test_a_peak_gains_nothing_over_a_measured_bandwidth_and_leaving_it_out_gains_nothing():
    cores, sheet = SHEET["node.cores"], answer(node__bandwidth_peak=600.0)["real_time_factor"]
    for ratio in ratios("node.bandwidth", of(PEAK)):
        known = answer(node__bandwidth_peak=600.0, node__bandwidth=600 * ratio)["real_time_factor"]
        assert sheet.value >= known.value * 0.999 and sheet.low <= known.value * 1.001
        assert sheet.high - sheet.low >= known.high - known.low
    less = answer()["real_time_factor"]
    for per_core in ratios(PEAK, of("node.cores")):
        assert less.value >= answer(node__bandwidth_peak=per_core * cores)["real_time_factor"].value * 0.999


def test_power_follows_from_the_tdp_by_the_worst_ratio():
    known = ratios("power.idle", of(TDP))
    of_cores = ratios(
        "power.core", lambda p: TDP in p.values and p.values[TDP].value / p.values["node.cores"].value
    )
    found = offer(power__tdp=500.0)
    assert found.get("power.idle").value == pytest.approx(500 * max(known), rel=1e-3)
    assert found.get("power.core").value == pytest.approx(500 / 128 * max(of_cores), rel=1e-3)
    assert {found.get(path).kind for path in ("power.idle", "power.core", "power.card")} == {"assumed"}
    assert "power.idle" not in offer().values  # nothing is assumed of power without a sheet


def test_the_tdp_gains_nothing_over_measured_powers():
    sheet = answer(power__tdp=500.0)["energy_j"]
    assert not answer()["energy_j"]
    for name in machines.names():
        p = machines.load(name)
        if TDP not in p.values:
            continue
        per_w = 500 / p.values[TDP].value
        core = p.values["power.core"].value * per_w * p.values["node.cores"].value / SHEET["node.cores"]
        known = answer(power__idle=p.values["power.idle"].value * per_w, power__core=core)["energy_j"]
        assert sheet.value >= known.value * 0.999 and sheet.low <= known.value * 1.001


def test_what_only_fills_gaps_is_no_part_of_the_digest_and_a_triad_is_below_its_peak():
    whole = machines.load("jureca-dc")
    assert {PEAK, TDP} <= set(whole.values)
    content = {
        **whole.content,
        "node": {k: v for k, v in whole.content["node"].items() if k != "bandwidth_peak"},
    }
    assert digest(machines.checked(content, "a test")) == digest(whole)
    with pytest.raises(BadInput, match=r"allowed: node\.bandwidth up to node\.bandwidth_peak"):
        offer(node__bandwidth=700.0, node__bandwidth_peak=600.0)
