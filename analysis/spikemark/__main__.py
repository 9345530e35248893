"""`python -m spikemark`, the same as `spikemark`."""

from spikemark.cli.main import main

main()
