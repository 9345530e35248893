"""Units of vendors are refused with the value in the unit of the field, or remarked upon."""

import pytest
import yaml

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import units, usual
from spikemark.machines.fields import CALLED, COUNT, FIELDS

BANDWIDTH = usual.BANDWIDTH
RATES = [("NDR200", 200), ("HDR100", 100), ("NDR", 400), ("EDR", 100), ("25 Gbit/s", 25)]


def load(folder, path, value, unit, reference="the offer", **head):
    content = {"format_version": 1, "name": "offer", "title": "An offer"} | head
    group, field = path.split(".")
    leaf = {"value": value, "unit": unit, "kind": "literature", "reference": reference}
    content[group] = {field: leaf}
    file = folder / "offer.yaml"
    file.write_text(yaml.safe_dump(content))
    return machines.load(file)


def by_unit():
    """A path for each unit of fields, and a unit that converts into it."""
    numbers = [
        field
        for field in FIELDS
        if field.path.count(".") == 1 and field.allowed != COUNT and not field.models
    ]
    for field in {field.unit: field for field in numbers}.values():
        for factors in units.KINDS_OF_UNITS:
            for other in factors:
                if field.unit in factors and other != field.unit:
                    yield field.path, field.unit, other


@pytest.mark.parametrize(("path", "unit", "other"), list(by_unit()))
def test_another_unit_is_refused_with_the_value_in_that_of_the_field(tmp_path, path, unit, other):
    value = units.converted(24, unit, other)
    with pytest.raises(BadInput) as refused:
        load(tmp_path, path, value, other)
    assert refused.value.field == f"{path}.unit"
    text = str(refused.value)
    assert f"24 {unit}" in text and f"{value:g} {other}" in text and "did you mean" not in text


def test_gbit_are_an_eighth_of_gb(tmp_path):
    with pytest.raises(BadInput, match="25 GB/s"):
        load(tmp_path, BANDWIDTH, 200, "Gbit/s")


@pytest.mark.parametrize(("name", "gbit"), RATES)
@pytest.mark.parametrize("place", ["title", "reference"])
def test_a_bandwidth_that_is_the_rate_of_the_network_is_remarked_upon(tmp_path, name, gbit, place):
    for factor, is_doubtful in ((1 / 8, False), (1, True), (0.95, True)):
        profile = load(tmp_path, BANDWIDTH, factor * gbit, "GB/s", **{place: f"Offer, {name}"})
        assert len(profile.remarks) == is_doubtful
        assert all(BANDWIDTH in remark for remark in profile.remarks)


@pytest.mark.parametrize(("stated", "is_doubtful"), [(25, False), (50, False), (100, True)])
def test_more_than_any_link_has_is_remarked_upon(tmp_path, stated, is_doubtful):
    assert len(load(tmp_path, BANDWIDTH, stated, "GB/s").remarks) == is_doubtful


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        *((name, "ethernet") for name in ("roce", "RoCE", "RoCEv2", "100GbE", "100 GbE RoCE")),
        *((name, "infiniband") for name in ("InfiniBand", "ib", "NDR200", "HDR")),
        *((name, "omni-path") for name in ("OPA", "Omni-Path", "omnipath")),
        *((name, "slingshot") for name in ("Slingshot", "slingshot-11")),
    ],
)
def test_networks_as_vendors_call_them_are_refused_with_their_kind(tmp_path, stated, meant):
    content = {"format_version": 1, "name": "offer", "title": "An offer"}
    leaf = {"value": stated, "kind": "literature", "reference": "the offer"}
    content["interconnect"] = {"fabric": leaf}
    file = tmp_path / "offer.yaml"
    file.write_text(yaml.safe_dump(content))
    with pytest.raises(BadInput, match=repr(meant)) as refused:
        machines.load(file)
    assert refused.value.field == "interconnect.fabric.value"
    assert str(refused.value).count("\n") == 0


@pytest.mark.parametrize("path", [field.path for field in FIELDS if field.choices])
def test_every_choice_is_taken_as_it_is(tmp_path, path):
    [field] = [field for field in FIELDS if field.path == path]
    assert set(CALLED) & set(field.choices)
    for choice in field.choices:
        assert field.leaf(value=choice, kind="literature", reference="the offer").value == choice
