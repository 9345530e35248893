"""Runs of the mini-app on a simulated cluster (SimGrid SMPI): its platform, compute times, and the run."""

from .beside import ratios
from .run import done, simulate
from .smpirun import SimulationFailed

__all__ = ["SimulationFailed", "done", "ratios", "simulate"]
