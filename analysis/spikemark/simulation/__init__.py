"""Runs of the mini-app on a simulated cluster (SimGrid SMPI): its platform, compute times, and the run."""

from spikemark.simulation.run import simulate
from spikemark.simulation.smpirun import SimulationFailed

__all__ = ["SimulationFailed", "simulate"]
