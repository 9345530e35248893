"""The command `spikemark`, also `python -m spikemark`."""

import os


def main() -> None:
    """Carry out the command line.

    Libraries of linear algebra get one thread: matrices are small, and threads that wait busily
    slow down everything else, runs that are timed among them. Pydantic looks for no plugins, for
    which it would read what is installed.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from spikemark.cli.main import main as carry_out

    carry_out()


if __name__ == "__main__":
    main()
