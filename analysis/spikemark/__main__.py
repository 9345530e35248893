"""The command `spikemark`, also `python -m spikemark`."""

import os


def main() -> None:
    """Carry out the command line.

    Libraries of linear algebra get one thread: matrices are small, and threads that wait busily
    slow down everything else, runs that are timed among them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from spikemark.cli.main import main as carry_out

    carry_out()


if __name__ == "__main__":
    main()
