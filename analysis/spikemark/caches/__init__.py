"""Caches: how delivery misses them, by model and by simulation."""
