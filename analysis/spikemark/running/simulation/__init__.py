"""Runs of the mini-app on a simulated cluster (SimGrid SMPI): its platform, compute times, and the run."""

from .run import digest, done, simulate
from .smpirun import SimulationFailed

__all__ = ["SimulationFailed", "digest", "done", "simulate"]
