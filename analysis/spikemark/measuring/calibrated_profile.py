"""What a calibration writes: a machine profile, as docs/machine-profile.md states it.

Groups of values are indented, every value has a line of its own with its unit, kind, interval and
reference. Comments at the top hold warnings, and what is unknown, with reasons.
"""

import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml

from spikemark.core.fields import assign
from spikemark.core.yaml_file import Dumper
from spikemark.machines.profile import Value, place

#: What values can be, where it is not anything from 0.
POSSIBLE = {
    "jitter.minor_mode.share": (0.0, 1.0),
    "jitter.minor_mode.factor": (1.0, math.inf),
    "jitter.slow_spells.share": (0.0, 1.0),
    "jitter.slow_spells.factor": (1.0, math.inf),
    "jitter.common.share": (0.0, 1.0),
}


@dataclass
class CalibratedProfile:
    """A profile that was measured."""

    path: Path  #: of its file
    values: dict[str, Value]  #: by path
    unknown: dict[str, str]  #: what was not measured, and why, by path
    warnings: list[str] = field(default_factory=list)  #: what disturbed it

    def content(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {
            "file": str(self.path),
            "values": {path: asdict(value) for path, value in self.values.items()},
            "unknown": self.unknown,
            "warnings": self.warnings,
        }


class _Leaf(dict[str, Any]):
    """What has a line of its own."""


class _Lines(Dumper):
    """Groups are indented."""


def _in_one_line(dumper: _Lines, leaf: _Leaf) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", leaf, flow_style=True)


_Lines.add_representer(_Leaf, _in_one_line)


def profile_text(
    name: str,
    title: str,
    reference: str,
    profile: CalibratedProfile,
) -> str:
    """The text of a profile; `reference` comes before what is special about each value.

    Example:
        >>> values = {"node.cores": Value(64, "1", "measured", "hwloc")}
        >>> profile = CalibratedProfile(Path("epyc.yaml"), values, {"power.idle": "no meter"})
        >>> text = profile_text("epyc", "Two EPYC 7742", "spikemark calibrate", profile)
        >>> print(text.strip())
        # spikemark calibrate. Intervals: where one more repetition is expected (95 %).
        # Unknown: power.idle: no meter
        format_version: 1
        name: epyc
        title: Two EPYC 7742
        node:
          cores: {value: 64, unit: '1', kind: measured, reference: 'spikemark calibrate: hwloc'}
    """
    tree: dict[str, Any] = {"format_version": 1, "name": name, "title": title}
    for path in sorted(profile.values, key=place):
        assign(tree, path, _leaf(path, profile.values[path], reference))
    lines = [f"# {reference}. Intervals: where one more repetition is expected (95 %)."]
    lines += [f"# Warning: {warning}" for warning in profile.warnings]
    lines += [f"# Unknown: {path}: {reason}" for path, reason in sorted(profile.unknown.items())]
    content = yaml.dump(
        tree,
        Dumper=_Lines,
        default_flow_style=False,
        sort_keys=False,
        width=math.inf,
        allow_unicode=True,
    )
    return "\n".join(lines) + "\n" + content


def _leaf(path: str, value: Value, reference: str) -> _Leaf:
    """What a profile says of a value."""
    if value.reference:
        reference = f"{reference}: {value.reference}"
    source = {"kind": value.kind, "reference": reference}
    if isinstance(value.value, list):
        rows = [[ranks, size, _rounded(us)] for ranks, size, us in value.value]
        return _Leaf(source, rows=rows)
    leaf = _Leaf(value=_rounded(value.value))
    if value.unit:
        leaf["unit"] = value.unit
    leaf.update(source)
    if value.interval:
        low, high = POSSIBLE.get(path, (0.0, math.inf))
        leaf["interval"] = [_rounded(min(max(end, low), high)) for end in value.interval]
    return leaf


def _rounded(value: object) -> Any:
    """A number with four significant digits; counts and texts as they are."""
    return float(f"{value:.4g}") if isinstance(value, float) else value
