"""`spikemark machine`."""

import json

from spikemark import machines
from spikemark.machines import show


def rows(output: str) -> dict[str, list[str]]:
    """The cells of a table on a terminal by the first one of each row, without what wrapping adds."""
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        if line.startswith("│"):
            first, *others = (cell.strip() for cell in line.strip("│").split("│"))
            cells = found.setdefault(first or list(found)[-1], [""] * len(others))
            cells[:] = [cell + "".join(more.split()) for cell, more in zip(cells, others, strict=True)]
    return found


def test_all_profiles_are_listed(spikemark):
    status, output, _ = spikemark("machine")
    assert status == 0
    shown = rows(output)
    assert list(shown) == machines.names(*machines.ALL) and machines.names("parts")
    for name in machines.names(*machines.ALL):
        machine = machines.load_any(name)
        assert shown[name][-2:] == [str(len(machine.unknown())), "".join(machine.title.split())]
        assert sum(map(int, shown[name][:3])) == len(machine.values)


def test_a_bad_machine_of_parts_gets_one_line(refusal, tmp_path):
    path = tmp_path / "bad.yaml"
    parts = "a: {profile: grace, nodes: 2}, b: {profile: grace, nodes: 1}"
    path.write_text(f"{{format_version: 1, name: bad, title: b, parts: {{{parts}}}}}")
    assert refusal("machine", path).startswith(f"{path}: links.a-b: ")


def test_schema_and_list_as_json(spikemark):
    assert json.loads(spikemark("machine", "--schema")[1]) == json.loads(json.dumps(show.json_schema()))
    assert [p["name"] for p in json.loads(spikemark("machine", "--json")[1])] == machines.names(*machines.ALL)
