"""Spikemark: where the time between two spike exchanges goes, and what another schedule would make of it."""

__version__ = "1.0.0"
