"""Reading the original multi-area model from a user's own copy (github.com/INM-6/multi-area-model).

The data are licensed CC BY-NC-SA 4.0 and not part of Spikemark. Three files are read, from where a clone has
them or from one folder:

- `*_Data_Model_*.json`, written by the model's `compute_Model_params` (`multiarea_model/data_multiarea`) or
  by `MultiAreaModel` (`config_files`): neurons, synapses, weights in pA, distances in mm;
- `fullscale_rates.json` (`tests`): rates in spikes/s, which a smaller network needs;
- `K_prime_original.npy` (`figures/SchueckerSchmidt2017`), if there is one: stabilised in-degrees instead of
  those that follow from the numbers of synapses.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput, shown
from spikemark.core.npy import read_npy

from . import cortex
from .mam_areas import BACKGROUND_HZ, Areas

MODEL, RATES, STABLE = "*_Data_Model_*.json", "fullscale_rates.json", "K_prime_original.npy"
FOLDERS = {
    MODEL: (".", "config_files", "multiarea_model/data_multiarea"),
    RATES: (".", "tests"),
    STABLE: (".", "figures/SchueckerSchmidt2017"),
}


def read(folder: str) -> Areas:
    """The network in `folder`. Raises BadInput naming the file, the entry and what is wrong with it."""
    if not Path(folder).is_dir():
        raise BadInput(f"from={shown(folder)}: not a folder")
    model, rates = _Data(_find(folder, MODEL)), _Data(_find(folder, RATES))
    names = model.names("area_list")
    populations = [
        (a, p) for a in names for p in model.names("structure", a) if model.number("neuron_numbers", a, p)
    ]
    if not populations:
        raise BadInput(f"{model.path}: neuron_numbers: no population has neurons")
    neurons = np.array([model.number("neuron_numbers", *one) for one in populations])
    outside = ("external", "external")
    table = {
        field: np.array([[model.number(field, *t, *s) for s in (*populations, outside)] for t in populations])
        for field in ("synapses", "synapse_weights_mean")
    }
    indegrees = table["synapses"] / neurons[:, np.newaxis]
    stable = _find(folder, STABLE, needed=False)
    if stable is not None:
        indegrees[:, :-1] = _matrix(stable, len(populations))
    return Areas(
        names=names,
        area=np.array([names.index(area) for area, _ in populations]),
        kind=np.array([model.kind(population) for _, population in populations]),
        neurons=neurons,
        indegrees=indegrees,
        weights_pA=table["synapse_weights_mean"],
        rates_hz=np.array([rates.number(*one) for one in populations]),
        background_hz=BACKGROUND_HZ,
        distances_mm=np.array(
            [[model.number("distances", a, b) if a != b else 0.0 for b in names] for a in names]
        ),
    )


class _Data:
    """A JSON file whose entries are checked as they are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.content = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"{path}: cannot be read as JSON: {error}") from None

    def entry(self, *keys: str) -> Any:
        found = self.content
        for depth, key in enumerate(keys):
            if not isinstance(found, dict) or key not in found:
                raise BadInput(f"{self.path}: {'.'.join(keys[: depth + 1])}: missing")
            found = found[key]
        return found

    def names(self, *keys: str) -> list[str]:
        found = self.entry(*keys)
        if not isinstance(found, list) or not found or not all(isinstance(name, str) for name in found):
            raise BadInput(f"{self.path}: {'.'.join(keys)}={shown(found)}: a list of names is needed")
        if len(set(found)) < len(found):
            raise BadInput(f"{self.path}: {'.'.join(keys)}={shown(found)}: names occur twice")
        return found

    def number(self, *keys: str) -> float:
        found = self.entry(*keys)
        if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
            raise BadInput(f"{self.path}: {'.'.join(keys)}={shown(found)}: a finite number is needed")
        if found < 0 and keys[0] != "synapse_weights_mean":
            raise BadInput(f"{self.path}: {'.'.join(keys)}={shown(found)}: at least 0")
        if found == 0 and keys[0] == "distances":
            raise BadInput(f"{self.path}: {'.'.join(keys)}={shown(found)}: above 0")
        return float(found)

    def kind(self, population: str) -> int:
        if f"L{population}" not in cortex.POPULATIONS:
            known = ", ".join(name.removeprefix("L") for name in cortex.POPULATIONS)
            raise BadInput(f"{self.path}: structure: {shown(population)}: one of {known}")
        return cortex.POPULATIONS.index(f"L{population}")


def _find(folder: str, pattern: str, needed: bool = True) -> Path | None:
    for place in FOLDERS[pattern]:
        found = sorted((Path(folder) / place).glob(pattern))
        if len(found) > 1:
            names = ", ".join(path.name for path in found)
            raise BadInput(f"from={shown(folder)}: several files {pattern} ({names}): one is needed")
        if found:
            return found[0]
    if needed:
        raise BadInput(f"from={shown(folder)}: no file {pattern} in {', '.join(FOLDERS[pattern])}")
    return None


def _matrix(path: Path, populations: int) -> np.ndarray:
    try:
        matrix = read_npy(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error}") from None
    if matrix.shape != (populations, populations) or matrix.dtype.kind not in "iuf":
        raise BadInput(
            f"{path}: {matrix.dtype} {matrix.shape}: numbers of shape {(populations, populations)}"
        )
    if not (np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise BadInput(f"{path}: in-degrees are finite and at least 0")
    return matrix
