"""Makes and changes the content of files in machines/."""

from spikemark.machines.fields import FIELD


def leaf(value, unit=None, **others) -> dict:
    made = {"value": value, "kind": "measured", "reference": "a test", **others}
    return made if unit is None else {**made, "unit": unit}


def offered(values: dict) -> dict:
    """The groups of an offer's file with these values, by path, each in the unit of its field."""
    groups: dict[str, dict] = {}
    for path, value in values.items():
        group, field = path.split(".")
        about = {"kind": "literature", "reference": "the offer"}
        groups.setdefault(group, {})[field] = leaf(value, FIELD[path].unit, **about)
    return groups


def put(at: dict, path: str, value) -> dict:
    """`at` with another value at `path`; None takes it away."""
    *groups, last = path.split("/")
    inside = at
    for group in groups:
        inside = inside.setdefault(group, {})
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    return at
