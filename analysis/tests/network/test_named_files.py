"""Files that a description names: placements, and orders and tables of exchanges; copies and digests."""

import json

import pytest
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.network import named_files, placement_field, placement_file
from spikemark.network.placement_file import Placement

FROM_FILE = {"name": "from_file", "file": "near/cut.json"}
ORDER = {"kind": "rank_order", "format_version": 1, "order": [1, 0]}
LEVELS = {"name": "multi_level", "order": "near/order.json", "table": "near/table.json"}


def written(path, placed: Placement) -> str:
    path.parent.mkdir(exist_ok=True)
    placement_file.write(path, placed)
    return str(path)


@pytest.fixture
def folder(tmp_path):
    """A folder with an order and a table."""
    (tmp_path / "near").mkdir()
    (tmp_path / "near" / "order.json").write_text(json.dumps(ORDER, indent=2))
    (tmp_path / "near" / "table.json").write_text(json.dumps(ORDER | {"kind": "forwarding_table"}))
    return tmp_path


CHOICES = {"one": LEVELS, "of a lane": {"near": "p2p", "far": LEVELS}}


@pytest.mark.parametrize("choice", CHOICES)
def test_files_of_exchanges_are_found_copied_and_compared(choice, folder):
    given = describe() | {"exchange": CHOICES[choice]}
    found = named_files.located(given, folder)
    chosen = found["exchange"].get("far", found["exchange"])
    assert chosen == LEVELS | {f: str(folder / "near" / f"{f}.json") for f in ("order", "table")}
    kept = named_files.stored(found, lambda field, file: folder / "kept" / f"{field}.json", folder / "runs")
    assert kept["exchange"].get("far", kept["exchange"])["order"] == "../kept/order.json"
    back = named_files.located(kept, folder / "runs")
    assert named_files.with_content(back) == named_files.with_content(found) != found
    (folder / "near" / "order.json").write_text(json.dumps(ORDER | {"order": [0, 1]}))
    assert named_files.with_content(back) != named_files.with_content(found)


@pytest.mark.parametrize("choice", CHOICES)
def test_files_in_a_record_are_those_that_were_given(choice, folder):
    given = describe() | {"exchange": CHOICES[choice]}
    found = named_files.with_content(named_files.located(given, folder))
    kept = {LEVELS[f]: json.loads((folder / LEVELS[f]).read_text()) for f in ("order", "table")}
    (folder / "exchange.json").write_text(json.dumps(kept))
    copied = named_files.copied(given, folder / "placement.json", folder / "exchange.json")
    assert named_files.with_content(copied) == found
    (folder / "exchange.json").write_text("{}")
    with pytest.raises(BadInput, match=r"exchange\.json: has no 'near/order\.json', which the description"):
        named_files.with_content(copied)


def test_a_description_is_the_same_wherever_its_file_lies(tmp_path):
    whole = Placement.of(2, [50, 100], [0, 1])
    one, two = (written(tmp_path / name / "p.json", whole) for name in ("a", "b"))
    copy = tmp_path / "b" / "p.json"
    copy.write_text(json.dumps(json.loads(copy.read_text()), indent=3))
    other = written(tmp_path / "a" / "other.json", Placement.of(2, [50, 100], [1, 0]))
    first, second, third = (describe() | {"placement": FROM_FILE | {"file": f}} for f in (one, two, other))
    assert named_files.with_content(first) == named_files.with_content(second)
    assert named_files.with_content(first) != named_files.with_content(third)
    assert placement_field.same(one, two) and not placement_field.same(one, other)
    assert placement_field.same("area", "area") and not placement_field.same("area", one)
    assert named_files.with_content(describe()) == describe()
