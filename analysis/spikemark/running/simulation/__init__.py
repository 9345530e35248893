"""Runs of the mini-app on a simulated cluster (SimGrid SMPI).

`platform` describes the cluster, `times` gives compute times, `smpirun` starts programs on it, and
`run` puts these together.
"""

from .run import simulate

__all__ = ["platform", "simulate", "smpirun"]
