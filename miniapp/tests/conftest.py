"""What is collected: the comparison with NEST only where `make peers` has installed it (.venv-peers)."""

import program

collect_ignore = [] if program.NEST.exists() else ["test_nest.py"]
