"""Writes the made-up machine of small_machine as a profile."""

from pathlib import Path

import yaml
from small_machine import VALUES

from spikemark.core.fields import assign

TEXTS = {"interconnect.topology": "fat_tree", "interconnect.selector": "ompi"}


def write(path: Path, **changes) -> Path:
    """`changes` of values, or None for one that is not known; dots of a path are two underscores."""
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
    path.write_text(yaml.safe_dump(content))
    return path
