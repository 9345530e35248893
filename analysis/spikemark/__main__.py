"""The command `spikemark`, also `python -m spikemark`."""

import atexit
import gc
import os

#: After so many new objects, what is unused is searched for. The full multi-area model has a
#: quarter of them, all used.
NEW_OBJECTS = 1_000_000


def main() -> None:
    """Carry out the command line.

    Modules and networks stay in use: the search for what is unused is for larger ones, and left
    out at the end. Libraries of linear algebra get one thread: matrices are small, and threads that
    wait busily slow down everything else, runs that are timed among them. Pydantic looks for no
    plugins, for which it would read what is installed.
    """
    gc.set_threshold(NEW_OBJECTS)
    atexit.register(gc.freeze)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    from spikemark.cli.main import main as carry_out

    carry_out()


if __name__ == "__main__":
    main()
