"""A network of cortical areas from a user's own copy of the original multi-area model.

The copy (github.com/INM-6/multi-area-model) is licensed CC BY-NC-SA 4.0 and not part of Spikemark. Three
files are read, from where a clone has them or from one folder:

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

from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npy

from . import cortex
from .cortex import Areas

BACKGROUND_HZ = 10.0
MODEL, RATES, STABLE = "*_Data_Model_*.json", "fullscale_rates.json", "K_prime_original.npy"
FOLDERS = {
    MODEL: (".", "config_files", "multiarea_model/data_multiarea"),
    RATES: (".", "tests"),
    STABLE: (".", "figures/SchueckerSchmidt2017"),
}
KINDS = [name.removeprefix("L") for name in cortex.POPULATIONS]
LEAST = {"synapse_weights_mean": -math.inf, "distances": 5e-324}  # of an entry; of others 0


def read(folder: str) -> Areas:
    """The network in `folder`. Raises BadInput naming the file, the entry and what is wrong with it."""
    if not Path(folder).is_dir():
        raise BadInput.of("from", folder, "a folder")
    model, rates = _Data(_find(folder, MODEL)), _Data(_find(folder, RATES))
    names = model.names("area_list")
    every = [(a, p) for a in names for p in model.names("structure", a)]
    populations = [(a, p) for a, p in every if model.number("neuron_numbers", a, p)]
    for _, population in populations:
        model.check(population in KINDS, ("structure",), population, f"one of {', '.join(KINDS)}")
    model.check(populations, ("neuron_numbers",), 0, "a population with neurons")
    neurons = np.array([model.number("neuron_numbers", *one) for one in populations])
    sources = (*populations, ("external", "external"))
    synapses, weights = (
        np.array([[model.number(field, *t, *s) for s in sources] for t in populations])
        for field in ("synapses", "synapse_weights_mean")
    )
    indegrees = synapses / neurons[:, np.newaxis]
    if (stable := _find(folder, STABLE, needed=False)) is not None:
        indegrees[:, :-1] = _matrix(stable, len(populations))
    distances = [[model.number("distances", a, b) if a != b else 0.0 for b in names] for a in names]
    return Areas(
        names=names,
        area=np.array([names.index(area) for area, _ in populations]),
        kind=np.array([KINDS.index(population) for _, population in populations]),
        neurons=neurons,
        indegrees=indegrees,
        weights_pA=weights,
        rates_hz=np.array([rates.number(*one) for one in populations]),
        background_hz=BACKGROUND_HZ,
        distances_mm=np.array(distances),
    )


class _Data:
    """A JSON file whose entries are checked as they are read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.content = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise BadInput(f"{path}: cannot be read as JSON: {error}", code="file") from None

    def entry(self, keys: tuple[str, ...]) -> Any:
        found = self.content
        for depth, key in enumerate(keys, 1):
            if not isinstance(found, dict) or key not in found:
                raise BadInput(f"{self.path}: {'.'.join(keys[:depth])}: missing")
            found = found[key]
        return found

    def check(self, right: object, keys: tuple[str, ...], found: Any, expected: str) -> None:
        if not right:
            raise BadInput.of(".".join(keys), found, expected, file=self.path)

    def names(self, *keys: str) -> list[str]:
        found = self.entry(keys)
        right = isinstance(found, list) and found and all(isinstance(name, str) for name in found)
        self.check(right and len(set(found)) == len(found), keys, found, "a list of names, each of them once")
        return found

    def number(self, *keys: str) -> float:
        """A weight, or a number of at least 0; a distance is above 0."""
        found, least = self.entry(keys), LEAST.get(keys[0], 0)
        right = not isinstance(found, bool) and isinstance(found, int | float) and math.isfinite(found)
        expected = f"a finite number{'' if least == -math.inf else ' above 0' if least else ' of at least 0'}"
        self.check(right and found >= least, keys, found, expected)
        return float(found)


def _find(folder: str, pattern: str, needed: bool = True) -> Path | None:
    for place in FOLDERS[pattern]:
        found = sorted((Path(folder) / place).glob(pattern))
        if len(found) > 1:
            raise BadInput.of("from", folder, f"one file {pattern}, not {', '.join(p.name for p in found)}")
        if found:
            return found[0]
    if needed:
        raise BadInput.of("from", folder, f"a file {pattern} in {', '.join(FOLDERS[pattern])}")
    return None


def _matrix(path: Path, populations: int) -> np.ndarray:
    try:
        matrix = read_npy(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error}", code="file") from None
    right = matrix.shape == (populations, populations) and matrix.dtype.kind in "iuf"
    if not (right and np.isfinite(matrix).all() and (matrix >= 0).all()):
        raise BadInput(f"{path}: in-degrees: expected [{populations}, {populations}] numbers of at least 0")
    return matrix
