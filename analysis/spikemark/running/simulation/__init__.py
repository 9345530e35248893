"""Runs of the mini-app on a simulated cluster (SimGrid SMPI): its platform, compute times, and the run."""

from .run import simulate

__all__ = ["simulate"]
