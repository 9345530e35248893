"""The mini-app beside other simulators: the same network, measured in turns on a quiet machine, as factors.

`compare.compare` carries a comparison out, or goes on with one that was interrupted; `spikemark peers` is its
face. The results folder holds

    description.json  the run description that all programs get
    comparison.json   the trials in the order of measuring, and the conditions
    runs/ID-N.json    attempt N of a trial: what the program said itself, and the load by others meanwhile
    failed/ID.log     why a trial failed; its first line is the reason
    peers.parquet     one row per trial (table.contract)
    peers.json        medians and factors with intervals, and what was refused (factors.Comparison)
"""
