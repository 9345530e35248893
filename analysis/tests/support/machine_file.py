"""Writes the made-up machine of small_machine as a profile."""

from itertools import combinations
from pathlib import Path

import yaml
from small_machine import VALUES

from spikemark.core.fields import assign

#: That of C, where PyYAML has it, writes the same in a tenth of the time.
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
TEXTS = {"interconnect.topology": "fat_tree", "interconnect.selector": "ompi"}


def write(path: Path, **changes) -> Path:
    """`changes` of values, or None for one that is not known; dots of a path are two
    underscores.
    """
    changed = {name.replace("__", "."): value for name, value in changes.items()}
    values = {**VALUES, **{name: (text, None) for name, text in TEXTS.items()}}
    values["interconnect.nodes_per_leaf"] = (4, "1")
    content: dict = {"format_version": 1, "name": path.stem, "title": "made up"}
    for name, (value, unit) in values.items():
        value = changed.get(name, value)
        if value is None:
            continue
        leaf = {"value": value, "kind": "measured", "reference": "made up"}
        assign(content, name, leaf | ({"unit": unit} if unit else {}))
    path.write_text(yaml.dump(content, Dumper=DUMPER))
    return path


def write_parts(path: Path, link: dict[str, tuple] | None = None, **parts: dict) -> Path:
    """A machine of parts, whose profiles are written beside it.

    `parts`: `nodes`, perhaps `slower`, and changes of the profile as above. `link`: values between
    all parts.
    """
    content: dict = {
        "format_version": 1,
        "name": path.stem,
        "title": "made up",
        "parts": {},
        "links": {},
    }
    made_up = {"kind": "assumed", "reference": "made up"}
    for name, given in parts.items():
        changes = {key: value for key, value in given.items() if key not in ("nodes", "slower")}
        profile = write(path.with_name(f"{name}.yaml"), **changes)
        content["parts"][name] = {"profile": str(profile), "nodes": given["nodes"]}
        if "slower" in given:
            content["parts"][name]["slower"] = {"value": given["slower"], "unit": "1", **made_up}
    between = {"latency": (1.5, "us"), "bandwidth": (12, "GB/s"), "gap": (0.3, "us")} | (link or {})
    leaves = {
        name: {"value": value, "unit": unit, **made_up} for name, (value, unit) in between.items()
    }
    leaves["topology"] = {"value": "star", **made_up}
    for pair in combinations(parts, 2):
        content["links"]["-".join(pair)] = leaves
    path.write_text(yaml.dump(content, Dumper=DUMPER))
    return path
