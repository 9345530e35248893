"""Carries out runs: experiments, sweeps, single runs, simulated machines."""
