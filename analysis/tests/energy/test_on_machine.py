"""Energy modelled from the power of a machine profile."""

import json

import pytest
from planted_power import Planted

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.energy import on_machine
from spikemark.records import record

PLANTED = Planted()


def machine(**power) -> machines.Profile:
    empty = machines.checked({"format_version": 1, "name": "made-up", "title": "Made up"}, "f")
    values = {"node.cores": 4, **{f"power.{name}": watts for name, watts in power.items()}}
    return empty.assume_all({path: (value, "a test") for path, value in values.items()})


@pytest.fixture
def run(tmp_path):
    PLANTED.run(tmp_path / "run")
    return record.load(tmp_path / "run")


def placed(run, **fields) -> record.Run:
    (run.path / "simulation.json").write_text(json.dumps(fields))
    return record.load(run.path)


def test_a_node_draws_idle_and_so_much_per_core(run):
    busy = run.record.ranks * run.record.threads
    assert busy <= 4
    found = on_machine.energy(run, machine(idle=100, core=10, card=7))
    duration = run.record.timing.simulate_s
    assert found.kind == "modelled"
    assert found.gross_j.value == pytest.approx((100 + 10 * busy) * duration)
    assert found.net_j.value == pytest.approx(10 * busy * duration)


def test_several_nodes_have_cards(run):
    busy = run.record.ranks * run.record.threads
    found = on_machine.energy(run, machine(idle=100, core=10, card=7), nodes=3)
    assert found.mean_w.value == pytest.approx(3 * 100 + 10 * busy + 3 * 7)


def test_a_simulated_run_knows_its_nodes(run):
    run = placed(run, ranks_per_node=1, threads=4)
    found = on_machine.energy(run, machine(idle=100, core=10, card=7))
    nodes = run.record.ranks
    assert nodes > 1
    assert found.mean_w.value == pytest.approx(nodes * (100 + 4 * 10 + 7))


def test_what_the_card_draws_is_assumed_only_where_there_are_several_nodes(run):
    one = on_machine.energy(run, machine(idle=100, core=10))
    assert set(one.model.sources) == {"idle_w", "core_w"}
    two = on_machine.energy(run, machine(idle=100, core=10), nodes=2)
    assert "(assumed): worst of 2 comparable profiles; median 3.39" in two.model.sources["card_w"]


def test_what_cannot_be_modelled(run):
    with pytest.raises(BadInput, match=r"made-up: power.core is unknown, needed for modelled energy"):
        on_machine.energy(run, machine(idle=100))
    small = machine(idle=100, core=10).assume("node.cores", 1, "1", "a test")
    with pytest.raises(BadInput, match=r"nodes=1: .* need . nodes of made-up, which have 1 cores each"):
        on_machine.energy(run, small, nodes=1)
    for fields in {"threads": 1}, {"ranks_per_node": 0, "threads": 1}, {"ranks_per_node": 1, "threads": "x"}:
        with pytest.raises(BadInput, match=r"simulation\.json: (ranks_per_node|threads)="):
            on_machine.energy(placed(run, **fields), machine(idle=100, core=10))


def test_command(run, spikemark):
    status, output, _ = spikemark("energy", run.path, "--machine", "jureca-dc")
    assert status == 0
    assert "modelled" in output and "power.idle = 88.9 W of jureca-dc (literature): SPECpower" in output
    content = json.loads(spikemark("energy", run.path, "--machine", "jureca-dc", "--json")[1])
    assert content["kind"] == "modelled" and content["model"]["idle_w"] == 88.9


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--machine", "nowhere"], "machine 'nowhere' not found"),
        (["--machine", "trenz-zu9eg"], "trenz-zu9eg: power.idle is unknown, needed for modelled energy"),
        (["--nodes", "2"], "--nodes: only with --machine"),
        (["--machine", "grace", "--power", "x.csv"], "--machine: not allowed with --power FILE.csv"),
    ],
)
def test_bad_input_gets_one_line(run, refusal, options, complaint):
    assert complaint in refusal("energy", run.path, *options)
