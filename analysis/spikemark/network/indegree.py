"""In-degrees in run descriptions: one for all neurons, or drawn for each (miniapp/FORMAT.md)."""

from typing import Any


def mean(projection: dict[str, Any]) -> float:
    """Expected synapses per target neuron."""
    given = projection["indegree"]
    return given["mean"] if isinstance(given, dict) else given


def is_poisson(projection: dict[str, Any]) -> bool:
    """Is it drawn for each neuron, from a Poisson distribution?"""
    return isinstance(projection["indegree"], dict)
