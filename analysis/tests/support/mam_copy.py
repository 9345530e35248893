"""A made-up copy of the data of the multi-area model, in the format of the original."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

KINDS = ["23E", "23I", "4E", "4I", "5E", "5I", "6E", "6I"]
STRUCTURE = {"V1": KINDS, "TH": [kind for kind in KINDS if not kind.startswith("4")]}
EVERY = [(area, kind) for area, kinds in STRUCTURE.items() for kind in kinds]
#: Values by area and kind of the target, then of the source.
Table = dict[str, dict[str, dict[str, dict[str, float]]]]
#: Synapses of a neuron of TH, by kinds of V1 that send to it: 5E and 6E by their sizes.
INTO_TH = {"23E": 7.0, "5E": 5.0, "6E": 7.0}


def neuron_numbers() -> dict[str, dict[str, float]]:
    """By area and kind; 0 for kinds that an area lacks."""
    numbers = {}
    for area, kinds in STRUCTURE.items():
        numbers[area] = {
            kind: 1000.0 * (1 + place) if kind in kinds else 0.0 for place, kind in enumerate(KINDS)
        }
    return numbers


def synapses(area: str, kind: str, source: str, sender: str) -> float:
    """V1 -> TH from 23E, 5E and 6E; 100 synapses per neuron from each kind of its own area."""
    numbers = neuron_numbers()
    size = numbers[area][kind]
    if source == area:
        return 100 * size if numbers[source][sender] else 0.0
    return size * INTO_TH.get(sender, 0.0) if area == "TH" else 0.0


def weight(area: str, kind: str, source: str, sender: str) -> float:
    """Of excitatory and inhibitory senders."""
    return 88.0 if "E" in sender else -966.0


def table(
    value: Callable[[str, str, str, str], float], external: Callable[[str, str], float]
) -> Table:
    """Values of all pairs of kinds, and of what comes from outside."""
    values: Table = {area: {} for area in STRUCTURE}
    for area, kind in itertools.product(STRUCTURE, KINDS):
        by_source = {}
        for source in STRUCTURE:
            by_source[source] = {sender: value(area, kind, source, sender) for sender in KINDS}
        by_source["external"] = {"external": external(area, kind)}
        values[area][kind] = by_source
    return values


def made_up() -> dict[str, Any]:
    """The data of two areas."""
    numbers = neuron_numbers()
    return {
        "area_list": list(STRUCTURE),
        "structure": STRUCTURE,
        "neuron_numbers": numbers,
        "synapses": table(synapses, lambda area, kind: 1500 * numbers[area][kind]),
        "synapse_weights_mean": table(weight, lambda area, kind: 88.0),
        "distances": {"V1": {"V1": 0.0, "TH": 35.0}, "TH": {"V1": 35.0, "TH": 0.0}},
    }


def write(folder: Path) -> None:
    """Lays a folder out as a clone of the original in which the model has been built."""
    (folder / "config_files").mkdir()
    (folder / "tests").mkdir()
    (folder / "config_files" / "custom_Data_Model_0a1b.json").write_text(json.dumps(made_up()))
    rates = {area: dict.fromkeys(KINDS, 2.0) for area in STRUCTURE}
    (folder / "tests" / "fullscale_rates.json").write_text(json.dumps(rates))
