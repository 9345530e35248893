"""The command `spikemark`, also `python -m spikemark`."""

import os
import sys


def main() -> None:
    """The command line; `run`, which a workflow calls for every record, starts without the others.

    Libraries of linear algebra get one thread: matrices are small, and threads that wait busily slow down
    everything else, runs that are timed among them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    words = sys.argv[1:]
    if len(words) == 3 and words[0] == "run" and not any(word.startswith("-") for word in words):
        from spikemark.cli import run

        run.main(*words[1:])
    from spikemark.cli.main import main

    main()


if __name__ == "__main__":
    main()
