"""Libraries that only some commands need: what to install where one of them is missing."""

import importlib
import importlib.util
from typing import Any

from .errors import BadInput

#: The extra of pip that installs a library, by the name under which it is imported.
EXTRAS = {"otf2": "scorep", "pycubexr": "scorep", "snakemake": "sweep"}


class MissingLibrary:
    """Stands for a library that is not installed: using it raises BadInput."""

    def __init__(self, library: str):
        self._library = library

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a question about the object, not a use of the library
            raise AttributeError(name)
        raise _missing(self._library)


def optional(module: str) -> Any:
    """A module of a library of EXTRAS, or what stands for it where it is not installed.

    Example:
        >>> optional("otf2").__name__
        'otf2'
    """
    library = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        return MissingLibrary(library)


def require(library: str) -> None:
    """Raises BadInput that says how to install a library of EXTRAS, where that is missing.

    Example:
        >>> require("numpy") is None
        True
    """
    try:
        is_there = importlib.util.find_spec(library) is not None
    except ValueError:  # of a module that was taken away
        is_there = False
    if not is_there:
        raise _missing(library)


def _missing(library: str) -> BadInput:
    command = f"pip install 'spikemark[{EXTRAS[library]}]'"
    message = f"{library} is not installed: `{command}`, or in a checkout `make setup`"
    return BadInput(message, field=library, code="missing")
