"""Files in machines/, those of the project too: every kind of bad input, values by path,
assuming.
"""

import copy
import json
import re

import jsonschema
import pytest
import yaml
from leaves import leaf, put
from machine_file import write

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import loader, show
from spikemark.machines.fields import FIELDS, KINDS, PATHS, TABLE

HEAD = {"format_version": 1, "name": "made-up", "title": "x"}
TIMES = {"kind": "literature", "reference": "a test", "rows": [[2, 1, 3.0], [2, 8, 3.5], [4, 1, 4]]}
PROFILE = HEAD | {  # one value of every kind
    "node": {
        "sockets": leaf(2, "1"),
        "cores": leaf(48, "1"),
        "clock": leaf(2.5, "GHz", interval=[2, 3]),
        "bandwidth": leaf(100, "GB/s"),
    },
    "kernels": {"full_node": {"t_first": leaf(80, "ns"), "update": {"lif_exp": leaf(4, "ns")}}},
    "jitter": {"minor_mode": {"share": leaf(0.1, "1"), "factor": leaf(1.5, "1")}},
    "interconnect": {
        "topology": leaf("star"),
        "latency": leaf(1.5, "us", kind="assumed"),
        "tables": {"alltoall": TIMES},
    },
    "power": {"card": leaf(0, "W")},
}
PARTS = HEAD | {
    "parts": {
        "x86": {"profile": "quick.yaml", "nodes": leaf(2, "1", interval=[1, 4])},
        "arm": {
            "profile": "slow.yaml",
            "nodes": 4,
            "slower": leaf(1.1, "1", interval=[1, 2]),
            "interconnect": {"latency": leaf(30, "us")},
        },
    },
    "links": {"x86-arm": {"fabric": leaf("ethernet"), "latency": leaf(35, "us", kind="assumed")}},
}
CORES, ROWS, X86, ARM, LINK = (
    "node/cores",
    "interconnect/tables/alltoall/rows",
    "parts/x86",
    "parts/arm",
    "links/x86-arm",
)
BAD = [  # a file, a path, and what is put there (None: taken away); the complaint names the path
    *((PROFILE, f"{CORES}/value", bad) for bad in (0, 1.5, True, 10**30, "48", None)),
    *((PROFILE, f"{CORES}/{part}", None) for part in ("unit", "kind", "reference")),
    *((PROFILE, "node/clock/value", bad) for bad in (-2.5, 0, 1e-320, 1e13, "2.5")),
    *((PROFILE, "node/clock/interval", bad) for bad in ([2], [-1, 3], [0, 3], ["a", 3], 3)),
    *(
        (PROFILE, ROWS, bad)
        for bad in ([], [[2, 1]], [[1, 1, 3]], [[2, 1, 0]], [5], [[2, 1.5, 1]], 5)
    ),
    *((file, "format_version", bad) for file in (PROFILE, PARTS) for bad in (2, True)),
    *((file, "title", bad) for file in (PROFILE, PARTS) for bad in (None, "")),
    (PROFILE, "name", None),
    (PROFILE, "name", "a b"),
    (PROFILE, "nodes", {}),
    (PROFILE, "node/cors", leaf(1, "1")),
    (PROFILE, f"{CORES}/vlaue", 1),
    (PROFILE, CORES, 48),
    (PROFILE, "node", []),
    (PROFILE, f"{CORES}/reference", " "),
    (PROFILE, f"{CORES}/kind", "guessed"),
    (PROFILE, f"{CORES}/unit", 1),
    (PROFILE, "node/clock/unit", "MHz"),
    (PROFILE, "jitter/minor_mode/share/interval", [0, 1.1]),
    (PROFILE, "jitter/minor_mode/factor/interval", [0.9, 2]),
    (PROFILE, "jitter/minor_mode/share/value", 1.1),
    (PROFILE, "jitter/minor_mode/factor/value", 0.9),
    (PROFILE, "power/card/value", -1),
    (PROFILE, "kernels/full_node/update/lif_exp/unit", "us"),
    (PROFILE, "kernels/full_node/update/a-b", leaf(4, "ns")),
    (PROFILE, "interconnect/topology/value", "ring"),
    (PROFILE, "interconnect/topology/unit", "1"),
    (PROFILE, "interconnect/tables/alltoal", TIMES),
    (PROFILE, "interconnect/tables/alltoall/reference", None),
    *((PARTS, "parts", bad) for bad in ({}, [])),
    *(
        (PARTS, f"{X86}/nodes", bad)
        for bad in (None, 0, 1.5, True, "2", leaf(0, "1"), {"value": 2})
    ),
    *((PARTS, f"{X86}/profile", bad) for bad in (None, 5)),
    *((PARTS, f"parts/{name}", {"profile": "quick.yaml", "nodes": 1}) for name in ("X86", "a-b")),
    (PARTS, "node", {}),
    (PARTS, X86, 4),
    (PARTS, f"{X86}/nods", 2),
    (PARTS, f"{ARM}/slower", 1.1),
    (PARTS, f"{ARM}/slower/value", 0.9),
    (PARTS, f"{ARM}/slower/interval", [0.5, 2]),
    (PARTS, f"{ARM}/interconnect/latency/unit", "ns"),
    (PARTS, "links", []),
    (PARTS, LINK, 5),
    (PARTS, f"{LINK}/speed", 1),
    (PARTS, f"{LINK}/latency/value", -1),
]
#: What a JSON Schema cannot say; the field that the complaint names, where it is another one.
TOGETHER = [
    (PROFILE, f"{CORES}/value", 1, "node.sockets"),
    (PROFILE, "node/l3_cores", leaf(49, "1")),
    (PROFILE, "node/bandwidth_core", leaf(101, "GB/s")),
    (PROFILE, "node/clock/value", 3.5, "node.clock.interval"),
    (PROFILE, "node/clock/value", float("inf")),
    (PROFILE, "node/clock/interval", [3, 2]),
    (PROFILE, ROWS, [[2, 1, 3], [2, 1, 4]]),
    (PROFILE, ROWS, [[4, 1, 3], [2, 8, 4]]),
    *(
        (PARTS, f"{X86}/profile", bad)
        for bad in ("nowhere", "no.yaml", "a\0.yaml", "x" * 5000, "made-up.yaml", "back.yaml")
    ),
    (PARTS, f"{X86}/nodes", leaf(2, "1", interval=[3, 4])),
    (PARTS, "links", None, "links.x86-arm"),
    *((PARTS, f"links/{bad}", {}) for bad in ("x86-gpu", "x86-x86", "x86-arm-x86", "arm-x86")),
]


@pytest.fixture
def load(tmp_path):
    """Returns a function that loads a file with this content, beside those that PARTS names."""
    write(tmp_path / "quick.yaml")
    write(tmp_path / "slow.yaml", node__cores=8, node__l3_cores=4)
    back = HEAD | {"name": "back", "parts": {"a": {"profile": "made-up.yaml", "nodes": 1}}}
    (tmp_path / "back.yaml").write_text(yaml.safe_dump(back))

    def loaded(content):
        (tmp_path / "made-up.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
        return machines.load_any(tmp_path / "made-up.yaml")

    return loaded


@pytest.mark.parametrize("case", [*BAD, *TOGETHER], ids=lambda case: str(case[1:3])[:60])
def test_what_is_wrong_is_named_with_its_path(load, tmp_path, case):
    file, path, value, *field = case
    with pytest.raises(BadInput) as bad:
        load(put(copy.deepcopy(file), path, value))
    file_and_line = rf"{re.escape(str(tmp_path / 'made-up.yaml'))}(, line \d+)?: "
    assert re.match(file_and_line, str(bad.value)) and "\n" not in str(bad.value)
    assert f"{bad.value.field}.".startswith(f"{(*field, path.replace('/', '.'))[0]}.")


def test_the_json_schema_says_the_same():
    text = json.dumps(show.json_schema())
    schema = json.loads(text)
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(PROFILE) and check.is_valid(PARTS)
    assert all(f.meaning in text for f in FIELDS)
    for file, path, value in BAD:
        assert not check.is_valid(put(copy.deepcopy(file), path, value)), (path, value)


@pytest.mark.parametrize("field", [f for f in FIELDS if f.allowed != TABLE], ids=lambda f: f.path)
def test_every_field_refuses_another_unit_and_a_negative_number(field):
    good = (
        leaf(field.choices[0] if field.choices else "x")
        if field.unit is None
        else leaf(1, field.unit)
    )
    path = field.path + ".lif_exp" * field.models
    made = machines.checked(put(dict(HEAD), path.replace(".", "/"), good), "f")
    assert made.values == {
        path: machines.Value(good["value"], field.unit, good["kind"], good["reference"])
    }
    for part, bad in ("unit", "furlong"), ("value", -1), ("value", None), ("kind", "measure"):
        with pytest.raises(BadInput, match=path):
            machines.checked(put(dict(HEAD), path.replace(".", "/"), good | {part: bad}), "f")


@pytest.mark.parametrize("text", ["", "[]", "a: [", "1", "format_version: 1\nname: a\nname: b\n"])
def test_no_mapping_and_a_key_that_stands_twice(tmp_path, text):
    (tmp_path / "made-up.yaml").write_text(text)
    with pytest.raises(BadInput, match=r"made-up\.yaml(, line 3)?: "):
        machines.load(tmp_path / "made-up.yaml")


@pytest.mark.parametrize("content", [PROFILE, PARTS], ids=["profile", "parts"])
def test_the_file_is_named_like_the_machine(load, content):
    assert load(content).name == "made-up"
    with pytest.raises(BadInput, match=r"made-up\.yaml(, line \d+)?: name='other'"):
        load(content | {"name": "other"})


def test_a_machine_there_is_not():
    with pytest.raises(BadInput, match=r"machine='jureca'; .*did you mean 'jureca-dc'"):
        machines.load("jureca")
    with pytest.raises(BadInput, match="not found"):
        machines.load("nowhere/x.yaml")


def test_kernel_times_that_no_model_uses_any_more_are_left_out(load):
    old = put(copy.deepcopy(PROFILE), "kernels/full_node/t_ring_16", leaf(1, "ns"))
    assert load(old) == load(PROFILE)


def test_commands_for_equal_nodes_refuse_a_machine_of_parts_and_name_its_profiles(load, tmp_path):
    load(PARTS)
    with pytest.raises(BadInput, match=r"machine made-up .* quick.yaml or slow.yaml"):
        machines.load(tmp_path / "made-up.yaml")


def test_what_a_part_states_of_its_network_replaces_what_its_profile_says(load, tmp_path):
    latency = "interconnect.latency"
    found = [load(PARTS).get(f"parts.{part}.{latency}").value for part in ("arm", "x86")]
    assert [*found, machines.load(tmp_path / "slow.yaml").get(latency).value] == [30, 1.5, 1.5]


def test_every_pair_of_parts_is_linked(load):
    three = put(copy.deepcopy(PARTS), "parts/old", {"profile": "quick.yaml", "nodes": 1})
    with pytest.raises(BadInput, match=r"links\.x86-old: "):
        load(three)
    three["links"] |= {"old-x86": {}, "arm-old": {}}
    made = load(three)
    assert list(made.links) == ["x86-arm", "old-x86", "arm-old"]
    assert made.link("x86", "old") is made.link("old", "x86") is made.links["old-x86"]
    alone = HEAD | {"parts": {"x86": PARTS["parts"]["x86"]}}
    assert list(load(alone).parts) == ["x86"]
    with pytest.raises(BadInput, match=r"links\.x86-arm: "):
        load(alone | {"links": {"x86-arm": {}}})


@pytest.mark.parametrize("name", machines.names("accelerator"))
def test_a_part_with_accelerators_is_refused_by_its_path(load, name):
    with pytest.raises(BadInput, match=rf"parts\.gpu\.profile='{name}': machine {name} has"):
        load(HEAD | {"parts": {"gpu": {"profile": name, "nodes": 1}}})


def test_a_file_that_cannot_be_read_hides_no_profile(tmp_path, monkeypatch):
    write(tmp_path / "good.yaml")
    (tmp_path / "broken.yaml").write_text("node: [")
    (tmp_path / "listed.yaml").write_text("- parts")
    (tmp_path / "one.yaml").write_text("name: one\nparts: {a: {profile: good.yaml, nodes: 1}}\n")
    (tmp_path / "folder.yaml").mkdir()
    monkeypatch.setattr(loader, "folder", lambda: tmp_path)
    assert machines.names() == ["broken", "good", "listed"]
    assert machines.names("parts") == ["one"] and machines.names(*machines.ALL)[-1] == "one"


def test_the_page_of_the_fields_has_each_of_them():
    rows = [line.split("|") for line in show.markdown().splitlines()[2:]]
    assert [row[1].strip(" `").removesuffix(".MODEL") for row in rows] == list(PATHS)


@pytest.mark.parametrize("name", machines.names(*machines.ALL))
def test_machines_of_the_project(name):
    """Every value has a source, every number of nodes too; what each run needs is known."""
    made = machines.load_any(name)
    assert made.name == name and (name in machines.names("parts")) == isinstance(
        made, machines.MachineOfParts
    )
    for path, value in made.values.items():
        assert value.kind in KINDS and len(value.reference) > 8, path
        assert not any(
            word in value.reference for word in ("general knowledge", "facts", "states no source")
        )
    network = [f"interconnect.{path}" for path in ("fabric", "latency", "bandwidth")]
    for start, group in made.groups.items() if name not in machines.names("accelerator") else ():
        nodes = ["node.cores", "node.sockets", *network[: bool(start)]]
        for path in network if start.startswith("links") else nodes:
            group.need(path, "any prediction")


def test_one_node_of_twenty_is_slower():
    slow = machines.load_any("slow-nodes").parts
    assert slow["slow"].nodes == 0.05 * sum(part.nodes for part in slow.values())
    assert slow["slow"].slower.value > 1 and slow["slow"].slower.interval is not None


def test_values_by_path():
    made = machines.checked(PROFILE, "f")
    assert made.get("node.clock") == machines.Value(2.5, "GHz", "measured", "a test", (2, 3))
    assert made.get("kernels.full_node.update.lif_exp").value == 4
    assert made.get("interconnect.topology").unit is None
    assert made.get("interconnect.tables.alltoall").value == tuple(map(tuple, TIMES["rows"]))
    assert made.get("interconnect.tables.alltoall").unit == "us"
    assert made.get("power.idle") is None
    with pytest.raises(
        machines.UnknownValue, match=r"made-up: power.idle is unknown, needed for the energy"
    ):
        made.need("power.idle", "the energy")
    for path in "", "node", "node.cors", "kernels.update.lif_exp", "node.update.lif_exp":
        with pytest.raises(BadInput, match=f"path '{path}'"):
            made.need(path, "a test")


def test_what_is_unknown_is_listed_in_order():
    made = machines.checked(PROFILE, "f")
    of_nodes = [path for path in PATHS if not path.startswith("accelerator.")]
    known = {path.removesuffix(".lif_exp") for path in made.values}
    assert made.unknown() == [path for path in of_nodes if path not in known]
    assert machines.checked(HEAD, "f").unknown() == of_nodes
    accelerated = machines.checked({**HEAD, "accelerator": {"devices": leaf(2, "1")}}, "f")
    assert accelerated.unknown() == [path for path in PATHS if path != "accelerator.devices"]
