"""What a machine would do with a network, from its profile: phases, waiting, exchange, energy, memory."""
