"""Placements of neurons on ranks, and the traffic that they cause at any scale (docs/partition.md)."""
