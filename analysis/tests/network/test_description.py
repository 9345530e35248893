"""A prediction knows the fields that the mini-app knows, and no others."""

import re
from collections import defaultdict

import pytest
from small_network import describe

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign
from spikemark.network import description


def documented() -> list[dict[str, set[str]]]:
    """Of each table of the run description in FORMAT.md: what comes before the dot -> what comes after."""
    text = (places.root() / "miniapp" / "FORMAT.md").read_text(encoding="utf-8").partition("## Run record")[0]
    found = []
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        fields = defaultdict(set)
        for cell in re.findall(r"^\|([^|]*)\|", table, re.MULTILINE):
            for name in re.findall(r"`([\w.]+)`", cell):
                group, _, own = name.rpartition(".")
                fields[group].add(own)
        found.append(fields)
    return found


def test_all_fields_of_the_format_are_known():
    tables = documented()
    run, lane, projection, population = (
        next(table for table in tables if name in table[""])
        for name in ("format_version", "period", "indegree", "size")
    )
    for kind, fields in {
        "Description": run[""] | {group for group in run if group}, "Time": run["time"],
        "Network": run["network"], "Lane": lane[""], "Projection": projection[""] | {"delay"},
        "Delay": projection["delay"], "Population": population[""] | {"neuron"},
    }.items():  # fmt: skip
        known = getattr(description, kind).model_fields
        assert {about.alias or name for name, about in known.items()} == fields, kind


@pytest.mark.parametrize(
    ("place", "others"),
    [
        ("", "format_version, seed, time"),
        ("time", "resolution_ms, cycle_ms, warmup_ms"),
        ("network.populations.0", "name, size"),
        ("network.projections.0", "source"),
        ("network.projections.0.delay", "distribution"),
        ("network.projections.0.weight", "mean, sd, classes"),
    ],
)
def test_a_misspelt_field_is_named(place, others):
    asked = describe(areas=1)
    for projection in asked["network"]["projections"]:
        projection["weight"] = {"mean": 2.0}
    description.read(asked)
    assign(asked, f"{place}.wieght".lstrip("."), 3)
    with pytest.raises(BadInput, match=f"wieght=3: unknown; expected {others}") as error:
        description.read(asked)
    assert error.value.field == f"{place}.wieght".lstrip(".") and "\n" not in str(error.value)


@pytest.mark.parametrize("field", ["time.cycle_ms", "network.populations.0.area"])
def test_null_is_no_value_as_in_the_mini_app(field):
    asked = describe()
    assign(asked, field, None)
    with pytest.raises(BadInput) as error:
        description.read(asked)
    assert error.value.field == field
