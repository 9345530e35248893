"""What a buyer reads: the best schedule on each machine, why curves jump, and questions in plain words."""

import re

import pytest
from small_machine import Machine, Value, dear

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.fields import FIELDS
from spikemark.machines.plain import named, plain
from spikemark.network.schedules import SCHEDULES
from spikemark.prediction import asked, compare_show, decisions
from spikemark.prediction.best_way import BestWays
from spikemark.prediction.compare import compare
from spikemark.prediction.node_range import factor
from spikemark.report import machines_page

pytestmark = pytest.mark.usefixtures("few")


def test_every_number_of_nodes_has_the_best_exact_schedule(network):
    made = compare(asked.for_all_schedules(network), [Machine()], target=0.2)
    (best,) = made.candidates
    for schedule in ("conventional", "structure_aware"):
        (other,) = compare(asked.run_as(network, schedule), [Machine()], 0.2, schedule).candidates
        for p, q in zip(best.tried, other.tried, strict=True):
            assert p.nodes == q.nodes and factor(p) <= 1.001 * factor(q)
    (line,) = compare_show.chosen_schedules(made)
    shown = compare_show.table(made).content()
    assert "`--schedule` fixes one" in line and shown["rows"][0]["schedule"] in line
    assert compare_show.chosen_schedules(compare(network, [Machine()], 0.2, "conventional")) == []
    assert line.split("(")[0] in machines_page.render(made)


def test_nodes_without_an_exact_way_are_refused_for_the_reason_that_holds_there(network, monkeypatch):
    """A reason that came up for other numbers of ranks says nothing of these."""
    made = BestWays._made

    def planted(self, schedule, placement, ranks, each, changed):
        if ranks in (4, 8, 16):
            return made(self, schedule, placement, ranks, each, changed)
        last = ranks == 1 and schedule.name == list(SCHEDULES)[-1]
        raise BadInput("a single rank" if last else "everywhere else")

    monkeypatch.setattr(BestWays, "_made", planted)
    (c,) = compare(asked.for_all_schedules(network), [Machine()], 0.2, ranks_per_node=1).candidates
    assert c.refused == {1: "everywhere else", 2: "everywhere else"}


def test_threads_need_a_schedule(network):
    with pytest.raises(BadInput, match="threads=4: only with --schedule"):
        compare(network, [Machine()], threads=4)


def test_a_jump_of_the_curve_is_explained_by_the_algorithm(network, monkeypatch):
    """Open MPI exchanges with one partner after another from 64 to 127 ranks, by its rules."""
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (32, 48, 64, 96))
    library = {"interconnect.selector": Value("ompi", None), "interconnect.topology": Value("star", None)}
    machine = Machine(values=Machine().values | library)
    for name, jumps in (("ompi", True), ("mpich", False)):
        machine.values["interconnect.selector"] = Value(name, None)
        (c,) = compare(network, [machine], 1.0, "conventional").candidates
        said = compare_show.of_machine(c, compare_show.name_of)
        assert ("From 64 to 127 ranks, Open MPI exchanges with one partner after another" in said) == jumps
        if jumps:
            before, after = (factor(p) for p in c.tried if p.nodes in (48, 64))
            assert after > 1.1 * before
            there = c.at(1.01 * before)
            assert 64 in there.gaps("likely") and there.needed.nodes <= 48
            assert "; missed with 64 to 96." in compare_show.of_machine(there, compare_show.name_of)


def test_what_is_unknown_of_all_machines_is_said_once(network):
    free = [m.with_(price__node_hour=None) for m in (Machine(), dear())]
    made = compare(network, free, 0.2, "conventional")
    shown = compare_show.table(made)
    assert "cost_eur" not in [c.name for c in shown.columns] and "energy_j" in [c.name for c in shown.columns]
    assert shown.notes[-1].startswith("Not shown, since every value is unknown: cost (EUR per simulated h), ")
    lines = [*compare_show.verdict(made), *compare_show.lines(made)]
    assert sum(line.startswith("cost is unknown") for line in lines) == 1
    assert sum("price" in line for line in lines) == 2  # and in the line that draws no verdict
    (line,) = [line for line in lines if line.startswith("cost is unknown")]
    assert line == (
        "cost is unknown for made-up, dear: give --price, or ask the vendor for price of a node for an hour"
        " (`price.node_hour`)"
    )


def test_questions_name_values_in_words():
    for field in FIELDS:
        if field.path.startswith(decisions.OF_VENDOR) and ".tables" not in field.path:
            assert plain(field.path) != field.path, field.path
    assert named("interconnect.gap") == "gap between two messages of a sender (`interconnect.gap`)"
    for path in machines.load("epyc-vm").values:
        if path.startswith(("kernels.", "jitter.")):
            assert "_" not in plain(path).replace(path.rpartition(".")[2], "")


def test_paths_stand_behind_words(network):
    assumed = {p: v for p, v in Machine().values.items() if p.startswith(("interconnect.", "kernels."))}
    guessed = Machine(
        values=Machine().values | {p: Value(v.value, v.unit, "assumed") for p, v in assumed.items()}
    )
    made = compare(network, [guessed], 0.02, "conventional")
    lines = [*compare_show.lines(made), *decisions.questions(made.candidates[0])]
    assert any("let the vendor run `spikemark calibrate` on a node" in line for line in lines)
    for line in lines:
        for path in re.findall(r"`((?:interconnect|kernels|node)\.[^`]*)`", line):
            assert named(path) in line


def test_memory_of_another_simulator_is_no_question_to_a_vendor(network):
    (c,) = (made := compare(network, [Machine()], 1.0, "conventional", simulator="nest")).candidates
    lacking = " ".join(decisions.lacking(made.candidates, compare_show.name_of))
    assert "node.memory" not in lacking and "whether the network fits into memory is not known" in lacking
    assert decisions.verdict([c], "energy_j").rests_on == []
