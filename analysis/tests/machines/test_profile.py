"""Machine profiles: every kind of bad input, reading, and assuming."""

import copy
import json
import re
import textwrap
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from leaves import leaf, put
from scipy.optimize import nnls

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines.fields import FIELDS, KINDS, TABLE
from spikemark.machines.profile import PATHS
from spikemark.models.published import simula

ROW = [[2, 1, 3.0], [2, 8, 3.5], [4, 1, 4]]


def table(rows=ROW) -> dict:
    return {"kind": "literature", "reference": "a test", "rows": copy.deepcopy(rows)}


def content() -> dict:
    """One value of every kind."""
    return {
        "format_version": 1,
        "name": "made-up",
        "title": "A machine",
        "node": {
            "sockets": leaf(2, "1"), "cores": leaf(48, "1"), "clock": leaf(2.5, "GHz", interval=[2, 3]),
            "bandwidth": leaf(100, "GB/s"),
        },
        "kernels": {"full_node": {"t_first": leaf(80, "ns"), "update": {"lif_exp": leaf(4, "ns")}}},
        "jitter": {"minor_share": leaf(0.1, "1"), "minor_factor": leaf(1.5, "1")},
        "interconnect": {
            "topology": leaf("star"), "latency": leaf(1.5, "us", kind="assumed"),
            "tables": {"alltoall": table()},
        },
        "power": {"card": leaf(0, "W")},
    }  # fmt: skip


NODE, ROWS = "node/cores", "interconnect/tables/alltoall/rows"
BAD = [  # path, what is put there (None: taken away), what the complaint says
    ("name", None, "name is missing"),
    ("title", "", "title=''; allowed: a text that is not empty"),
    ("format_version", 2, "format_version=2; allowed: 1"),
    ("format_version", True, "format_version: a number is needed"),
    ("name", "a b", "name='a b'; allowed: "),
    ("nodes", {}, "nodes: unknown field; allowed: format_version, name, title, node, kernels"),
    ("node/cors", leaf(1, "1"), "node.cors: unknown field; allowed: sockets, cores, clock"),
    ("node/cores/vlaue", 1, "node.cores.vlaue: unknown field; allowed: kind, reference, value, unit"),
    (NODE, 48, "node.cores: 48; allowed: a mapping with value, unit, kind and reference"),
    ("node", [], "node: []; allowed: a mapping with"),
    ("node/cores/value", None, "node.cores.value is missing"),
    ("node/cores/unit", None, "node.cores.unit is missing"),
    ("node/cores/kind", None, "node.cores.kind is missing"),
    ("node/cores/reference", None, "node.cores.reference is missing"),
    ("node/cores/reference", " ", "node.cores.reference=' '; allowed: "),
    ("node/cores/kind", "guessed", "kind='guessed'; allowed: 'measured', 'literature' or 'assumed'"),
    ("node/cores/unit", 1, "node.cores.unit=1; allowed: '1', in quotes"),
    ("node/cores/value", 0, "node.cores.value=0; allowed: greater than or equal to 1"),
    ("node/cores/value", 1.5, "node.cores.value=1.5; allowed: a whole number"),
    ("node/cores/value", True, "node.cores.value=True; allowed: a whole number"),
    ("node/cores/value", 1, "node.sockets=2, node.cores=1; allowed: node.sockets up to node.cores"),
    ("node/l3_cores", leaf(49, "1"), "node.l3_cores=49, node.cores=48; allowed: node.l3_cores up to"),
    ("node/bandwidth_core", leaf(101, "GB/s"), "node.bandwidth_core=101, node.bandwidth=100; allowed"),
    ("node/clock/unit", "MHz", "node.clock.unit='MHz'; allowed: 'GHz'"),
    ("node/clock/value", -2.5, "node.clock.value=-2.5; allowed: greater than 0"),
    ("node/clock/value", 1e-320, "node.clock.value: 9.99989e-321; allowed: at least 1e-12"),
    ("node/clock/value", 1e13, "node.clock.value=10000000000000.0; allowed: less than or equal to 10000"),
    ("node/cores/value", 10**30, "node.cores.value=1000000000000000000000000000000; allowed: less than or"),
    ("node/clock/value", "2.5", "node.clock.value='2.5'; allowed: a number"),
    ("node/clock/value", float("inf"), "node.clock.value=inf; allowed: "),
    ("node/clock/value", 3.5, "node.clock: interval [2, 3] must contain the value 3.5"),
    ("node/clock/interval", [3, 2], "node.clock: interval [3, 2] must contain"),
    ("node/clock/interval", [2], "node.clock.interval.1 is missing"),
    ("node/clock/interval", [-1, 3], "node.clock.interval.0=-1; allowed: greater than 0"),
    ("node/clock/interval", [0, 3], "node.clock.interval.0=0; allowed: greater than 0"),
    ("jitter/minor_share/interval", [0, 1.1], "jitter.minor_share.interval.1=1.1; allowed: less than or"),
    ("jitter/minor_factor/interval", [0.9, 2], "jitter.minor_factor.interval.0=0.9; allowed: greater than"),
    ("jitter/minor_share/value", 1.1, "jitter.minor_share.value=1.1; allowed: less than or equal to 1"),
    ("jitter/minor_factor/value", 0.9, "jitter.minor_factor.value=0.9; allowed: greater than or equal to 1"),
    ("power/card/value", -1, "power.card.value=-1; allowed: greater than or equal to 0"),
    ("kernels/full_node/update/lif_exp/unit", "us", "full_node.update.lif_exp.unit='us'; allowed: 'ns'"),
    ("kernels/full_node/update/lif_exp/at", 1, "lif_exp.at: unknown field; allowed: kind, reference, value"),
    ("kernels/full_node/update/a-b", leaf(4, "ns"), "kernels.full_node.update.a-b"),
    ("interconnect/topology/value", "ring", "topology.value='ring'; allowed: 'fat_tree', "),
    ("interconnect/topology/unit", "1", "interconnect.topology.unit: unknown field"),
    ("interconnect/tables/alltoal", table(), "interconnect.tables.alltoal: unknown field; allowed: alltoall"),
    (ROWS, [], "interconnect.tables.alltoall.rows=[]; allowed: "),
    (ROWS, [[2, 1]], "interconnect.tables.alltoall.rows.0.2 is missing"),
    (ROWS, [[1, 1, 3]], "interconnect.tables.alltoall.rows.0.0=1; allowed: greater than or equal to 2"),
    (ROWS, [[2, 1, 0]], "interconnect.tables.alltoall.rows.0.2=0; allowed: greater than 0"),
    (ROWS, [[2, 1, 3], [2, 1, 4]], "the row of 2 ranks and 1 bytes comes after that of 2"),
    (ROWS, [[4, 1, 3], [2, 8, 4]], "the row of 2 ranks and 8 bytes comes after that of 4"),
    ("interconnect/tables/alltoall/reference", None, "interconnect.tables.alltoall.reference is missing"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "complaint"), BAD, ids=[f"{p}={v}" for p, v, _ in BAD])
def test_what_is_wrong_is_named_with_its_path(path, value, complaint):
    with pytest.raises(BadInput) as bad:
        machines.checked(put(content(), path, value), "m.yaml")
    assert str(bad.value).startswith("m.yaml: ")
    assert complaint in str(bad.value)
    assert "\n" not in str(bad.value)


@pytest.mark.parametrize("field", [f for f in FIELDS if f.allowed != TABLE], ids=lambda f: f.path)
def test_every_field_refuses_another_unit_and_a_negative_number(field):
    good = leaf(field.choices[0] if field.choices else "x") if field.unit is None else leaf(1, field.unit)
    path = field.path.replace(".", "/") + "/lif_exp" * field.path.endswith(".update")
    start = {"format_version": 1, "name": "x", "title": "x"}
    name = path.replace("/", ".")
    assert machines.checked(put(dict(start), path, good), "f").get(name).value == good["value"]
    for part, bad in ("unit", "furlong"), ("value", -1), ("value", None), ("kind", "measure"):
        with pytest.raises(BadInput, match=name):
            machines.checked(put(dict(start), path, {**good, part: bad}), "f")


def test_a_key_that_stands_twice(tmp_path):
    file = tmp_path / "made-up.yaml"
    file.write_text("format_version: 1\nname: a\nname: b\n")
    with pytest.raises(BadInput, match="line 3: the key 'name' stands twice"):
        machines.load(file)


@pytest.mark.parametrize("text", ["", "[]", "a: [", "1"])
def test_no_mapping(tmp_path, text):
    file = tmp_path / "made-up.yaml"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"made-up\.yaml: (a mapping|not YAML)"):
        machines.load(file)


def test_the_file_is_named_like_the_machine(tmp_path):
    file = tmp_path / "other.yaml"
    file.write_text(yaml.safe_dump(content()))
    with pytest.raises(
        BadInput, match=r"other\.yaml: name='made-up'; allowed: the name of the file, 'other'"
    ):
        machines.load(file)
    assert machines.load(file.rename(tmp_path / "made-up.yaml")).title == "A machine"


def test_a_machine_there_is_not():
    with pytest.raises(BadInput, match=r"machine 'jureca' not found: .* one of .*jureca-dc"):
        machines.load("jureca")
    with pytest.raises(BadInput, match="not found"):
        machines.load("nowhere/x.yaml")


def test_values_by_path():
    made = machines.checked(content(), "f")
    assert made.get("node.clock") == machines.Value(2.5, "GHz", "measured", "a test", (2, 3))
    assert made.get("kernels.full_node.update.lif_exp").value == 4
    assert made.get("interconnect.topology").unit is None
    assert made.get("interconnect.tables.alltoall").value == tuple(map(tuple, ROW))
    assert made.get("power.idle") is None
    assert list(made.assumptions) == ["interconnect.latency"]
    with pytest.raises(BadInput, match=r"made-up: power.idle is unknown, needed for the energy"):
        made.need("power.idle", "the energy")
    for path in "", "node", "node.cors", "kernels.update.lif_exp", "node.update.lif_exp":
        with pytest.raises(BadInput, match=f"path '{path}'; allowed: node.sockets, "):
            made.need(path, "a test")


def test_what_is_unknown_is_listed_in_order():
    unknown = machines.checked(content(), "f").unknown()
    assert unknown[:3] == ["node.memory", "node.line", "node.l1d"]
    assert "kernels.full_node.update" not in unknown
    assert "kernels.one_core.update" in unknown
    assert {"interconnect.tables.barrier", "power.idle"} <= {*unknown}
    of_nodes = [path for path in PATHS if not path.startswith("accelerator.")]
    assert len(unknown) + len(machines.checked(content(), "f").values) == len(of_nodes) < len(PATHS)
    head = {"format_version": 1, "name": "x", "title": "x"}
    assert machines.checked(head, "f").unknown() == of_nodes
    devices = {"value": 2, "unit": "1", "kind": "measured", "reference": "a test"}
    accelerated = machines.checked({**head, "accelerator": {"devices": devices}}, "f")
    assert accelerated.unknown() == [path for path in PATHS if path != "accelerator.devices"]


def test_assuming():
    made = machines.checked(content(), "f")
    more = made.assume("power.idle", 100, "W", "as the one beside it")
    assert more.get("power.idle") == machines.Value(100, "W", "assumed", "as the one beside it")
    assert made.get("power.idle") is None
    more = more.assume("interconnect.selector", "ompi", None, "the default there")
    more = more.assume("interconnect.tables.barrier", [(2, 0, 3.0)], "us", "once measured")
    more = more.assume("kernels.full_node.update.lif_exp", 5, "ns", "what if")
    assert [*more.assumptions] == [
        "kernels.full_node.update.lif_exp", "interconnect.latency", "interconnect.selector",
        "interconnect.tables.barrier", "power.idle",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "value", "unit", "complaint"),
    [
        ("power.idle", -1, "W", "made-up, assumed: power.idle.value=-1"),
        ("power.idle", 1, "kW", "power.idle.unit='kW'; allowed: 'W'"),
        ("node.cores", 1, "1", "node.sockets=2, node.cores=1"),
        ("node.idle", 1, "W", "path 'node.idle'; allowed: "),
        ("interconnect.tables.barrier", [(2, 0, 3.0)], "s", "barrier: unit='s'; allowed: 'us'"),
        ("interconnect.topology", "star", "1", "interconnect.topology.unit: unknown field"),
    ],
)
def test_what_cannot_be_assumed(path, value, unit, complaint):
    with pytest.raises(BadInput) as bad:
        machines.checked(content(), "f").assume(path, value, unit, "a test")
    assert complaint in str(bad.value)


@settings(max_examples=60)
@given(
    st.sampled_from([f for f in FIELDS if f.unit and f.allowed != TABLE]),
    st.one_of(st.floats(), st.integers(-5, 10**20), st.text(max_size=3), st.booleans()),
)
def test_whatever_stands_there_is_taken_or_refused(field, value):
    path = field.path + ".lif_exp" * field.path.endswith(".update")
    made = machines.checked({"format_version": 1, "name": "x", "title": "x"}, "f")
    try:
        found = made.assume(path, value, field.unit, "a test").get(path)
    except BadInput as error:
        assert path in str(error)
    else:
        assert found.value == value >= 0
        assert isinstance(value, int | float) and not isinstance(value, bool)


def test_the_json_schema_says_the_same():
    schema = json.loads(json.dumps(machines.json_schema()))
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(content())
    text = json.dumps(schema)
    assert all(f.meaning in text for f in FIELDS)
    apart = (
        "=48; a",
        "=49, ",
        "=100; a",
        "=2, ",
        "must contain",
        "comes after",
        "1e-12",
    )  # what JSON Schema cannot say
    for path, value, complaint in BAD:
        if not any(words in complaint for words in apart) and value != float("inf"):
            assert not check.is_valid(put(content(), path, value)), (path, value)


@pytest.mark.parametrize("name", machines.names())
def test_profiles_of_the_project(name):
    profile = machines.load(name)
    assert profile.name == name
    assert {value.kind for value in profile.values.values()} <= {*KINDS}
    for path in "node.cores", "node.sockets":
        profile.need(path, "any prediction")
    for value in profile.values.values():
        assert len(value.reference) > 8
        assert not any(word in value.reference for word in ("general knowledge", "facts", "/work"))


class TestDerived:
    """Values that follow from published tables follow from them here, too."""

    def test_power_of_the_x86_servers(self):
        full = [p for p in simula.points(simula.X86) if p.cores >= simula.CORES_PER_NODE]
        cards = [[p.cards * (p.note == name) for p in full] for name in (simula.ETHERNET, simula.INFINIBAND)]
        columns = np.array([[p.cores for p in full], *cards], dtype=float)
        fitted, _ = nnls(columns.T, np.array([p.power_w for p in full]))
        for name, card in ("dpsnn-westmere-eth", fitted[1]), ("dpsnn-westmere-ib", fitted[2]):
            profile = machines.load(name)
            assert profile.get("power.core").value == pytest.approx(fitted[0], rel=1e-3)
            assert profile.get("power.card").value == pytest.approx(card, rel=1e-3)
            assert profile.get("power.idle").value == simula.parameter("baseline_server") / 4

    def test_power_of_the_arm_board(self):
        one_board = [p for p in simula.points(simula.ARM) if p.note.startswith("1 board")]
        cores = np.array([p.cores for p in one_board])
        watts = np.array([p.implied_w for p in one_board])
        profile = machines.load("jetson-tx1")
        assert profile.get("power.core").value == pytest.approx(cores @ watts / (cores @ cores), rel=2e-3)
        assert profile.get("power.idle").value == simula.parameter("baseline_embedded_2boards") / 2


class TestDocs:
    TEXT = (Path(__file__).parents[3] / "docs" / "machines.md").read_text()
    OWN = (Path(__file__).parents[3] / "docs" / "own-machine.md").read_text()

    def test_every_value_is_in_the_table(self):
        rows = [line.split("|")[1] for line in self.TEXT.splitlines() if line.startswith("| `")]
        words = set(re.findall(r"\w+", " ".join(rows))) | set(re.findall(r"`(\w+)`", self.TEXT))
        for field in FIELDS:
            if field.allowed != TABLE:
                assert {*field.path.split(".")} <= words, field.path

    def test_every_literature_profile_is_in_the_list(self):
        listed = set(re.findall(r"`([a-z0-9-]+)`", self.TEXT))
        for name in machines.names():
            kinds = {value.kind for value in machines.load(name).values.values()}
            assert "measured" in kinds or name in listed

    def test_the_example_is_a_profile(self):
        example = self.OWN.split("or from what you know:")[1].split("`spikemark machine my.yaml`")[0]
        profile = machines.checked(yaml.safe_load(textwrap.dedent(example)), "docs/own-machine.md")
        assert profile.get("node.cores").value == 96
