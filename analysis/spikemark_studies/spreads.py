"""Costs and spreads of predictions, estimated anew from the published points.

`spikemark score --fit FILE` writes what `spikemark.prediction` reads from its own spreads.yaml: log
SDs of effects by part, aspect and program, with the number of effects behind each, and costs of a
program on a core of REFERENCE_GHZ. Whoever wants to predict with new ones puts the file there.
"""

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import yaml

from spikemark.core import places
from spikemark.core.yaml_file import Dumper, read_yaml
from spikemark.prediction import effects, points, program_costs, spread_fit

ABOUT = (
    "Written by `spikemark score --fit`; spreads: log SD of effects by part, aspect, program, and"
    f" how many are known; costs: s on a core of {program_costs.REFERENCE_GHZ:g} GHz."
)


def fitted(mini_app: Sequence[dict[str, Any]] = ()) -> str:
    """The text of a file such as spreads.yaml, from all published points.

    Args:
        mini_app: errors of the parts of the mini-app with their origin, as `beside.errors` makes
            them; empty: those that the present spreads.yaml has.

    Takes about a second.

    Example:
        >>> sorted(yaml.safe_load(fitted()))
        ['about', 'commit', 'costs', 'date', 'mini_app', 'spreads']
    """
    estimates = spread_fit.fit_spreads(points.published())
    content = {
        "about": ABOUT,
        "date": f"{datetime.date.today()}",
        "commit": places.commit(),
        "mini_app": list(mini_app) or read_yaml(effects.SPREADS)["mini_app"],
        "spreads": _spreads(estimates),
        "costs": _costs(estimates),
    }
    return yaml.dump(content, Dumper=Dumper, sort_keys=False, width=120, default_flow_style=None)


def _spreads(estimates: effects.Spreads) -> dict[str, list[float]]:
    """Log SD and number of effects by PART/ASPECT/SIMULATOR."""
    return {
        "/".join(key): [round(sd, 3), round(number, 1)]
        for key, (sd, number) in sorted(estimates.known.items())
    }


def _costs(estimates: effects.Spreads) -> dict[str, dict[str, float]]:
    """Seconds by program and what time grows with."""
    costs: dict[str, dict[str, float]] = {}
    for program, logs in sorted(estimates.costs.items()):
        costs[program] = {}
        for cost, log in zip(program_costs.find(program).costs, logs, strict=True):
            costs[program][cost.name] = float(f"{np.exp(log):.3g}")
    return costs
