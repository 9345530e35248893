"""`python -m spikemark`, the same as `spikemark`."""

from spikemark.cli import main

main()
