"""A prediction knows the fields that the mini-app knows, and no others."""

import re
from collections import defaultdict

import pytest
from small_network import describe

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign
from spikemark.network import description
from spikemark.network.description import read


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


def known(kind) -> set[str]:
    return {about.alias or name for name, about in kind.model_fields.items()}


def test_all_fields_of_the_format_are_known():
    tables = documented()
    run, lane, projection, population = (
        next(table for table in tables if name in table[""])
        for name in ("format_version", "period", "indegree", "size")
    )
    assert known(description.Description) == run[""] | {group for group in run if group}
    assert known(description.Time) == run["time"] and known(description.Network) == run["network"]
    assert known(description.Lane) == lane[""]
    assert known(description.Projection) == projection[""] | {"delay"}
    assert known(description.Delay) == projection["delay"]
    assert known(description.Population) == population[""] | {"neuron"}


@pytest.mark.parametrize(
    ("place", "complaint"),
    [
        ("", "wieght: unknown field; expected format_version, seed, time"),
        ("time", "time: wieght: unknown field; expected resolution_ms, cycle_ms, warmup_ms"),
        ("network.populations.0", "network.populations.0: wieght: unknown field; expected name, size"),
        ("network.projections.0", "network.projections.0: wieght: unknown field; expected source"),
        ("network.projections.0.delay", "delay: wieght: unknown field; expected distribution"),
        ("network.projections.0.weight", "wieght: unknown field; expected mean, sd, classes"),
    ],
)
def test_a_misspelt_field_is_named(place, complaint):
    asked = describe(areas=1)
    for projection in asked["network"]["projections"]:
        projection["weight"] = {"mean": 2.0}
    read(asked)
    assign(asked, f"{place}.wieght".lstrip("."), 3)
    with pytest.raises(BadInput) as error:
        read(asked)
    assert complaint in str(error.value) and "\n" not in str(error.value)
