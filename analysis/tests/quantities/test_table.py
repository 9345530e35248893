import io
import json

import pytest

from spikemark.quantities import terminal
from spikemark.quantities.quantity import Quantity, missing, with_half
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import MINUS, percent

COLUMNS = [
    Column("schedule", "schedule"),
    Column("waiting_us", "waiting (µs)", "measured"),
    Column("share", "share", "modelled", words=percent),
    Column("runs", "runs", "counted"),
    Column("range", "lowest–highest"),
    Column("exact", "exact"),
]
ROWS = [
    {"schedule": "conventional", "waiting_us": Quantity(12.34, 11.0, 14.0), "share": 0.25}
    | {"runs": 1200, "range": (1.0, 2.0), "exact": True},
    {
        "schedule": "overlapped",
        "waiting_us": missing("not timed", mark="–"),
        "share": -0.5,
        "range": None,
    },
]
TABLE = Table(COLUMNS, ROWS, "Waiting", "waiting", ["One note."])


def test_cells_read_as_people_read_them():
    first, second = TABLE.cells
    assert first == [
        "conventional",
        "12.3 (11.0–14.0)",
        "25\u202f%",
        "1\u202f200",
        "1.00–2.00",
        "yes",
    ]
    assert second == ["overlapped", "–", f"{MINUS}50\u202f%", "", "", ""]


@pytest.mark.parametrize("cell", [0, 0.0, False, missing("not timed")])
def test_zeros_and_missing_numbers_are_no_words(cell):
    columns = [Column("run", "run"), Column("n", "number"), Column("none", "nothing")]
    assert Table(columns, [{"run": "a", "n": cell}]).words == (0, 2)


def test_the_same_numbers_reach_json_markdown_and_the_terminal():
    content = json.loads(json.dumps(TABLE.content()))
    assert content["rows"][0]["waiting_us"] == {"value": 12.34, "low": 11.0, "high": 14.0}
    single = Table(COLUMNS, [{"waiting_us": Quantity(2.0)}]).content()["rows"][0]["waiting_us"]
    assert single == {"value": 2.0, "low": None, "high": None}  # one shape, whatever is known
    assert content["rows"][1]["waiting_us"] is None and "not timed" in content["missing"][0]
    assert content["rows"][0]["range"] == [1.0, 2.0]
    stream = io.StringIO()
    terminal.show(TABLE, stream=stream)
    for text in (stream.getvalue(), TABLE.markdown()):
        for cell in (cell for row in TABLE.cells for cell in row):
            assert cell in text
    assert "measured" in stream.getvalue() and "One note." in stream.getvalue()
    assert TABLE.markdown().splitlines()[1].startswith("| --- | ---: |")


def test_a_turned_table_has_a_column_for_every_row():
    rows = [{"name": f"run {i}", "a": float(i), "b": "x" * i} for i in range(1, 6)]
    table = Table(
        [Column("name", "run"), Column("a", "A", "measured"), Column("b", "B")],
        rows,
        "T",
        "t",
        ["n"],
    )
    first, second, last = table.turned(2)
    assert [head for head, _ in first.heads] == ["run", "run 1", "run 2"]
    assert first.cells == [["A (measured)", "1.00", "2.00"], ["B", "x", "xx"]]
    assert last.cells == [["A (measured)", "5.00"], ["B", "xxxxx"]]
    assert (first.notes, second.notes, last.notes) == ([], [], ["n"]) and first.title == "T"
    assert Table([Column("name", "run"), Column("a", "A")], [], "T").turned(2) == []


@pytest.mark.parametrize(
    "half, shown", [(None, "2.00"), (0.0, "2.00"), (1e-6, "2.00"), (0.1, None)]
)
def test_an_interval_that_reads_as_its_value_is_not_shown(half, shown):
    cells = Table([Column("time", "time")], [{"time": with_half(2.0, half)}]).cells
    assert cells == [[shown or "2.00 (1.90–2.10)"]]
