"""An answer in words, for a terminal."""

from typing import Any

from spikemark.quantities.words import number

from .fields import FIGURES


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
    words, unit = FIGURES[name]
    if found is None:
        return f"{words}: null: {reason}"
    unit = "" if unit == "1" else f" {unit}"
    limits = f" ({number(found['low'])} to {number(found['high'])})"
    return f"{words} {number(found['value'])}{unit}{limits}, {found['kind']}"
