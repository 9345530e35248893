"""A network of cortical areas from a user's own copy of the original multi-area model.

The copy (github.com/INM-6/multi-area-model) is licensed CC BY-NC-SA 4.0 and not part of Spikemark. Three
files are read, from where a clone has them or from one folder:

- `*_Data_Model_*.json`, written by the model's `compute_Model_params` (`multiarea_model/data_multiarea`) or
  by `MultiAreaModel` (`config_files`): neurons, synapses, weights in pA, distances in mm;
- `fullscale_rates.json` (`tests`): rates in spikes/s, which a smaller network needs;
- `K_prime_original.npy` (`figures/SchueckerSchmidt2017`), if there is one: stabilised in-degrees instead of
  those that follow from the numbers of synapses.
"""

from pathlib import Path

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npy
from spikemark.core.reading import read_json

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


def read(folder: str) -> Areas:
    """The network in `folder`. Raises BadInput naming the file, and the entry that is missing."""
    path, rates, stable = (_find(Path(folder), pattern) for pattern in FOLDERS)
    for name, found in ((MODEL, path), (RATES, rates)):
        if found is None:
            raise BadInput.of("from", folder, f"a folder with {name}, here or in {', '.join(FOLDERS[name])}")
    model, known = read_json(path), read_json(rates)
    try:
        return _areas(model, known, stable)
    except KeyError as error:
        raise BadInput(f"{path}: entry {error} is missing, here or in {RATES}") from None
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        said = str(error).removeprefix(f"{path}: ")
        raise BadInput(f"{path}: not the data of a multi-area model: {said}") from None


def _areas(model: dict, rates: dict, stable: Path | None) -> Areas:
    names = model["area_list"]
    every = [(a, p) for a in names for p in model["structure"][a] if model["neuron_numbers"][a][p]]
    if not every or len({*names}) < len(names):
        raise ValueError("area_list: expected areas with neurons, each of them once")
    sources = (*every, ("external", "external"))
    neurons = np.array([model["neuron_numbers"][a][p] for a, p in every], dtype=float)
    synapses, weights = (
        np.array([[model[field][a][p][b][q] for b, q in sources] for a, p in every], dtype=float)
        for field in ("synapses", "synapse_weights_mean")
    )
    indegrees = synapses / neurons[:, np.newaxis]
    if stable is not None:
        known = read_npy(stable)
        if known.shape != (len(every),) * 2 or known.dtype.kind not in "iuf":
            raise ValueError(f"{stable.name}: expected [{len(every)}, {len(every)}] numbers")
        indegrees[:, :-1] = known
    apart = [[model["distances"][a][b] if a != b else 0.0 for b in names] for a in names]
    rates_hz, distances = np.array([rates[a][p] for a, p in every], dtype=float), np.array(apart, dtype=float)
    for name, found in {"neuron_numbers": neurons, "synapses": indegrees, "distances": distances,
                        RATES: rates_hz}.items():  # fmt: skip
        if not (np.isfinite(found) & (found >= 0)).all():
            raise ValueError(f"{name}: expected numbers of at least 0")
    if not np.isfinite(weights).all():
        raise ValueError("synapse_weights_mean: expected numbers")
    return Areas(
        names=names, area=np.array([names.index(area) for area, _ in every]),
        kind=np.array([KINDS.index(population) for _, population in every]), neurons=neurons,
        indegrees=indegrees, weights_pA=weights, rates_hz=rates_hz, background_hz=BACKGROUND_HZ,
        distances_mm=distances,
    )  # fmt: skip


def _find(folder: Path, pattern: str) -> Path | None:
    for place in FOLDERS[pattern]:
        found = list((folder / place).glob(pattern))
        if len(found) > 1:
            raise BadInput.of("from", str(folder), f"one file {pattern} in {place}, not {len(found)}")
        if found:
            return found[0]
    return None
