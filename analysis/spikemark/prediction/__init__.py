"""Predicts how a network would run on a machine with a given profile: times, energy, memory."""
