"""What a buyer asks for in a tender, with what holds where nothing is said."""

import math
import re
from dataclasses import dataclass
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.prediction import asked
from spikemark.presets import PRESETS

from .fields import NAME

#: Where nothing is said: as usual, and in a quick bundle.
USUAL = {"node_memory_gb": 256.0, "areas": 8, "repetitions": 5, "minimum_s": 60.0}
QUICK = {"node_memory_gb": 0.3, "areas": 2, "repetitions": 2, "minimum_s": 2.0}
#: The network where none is named, and its options in a quick bundle.
TARGET = "mam-benchmark"
QUICK_TARGET = ("areas=4", "neurons_per_area=20000", "indegree=500")
MOST_GB, MOST_S = 1e6, 86400.0


@dataclass(frozen=True)
class Wanted:
    """What a buyer asks for.

    `target`: the network that the machine is bought for. `node_memory_gb`: memory of the node that sizes are
    made for. `areas`: areas of the bench networks. `commit`: None for what is checked out.
    """

    name: str
    target: asked.Network
    node_memory_gb: float
    areas: int
    repetitions: int
    minimum_s: float
    real_time_factor: float | None = None
    joules_per_synaptic_event: float | None = None
    power: bool = False
    quick: bool = False
    commit: str | None = None


def preset(
    name: str | None, full: bool, options: list[str] | None, rate: float | None, quick: bool
) -> asked.Network:
    """The target that a preset is; TARGET where `name` is None.

    Raises BadInput as `asked.of_preset`, and where nobody said how large it is: nobody buys a machine for the
    small networks that presets describe to try them.
    """
    sized = full or bool(options)
    if quick and not sized and name in (None, TARGET):
        return asked.of_preset(TARGET, False, list(QUICK_TARGET), rate)
    if name in PRESETS and not sized and not quick:
        raise BadInput(f"--target {name}: needs --full, its published size, or --option NAME=VALUE")
    return asked.of_preset(name or TARGET, full or name is None, options, rate)


def wanted(
    name: str,
    target: asked.Network,
    given: dict[str, Any],
    power: bool = False,
    quick: bool = False,
    commit: str | None = None,
) -> Wanted:
    """Settings of a tender; None in `given` stands for the default. Raises BadInput for impossible values."""
    values = (QUICK if quick else USUAL) | {key: value for key, value in given.items() if value is not None}
    limits = {"node_memory_gb": MOST_GB, "minimum_s": MOST_S}
    for key in ("node_memory_gb", "minimum_s", "real_time_factor", "joules_per_synaptic_event"):
        value = values.get(key)
        if value is not None and not 0 < value <= limits.get(key, math.inf):
            most = f", up to {limits[key]:g}" if key in limits else ""
            raise BadInput(f"{key}={value:g}; allowed: above 0{most}")
        if value == math.inf:
            raise BadInput(f"{key}={value:g}; allowed: a finite number")
    if not re.fullmatch(NAME, name):
        raise BadInput(f"name={name!r}; allowed: letters, digits, '.', '_' and '-', first a letter or digit")
    return Wanted(name=name, target=target, power=power, quick=quick, commit=commit, **values)
