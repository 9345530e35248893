"""Figures in docs/: stored results, and the tables and numbers of the pages that are made from them."""
