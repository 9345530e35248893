"""What screens say of machines: what is assumed, of how many nodes they speak, what did fit."""

from itertools import chain, combinations

import numpy as np
import pytest
import yaml
from leaves import offered
from published_networks import multi_area_model

import spikemark as sm
from spikemark import machines
from spikemark.prediction import points, production
from spikemark.prediction.option import OF_NETWORK, OF_PROCESSOR
from spikemark.prediction.production import OwnTable, anchored

#: What an offer may state, beside its cores.
STATED = {
    "node.clock": 2.4,
    "node.l3": 32768.0,
    "node.l3_cores": 8,
    "interconnect.latency": 1.2,
    "interconnect.bandwidth": 25.0,
}
SETS = list(chain.from_iterable(combinations(STATED, count) for count in range(len(STATED) + 1)))


def offer(folder, paths, processor=None, **further):
    """An offer of nodes of 64 cores that states the values at these paths."""
    values = {"node.sockets": 2, "node.cores": 64} | {path: STATED[path] for path in paths}
    content = {"format_version": 1, "name": "offer", "title": "An offer"}
    if processor is not None:
        content["processor"] = processor
    content |= offered({**values, **further})
    file = folder / "offer.yaml"
    file.write_text(yaml.safe_dump(content))
    return file


def assumed(option):
    """The remarks on values that are assumed."""
    return [remark for remark in option.remarks if "assumed" in remark]


@pytest.mark.parametrize("nodes", [1, 4])
@pytest.mark.parametrize("stated", SETS, ids=",".join)
def test_exactly_the_missing_values_are_named(tmp_path, stated, nodes):
    machine = machines.filled(machines.load(offer(tmp_path, stated)))
    option = anchored(multi_area_model(), machine, "nest", nodes=nodes).best
    text = " ".join(assumed(option)).replace(",", " ").replace(":", " ").split()
    for path in (*OF_PROCESSOR, *OF_NETWORK):
        matters = nodes > 1 or path in OF_PROCESSOR
        assert (path in text) == (path not in stated and matters)
    hints = [remark for remark in assumed(option) if "`processor: ID`" in remark]
    assert len(hints) == bool(set(OF_PROCESSOR) - set(stated))


def test_a_data_sheet_leaves_nothing_of_the_node_open_and_measured_machines_neither(tmp_path):
    sheet = machines.filled(machines.load(offer(tmp_path, OF_NETWORK, "epyc-7452")))
    assert not assumed(anchored(multi_area_model(), sheet, "nest", nodes=4).best)
    for name in ("jureca-dc", "supermuc-ng"):
        machine = machines.filled(machines.load(name))
        assert not assumed(anchored(multi_area_model(), machine, "nest", nodes=4).best)


@pytest.mark.parametrize("nodes", [[1, 2, 8, 30], [30, 8, 1], [4]])
def test_what_is_said_of_several_numbers_of_nodes_is_said_of_the_fastest(tmp_path, nodes):
    file = offer(tmp_path, ["node.clock"])
    network = multi_area_model()
    answer = sm.predict(network, file, program="nest", nodes=nodes)
    medians = {option.nodes: option.median for option in answer.options}
    fastest = min(medians, key=lambda count: medians[count])
    alone = sm.predict(network, file, program="nest", nodes=fastest)
    assert answer.fastest.nodes == fastest
    assert answer.screen().lines[0] == alone.sentence
    decides = [
        [note for note in each.screen().notes if note.startswith("Decides")]
        for each in (answer, alone)
    ]
    assert decides[0] == decides[1]
    naming = [note for note in answer.screen().notes if "of this table" in note]
    assert len(naming) == (len(nodes) > 1)
    assert all(f" {alone.options[0].place}" in note for note in naming)
    text = " ".join(answer.content()["remarks"])
    assert ("interconnect.latency" in text) == (max(nodes) > 1)


@pytest.mark.parametrize("nodes", [[1, 128], [128, 2, 1], [1]])
def test_the_fastest_number_of_nodes_comes_first_and_then_what_more_would_take(nodes):
    """A small network is fastest on one node."""
    answer = sm.predict("microcircuit", "supermuc-ng", nodes=nodes)
    fastest, most = (
        next(option for option in answer.options if option.nodes == count)
        for count in (1, max(nodes))
    )
    assert answer.fastest is fastest and fastest.median <= most.median
    first, *further = answer.screen().lines
    assert f" on {fastest.place}" in first
    assert len(further) == (len(nodes) > 1)
    times_as_long = np.median(most.rtf / fastest.rtf)
    for line in further:
        assert f"{max(nodes)} nodes" in line and f"{times_as_long:.2g}" in line


def test_a_table_of_numbers_of_nodes_that_nobody_named_is_in_their_order():
    answer = sm.predict(multi_area_model(), "jureca-dc", program="nest")
    nodes = [option.nodes for option in answer.options]
    assert len(nodes) > 2 and nodes == sorted(nodes)
    heads = [column.head for column in answer.screen().tables[0].columns[1:]]
    assert heads[0].startswith(f"{nodes[0]} nodes, ")


def test_a_verdict_names_the_nodes_of_the_faster_machine_where_they_differ():
    machines_asked = ["jureca-dc", "supermuc-ng"]
    free = sm.compare(multi_area_model(), machines_asked, program="nest")
    nodes = {name: option.nodes for name, option in free.best.items()}
    assert len(set(nodes.values())) == 2
    assert f"it is faster on {nodes['jureca-dc']} nodes (probability" in free.sentence
    given = sm.compare(multi_area_model(), machines_asked, program="nest", nodes=32)
    assert "it is faster (probability" in given.sentence


def published():
    """The whole published runs of networks that presets have, one a program and machine."""
    runs = {}
    for run in points.published():
        if not run.part and run.seconds is not None:
            runs[run.program, run.machine.name, run.nodes] = run
    return list(runs.values())


def test_what_ran_did_fit_on_as_many_nodes_or_more():
    doubted = 0
    for run in published():
        machine = machines.filled(machines.load(run.machine.name))
        for nodes in (run.nodes, 2 * run.nodes):
            same = run.with_nodes(nodes)
            assert production.fits(same, machine) is True
            assert production.may_not_fit(same, machine) == []
        fewer = run.with_nodes(1)
        doubted += production.fits(fewer, machine) is not True
    assert doubted


def test_another_memory_is_doubted_where_that_of_the_runs_is_not():
    run = next(run for run in published() if run.program == "nest" and run.nodes > 1)
    machine = machines.filled(machines.load(run.machine.name))
    need = production.node_need_gb(run)
    less = machine.assume("node.memory", float(need[1]) * 1.01, "GB", "a test")
    assert production.fits(run, less) is None
    assert len(production.may_not_fit(run, less)) == 1


def test_own_runs_did_fit_too(tmp_path):
    network = multi_area_model()
    plain = machines.load(offer(tmp_path, STATED))
    need = production.node_need_gb(
        anchored(network, machines.filled(plain), "nest", nodes=8).best.run
    )
    small = float(np.sqrt(need[0] * need[1]))
    file = offer(tmp_path, STATED, **{"node.memory": small})
    machine = machines.filled(machines.load(file))
    table = tmp_path / "runs.csv"
    table.write_text("nodes,ranks,threads,real_time_factor\n8,16,32,20\n")
    for own, fits in (((), None), ((OwnTable(table, machine),), True)):
        option = anchored(network, machine, "nest", nodes=8, own=own).best
        assert option.fits is fits
        assert any("may not fit" in remark for remark in option.remarks) == (fits is None)


def test_a_network_that_does_not_fit_is_said_before_its_time(spikemark):
    asked = "predict mam --full --machine dpsnn-westmere-ib --nodes 1 --program nest"
    status, output, _ = spikemark(*asked.split())
    first = " ".join(output.splitlines()[:1])
    assert status == 0 and first.index("does not fit") < first.index("times real time")
