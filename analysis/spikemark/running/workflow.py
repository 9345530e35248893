"""Snakemake as on the command line, but idle while a job of this machine runs.

Snakemake 9.27 limits the number of jobs per second even if nobody asked for it. Each time it looks for
jobs to start, it sets a timer to look again in a second, so every job that ends adds one more look per
second. After some hundred runs it keeps half a core busy beside the run that is measured. Runs on one machine
follow one another and need no limit.
"""

import sys

from snakemake import cli


def main(arguments: list[str] | None = None) -> int:
    """Carries out the workflow as `snakemake ARGUMENTS` would. Returns 0 if all of it was done, else 1."""
    parser, options = cli.parse_args(arguments)
    if options.executor in (None, "local"):
        options.max_jobs_per_timespan = None
    return 0 if cli.args_to_api(options, parser) else 1


if __name__ == "__main__":
    sys.exit(main())
