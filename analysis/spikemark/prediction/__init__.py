"""Predicts how a network would run on a machine, from its profile: phases, waiting, exchange, energy,
memory."""
