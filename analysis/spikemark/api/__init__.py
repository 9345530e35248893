"""The functions of the public API, which `spikemark` offers under their own names.

`results` reads what was measured and explains its waiting; `questions` predicts what was not.
"""
