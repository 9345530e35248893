"""Values that look like a slip get a remark that names them; usual and own ones do not."""

import pytest
import yaml
from leaves import offered

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import units, usual
from spikemark.machines.fields import COUNT, FIELD
from spikemark.machines.profile import Value

ROWS = usual._rows()
OF_QUESTIONS = {"years": "1", "hours_per_year": "h", "price_kwh": "EUR/kWh"}
PLAIN = [row for row in ROWS if "per" not in row and row["path"] in FIELD]
#: An offer without anything unusual: path, value.
OFFER = {
    "node.sockets": 2,
    "node.cores": 192,
    "node.clock": 2.4,
    "node.memory": 768.0,
    "interconnect.fabric": "infiniband",
    "interconnect.latency": 1.2,
    "interconnect.latency_node": 0.4,
    "interconnect.bandwidth": 25.0,
    "power.tdp": 720.0,
    "offer.nodes": 16,
    "offer.price": 24000.0,
    "offer.watts": 1050.0,
}


def load(folder, changed=(), title="An offer", **head):
    content = {"format_version": 1, "name": "offer", "title": title} | head
    content |= offered({**OFFER, **dict(changed)})
    file = folder / "offer.yaml"
    file.write_text(yaml.safe_dump(content))
    return machines.load(file)


def remarked(profile, path):
    """The remarks that begin with a path."""
    return [text for text in profile.remarks if text.startswith(f"offer: {path} ")]


@pytest.mark.parametrize("processor", [None, "epyc-9654"])
def test_a_usual_offer_has_no_remark(tmp_path, processor):
    assert load(tmp_path, processor=processor).remarks == ()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["path"])
def test_a_row_is_of_a_number_and_has_a_source(row):
    assert row["path"] in FIELD or row["path"] in OF_QUESTIONS
    assert row["source"] and 0 <= row["low"] < row["high"]
    for other in (row.get("per"), *row.get("when", {})):
        assert other is None or other in FIELD


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["path"])
@pytest.mark.parametrize(("factor", "is_doubtful"), [(0.5, True), (1.0, False), (2.0, True)])
def test_values_outside_of_each_row_are_remarked_upon(row, factor, is_doubtful):
    path = row["path"]
    unit = FIELD[path].unit if path in FIELD else OF_QUESTIONS[path]
    known = {}
    scale = 1.0
    if "per" in row:
        scale = 3.0
        known[row["per"]] = Value(scale, FIELD[row["per"]].unit, "literature", "the offer")
    for other, texts in row.get("when", {}).items():
        known[other] = Value(texts[0], None, "literature", "the offer")
    end = row["low"] if factor < 1 else row["high"]
    if not end:
        return
    stated = {path: Value(factor * scale * end, unit, "literature", "the offer")}
    lines = usual.remarks(stated, "offer", {**known, **stated})
    assert len(lines) == is_doubtful or (not is_doubtful and "per" not in row and "when" not in row)
    for line in lines:
        assert path in line and "usual" in line


@pytest.mark.parametrize("row", PLAIN, ids=lambda row: row["path"])
def test_the_unit_that_was_meant_is_named_with_the_value(row):
    path = row["path"]
    unit = FIELD[path].unit
    middle = (row["low"] * row["high"]) ** 0.5
    for meant in usual.MEANT.get(unit, ()):
        stated = units.converted(middle, unit, meant)
        number = Value(stated, unit, "literature", "the offer")
        if row["low"] <= stated <= row["high"]:
            continue
        in_others = [units.converted(stated, other, unit) for other in usual.MEANT[unit]]
        possible = [other for other in in_others if row["low"] <= other <= row["high"]]
        fabric = {}
        for other, texts in row.get("when", {}).items():
            fabric[other] = Value(texts[0], None, "literature", "the offer")
        [line] = usual.remarks({path: number}, "offer", {path: number, **fabric})
        assert f"{possible[0]:.6g} {unit}" in line


@pytest.mark.parametrize("processor", [None, "epyc-9654"])
@pytest.mark.parametrize(
    ("path", "value", "hint"),
    [
        ("offer.watts", 1.05, "1.05 kW"),
        ("offer.watts", 100.0, "0.7"),
        ("offer.watts", 1e6, "720 W"),
        ("offer.price", 24.0, "24 kEUR"),
        ("offer.price", 0.0, "500"),
        ("offer.price", 384000.0, "16 nodes"),
        ("interconnect.latency", 1200.0, "1200 ns"),
        ("interconnect.latency", 0.0012, "0.0012 ms"),
        ("interconnect.latency_node", 5.0, "interconnect.latency"),
        ("interconnect.bandwidth", 400.0, "400 Gbit/s"),
        ("node.memory", 0.768, "0.768 TB"),
        ("power.tdp", 0.72, "0.72 kW"),
    ],
)
def test_slips_of_an_offer_are_named(tmp_path, path, value, hint, processor):
    profile = load(tmp_path, {path: value}, processor=processor)
    found = [text for text in remarked(profile, path) if hint in text]
    assert len(found) == 1 and str(profile.get(path).value) == str(value)


def test_a_bandwidth_in_gbit_is_doubted_more_on_ethernet(tmp_path):
    on_ethernet = {"interconnect.fabric": "ethernet", "interconnect.bandwidth": 100.0}
    [line] = remarked(load(tmp_path, on_ethernet), "interconnect.bandwidth")
    assert "12.5 GB/s" in line
    assert not remarked(load(tmp_path, {"interconnect.bandwidth": 100.0}), "interconnect")


def test_cores_of_all_nodes_are_not_those_of_one(tmp_path):
    [line] = remarked(load(tmp_path, {"node.cores": 3072}), "node.cores")
    assert "192" in line
    assert remarked(load(tmp_path, {"node.cores": 100000}), "node.cores")


@pytest.mark.parametrize("path", ["node.clock", "node.clock_turbo"])
@pytest.mark.parametrize("ghz", [3e-6, 0.29, 8.1, 2400.0])
def test_clocks_that_no_processor_has_are_refused(tmp_path, path, ghz):
    with pytest.raises(BadInput, match=str(ghz).rstrip("0").rstrip(".")) as refused:
        load(tmp_path, {path: ghz})
    assert refused.value.field.startswith(path)


@pytest.mark.parametrize("name", machines.names(*machines.ALL))
def test_no_machine_of_the_project_is_doubted(name):
    assert machines.load_any(name).remarks == ()


@pytest.mark.parametrize("where", ["part", "link"])
def test_networks_of_parts_and_links_are_compared_too(tmp_path, where):
    slow = {"value": 1200.0, "unit": "us", "kind": "literature", "reference": "the offer"}
    content = {"format_version": 1, "name": "site", "title": "A site"}
    part = {"profile": "zen5-vm", "nodes": 2}
    content["parts"] = {"old": dict(part), "new": dict(part)}
    content["links"] = {"old-new": {}}
    if where == "part":
        content["parts"]["new"]["interconnect"] = {"latency": slow}
    else:
        content["links"]["old-new"] = {"latency": slow}
    file = tmp_path / "site.yaml"
    file.write_text(yaml.safe_dump(content))
    [line] = machines.load_any(file).remarks
    assert "interconnect.latency" in line and "1200 ns" in line


def test_counts_of_the_table_are_possible_counts():
    for row in PLAIN:
        if FIELD[row["path"]].allowed == COUNT:
            assert row["low"] >= 1
