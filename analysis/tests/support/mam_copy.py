"""A made-up copy of the data of the multi-area model, in the format of the original."""

import itertools
import json
from pathlib import Path

KINDS = ["23E", "23I", "4E", "4I", "5E", "5I", "6E", "6I"]
STRUCTURE = {"V1": KINDS, "TH": [kind for kind in KINDS if not kind.startswith("4")]}
EVERY = [(area, kind) for area in STRUCTURE for kind in STRUCTURE[area]]


def made_up() -> dict:
    """V1 -> TH from 23E, and from 5E and 6E by their sizes; 100 synapses per neuron within areas."""
    sizes = {kind: 1000.0 * (1 + i) for i, kind in enumerate(KINDS)}
    neurons = {a: {k: size * (k in kinds) for k, size in sizes.items()} for a, kinds in STRUCTURE.items()}

    def synapses(area: str, kind: str, source: str, sender: str) -> float:
        if source == area:
            return 100 * neurons[area][kind] * (neurons[source][sender] > 0)
        if area == "TH":
            return neurons[area][kind] * {"23E": 7.0, "5E": 5.0, "6E": 7.0}.get(sender, 0.0)
        return 0.0

    def table(value, external) -> dict:
        """Values by area and kind of the target, then of the source."""
        found = {area: {kind: {} for kind in KINDS} for area in STRUCTURE}
        for area, kind in itertools.product(STRUCTURE, KINDS):
            inner = {s: {sender: value(area, kind, s, sender) for sender in KINDS} for s in STRUCTURE}
            found[area][kind] = inner | {"external": {"external": external(area, kind)}}
        return found

    weights = table(lambda *sender: 88.0 if "E" in sender[-1] else -966.0, lambda area, kind: 88.0)
    return {
        "area_list": list(STRUCTURE), "structure": STRUCTURE, "neuron_numbers": neurons,
        "synapses": table(synapses, lambda area, kind: 1500 * neurons[area][kind]),
        "synapse_weights_mean": weights,
        "distances": {"V1": {"V1": 0.0, "TH": 35.0}, "TH": {"V1": 35.0, "TH": 0.0}},
    }  # fmt: skip


def write(folder: Path) -> None:
    """Lays a folder out as a clone of the original in which the model has been built."""
    (folder / "config_files").mkdir()
    (folder / "tests").mkdir()
    (folder / "config_files" / "custom_Data_Model_0a1b.json").write_text(json.dumps(made_up()))
    rates = {area: dict.fromkeys(KINDS, 2.0) for area in STRUCTURE}
    (folder / "tests" / "fullscale_rates.json").write_text(json.dumps(rates))
