"""What Score-P saw of a run (miniapp/src/measurement/regions.h), beside the run's own cycle log.

`check.check(DIR)` reads `profile.cubex` (profile.py), `traces.otf2` (trace.py) and the run record of DIR.
"""
