"""Intervals and kinds of predicted numbers, from those of the values of the profile that they depend on.

Every value that a number depends on is moved to its limits, one at a time, and the squares of the resulting
changes are added: this assumes that the values are independent and the number is smooth in them. The kind of
a number is the worst kind of the values that change it; a number that depends on no value of the machine is
counted.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spikemark.machines.inputs import Inputs
from spikemark.quantities.quantity import Quantity, worst

SHARE = 1e-3  # least relative change for which a number counts as depending on a value
COUNTED, EXTRAPOLATED = "counted", "extrapolated"


def predicted(inputs: Inputs, evaluate: Callable[[Inputs], dict[str, float]]) -> dict[str, Quantity]:
    """The numbers that `evaluate` gives for the inputs, with intervals, kinds, and what they depend on.

    `evaluate` is called once for every limit of every value that it asks for.
    """
    inputs.used.clear()
    middle = evaluate(inputs)
    below, above = dict.fromkeys(middle, 0.0), dict.fromkeys(middle, 0.0)
    effects: dict[str, dict[str, float]] = {name: {} for name in middle}
    for path, value in dict(inputs.used).items():
        if value.low == value.high:
            continue
        for side in ("low", "high"):
            moved = evaluate(replace(inputs, moved={**inputs.moved, path: side}, used={}))
            for name, number in middle.items():
                change = moved[name] - number
                (above if change > 0 else below)[name] += change**2
                if abs(change) > SHARE * abs(number):
                    effects[name][path] = max(effects[name].get(path, 0.0), abs(change))
    found = {}
    for name, number in middle.items():
        paths = sorted(effects[name], key=lambda path, name=name: -effects[name][path])
        kind = worst([COUNTED, *(inputs.used[path].kind for path in paths)])
        low = number - float(np.sqrt(below[name]))
        if number >= 0:
            low = max(low, 0.0)
        high = number + float(np.sqrt(above[name]))
        found[name] = Quantity(number, low, high, kind=kind, depends=tuple(paths))
    return found
