"""Carries out runs: experiments, sweeps, single runs, simulated machines."""

#: Modules that other packages may import.
__all__ = ["energy", "experiments", "possible", "simulation", "sweeps"]
