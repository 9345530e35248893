"""Values that no machine is likely to have: they are said, and no verdict rests on them."""

import json

import pytest
from small_network import describe

from spikemark import machines

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
        assert status == 0 and f"warning: {said}" in " ".join(errors.split())
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
        first = output.splitlines()[0]
        named = said.replace(":", " of odd:", 1)
        assert first == f"No verdict for real-time factor 1.00: {named}" and len(first.split()) <= 30
        assert "not judged" in output and "odd: real-time factor" not in output
        assert "No verdict for real-time factor 1.00" in page.read_text()
        content = json.loads(spikemark(*command, "--json")[1])
        machine = next(m for m in content["machines"] if m["name"] == "odd")
        assert machine["target"] == "not judged" and machine["implausible"] == [said]
        assert set(machine["nodes"].values()) == {None}
        assert all(v["least"] is None for v in content["verdicts"].values())
    _, _, errors = spikemark("predict", network, "--machine", odd, "--ranks", 2)
    assert f"warning: {said}" in " ".join(errors.split())
