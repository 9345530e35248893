"""`spikemark machine`."""

import json

import machine_file
import small_machine

from spikemark import machines


def rows(output: str) -> dict[str, list[str]]:
    """The cells of a table on a terminal by the first one of each row, without what wrapping
    adds.
    """
    cells_by_first: dict[str, list[str]] = {}
    for line in output.splitlines():
        if line.startswith("│"):
            first, *others = (cell.strip() for cell in line.strip("│").split("│"))
            cells = cells_by_first.setdefault(first or list(cells_by_first)[-1], [""] * len(others))
            cells[:] = [
                cell + "".join(more.split()) for cell, more in zip(cells, others, strict=True)
            ]
    return cells_by_first


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


def test_the_list_as_json(spikemark):
    assert [
        p["name"] for p in json.loads(spikemark("machine", "--json")[1])["machines"]
    ] == machines.names(*machines.ALL)


def test_two_machines_are_side_by_side_and_rows_that_differ_are_marked(
    spikemark, refusal, tmp_path
):
    first = machine_file.write(tmp_path / "one.yaml")
    changes = {
        "node__cores": 2 * small_machine.VALUES["node.cores"][0],
        "interconnect__selector": "mpich",
    }
    second = machine_file.write(tmp_path / "other.yaml", power__idle=None, **changes)
    status, output, _ = spikemark("machine", first, second)
    assert status == 0
    marked = {path: cells[-1] for path, cells in rows(output).items() if cells[-1]}
    assert marked == {
        "node.cores": "2times",
        "interconnect.selector": "yes",
        "power.idle": "oneisunknown",
    }
    profiles = json.loads(spikemark("machine", first, second, "--json")[1])["machines"]
    assert [profile["name"] for profile in profiles] == ["one", "other"]
    assert "node.cores" in rows(spikemark("machine", first, first)[1])
    assert refusal("machine", first, second, "grace").startswith("NAME=")
    parts = machines.names("parts")[0]
    assert spikemark("machine", parts, "grace")[0] == 0
