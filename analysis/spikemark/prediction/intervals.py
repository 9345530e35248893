"""Intervals and kinds of predicted numbers, from those of the values of the profile that they depend on.

Every value that a number depends on is moved to its limits, one at a time, and the squares of the resulting
changes are added: this assumes that the values are independent and the number is smooth in them. Values that
follow from others move with them (machines/inputs.py), and those that several parts of a machine have in
common move together (layout.py); the first stands for all. The kind of a number is the worst kind of the
values that change it; a number that depends on no value of the machine is counted.

The middle of an assumed value is the worst that comparable machines have, so its good limit may be far away.
Changes by which several such values each save most of a number cannot be added, since nothing is saved twice.
So a low end reaches no further than where all values that save more than `LARGE` of the number are at their
good limits together, less the changes of the others there.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.quantities.quantity import Quantity, worst

from .layout import moved_with

SHARE = 1e-3  # least relative change for which a number counts as depending on a value
LARGE = 0.5  # share of a number that one assumed value saves, from where such savings are not added
COUNTED, EXTRAPOLATED, ASSUMED = "counted", "extrapolated", "assumed"


@dataclass(frozen=True)
class Moved:
    """All numbers, by name, where one value of this `kind` is at its lower or its upper limit."""

    kind: str
    low: dict[str, float]
    high: dict[str, float]


def predicted(
    inputs: Inputs, evaluate: Callable[[Inputs], dict[str, float]]
) -> tuple[dict[str, Quantity], dict[str, Moved]]:
    """The numbers that `evaluate` gives for the inputs, with intervals, kinds, and what they depend on.

    Also gives what they are where each value, by its path, is at its limits. `evaluate` is called once for
    every limit of every value that it asks for, or of values that move together.
    """
    inputs.used.clear()
    middle = evaluate(inputs)
    below, above = dict.fromkeys(middle, 0.0), dict.fromkeys(middle, 0.0)
    effects: dict[str, dict[str, float]] = {name: {} for name in middle}
    moves: dict[str, Moved] = {}
    groups = _together(inputs)

    def at(sides: dict[str, str]) -> dict[str, float]:
        moved = {path: side for first, side in sides.items() for path in groups[first]}
        return evaluate(replace(inputs, moved={**inputs.moved, **moved}, used={}))

    for path, same in groups.items():
        kind = worst(inputs.used[one].kind for one in same)
        moves[path] = Moved(kind, at({path: "low"}), at({path: "high"}))
        for moved in (moves[path].low, moves[path].high):
            for name, number in middle.items():
                change = moved[name] - number
                (above if change > 0 else below)[name] += change**2
                if abs(change) > SHARE * abs(number):
                    effects[name][path] = max(effects[name].get(path, 0.0), abs(change))
    least = _least(at, middle, moves)
    found = {}
    for name, number in middle.items():
        paths = sorted(effects[name], key=lambda path, name=name: -effects[name][path])
        kind = worst([COUNTED, *(moves[path].kind for path in paths)])
        low = max(number - float(np.sqrt(below[name])), least.get(name, -np.inf))
        if number >= 0:
            low = max(low, 0.0)
        high = number + float(np.sqrt(above[name]))
        found[name] = Quantity(number, low, high, kind=kind, depends=tuple(paths))
    return found, moves


def _together(inputs: Inputs) -> dict[str, list[str]]:
    """The values that were asked for and are not exact, in groups that move together: first path -> paths."""
    found: dict[tuple[str, str], list[str]] = {}
    for path, value in inputs.used.items():
        if value.low != value.high:
            found.setdefault(moved_with(inputs.profile, path), []).append(path)
    return {paths[0]: paths for paths in found.values()}


def _least(
    at: Callable[[dict[str, str]], dict[str, float]], middle: dict[str, float], moves: dict[str, Moved]
) -> dict[str, float]:
    """How far down the numbers reach that assumed values change by more than LARGE of them."""
    groups: dict[tuple[tuple[str, str], ...], list[str]] = {}
    helps: dict[str, dict[str, str]] = {}
    for name, number in middle.items():
        ends = {p: min((m.low[name], "low"), (m.high[name], "high")) for p, m in moves.items()}
        saving = {p: number - end for p, (end, _) in ends.items() if number - end > SHARE * abs(number)}
        helps[name] = {path: ends[path][1] for path in saving}
        large = (p for p, saved in saving.items() if saved > LARGE * abs(number) and moves[p].kind == ASSUMED)
        groups.setdefault(tuple((path, ends[path][1]) for path in large), []).append(name)
    groups.pop((), None)
    return {
        name: found
        for large, names in groups.items()
        for name, found in _beyond(at, dict(large), {n: helps[n] for n in names}).items()
    }


def _beyond(
    evaluate: Callable[[dict[str, str]], dict[str, float]],
    large: dict[str, str],
    helps: dict[str, dict[str, str]],
) -> dict[str, float]:
    """The numbers with `large` at their good limits, less what other values that help each save there.

    `large`: path -> side. `helps`: the same for every number, by its name, and all that makes it smaller. No
    number is smaller than with all of these at once.
    """
    known: dict[frozenset, dict[str, float]] = {}

    def at(sides: dict[str, str]) -> dict[str, float]:
        key = frozenset(sides.items())
        if key not in known:
            known[key] = evaluate(sides)
        return known[key]

    found = {}
    for name, sides in helps.items():
        best = at(large)[name]
        saved = [best - at({**large, path: sides[path]})[name] for path in sides.keys() - large.keys()]
        found[name] = max(best - float(np.sqrt(sum(max(0.0, s) ** 2 for s in saved))), at(sides)[name])
    return found
