"""The classes of a run's files: the rules that hold for nulls, and the tables of FORMAT.md beside
them.
"""

import re

import pytest
from pydantic import BaseModel, ValidationError
from synthetic import ENERGY

from spikemark.core import places
from spikemark.records import schema

FORMAT = (places.root() / "miniapp" / "FORMAT.md").read_text()

METER = {"name": "energy", "unit": "J", "value": 1.0, "source": "powercap", "status": "ok"}
TIME = {"mean_s": 1.0, "max_s": 2.0}


@pytest.mark.parametrize(
    ("part", "content", "nullable"),
    [
        (schema.PhaseTime, TIME, "mean_s"),
        (schema.PhaseTime, TIME, "max_s"),
        (schema.EnergyRecord, ENERGY, "gross_j"),
        (schema.Meter, METER, "value"),
    ],
)
def test_a_null_needs_a_reason(part: type[BaseModel], content: dict, nullable: str) -> None:
    assert part.model_validate(content)
    for reason in (None, ""):
        with pytest.raises(ValidationError, match="reason: missing"):
            part.model_validate(content | {nullable: None, "reason": reason})
    explained = part.model_validate(content | {nullable: None, "reason": "no meter"})
    assert getattr(explained, nullable) is None


def table_below(heading: str) -> set[str]:
    """Fields in the first column of the table that follows a line of FORMAT.md."""
    rows = FORMAT.partition(heading)[2].partition("| --- |")[2].splitlines()[1:]
    fields: set[str] = set()
    for row in rows:
        if not row.startswith("|"):
            break
        fields |= set(re.findall(r"`([\w.]+)`", row.split("|")[1]))
    return fields


def fields_of(part: type[BaseModel], prefix: str = "") -> set[str]:
    return {prefix + name for name in part.model_fields}


#: Fields of the classes that no mini-app of today writes: those of older records, or that
#: `spikemark` judges.
NOT_WRITTEN = {"warnings", "timing.idle_after_s"}


@pytest.mark.parametrize(
    ("heading", "part"),
    [
        ("### `host.per_node` of `record.json`", schema.NodeRecord),
        ("### `host.surroundings` of `record.json`", schema.Surroundings),
        ("### `meters` and `energy` of `record.json`", schema.Meter),
        ("Fields of `energy`:", schema.EnergyRecord),
        ("Fields of `dry_run`:", schema.RankAlone),
    ],
)
def test_the_tables_of_parts_have_the_fields_of_the_classes(
    heading: str, part: type[BaseModel]
) -> None:
    assert table_below(heading) == fields_of(part)


def test_the_table_of_the_record_has_the_fields_of_the_classes() -> None:
    fields = fields_of(schema.Record) - {"timing", "memory"} | {"dry_run"}
    fields |= fields_of(schema.Timing, "timing.") | fields_of(schema.MemoryRecord, "memory.")
    assert table_below("### `record.json`") == fields - NOT_WRITTEN


@pytest.mark.parametrize(
    "part", [schema.Provenance, schema.Host, schema.TotalCounts, schema.LaneTraffic]
)
def test_parts_that_the_table_describes_in_one_cell(part: type[BaseModel]) -> None:
    cells = FORMAT.partition("### `record.json`")[2]
    for name in part.model_fields:
        assert f"`{name}`" in cells, name


def test_every_field_is_described() -> None:
    parts = [value for value in vars(schema).values() if isinstance(value, type)]
    classes = [part for part in parts if issubclass(part, schema.RecordPart)]
    assert len(classes) > 20
    for part in classes:
        for name, field in part.model_fields.items():
            assert field.description, f"{part.__name__}.{name}"
