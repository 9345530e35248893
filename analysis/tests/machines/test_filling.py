"""What is unknown of a machine, assumed by rules."""

import pytest

from spikemark import machines
from spikemark.machines import filling

TIMES = ("t_first", "t_next", "t_spike", "collocate", "update.lif_exp", "external", "cycle")
NEEDED = (
    "topology",
    "nodes_per_leaf",
    "latency",
    "latency_node",
    "bandwidth",
    "bandwidth_node",
    "gap",
    "eager",
)


def calibrated(name="measured-here") -> machines.Profile:
    """A reference in which every time is a different power of two."""
    values = {
        "node.clock": 4.0, "node.bandwidth": 40.0, "node.bandwidth_core": 25, "node.cores": 2,
        "node.line": 64, "jitter.cv": 0.1, "jitter.correlation_time": 3.0, "jitter.minor_share": 0.05,
        "jitter.minor_factor": 2,
        **{f"kernels.one_core.{t}": 2.0**i for i, t in enumerate(TIMES)},
        **{f"kernels.full_node.{t}": 2.0 ** (i + 6) for i, t in enumerate(TIMES)},
    }  # fmt: skip
    return bare(name, **values)


def bare(name="unknown", **values) -> machines.Profile:
    empty = machines.checked({"format_version": 1, "name": name, "title": name}, name)
    return empty.assume_all({path: (value, "a test") for path, value in values.items()})


def number(profile, path) -> float:
    return profile.need(path, "a test").value


@pytest.mark.parametrize("name", machines.names())
def test_nothing_that_predictions_need_is_left(name):
    profile = machines.load(name)
    full = machines.filled(profile, calibrated())
    for path in [f"kernels.{g}.{t}" for g in ("one_core", "full_node") for t in TIMES] + [
        f"interconnect.{n}" for n in NEEDED
    ]:
        assert full.get(path), path
    for name in ("cv", "correlation_time", "minor_share", "minor_factor", "node_spread"):
        assert full.get(f"jitter.{name}")
    for path, value in full.values.items():
        known = profile.get(path)
        assert value == known if known else value.kind == "assumed" and len(value.reference) > 4
    assert set(full.unknown()) < set(profile.unknown())


def test_compute_follows_the_clock():
    full = machines.filled(bare(**{"node.clock": 2.0}), calibrated())
    for group in "one_core", "full_node":
        for time in TIMES[1:]:
            path = f"kernels.{group}.{time}"
            assert number(full, path) == 2 * number(calibrated(), path)
        assert number(full, f"kernels.{group}.t_first") == number(calibrated(), f"kernels.{group}.t_first")


def test_delivery_is_no_faster_than_the_bandwidth_per_core():
    machine = bare(**{"node.clock": 2.0, "node.bandwidth": 2, "node.cores": 100, "node.bandwidth_core": 2})
    full = machines.filled(machine, calibrated())  # a core has 0.02 GB/s
    assert number(full, "kernels.full_node.t_next") == filling.SYNAPSE / 0.02
    assert number(full, "kernels.one_core.t_next") == 2 * 2  # alone: by the clock
    assert "share of bandwidth" in full.get("kernels.full_node.t_next").reference
    assert number(full, "kernels.full_node.t_spike") == 2 * 256


def test_a_list_takes_at_least_a_line_of_memory():
    machine = bare(**{"node.clock": 4.0, "node.bandwidth": 16, "node.cores": 32})
    assert number(machines.filled(machine, calibrated()), "kernels.full_node.t_first") == 64 / 0.5
    machine = bare(**{"node.clock": 4.0, "node.bandwidth": 64, "node.cores": 32})
    assert number(machines.filled(machine, calibrated()), "kernels.full_node.t_first") == 64


def test_a_slow_interconnect_has_a_wide_gap_and_a_slow_memory_slow_messages():
    network = machines.load(filling.REFERENCE_NETWORK)
    latency = number(network, "interconnect.latency")
    full = machines.filled(bare(**{"interconnect.latency": 10 * latency, "node.bandwidth": 10}), calibrated())
    assert number(full, "interconnect.gap") == pytest.approx(10 * number(network, "interconnect.gap"))
    assert number(full, "interconnect.bandwidth_node") == 5
    assert full.get("power.card") is None  # nothing is known of the power


def test_what_is_known_stays_and_the_reference_is_its_own():
    machine = calibrated("its-own")
    full = machines.filled(machine, machine)
    assert all(full.get(path) == value for path, value in machine.values.items())
    assert full.get("interconnect.latency").reference == f"as {filling.REFERENCE_NETWORK}"


def test_without_a_calibrated_reference_kernels_stay_unknown(monkeypatch):
    monkeypatch.setattr(filling, "REFERENCE", "not-there")
    full = machines.filled(machines.load("grace"))
    assert "kernels.full_node.t_next" in full.unknown() and full.get("interconnect.gap")


def test_a_time_that_the_reference_lacks_stays_unknown():
    reference = calibrated()
    content = {**reference.content, "kernels": {
        group: {name: leaf for name, leaf in times.items() if name != "cycle"}
        for group, times in reference.content["kernels"].items()
    }}  # fmt: skip
    full = machines.filled(bare(**{"node.clock": 2.0}), machines.checked(content, "a test"))
    assert [path for path in full.unknown() if path.startswith("kernels.")] == [
        "kernels.one_core.cycle", "kernels.full_node.cycle",
    ]  # fmt: skip


def test_the_profiles_that_rules_name_are_there():
    assert {filling.REFERENCE_NETWORK, filling.REFERENCE_CARD} <= {*machines.names()}
