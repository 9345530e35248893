"""Measurements of this machine: benches, calibration, energy, Score-P, and NEST beside the
mini-app.
"""

#: Modules that other packages may import.
__all__ = ["energy", "meter"]
