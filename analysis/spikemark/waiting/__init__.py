"""Waiting for other ranks: one trace, replayed through any schedule (Lober et al. 2026, section
2.2).

`trace` reads cycle times, `replay` says how ranks wait under a schedule, `ladder` splits the
waiting by how often ranks meet, `changes` alters a run, `theory` has the published equations,
`answer` is the screen.
"""
