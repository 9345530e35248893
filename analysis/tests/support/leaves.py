"""Makes and changes the content of files in machines/."""


def leaf(value, unit=None, **others) -> dict:
    made = {"value": value, "kind": "measured", "reference": "a test", **others}
    return made if unit is None else {**made, "unit": unit}


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
