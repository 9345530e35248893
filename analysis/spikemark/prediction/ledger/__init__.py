"""The ledger: predictions that were frozen before their runs existed, and how they came out.

A ledger is a file of JSON lines, one for each prediction, to which lines are only added (entry.py). Every
line holds the digest of the one before (chain.py), so that later changes show. `sources.py` reads what other
commands predicted, `same_run.py` tells whether a record is of the run that was predicted, `score.py` compares
both, and `show.py` makes tables of that.
"""
