"""A network of cortical areas from a user's own copy of the original multi-area model.

The copy (github.com/INM-6/multi-area-model) is licensed CC BY-NC-SA 4.0 and not part of Spikemark.
Three files are read, from where a clone has them or from one folder:

- `*_Data_Model_*.json`, written by the model's `compute_Model_params`
  (`multiarea_model/data_multiarea`) or by `MultiAreaModel` (`config_files`): neurons, synapses,
  weights in pA, distances in mm;
- `fullscale_rates.json` (`tests`): rates in spikes/s, which a smaller network needs;
- `K_prime_original.npy` (`figures/SchueckerSchmidt2017`), if there is one: stabilised in-degrees
  instead of those that follow from the numbers of synapses.
"""

from pathlib import Path
from typing import Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.core.npy import read_npy
from spikemark.core.reading import read_json

from . import cortex
from .cortex import Areas

BACKGROUND_HZ = 10.0
#: Names of the files, and the folders in which they are looked for.
MODEL, RATES, STABLE = "*_Data_Model_*.json", "fullscale_rates.json", "K_prime_original.npy"
FOLDERS = {
    MODEL: (".", "config_files", "multiarea_model/data_multiarea"),
    RATES: (".", "tests"),
    STABLE: (".", "figures/SchueckerSchmidt2017"),
}
POPULATION_KINDS = [name.removeprefix("L") for name in cortex.POPULATIONS]


def read_areas(folder: str) -> Areas:
    """The network in `folder`.

    Raises:
        BadInput: naming the file, and the entry that is missing.

    Example:
        >>> read_areas("nowhere")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: from='nowhere'; expected a folder with ...
    """
    path = _required(folder, MODEL)
    rates_path = _required(folder, RATES)
    stable_path = _find(Path(folder), STABLE)
    model, rates = read_json(path), read_json(rates_path)
    try:
        return _areas(model, rates, stable_path)
    except KeyError as error:
        reason = f"entry {error} is missing, here or in {RATES}"
        raise BadInput(
            reason=reason,
            file=path,
            code="file",
        ) from None
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        cause = str(error).removeprefix(f"{path}: ")
        reason = f"not the data of a multi-area model: {cause}"
        raise BadInput(
            reason=reason,
            file=path,
            code="file",
        ) from None


def _areas(model: dict[str, Any], rates: dict[str, Any], stable: Path | None) -> Areas:
    """The network from the content of the files; `stable`: the file of stabilised in-degrees."""
    names = model["area_list"]
    populations = []  # area and name of each
    for area in names:
        for name in model["structure"][area]:
            if model["neuron_numbers"][area][name]:
                populations.append((area, name))
    if not populations or len(set(names)) < len(names):
        raise ValueError("area_list: expected areas with neurons, each of them once")
    neurons = _by_population(model["neuron_numbers"], populations)
    weights = _by_pair(model["synapse_weights_mean"], populations)
    indegrees = _by_pair(model["synapses"], populations) / neurons[:, np.newaxis]
    if stable is not None:
        indegrees[:, :-1] = _stable_indegrees(stable, len(populations))
    distances = np.zeros((len(names), len(names)))
    for i, first in enumerate(names):
        for j, second in enumerate(names):
            if i != j:
                distances[i, j] = float(model["distances"][first][second])
    rates_hz = _by_population(rates, populations)
    not_negative = {
        "neuron_numbers": neurons,
        "synapses": indegrees,
        "distances": distances,
        RATES: rates_hz,
    }
    for name, values in not_negative.items():
        if not (np.isfinite(values) & (values >= 0)).all():
            raise ValueError(f"{name}: expected numbers of at least 0")
    if not np.isfinite(weights).all():
        raise ValueError("synapse_weights_mean: expected numbers")
    return Areas(
        names=names,
        area=np.array([names.index(area) for area, _ in populations]),
        kind=np.array([POPULATION_KINDS.index(name) for _, name in populations]),
        neurons=neurons,
        indegrees=indegrees,
        weights_pA=weights,
        rates_hz=rates_hz,
        background_hz=BACKGROUND_HZ,
        distances_mm=distances,
    )


def _by_population(entries: dict[str, Any], populations: list[tuple[str, str]]) -> np.ndarray:
    """A number for each population, [population]."""
    return np.array([entries[area][name] for area, name in populations], dtype=float)


def _by_pair(entries: dict[str, Any], populations: list[tuple[str, str]]) -> np.ndarray:
    """A number for each pair, [target, source]; the last source is outside."""
    sources = [*populations, ("external", "external")]
    rows = []
    for area, name in populations:
        of_target = entries[area][name]
        rows.append([of_target[source_area][source] for source_area, source in sources])
    return np.array(rows, dtype=float)


def _stable_indegrees(path: Path, populations: int) -> np.ndarray:
    """The stabilised in-degrees in a file, [target, source]."""
    indegrees = read_npy(path)
    if indegrees.shape != (populations, populations) or indegrees.dtype.kind not in "iuf":
        raise ValueError(f"{path.name}: expected [{populations}, {populations}] numbers")
    return indegrees


def _required(folder: str, pattern: str) -> Path:
    """The file of a pattern. Raises BadInput where there is none."""
    path = _find(Path(folder), pattern)
    if path is None:
        expected = f"a folder with {pattern}, here or in {', '.join(FOLDERS[pattern])}"
        raise BadInput(field="from", value=folder, expected=expected)
    return path


def _find(folder: Path, pattern: str) -> Path | None:
    """The file of a pattern in the first of its folders that has one. Raises BadInput for two."""
    for place in FOLDERS[pattern]:
        files = list((folder / place).glob(pattern))
        if len(files) > 1:
            expected = f"one file {pattern} in {place}, not {len(files)}"
            raise BadInput(
                field="from",
                value=str(folder),
                expected=expected,
            )
        if files:
            return files[0]
    return None
