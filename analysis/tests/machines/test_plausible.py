"""Values that no machine is likely to have: they are said, and no verdict rests on them."""

import json

import pytest
from advised import few
from small_network import describe
from synthetic import write_run

from spikemark import machines
from spikemark.core.errors import BadInput

SHEET = {"node.cores": 96, "node.clock": 2.4, "interconnect.bandwidth": 25, "interconnect.latency": 1.5}
UNITS = {"node.cores": "1", "node.clock": "GHz", "power.tdp": "W", "interconnect.bandwidth": "GB/s"}
UNITS |= {"interconnect.latency": "us"}
WRONG = [
    ("power.tdp", 7.2, "power.tdp: 7.2 W (0.075 W per core) is 1/46 of the lowest known, 3.47 W per core"),
    ("node.clock", 2400, "node.clock: 2400 GHz is 655 times the highest known, 3.67 GHz; are these MHz?"),
    (
        "interconnect.bandwidth", 400,
        "interconnect.bandwidth: 400 GB/s is 16 times the highest known, 24.7 GB/s; are these Gbit/s?",
    ),
]  # fmt: skip


def text(name: str, **changed) -> str:
    """A profile from a data sheet."""
    groups: dict[str, dict] = {}
    for path, value in (SHEET | changed).items():
        group, _, leaf = path.partition(".")
        known = {"value": value, "unit": UNITS[path], "kind": "literature", "reference": "data sheet"}
        groups.setdefault(group, {})[leaf] = known
    return json.dumps({"format_version": 1, "name": name, "title": name} | groups)


@pytest.mark.parametrize("name", machines.names())
def test_no_profile_of_the_project_is_implausible(name):
    assert machines.implausible(machines.load(name)) == ()


@pytest.mark.parametrize(("path", "value", "said"), WRONG)
def test_a_wrong_magnitude_is_said(path, value, said, tmp_path, spikemark):
    sheet = tmp_path / "offer.yaml"
    sheet.write_text(text("offer", **{path: value}))
    (line,) = machines.implausible(machines.load(sheet))
    assert line.startswith(said)
    for options in ((), ("--filled",)):
        status, _, errors = spikemark("machine", sheet, *options)
        assert status == 0 and f"warning: offer: {said}" in " ".join(errors.split())
    assert machines.filled(machines.load(sheet)).implausible == (line,)
    sheet.write_text(text("offer"))
    assert machines.implausible(machines.load(sheet)) == ()
    assert "warning" not in spikemark("machine", sheet)[2]


def test_no_verdict_rests_on_a_wrong_magnitude(tmp_path, spikemark, monkeypatch):
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (1, 2))
    path, value, said = WRONG[2]
    good, odd = tmp_path / "good.yaml", tmp_path / "odd.yaml"
    good.write_text(text("good"))
    odd.write_text(text("odd", **{path: value}))
    network, page = tmp_path / "run.json", tmp_path / "page.html"
    network.write_text(json.dumps(describe()))
    for given in ((good, odd), (odd,)):
        command = ("compare", *given, "--run", network, "--schedule", "conventional", "--price-kwh", 0.3)
        status, output, errors = spikemark(*command, "--html", page)
        assert status == 0 and f"warning: odd: {said}" in " ".join(errors.split())
        named = said.replace(":", " of odd:", 1)
        (sentence,) = [line for line in output.splitlines() if line.startswith("No verdict")]
        assert sentence == f"No verdict for real-time factor 1.00: {named}" and len(sentence.split()) <= 30
        assert "not judged" in output and "odd: real-time factor" not in output
        assert "No verdict for real-time factor 1.00" in page.read_text()
        content = json.loads(spikemark(*command, "--json")[1])
        machine = next(m for m in content["machines"] if m["name"] == "odd")
        assert machine["target"] == "not judged" and machine["implausible"] == [said]
        assert set(machine["nodes"].values()) == {None}
        assert all(v["least"] is None for v in content["verdicts"].values())


#: Where the fabric is named, its links have these rates: what was typed, and whether it is doubted.
RATES = [
    ("infiniband", 200, "literature", True), ("infiniband", 25, "literature", False),
    ("infiniband", 100, "literature", True), ("infiniband", 50, "literature", False),
    ("infiniband", 56, "literature", True), ("infiniband", 7, "literature", False),
    ("ethernet", 10, "literature", True), ("ethernet", 12.5, "literature", False),
    ("ethernet", 10, "measured", False), ("omni-path", 100, "literature", True),
    ("slingshot", 200, "assumed", True), ("slingshot", 25, "literature", False),
    ("other", 200, "literature", True), (None, 200, "literature", True), (None, 12.1, "literature", False),
]  # fmt: skip


def with_network(name: str, fabric: str | None, bandwidth: float, kind: str) -> str:
    content = json.loads(text(name, **{"interconnect.bandwidth": bandwidth}))
    content["interconnect"]["bandwidth"]["kind"] = kind
    if fabric:
        content["interconnect"]["fabric"] = {"value": fabric, "kind": "literature", "reference": "data sheet"}
    return json.dumps(content)


@pytest.mark.parametrize(("fabric", "bandwidth", "kind", "doubted"), RATES)
def test_a_link_is_named_in_bits_and_profiles_are_in_bytes(fabric, bandwidth, kind, doubted, tmp_path):
    """A factor of 8 is less than what no machine has, but the number is that of a link."""
    sheet = tmp_path / "offer.yaml"
    sheet.write_text(with_network("offer", fabric, bandwidth, kind))
    found, whole = machines.odd(machines.load(sheet)), machines.filled(machines.load(sheet))
    assert len(found) == doubted and whole.odd == found
    assert whole.implausible == ()  # some nodes have several links, so that such a machine is judged
    if doubted:
        assert f"if these are Gbit/s, write {bandwidth / 8:g} GB/s" in found[0]


def test_networks_of_the_project_are_not_doubted():
    assert [name for name in machines.names() if machines.odd(machines.load(name))] == []


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """Profiles with a value that is warned of, and a network."""
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (1, 2))
    few(monkeypatch)
    (tmp_path / "run.json").write_text(json.dumps(describe()))
    for name, content in (
        ("far", text("far", **{WRONG[2][0]: WRONG[2][1]})),
        ("bits", with_network("bits", "infiniband", 200, "literature")),
    ):
        (tmp_path / f"{name}.yaml").write_text(content)
    return tmp_path


@pytest.mark.parametrize("name", ["far", "bits"])
@pytest.mark.parametrize("command", ["machine", "predict", "advise", "compare", "simulate", "energy"])
def test_every_command_that_takes_a_profile_warns_of_it(command, name, odd, spikemark, monkeypatch):
    def refused(*_, **__):
        raise BadInput("not here")

    monkeypatch.setattr("spikemark.running.simulation.simulate", refused)
    network, machine = odd / "run.json", odd / f"{name}.yaml"
    words = {
        "machine": (machine,), "predict": (network, "--machine", machine, "--ranks", 2),
        "advise": (network, "--machine", machine), "compare": (machine, "--run", network),
        "simulate": (network, "--machine", machine, "--ranks", 2),
        "energy": (write_run(odd / "run", ranks=2, cycles=20), "--machine", machine),
    }  # fmt: skip
    _, output, errors = spikemark(command, *words[command])
    (line,) = machines.odd(machines.load(machine))
    assert " ".join(errors.split()).count(f"warning: {name}: {line}") == 1
    if command in ("predict", "advise"):  # as the pages do
        assert f"profile may be wrong: {line}" in " ".join(output.split())


def test_the_pages_say_it_too(odd, spikemark):
    page = odd / "page.html"
    for words in (("advise", odd / "run.json", "--machine"), ("compare", "--run", odd / "run.json")):
        assert spikemark(*words, odd / "bits.yaml", "--html", page)[0] == 0
        assert "if these are Gbit/s, write 25 GB/s" in page.read_text()
    output = spikemark("compare", "--run", odd / "run.json", odd / "bits.yaml")[1]
    assert output.count("may be wrong: ") == 1  # before what is asked of the vendor
    assert output.index("may be wrong: ") < output.index("ask the vendor")
