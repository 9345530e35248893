"""Ranks of a large machine, run alone by single processes on this node: how they are chosen and run."""
