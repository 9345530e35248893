"""Studies of papers: what they say, what we find, and how well models predict what they measured.

A client of `spikemark`: it imports only what that package makes public, and adds the commands
`study` and `score` to the command line (cli.py).
"""
