"""A prediction knows the fields that the mini-app knows, and no others."""

import copy
import re
from collections import defaultdict

import pytest
from small_network import describe

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign
from spikemark.network import description, fields
from spikemark.network.presets import PRESETS


def documented() -> list[dict[str, set[str]]]:
    """Of each table of the run description in FORMAT.md: what comes before the dot -> what comes
    after.
    """
    text = (
        (places.root() / "miniapp" / "FORMAT.md")
        .read_text(encoding="utf-8")
        .partition("## Run record")[0]
    )
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
    for kind, names in {
        "Description": run[""] | {group for group in run if group},
        "Time": run["time"],
        "Network": run["network"],
        "LaneRule": lane[""],
        "Projection": projection[""] | {"delay"},
        "Delay": projection["delay"],
        "Population": population[""] | {"neuron"},
    }.items():
        known = getattr(description, kind).model_fields
        assert {about.alias or name for name, about in known.items()} == names, kind


@pytest.mark.parametrize(
    ("place", "others"),
    [
        ("", "format_version, seed, lag, time"),
        ("time", "resolution_ms, cycle_ms, warmup_ms"),
        ("network.populations.0", "name, area, size"),
        ("network.projections.0", "source"),
        ("network.projections.0.delay", "distribution"),
        ("network.projections.0.weight", "mean, sd, classes"),
    ],
)
def test_a_misspelt_field_is_named(place, others):
    asked = describe(areas=1)
    for projection in asked["network"]["projections"]:
        projection["weight"] = {"mean": 2.0}
    description.read_description(asked)
    assign(asked, f"{place}.wieght".lstrip("."), 3)
    with pytest.raises(BadInput, match=f"wieght: unknown field.*; expected {others}") as error:
        description.read_description(asked)
    assert error.value.field == f"{place}.wieght".lstrip(".") and "\n" not in str(error.value)


@pytest.mark.parametrize("field", ["time.cycle_ms", "network.populations.0.area"])
def test_null_is_no_value_as_in_the_mini_app(field):
    asked = describe()
    assign(asked, field, None)
    with pytest.raises(BadInput) as error:
        description.read_description(asked)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (
            "network.projections.0.delay.mean",
            3250.0,
        ),  # nothing of the distribution lies within the limits
        ("network.populations.0.neuron.rate", 8.0),  # it is called rate_hz
        ("network.populations.0.neuron.rate_hz", 1e7),
        ("network.populations.0.neuron.rate_hz", True),
        ("network.populations.0.size", 2.5),
        ("time.cycle_ms", 0),
        ("record.counters", ["joy"]),
        ("exchange", {"name": "two_level", "grup": 2}),
        ("placement", {"name": "from_file", "file": "a\0.json"}),
    ],
)
def test_what_the_mini_app_refuses_is_refused_by_its_field(field, value):
    asked = describe()
    asked["network"]["projections"][0]["delay"] |= {"sd": 0.1, "max": 4.0}
    description.read_description(asked)
    assign(asked, field, value)
    with pytest.raises(BadInput) as error:
        description.read_description(asked)
    assert error.value.field.startswith(field)


def test_a_name_that_may_have_been_meant_is_proposed():
    asked = describe()
    assign(asked, "network.populations.0.neuron.rate", 8.0)
    with pytest.raises(BadInput, match="did you mean 'rate_hz'"):
        description.read_description(asked)


def test_integers_may_have_a_point():
    asked = describe()
    assign(asked, "network.populations.0.size", 40.0)
    assign(asked, "delay_ratio", 1.0)
    known = description.read_description(asked)
    assert (known.network.populations[0].size, known.delay_ratio) == (40, 1)
    assert isinstance(known.network.populations[0].size, int) and isinstance(known.delay_ratio, int)


#: Values that some fields allow and others refuse.
PLANTED = (
    *(None, True, -1, 0, 1, 1.0, 1.5, 1e300, float("nan"), float("inf"), "", "area", "x\0y"),
    *([], [1], [1.5], ["area"], [[]], [None], [{}], {}, {"mean": 1.0}, {"no_such_field": 1}, (1,)),
)


def paths_in(part, path=()):
    """The paths of all parts of a description, as tuples of keys and positions."""
    numbered = ()
    if isinstance(part, dict):
        numbered = part.items()
    if isinstance(part, list):
        numbered = enumerate(part)
    for key, inner in numbered:
        yield (*path, key)
        yield from paths_in(inner, (*path, key))


def verdict(content):
    """What the check says of a description; None where it finds no fault."""
    try:
        fields.check(content)
    except BadInput as error:
        return str(error)
    return None


@pytest.mark.parametrize("preset", ["dpsnn", "mam-benchmark", "microcircuit"])
def test_a_quick_look_lets_no_fault_pass(preset, monkeypatch):
    options = {"dpsnn": {"columns": "2x2"}, "mam-benchmark": {"areas": 2}}.get(preset, {})
    whole = PRESETS[preset].describe(**options)
    of_network = whole["network"]
    for kind in ("populations", "projections"):
        of_network[kind] = of_network[kind][:3]
    planted = []
    for *outer, last in paths_in(whole):
        for value in PLANTED:
            content = copy.deepcopy(whole)
            part = content
            for key in outer:
                part = part[key]
            part[last] = value
            planted.append(content)
    quick = [verdict(content) for content in planted]
    monkeypatch.setattr(fields, "_all_fit", lambda objects, rules: False)
    slow = [verdict(content) for content in planted]
    assert quick == slow
    assert slow.count(None) > len(slow) // 20
    assert slow.count(None) < len(slow) // 2
