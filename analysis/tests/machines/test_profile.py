"""Machine profiles: every kind of bad input, reading, and assuming."""

import copy
import json

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
from spikemark.machines import show
from spikemark.machines.fields import FIELDS, KINDS, PATHS, TABLE
from spikemark.models.published import simula

HEAD = {"format_version": 1, "name": "x", "title": "x"}
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
BAD = [  # path, what is put there (None: taken away), the field that the complaint names
    ("name", None, "name"),
    ("title", "", "title"),
    ("format_version", 2, "format_version"),
    ("format_version", True, "format_version"),
    ("name", "a b", "name"),
    ("nodes", {}, "nodes"),
    ("node/cors", leaf(1, "1"), "node.cors"),
    ("node/cores/vlaue", 1, "node.cores.vlaue"),
    (NODE, 48, "node.cores"),
    ("node", [], "node"),
    *((f"{NODE}/{part}", None, f"node.cores.{part}") for part in ("value", "unit", "kind", "reference")),
    ("node/cores/reference", " ", "node.cores.reference"),
    ("node/cores/kind", "guessed", "node.cores.kind"),
    ("node/cores/unit", 1, "node.cores.unit"),
    *((f"{NODE}/value", bad, "node.cores.value") for bad in (0, 1.5, True, 10**30, "48")),
    ("node/clock/unit", "MHz", "node.clock.unit"),
    *(("node/clock/value", bad, "node.clock.value") for bad in (-2.5, 0, 1e-320, 1e13, "2.5")),
    *(("node/clock/interval", bad, "node.clock.interval") for bad in ([2], [-1, 3], [0, 3], ["a", 3], 3)),
    ("jitter/minor_share/interval", [0, 1.1], "jitter.minor_share.interval"),
    ("jitter/minor_factor/interval", [0.9, 2], "jitter.minor_factor.interval"),
    ("jitter/minor_share/value", 1.1, "jitter.minor_share.value"),
    ("jitter/minor_factor/value", 0.9, "jitter.minor_factor.value"),
    ("power/card/value", -1, "power.card.value"),
    ("kernels/full_node/update/lif_exp/unit", "us", "kernels.full_node.update.lif_exp.unit"),
    ("kernels/full_node/update/lif_exp/at", 1, "kernels.full_node.update.lif_exp.at"),
    ("kernels/full_node/update/a-b", leaf(4, "ns"), "kernels.full_node.update.a-b"),
    ("interconnect/topology/value", "ring", "interconnect.topology.value"),
    ("interconnect/topology/unit", "1", "interconnect.topology.unit"),
    ("interconnect/tables/alltoal", table(), "interconnect.tables.alltoal"),
    (ROWS, [], "interconnect.tables.alltoall.rows"),
    *((ROWS, [bad], "interconnect.tables.alltoall.rows.0") for bad in ([2, 1], [1, 1, 3], [2, 1, 0], 5)),
    ("interconnect/tables/alltoall/reference", None, "interconnect.tables.alltoall.reference"),
]  # fmt: skip
#: What a JSON Schema cannot say.
TOGETHER = [
    ("node/cores/value", 1, "node.sockets"),
    ("node/l3_cores", leaf(49, "1"), "node.l3_cores"),
    ("node/bandwidth_core", leaf(101, "GB/s"), "node.bandwidth_core"),
    ("node/clock/value", 3.5, "node.clock.interval"),
    ("node/clock/value", float("inf"), "node.clock.value"),
    ("node/clock/interval", [3, 2], "node.clock.interval"),
    (ROWS, [[2, 1, 3], [2, 1, 4]], "interconnect.tables.alltoall.rows.1"),
    (ROWS, [[4, 1, 3], [2, 8, 4]], "interconnect.tables.alltoall.rows.1"),
]


@pytest.mark.parametrize(("path", "value", "field"), [*BAD, *TOGETHER])
def test_what_is_wrong_is_named_with_its_path(path, value, field):
    with pytest.raises(BadInput) as bad:
        machines.checked(put(content(), path, value), "m.yaml")
    assert bad.value.field == field and str(bad.value).startswith("m.yaml: ") and "\n" not in str(bad.value)


@pytest.mark.parametrize("field", [f for f in FIELDS if f.allowed != TABLE], ids=lambda f: f.path)
def test_every_field_refuses_another_unit_and_a_negative_number(field):
    good = leaf(field.choices[0] if field.choices else "x") if field.unit is None else leaf(1, field.unit)
    path = field.path.replace(".", "/") + "/lif_exp" * field.path.endswith(".update")
    name = path.replace("/", ".")
    assert machines.checked(put(dict(HEAD), path, good), "f").get(name).value == good["value"]
    for part, bad in ("unit", "furlong"), ("value", -1), ("value", None), ("kind", "measure"):
        with pytest.raises(BadInput, match=name):
            machines.checked(put(dict(HEAD), path, {**good, part: bad}), "f")


UNREADABLE = ("", "[]", "a: [", "1", "format_version: 1\nname: a\nname: b\n")


@pytest.mark.parametrize("text", UNREADABLE)
def test_no_mapping_and_a_key_that_stands_twice(tmp_path, text):
    file = tmp_path / "made-up.yaml"
    file.write_text(text)
    with pytest.raises(BadInput, match=r"made-up\.yaml: "):
        machines.load(file)


def test_the_file_is_named_like_the_machine(tmp_path):
    file = tmp_path / "other.yaml"
    file.write_text(yaml.safe_dump(content()))
    with pytest.raises(BadInput, match=r"other\.yaml: name='made-up'"):
        machines.load(file)
    assert machines.load(file.rename(tmp_path / "made-up.yaml")).title == "A machine"


def test_a_machine_there_is_not():
    with pytest.raises(BadInput, match=r"jureca' .*jureca-dc"):
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
        with pytest.raises(BadInput, match=f"path '{path}'"):
            made.need(path, "a test")


def test_what_is_unknown_is_listed_in_order():
    unknown = machines.checked(content(), "f").unknown()
    assert unknown[:3] == ["node.memory", "node.line", "node.l1d"]
    assert "kernels.full_node.update" not in unknown
    assert {"kernels.one_core.update", "interconnect.tables.barrier", "power.idle"} <= {*unknown}
    of_nodes = [path for path in PATHS if not path.startswith("accelerator.")]
    assert len(unknown) + len(machines.checked(content(), "f").values) == len(of_nodes) < len(PATHS)
    assert machines.checked(HEAD, "f").unknown() == of_nodes
    accelerated = machines.checked({**HEAD, "accelerator": {"devices": leaf(2, "1")}}, "f")
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
    ("path", "value", "unit", "field"),
    [
        ("power.idle", -1, "W", "power.idle.value"),
        ("power.idle", 1, "kW", "power.idle.unit"),
        ("node.cores", 1, "1", "node.sockets"),
        ("node.idle", 1, "W", "node.idle"),
        ("interconnect.tables.barrier", [(2, 0, 3.0)], "s", "interconnect.tables.barrier.unit"),
        ("interconnect.topology", "star", "1", "interconnect.topology.unit"),
    ],
)
def test_what_cannot_be_assumed(path, value, unit, field):
    with pytest.raises(BadInput) as bad:
        machines.checked(content(), "f").assume(path, value, unit, "a test")
    assert bad.value.field == field


@settings(max_examples=60)
@given(
    st.sampled_from([f for f in FIELDS if f.unit and f.allowed != TABLE]),
    st.one_of(st.floats(), st.integers(-5, 10**20), st.text(max_size=3), st.booleans()),
)
def test_whatever_stands_there_is_taken_or_refused(field, value):
    path = field.path + ".lif_exp" * field.path.endswith(".update")
    try:
        found = machines.checked(HEAD, "f").assume(path, value, field.unit, "a test").get(path)
    except BadInput as error:
        assert path in str(error)
    else:
        assert found.value == value >= 0
        assert isinstance(value, int | float) and not isinstance(value, bool)


def test_the_json_schema_says_the_same():
    text = json.dumps(show.json_schema())
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(content())
    assert all(f.meaning in text for f in FIELDS)
    for path, value, _ in BAD:
        assert not check.is_valid(put(content(), path, value)), (path, value)


def test_the_page_of_the_fields_has_each_of_them():
    rows = [line.split("|") for line in show.markdown().splitlines()[2:]]
    assert [row[1].strip(" `").removesuffix(".MODEL") for row in rows] == list(PATHS)


@pytest.mark.parametrize("name", machines.names())
def test_profiles_of_the_project(name):
    profile = machines.load(name)
    assert profile.name == name and {value.kind for value in profile.values.values()} <= {*KINDS}
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
        watts = np.array([p.energy_j / p.time_s for p in one_board])
        profile = machines.load("jetson-tx1")
        assert profile.get("power.core").value == pytest.approx(cores @ watts / (cores @ cores), rel=2e-3)
        assert profile.get("power.idle").value == simula.parameter("baseline_embedded_2boards") / 2
