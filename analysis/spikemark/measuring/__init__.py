"""Measurements of this machine: benches, calibration, energy, Score-P, and NEST beside the mini-app."""
