"""Benchmarks of the kernels and of the exchanges, each on its own, and of other simulators (peers)."""
