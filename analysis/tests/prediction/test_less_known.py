"""Knowing less of a machine never makes it look better, and widens what is said of it."""

import copy
from functools import cache

import pytest
from vendor import OFFER, offered

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import algorithms, comparable
from spikemark.machines.fields import COUNT, FABRIC, FABRICS, FIELDS, TEXT
from spikemark.machines.inputs import quantity
from spikemark.prediction import asked, decisions, node_range, predict
from spikemark.prediction.compare import compare
from spikemark.prediction.layout import Layout

TOLERANCE = 1e-3
TIMES = ("node.", "kernels.", "jitter.", "interconnect.")
NETWORK = asked.of_preset("mam-benchmark", options=["areas=4", "neurons_per_area=20000", "indegree=2000"])
#: What a value is in proportion to, in the profile that it is taken from and in the offer.
PER = {
    "node.memory": "node.cores", "node.bandwidth": "node.cores", "node.l3": "node.l3_cores",
    "node.l3_cores": "node.l3", "interconnect.gap": "interconnect.latency",
}  # fmt: skip


def offer(profile: machines.Profile, without: str = "") -> machines.Profile:
    """The same machine under another name, with a value left out."""
    content = copy.deepcopy({**profile.content, "name": "offer"})
    if without:
        *groups, last = without.split(".")
        at = content
        for group in groups:
            at = at[group]
        del at[last]
    return machines.checked(content, "a test")


def plausible(path: str, cores: float) -> list[float | str]:
    """What comparable profiles have at a path, in proportion to what it is in proportion to in the offer."""
    (field,) = (f for f in FIELDS if f.path == path)
    if field.allowed == TEXT:
        return list(field.choices)
    known = [p for p in map(machines.load, machines.names()) if path in p.values]
    known = [p for p in known if not path.startswith(comparable.VIRTUAL.get(p.name, "nothing"))]
    sized = [p for p in known if cores / 3 <= p.values["node.cores"].value <= cores * 3]
    per = PER.get(path)
    found = [
        p.values[path].value * (OFFER[per] / p.values[per].value if per else 1)
        for p in sized
        if per is None or per in p.values
    ]
    return [int(value) for value in found] if field.allowed == COUNT else found


@cache
def answer(path: str, value: float | str | None, nodes: int):
    """The prediction for the offer with another value at a path, or without one."""
    return predicted(offered(**{path.replace(".", "__"): value}), nodes)


def predicted(machine: machines.Profile, nodes: int):
    """The prediction for one rank on each node."""
    return predict.of_loads(loads_on(nodes), machine, Layout.of(machine, nodes, 128, 1), NETWORK.rates)


@cache
def loads_on(ranks: int, threads: int = 128) -> predict.Loads:
    return predict.Loads.of(predict.read(NETWORK.description), ranks, threads, NETWORK.rates.hz)


CAN_BE_LEFT_OUT = [
    path
    for path in OFFER
    if path.startswith(TIMES) and path not in ("node.cores", "node.sockets", "node.l1d")
]


@pytest.mark.parametrize("nodes", [1, 4])
@pytest.mark.parametrize("path", CAN_BE_LEFT_OUT)
def test_no_plausible_value_is_worse_than_an_unknown_one(path, nodes):
    """The middle of times, energy and cost is as bad as with the worst value that a comparable machine has.

    And the interval is wider than with any of them, and holds what each of them says.
    """
    unknown = answer(path, None, nodes)
    for value in plausible(path, OFFER["node.cores"]):
        known = answer(path, value, nodes)
        for name in ("real_time_factor", "energy_j", "cost_eur"):
            less, more = unknown.figures[name], known.figures[name]
            assert less.value >= more.value * (1 - TOLERANCE), (path, value, name)
            assert less.low <= more.value * (1 + TOLERANCE), (path, value, name)
            widths = [f.high - f.low for f in (less, more)]
            assert widths[0] >= widths[1] * (1 - TOLERANCE) or unknown.moves.get(path) is None, (path, value)


@pytest.mark.parametrize("path", CAN_BE_LEFT_OUT)
def test_no_offer_needs_fewer_nodes_if_a_value_is_left_out(path):
    def nodes(value, target: float) -> float:
        tried = [answer(path, value, n) for n in (1, 4)]
        found = node_range.Candidate("offer", "offer", 128, tried, {}, target).needed
        return float("inf") if found is None else found.nodes

    targets = [1.0001 * node_range.factor(answer(path, None, n)) for n in (1, 4)]
    for value in plausible(path, OFFER["node.cores"]):
        for target in (*targets, *(1.0001 * node_range.factor(answer(path, value, n)) for n in (1, 4))):
            assert nodes(None, target) >= nodes(value, target), (path, value, target)


@cache
def left_out(name: str) -> list[tuple[str, machines.Profile]]:
    """Every value of a profile that times depend on and that rules assume, and the profile without it."""
    profile, found = machines.load(name), []
    for path, value in profile.values.items():
        if path.startswith(TIMES) and isinstance(value.value, float | int) and path != "node.cores":
            less = machines.filled(offer(profile, path))
            if path in less.values:  # else it is refused, or not needed
                found.append((path, less))
    return found


def compared_with(path: str) -> bool:
    """Is a value assumed from comparable profiles? Kernels and long cycles have one calibrated profile."""
    return path.startswith(("node.", "interconnect.")) or path == "jitter.cv"


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in machines.names() if n != "epyc-vm"])
def test_a_value_left_out_never_helps(name):
    """Of no profile: the profile itself is among those that it is compared with."""
    whole = machines.filled(offer(machines.load(name)))
    for ranks in (1, 4):
        asked_of = loads_on(ranks, round(whole.need("node.cores", "a test").value))
        known = predict.numbers(asked_of, whole, 1)
        for path, less in left_out(name):
            if compared_with(path):
                lacking = predict.numbers(asked_of, less, 1)
                for figure in ("real_time_factor", "energy_j"):
                    if figure in known:
                        assert lacking[figure] >= known[figure] * (1 - TOLERANCE), (path, figure, ranks)


@pytest.mark.slow
@pytest.mark.parametrize("name", machines.names())
def test_the_interval_of_an_assumed_value_holds_the_one_that_was_left_out(name):
    for path, less in left_out(name):
        known, assumed = quantity(machines.load(name).get(path)), quantity(less.get(path))
        assert assumed.low <= known.value * (1 + TOLERANCE), path
        assert known.value <= assumed.high * (1 + TOLERANCE), path


@pytest.mark.parametrize(
    ("name", "path", "ranks"),
    [("grace", "node.bandwidth", 1), ("grace", "node.clock", 1), ("jureca-dc", "interconnect.latency", 4)],
)
def test_what_is_unknown_widens_the_prediction(name, path, ranks):
    profile = machines.load(name)
    cores = round(profile.need("node.cores", "a test").value)
    known, unknown = (
        predict.predict(
            NETWORK.description, machines.filled(machine), ranks, cores, None, None, 1, NETWORK.rates
        ).figures["real_time_factor"]
        for machine in (offer(profile), offer(profile, path))
    )
    assert unknown.low <= known.value <= unknown.high and unknown.value >= known.value
    assert unknown.high - unknown.low > known.high - known.low


#: What follows from the fabric where it is left out, and what the offer then says in its place.
LACKING = [
    {"latency": None}, {"bandwidth": None}, {"gap": None}, {"latency": None, "gap": None},
    {"latency": None, "bandwidth": None, "gap": None}, {"congestion": None},
    {"latency": None, "bandwidth": 3.1, "gap": None}, {"latency": None, "bandwidth": 0.1, "gap": None},
    {"latency": 30.0, "bandwidth": None, "gap": None},
    {"latency": None, "bandwidth": None, "gap": None, "congestion": None, "topology": None, "selector": None},
]  # fmt: skip


@pytest.mark.parametrize("lacking", LACKING, ids=lambda lacking: "-".join(lacking))
def test_leaving_out_the_fabric_never_helps(lacking):
    """Neither time nor energy nor cost nor nodes, whichever fabric it is; and all of them stay possible."""
    values = {f"interconnect__{name}": value for name, value in lacking.items()}
    for nodes in 4, 16:
        unknown = predicted(offered(interconnect__fabric=None, **values), nodes)
        for fabric in FABRICS:
            known = predicted(offered(interconnect__fabric=fabric, **values), nodes)
            for name in ("real_time_factor", "energy_j", "cost_eur"):
                less, more = unknown.figures[name], known.figures[name]
                assert less.value >= more.value * (1 - TOLERANCE), (fabric, name, nodes)
                assert less.low <= more.value * (1 + TOLERANCE), (fabric, name, nodes)
                assert less.high >= more.high * (1 - TOLERANCE), (fabric, name, nodes)
            needed = [node_range.Candidate("offer", "offer", 128, [p], {}, node_range.factor(known)).needed
                      for p in (unknown, known)]  # fmt: skip
            assert needed[0] is None or (needed[1] and needed[0].nodes >= needed[1].nodes)
            assert needed[1] or node_range.vague(known, node_range.factor(known))


def test_low_ends_stay_above_what_the_best_network_leaves():
    """Networks save no more than they take, however much of them is unknown.

    Assumed limits reach a factor of two beyond the best profile, hence the half.
    """
    values = {f"interconnect__{name}": None for name in LACKING[-1]}
    for nodes in 4, 16:
        unknown = predicted(offered(interconnect__fabric=None, **values), nodes).figures
        best = {"latency": 0.5, "bandwidth": 50, "gap": 0.01, "congestion": 1}
        known = predicted(offered(**{f"interconnect__{name}": v for name, v in best.items()}), nodes).figures
        assert unknown["exchange"].low > 0
        for name in "real_time_factor", "energy_j":
            assert unknown[name].low > known[name].low / 2, (name, nodes)


@pytest.mark.parametrize("bandwidth", [0.0125, 0.1, 3.1, 12.5])
@pytest.mark.parametrize("fabric", [None, *FABRICS])
def test_an_unknown_latency_is_no_better_than_that_of_any_comparable_network(fabric, bandwidth):
    """Ethernet is as slow as the slowest one, however much it carries; the interval reaches to the best."""
    made = offered(interconnect__fabric=fabric, interconnect__latency=None, interconnect__bandwidth=bandwidth)
    latency, ethernet = made.get("interconnect.latency"), fabric in (None, "ethernet", "other")
    known = [p.values for p in map(machines.load, machines.names()) if "interconnect.latency" in p.values]
    alike = [v["interconnect.latency"].value for v in known
             if fabric in (None, "other") or (v[FABRIC].value == "ethernet") is ethernet]  # fmt: skip
    assert latency.value == max(alike) and (latency.value > 30) is ethernet
    assert latency.interval[0] < min(alike) and latency.interval[1] > latency.value
    if bandwidth > 3:
        assert latency.interval[0] < 1.93  # us, of Ethernet that bypasses the operating system (usNIC)


def test_the_vendor_is_asked_for_the_fabric_in_plain_words():
    made = predicted(offered(interconnect__fabric=None, interconnect__latency=None), 64)
    c = node_range.Candidate("offer", "offer", 128, [made], {}, 1.0)
    decided = next(d for d in decisions.unknowns(c) if d.path == FABRIC)
    assert decided.of_vendor and decided.strength > decisions.NOTICED
    (asked,) = (line for line in decisions.questions(c) if line.startswith("ask the vendor"))
    assert "kind of network between nodes, such as Ethernet or InfiniBand (`interconnect.fabric`)" in asked
    assert any(line.startswith(f"{FABRIC} = other: not known") for line in made.assumptions)
    stated = predicted(offered(interconnect__latency=None), 64)
    assert FABRIC not in stated.moves and not any(FABRIC in line for line in stated.assumptions)


def test_memory_that_is_unknown_is_no_larger_than_that_of_the_worst_machine():
    """With too little memory for the network in the worst machine, the target is possible, but not likely."""
    per_core = min(v / OFFER["node.cores"] for v in plausible("node.memory", OFFER["node.cores"]))
    unknown = offered(node__memory=None).get("node.memory")
    assert unknown.value == pytest.approx(per_core * OFFER["node.cores"], rel=TOLERANCE)
    needed = answer("node.memory", None, 1).figures["memory_gb"].value
    for memory, fits, word in (
        (0.5, False, "excluded"), (0.9, None, "possible"), (1.1, None, "likely"), (4.0, True, "sure"),
    ):  # fmt: skip
        machine = offered().assume("node.memory", memory * needed, "GB", "a test")
        machine.values["node.memory"] = machine.values["node.memory"].__class__(
            memory * needed, "GB", "assumed", "a test", (0.8 * memory * needed, 1.2 * memory * needed)
        )
        found = predicted(machine, 1)
        assert found.fits is fits and node_range.word(found, 1e3) == word


def test_an_unknown_library_is_the_worst_one_and_is_ranked_among_the_unknowns():
    """Times with any rule for the algorithms of collectives, and with any topology, lie in the interval."""
    times = [
        node_range.factor(answer("interconnect.selector", name, 64)) for name in sorted(algorithms.RULES)
    ]
    unknown = answer("interconnect.selector", None, 64)
    found = node_range.interval(unknown)
    assert max(times) > 1.01 * min(times)
    assert found.value == pytest.approx(max(times)) and found.low <= min(times)
    moved = unknown.moves["interconnect.selector"]
    assert moved.low["real_time_factor"] == pytest.approx(min(times))
    c = node_range.Candidate("offer", "offer", 128, [unknown], {}, 1.0)
    assert "interconnect.selector" in [d.path for d in decisions.unknowns(c)]
    assert any("slowest of" in line for line in unknown.assumptions)


def test_what_cannot_be_assumed_is_refused():
    empty = machines.checked({"format_version": 1, "name": "a", "title": "a"}, "a test")
    with pytest.raises(BadInput, match=r"node\.cores is unknown"):
        compare(NETWORK, [machines.filled(empty)])
