"""What two offers have in common is no reason to prefer one: they share its draws, and what
runs on one of them say.
"""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from by_day import half_by_night
from leaves import leaf
from published_networks import multi_area_model

import spikemark
from spikemark import machines
from spikemark.machines import identity, processors
from spikemark.machines.profile import Profile, Value
from spikemark.prediction import draws, points, programs
from spikemark.prediction.performance import BETTER

ALIKE = 0.02  #: how far the ratio of equal offers may be from 1
SAMPLED = 1e-3  #: how far a median of a ratio may be from the true one
RARELY = 0.1  #: share of the draws in which a slower network may be the faster one
FAST = {"fabric": leaf("infiniband"), "latency": leaf(1.2, "us"), "bandwidth": leaf(25, "GB/s")}
ETHERNET = {"fabric": leaf("ethernet")}
SLOW = {"fabric": leaf("infiniband"), "latency": leaf(10, "us"), "bandwidth": leaf(3, "GB/s")}
SLOWER = {"ethernet": ETHERNET, "slow": SLOW}
#: Programs, and what offers state of who they are: nothing, a processor that nobody measured, one
#: of a machine that was measured, as which alone DPSNN is predicted for any network.
ASKED = [
    ("mini-app", None),
    ("mini-app", "epyc-9554"),
    ("nest", None),
    ("nest", "epyc-9554"),
    ("nest", "epyc-7742"),
    ("dpsnn", "xeon-e5-2630-v2"),
]
NODES = 16  #: that are asked about
#: Real-time factors that were measured, far below and far above what is expected.
MEASURED = (6.0, 60.0)
PROCESSORS = [None, "epyc-9554", "epyc-7742"]  #: of offers that were measured
MEASURED_CLUSTERS = sorted(
    {
        run.machine.name
        for run in points.published()
        if run.program == "nest" and not run.machine.platform
    }
)
WITH_AN_INTERVAL = {"kind": "measured", "interval": [2.0, 2.6]}


def offer(folder, name, processor=None, network=FAST, **node):
    """The file of an offer of 128 nodes of 128 cores, or as many as two of the processor have."""
    sheet = processors.sheet(processor) if processor else None
    cores = min(128, 2 * int(sheet.values["cores"])) if sheet else 128
    content = {
        "format_version": 1,
        "name": name,
        "title": f"Offer {name}",
        "node": {
            "sockets": leaf(2, "1"),
            "cores": leaf(cores, "1"),
            "memory": leaf(1024, "GB"),
            "clock": leaf(2.25, "GHz") | WITH_AN_INTERVAL,
            **node,
        },
        "interconnect": network,
        "offer": {"nodes": leaf(128, "1")},
    }
    if processor is not None:
        content["processor"] = processor
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def network_of(program):
    """A network that the program can be predicted for."""
    if program == "nest":
        return multi_area_model()
    return spikemark.network("mam-benchmark", areas=32, indegree=200)


def ratio(program, files, nodes):
    """The second offer's time over the first one's, and the answer."""
    fixed = {"schedule": "conventional"} if program == "mini-app" else {}
    answer = spikemark.compare(network_of(program), files, program=program, nodes=nodes, **fixed)
    first, second = answer.best.values()
    return second.rtf / first.rtf, answer


def test_all_programs_are_asked_about():
    assert {program for program, _ in ASKED} == set(programs.PROGRAMS)


@pytest.mark.parametrize(("program", "processor"), ASKED)
def test_equal_offers_are_as_fast(program, processor, tmp_path):
    files = [offer(tmp_path, name, processor) for name in ("one", "other")]
    for nodes in (1, 16):
        found, answer = ratio(program, files, nodes)
        assert np.quantile(found, [0.025, 0.975]) == pytest.approx([1, 1], abs=ALIKE)
        told = [line for line in answer.best["other"].remarks if "one" in line]
        assert bool(told) == (processor is None)


def with_networks(offers: list[tuple]) -> list:
    """Each of the offers with each slower network, half of them by night."""
    cases = []
    for number, offer in enumerate(offers):
        for other, name in enumerate(SLOWER):
            marks = [pytest.mark.nightly] * ((number + other) % 2)
            case_id = "-".join([*map(str, offer), name])
            cases.append(pytest.param(*offer, SLOWER[name], marks=marks, id=case_id))
    return cases


@pytest.mark.parametrize(("program", "processor", "network"), with_networks(ASKED))
def test_a_slower_network_is_no_better(program, processor, network, tmp_path):
    files = [
        offer(tmp_path, "fast", processor),
        offer(tmp_path, "slow", processor, network=network),
    ]
    for nodes in (8, 64):
        found, _ = ratio(program, files, nodes)
        assert np.quantile(found, 0.975) > 1 and np.median(found) > 1
        assert (found < 1).mean() < RARELY


def stated_by_clusters():
    """Each measured cluster with each value that it states and that decides about times."""
    cases = []
    for name in MEASURED_CLUSTERS:
        stated = machines.load(name).values
        cases += [(name, path) for path in BETTER if path in stated]
    return half_by_night(cases)


@pytest.mark.parametrize("stated", stated_by_clusters(), ids="-".join)
def test_an_offer_of_a_measured_cluster_without_one_value_neither_wins_nor_loses(stated):
    name, path = stated
    measured = machines.load(name)
    all_of_it = Profile("all", "All", measured.values, processor=measured.processor)
    others = {other: value for other, value in measured.values.items() if other != path}
    answer = spikemark.compare(
        multi_area_model(),
        [all_of_it, replace(all_of_it, name="less", values=others)],
        program="nest",
        nodes=32,
    )
    every, less = answer.best.values()
    faster = float((less.rtf < every.rtf).mean())
    low, high = np.quantile(less.rtf / every.rtf, [0.025, 0.975])
    assert 0.025 < faster < 0.975 or low - 1e-5 <= 1 <= high + 1e-5
    widths = [np.ptp(np.log(np.quantile(each.rtf, [0.025, 0.975]))) for each in (every, less)]
    assert widths[1] > 0.95 * widths[0]


@pytest.mark.parametrize("factor", [1.01, 4.0])
@pytest.mark.parametrize("stated", stated_by_clusters(), ids="-".join)
def test_an_offer_that_is_better_than_a_measured_cluster_is_no_slower(stated, factor):
    name, path = stated
    measured = machines.load(name)
    same = Profile("same", "Same", measured.values, processor=measured.processor)
    value = measured.values[path]
    if path == "node.clock":
        factor = min(factor, 1.15)  # no core is faster than its turbo clock
    if path == "node.bandwidth":
        peak = machines.filled(same).get("node.bandwidth_peak")
        factor = min(factor, float(peak.value) / float(value.value))
    changed = replace(value, value=float(value.value) * factor ** BETTER[path], interval=None)
    better = replace(same, name="better", values={**measured.values, path: changed})
    answer = spikemark.compare(multi_area_model(), [same, better], program="nest", nodes=32)
    times = {machine: option.rtf for machine, option in answer.best.items()}
    assert np.median(times["better"] / times["same"]) < 1 + SAMPLED
    assert (times["better"] > times["same"]).mean() < 0.6


@pytest.mark.parametrize(("program", "processor"), ASKED)
def test_what_two_networks_leave_open_is_no_difference(program, processor, tmp_path, monkeypatch):
    files = [
        offer(tmp_path, "fast", processor),
        offer(tmp_path, "slow", processor, network=SLOW),
    ]
    logs = []
    for sd in (0.0, 1.0):
        monkeypatch.setattr(draws, "UNSTATED_SD", sd)
        found, answer = ratio(program, files, NODES)
        logs.append([np.log(found), np.log(answer.best["fast"].rtf)])
    of_ratio, of_time = np.std(logs, axis=-1).T
    assert of_ratio[1] == pytest.approx(of_ratio[0], rel=1e-6)
    assert of_time[1] > 1.5 * of_time[0]


def profiles(processor, other_processor, **other_node):
    """Two profiles of equal networks, the second with some other values of its nodes."""
    stated = machines.load("jureca-dc").values
    first = Profile("first", "First", stated, processor=processor)
    changed = {path.replace("__", "."): value for path, value in other_node.items()}
    second = Profile("second", "Second", stated | changed, processor=other_processor)
    return identity.sharing_draws([machines.filled(first), machines.filled(second)])


CLOCK = Value(3.0, "GHz", "literature", "a test")


@pytest.mark.parametrize(
    ("processors", "changed", "shares"),
    [
        ((None, None), {}, True),
        ((None, None), {"node__clock": CLOCK}, False),
        (("a", "a"), {"node__clock": CLOCK}, True),
        (("a", "b"), {}, False),
        (("a", "b"), {"node__clock": CLOCK}, False),
    ],
)
def test_what_is_assumed_of_a_node_is_that_of_its_processor_or_of_equal_nodes(
    processors, changed, shares
):
    first, second = profiles(*processors, **changed)
    path = "kernels.full_node.t_next"
    assert first.values[path].kind == "assumed"
    assert (first.draws_of(path) == second.draws_of(path)) == shares
    assert (first.node_identity == second.node_identity) == shares
    assert first.draws_of("interconnect.gap") == second.draws_of("interconnect.gap")
    assert first.identity != second.identity


def test_a_machine_of_the_same_processor_shares_its_kernels(tmp_path):
    measured = machines.filled(machines.load("jureca-dc"))
    offered = machines.filled(machines.load(offer(tmp_path, "offered", measured.processor)))
    path = "kernels.full_node.t_next"
    assert measured.draws_of(path) == offered.draws_of(path)
    assert measured.network_identity != offered.network_identity


def test_on_one_node_nothing_between_nodes_moves_the_exchange_of_nest(tmp_path):
    for networks in ((FAST, ETHERNET), (FAST, SLOW)):
        files = [
            offer(tmp_path, name, network=network)
            for name, network in zip(("one", "other"), networks, strict=True)
        ]
        _, answer = ratio("nest", files, nodes=1)
        first, second = answer.best.values()
        assert np.array_equal(first.parts["exchange"], second.parts["exchange"])
        _, answer = ratio("nest", files, nodes=2)
        first, second = answer.best.values()
        assert np.median(second.parts["exchange"]) > np.median(first.parts["exchange"])


def runs(folder, real_time_factor, *nodes):
    """A table of runs that took so long on the first number of nodes."""
    lines = ["nodes,ranks,threads,real_time_factor"]
    for count in nodes:
        seconds = real_time_factor * nodes[0] / count
        lines.append(f"{count},{2 * count},64,{seconds}")
    path = folder / "runs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def compared(files, anchored, table, nodes=NODES):
    """The options of all offers, of which one was measured, or none."""
    network = multi_area_model()
    anchor = None if anchored is None else {str(files[anchored]): table}
    answer = spikemark.compare(network, files, program="nest", nodes=nodes, anchor=anchor)
    return answer, list(answer.best.values())


def width(option, part):
    """Log SD of a part."""
    return float(np.log(option.parts[part]).std())


@pytest.mark.parametrize(("processor", "anchored"), half_by_night(PROCESSORS, [0, 1]))
def test_twins_are_equal_whichever_was_measured(processor, anchored, tmp_path):
    files = [offer(tmp_path, name, processor) for name in ("one", "other")]
    medians = []
    for seconds in MEASURED:
        table = runs(tmp_path, seconds, 4)
        answer, (first, second) = compared(files, anchored, table)
        ratio = second.rtf / first.rtf
        assert np.quantile(ratio, [0.025, 0.975]) == pytest.approx([1, 1], abs=ALIKE)
        assert answer.fastest["one"] == pytest.approx(0.5, abs=0.02)
        assert all(option.nearest.is_own for option in (first, second))
        medians.append(second.median)
    assert medians[1] > 2 * medians[0]


@pytest.mark.parametrize(
    ("processor", "network"), with_networks([(processor,) for processor in PROCESSORS])
)
def test_equal_nodes_are_told_apart_by_their_network_alone(processor, network, tmp_path):
    files = [offer(tmp_path, "fast", processor), offer(tmp_path, "slow", processor, network)]
    for anchored in (0, 1):
        table = runs(tmp_path, 30.0, 4)
        _, (fast, slow) = compared(files, anchored, table)
        kernels = np.log(slow.parts["kernel"] / fast.parts["kernel"])
        assert np.abs(kernels).max() < 1e-9
        assert (slow.rtf < fast.rtf).mean() < 0.1
        assert np.median(slow.parts["exchange"]) > np.median(fast.parts["exchange"])
        _, (fast, slow) = compared(files, anchored, table, nodes=1)
        assert np.array_equal(fast.rtf, slow.rtf)


def test_runs_teach_other_nodes_about_an_equal_network(tmp_path):
    other = {"cores": leaf(64, "1")}
    files = [
        offer(tmp_path, "measured"),
        offer(tmp_path, "same", **other),
        offer(tmp_path, "slow", network=SLOW, **other),
    ]
    exchanges = []
    for communicate in (1.0, 20.0):
        table = tmp_path / "runs.csv"
        table.write_text(
            "nodes,ranks,threads,real_time_factor,communicate\n"
            f"64,128,64,{communicate + 5},{communicate}\n"
        )
        _, options = compared(files, 0, table, nodes=64)
        # Over the kernel, since the middle of all times is exact where there are runs.
        exchanges.append([option.parts["exchange"] / option.parts["kernel"] for option in options])
    measured, same, slow = np.log(np.divide(exchanges[1], exchanges[0])).mean(axis=1)
    assert measured > same > slow > 0
    networks = [
        {name for name in option.inputs if "/the network of " in name} for option in options
    ]
    assert networks[0] and networks[0] <= networks[1] and not networks[0] & networks[2]


def test_the_version_of_the_runs_is_that_of_all_machines(tmp_path):
    files = [offer(tmp_path, "measured"), offer(tmp_path, "other", network=SLOW)]
    _, options = compared([*files, "jureca-dc"], 0, runs(tmp_path, 30.0, 4))
    assert len({option.version for option in options}) == 1


@pytest.mark.slow
def test_what_runs_took_beyond_the_data_is_said_of_machines_that_were_run(tmp_path):
    files = [offer(tmp_path, "one"), offer(tmp_path, "slow", network=SLOW), "jureca-dc"]
    for seconds in (None, MEASURED[0]):
        table = None if seconds is None else runs(tmp_path, seconds, 4)
        answer, _ = compared(files, None if table is None else 0, table)
        one, slow, jureca = [machine["beyond_data"] for machine in answer.content()["machines"]]
        assert set(jureca) == {"kernel", "exchange"} and slow == {}
        assert bool(one) == (table is not None)
        assert all(0 < factor < 10 for factor in (*jureca.values(), *one.values()))
        lines = [note for note in answer.screen().notes if note.startswith("Measured:")]
        assert len(lines) == 1 + bool(one)
