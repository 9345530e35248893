"""The firing rates of a network that has not been run: given, described, or published."""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.network import pools
from spikemark.network.description import read
from spikemark.network.fields import Population
from spikemark.presets import published_rates


@dataclass(frozen=True)
class Rates:
    """`hz` [population] are spikes per neuron and second; `source` says where they come from."""

    hz: np.ndarray
    source: str


def of(
    description: dict,
    given: float | dict[str, float] | None = None,
    preset: str | None = None,
    options: dict | None = None,
) -> Rates:
    """Rates of all populations.

    `given` rates, in Hz, for all or by name, take precedence over the description's own, and these over those
    published for the preset with these options. Raises BadInput if there are none, or if one is impossible.
    """
    known = read(description)
    populations = known.network.populations
    if isinstance(given, dict):
        rates = pools.rates(populations, given)
        source = "given by population"
    elif given is not None:
        rates, source = np.full(len(populations), float(given)), f"given: {given:g} Hz"
    elif all(p.neuron.model == "ignore_and_fire" for p in populations):
        rates, source = pools.rates(populations, None), "of the description"
    else:
        rates, source = _published(populations, preset, options)
    most = 1000 / known.time.resolution_ms
    wrong = rates[~(np.isfinite(rates) & (rates >= 0) & (rates <= most))]
    if len(wrong):
        raise BadInput(
            f"rate={wrong[0]:g}: rates in Hz from 0 to {most:g}, a spike in every step, are needed"
        )
    return Rates(rates, source)


def _published(
    populations: list[Population], preset: str | None, options: dict | None
) -> tuple[np.ndarray, str]:
    found = published_rates(preset, options)
    if found is None:
        silent = next(p.name for p in populations if p.neuron.model != "ignore_and_fire")
        raise BadInput(
            f"rate: population {silent!r} has no rate of its own, and none was published for this network;"
            " allowed: a mean rate in Hz, as in --rate 5"
        )
    mean = found.mean_hz
    return np.array([found.hz.get(p.name, mean) for p in populations], dtype=float), found.source
