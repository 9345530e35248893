"""What is unknown of a machine, assumed by rules."""

import pytest

from spikemark import machines
from spikemark.machines import comparable, filling, of_networks, of_nodes
from spikemark.machines.fields import FABRIC, FABRICS
from spikemark.machines.inputs import Inputs, quantity

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
    quick = {"node.bandwidth": 1e3, "node.bandwidth_core": 1e3, "node.cores": 2, "node.line": 64}
    full = machines.filled(bare(**{"node.clock": 2.0}, **quick), calibrated())
    for group in "one_core", "full_node":
        for time in TIMES[1:]:
            path = f"kernels.{group}.{time}"
            assert number(full, path) == 2 * number(calibrated(), path)
        assert number(full, f"kernels.{group}.t_first") == number(calibrated(), f"kernels.{group}.t_first")


def test_delivery_is_no_faster_than_the_bandwidth_per_core():
    machine = bare(**{"node.clock": 2.0, "node.bandwidth": 2, "node.cores": 100, "node.bandwidth_core": 2})
    full = machines.filled(machine, calibrated())  # a core has 0.02 GB/s
    assert number(full, "kernels.full_node.t_next") == of_nodes.SYNAPSE / 0.02
    assert number(full, "kernels.one_core.t_next") == 2 * 2  # alone: by the clock
    assert "share of bandwidth" in full.get("kernels.full_node.t_next").reference
    assert number(full, "kernels.full_node.t_spike") == 2 * 256


def test_a_list_takes_at_least_a_line_of_memory():
    line = {"node.clock": 4.0, "node.line": 64, "node.cores": 32}
    machine = bare(**{**line, "node.bandwidth": 16})
    assert number(machines.filled(machine, calibrated()), "kernels.full_node.t_first") == 64 / 0.5
    machine = bare(**{**line, "node.bandwidth": 64})
    assert number(machines.filled(machine, calibrated()), "kernels.full_node.t_first") == 64


def test_a_slow_interconnect_has_a_wide_gap_and_a_slow_memory_slow_messages():
    network = machines.load(of_networks.REFERENCE_NETWORK)
    latency = number(network, "interconnect.latency")
    full = machines.filled(bare(**{"interconnect.latency": 10 * latency, "node.bandwidth": 10}), calibrated())
    assert number(full, "interconnect.gap") == pytest.approx(10 * number(network, "interconnect.gap"))
    assert {root for root, *_ in full.get("interconnect.gap").follows} == {"interconnect.latency"}
    assert number(full, "interconnect.bandwidth_node") == 5
    assert full.get("power.card") is None  # nothing is known of the power


def test_what_is_known_stays_and_the_reference_is_its_own():
    machine = calibrated("its-own")
    full = machines.filled(machine, machine)
    assert all(full.get(path) == value for path, value in machine.values.items())
    assert full.get("interconnect.topology").reference == f"as {of_networks.REFERENCE_NETWORK}"


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
    machine = bare(**{"node.clock": 2.0})
    with_all = machines.filled(machine, reference)
    without = machines.filled(machine, machines.checked(content, "a test"))
    lost = set(without.unknown()) - set(with_all.unknown())
    assert lost == {"kernels.one_core.cycle", "kernels.full_node.cycle"}
    assert "kernels.full_node.t_ring_8" in with_all.unknown()  # models have what one machine took instead


def test_the_profiles_that_rules_name_are_there():
    assert {of_networks.REFERENCE_NETWORK, *comparable.VIRTUAL} <= {*machines.names()}


def test_an_unknown_value_is_the_worst_of_comparable_profiles():
    """By values that stand in the profiles of servers; boards and the virtual machine are not comparable."""
    clocks = sorted({(p.content["node"]["clock"]["value"], repr(p.content["node"])) for p in servers()})
    full = machines.filled(bare(**{"node.cores": 100}))
    clock = full.get("node.clock")
    assert clock.value == clocks[0][0] > 2 and clock.interval[0] < 2 and clock.interval[1] > clocks[-1][0]
    assert f"worst of {len(clocks)} comparable profiles; median " in clock.reference
    each = [p.values["node.bandwidth"].value / p.values["node.cores"].value
            for p in servers() if "node.bandwidth" in p.values]  # fmt: skip
    low, high = full.get("node.bandwidth").interval
    assert number(full, "node.bandwidth") == pytest.approx(100 * min(each), rel=1e-3)
    assert low < 100 * min(each) and high >= 100 * max(each)
    board = machines.filled(bare(**{"node.cores": 4})).get("node.clock")
    assert board.value == min(number(p, "node.clock") for p in profiles())


def servers() -> list[machines.Profile]:
    """The profiles whose nodes have about as many cores as one of 100."""
    return [p for p in profiles() if 100 / 3 <= number(p, "node.cores") <= 300]


def test_what_all_comparable_profiles_agree_on_is_not_doubted():
    line = machines.filled(bare(**{"node.cores": 100})).get("node.line")
    assert line.value == 64 and line.interval == (64, 64) and "profiles agree" in line.reference


def test_there_are_always_two_profiles_to_compare_with():
    """Where no profile has nodes of that size, those that come closest count."""
    clock = machines.filled(bare(**{"node.cores": 5000})).get("node.clock")
    assert clock.value == 2.4 and "worst of 2" in clock.reference


def profiles() -> list[machines.Profile]:
    return [machines.load(name) for name in machines.names()]


def test_twins_count_once():
    inside = sorted(p.values["interconnect.latency_node"].value for p in profiles()
                    if "interconnect.latency_node" in p.values)  # fmt: skip
    found = comparable.spread("interconnect.latency_node", max)
    assert (found.least <= inside[0], found.worst, found.count) == (True, inside[-1], len(inside))
    assert comparable.spread("interconnect.latency_node", min).worst == inside[0]
    ethernet = [
        p
        for p in profiles()
        if p.values.get("interconnect.latency") and number(p, "interconnect.latency") > 9
    ]
    spread = comparable.spread("interconnect.latency", max)
    assert len(ethernet) == 3 and spread.count == 3  # one Gigabit Ethernet, and two others


def between_nodes(fabric: str | None, **known) -> dict:
    """Values of the interconnect of a machine of which only its fabric and `known` are known."""
    stated = {f"interconnect.{name}": value for name, value in known.items()}
    full = machines.filled(bare(**stated, **({FABRIC: fabric} if fabric else {})))
    return {path.removeprefix("interconnect."): value for path, value in full.values.items()}


def test_networks_of_one_kind_are_compared_with_each_other():
    """A network for supercomputers is not compared with Gigabit Ethernet, and no Ethernet with such a one."""
    for fabric in "infiniband", "omni-path", "slingshot":
        latency = between_nodes(fabric, bandwidth=12.0)["latency"]
        assert latency.value < 2 and latency.interval[1] < 5
        assert between_nodes(fabric, latency=1.5)["bandwidth"].value > 3
    for fabric in "ethernet", "other", None:
        assert between_nodes(fabric, bandwidth=12.0)["latency"].value > 30
        assert between_nodes(fabric, latency=1.5)["bandwidth"].value < 0.2


def test_gigabit_ethernet_is_not_as_good_as_other_networks_but_a_fast_one_may_be():
    slow, fast = (between_nodes("ethernet", bandwidth=b)["latency"].interval for b in (0.1, 12.0))
    assert slow[0] > 15 and fast[0] < 1.9 and slow[1] == fast[1] > 60
    low, high = between_nodes("ethernet", latency=1.5)["bandwidth"].interval
    assert low < 0.1 and high > 20


def test_what_else_hangs_on_the_fabric_is_the_worst_where_it_is_not_known():
    """Switches of Ethernet share links up; Open MPI sends larger messages without asking over TCP."""
    for name, side in ("congestion", "high"), ("eager", "low"):
        each = {fabric: between_nodes(fabric)[name] for fabric in (None, *FABRICS)}
        limits = {fabric: quantity(value) for fabric, value in each.items()}
        worst = max if side == "high" else min
        assert each[None].value == each["other"].value == worst(v.value for v in each.values())
        assert limits[None].low == min(q.low for q in limits.values())
        assert limits[None].high == max(q.high for q in limits.values())


def test_a_fabric_that_is_not_known_moves_what_is_assumed_between_nodes():
    """To its middle with the best fabric; the rest of the way to the limit, the value moves by itself."""
    full = machines.filled(bare(**{"node.cores": 100}))
    path = "interconnect.latency"
    best = between_nodes("infiniband")["latency"].value * 1e-6
    middle, least = Inputs(full).need(path, "a test"), quantity(full.get(path)).low
    moved = Inputs(full, {FABRIC: "low"}).need(path, "a test")
    alone = Inputs(full, {path: "low"}).need(path, "a test")
    assert moved == pytest.approx(best) and least < best < alone < middle
    assert alone / middle == pytest.approx(least / best)
    assert Inputs(full, {FABRIC: "high"}).need(path, "a test") == middle
    worst = full.get(path).value  # also of a fabric that the file only assumes
    assert (FABRIC, "high", worst) in between_nodes("infiniband")["latency"].follows


def test_what_follows_from_an_unknown_value_moves_with_it():
    full = machines.filled(bare(**{"node.cores": 100, "node.clock": 2.0}))
    inputs = Inputs(full)
    path = "kernels.full_node.t_first"
    middle = inputs.need(path, "a test")
    assert "node.bandwidth" in inputs.used
    slow, quick = (Inputs(full, {"node.bandwidth": side}).need(path, "a test") for side in ("low", "high"))
    low, _ = full.get("node.bandwidth").interval
    assert quick < middle < slow == pytest.approx(64e-9 * 100 / low, rel=1e-3)


def test_kernels_that_are_known_to_be_slow_make_the_others_slow():
    known = {f"kernels.full_node.{t}": 3 * 2.0 ** (i + 6) for i, t in enumerate(TIMES) if t != "external"}
    machine = bare(**{"node.clock": 4.0, "node.cores": 2, "node.bandwidth": 1e3}, **known)
    full = machines.filled(machine, calibrated())
    assert number(full, "kernels.full_node.external") == 3 * number(
        calibrated(), "kernels.full_node.external"
    )
    assert "times 3, as the kernels that are known" in full.get("kernels.full_node.external").reference


def test_unknown_caches_are_assumed():
    full = machines.filled(bare(**{"node.cores": 8, "node.l3": 4096}))
    assert number(full, "node.l3_cores") <= 8 and full.get("node.l2").kind == "assumed"
    assert number(full, "node.l2") <= 4096 / number(full, "node.l3_cores") * (1 + 1e-3)


def test_an_assumed_value_survives_another_assumption():
    full = machines.filled(machines.load("galileo"))
    more = full.assume("price.node_hour", 3.0, "EUR/h", "a test")
    assert full.get("kernels.full_node.t_first").follows
    assert more.get("kernels.full_node.t_first") == full.get("kernels.full_node.t_first")
