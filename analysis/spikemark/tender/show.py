"""An answer in words, for a terminal."""

from typing import Any

from spikemark.quantities.words import number

from .fields import FIGURES, HELD


def answer(content: dict[str, Any]) -> list[str]:
    """One line for every figure of every run."""
    lines = []
    if content["quick"]:
        lines.append("A try with a quick bundle: these figures are no offer.")
    for run in content["runs"]:
        layout = run["layout"]
        where = f"{layout['ranks']} x {layout['threads']} on {layout['nodes']}"
        for name, found in run["figure"].items():
            if name in FIGURES:
                lines.append(f"{run['name']} ({where}): {figure(name, found, run['figure'].get('reason'))}")
    return lines


def figure(name: str, found: dict[str, Any] | None, reason: str | None) -> str:
    """A figure with its limits and its kind, or why there is none."""
    if found is None:
        return f"{FIGURES[name][0]}: null: {reason}"
    return f"{FIGURES[name][0]} {value(name, found)}, {found['kind']}"


def value(name: str, found: dict[str, Any]) -> str:
    """A value with its unit, and its limits where it has some."""
    unit = FIGURES.get(name, ("", "1"))[1]
    unit = "" if unit == "1" else f" {unit}"
    low, high = found.get("low"), found.get("high")
    limits = "" if low is None or high is None else f" ({number(low)} to {number(high)})"
    return f"{number(found['value'])}{unit}{limits}"


def commitment(content: dict[str, Any]) -> list[str]:
    """One line for every promise."""
    price = content["price"]
    lines = [f"{content['machine']}: {content['nodes']} nodes, {price['total']:.2f} {price['currency']}"]
    for one in content["committed"]:
        words = f"{one['run']}: {FIGURES[one['figure']][0]} {value(one['figure'], one)}, {one['basis']}"
        better = one["better_than_evidence"]
        lines.append(words + (f"; better than the evidence by {100 * better:.3g} %" if better else ""))
    said = (line for one in content["projected"] for line in one["assumes"])
    lines += dict.fromkeys(line for line in said if line.startswith(HELD))
    missing = [one for one in content["projected"] if one["value"] is None]
    return lines + [f"{one['run']}: {FIGURES[one['figure']][0]}: null: {one['reason']}" for one in missing]
