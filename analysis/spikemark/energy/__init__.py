"""Energy of a run: by its own readings, by a meter outside, or modelled (Simula et al. 2019, IV and V)."""
