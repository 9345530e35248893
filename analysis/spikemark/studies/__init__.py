"""Studies: papers, each a table of questions with their answers and ours (study.py, papers/NAME.yaml)."""

from importlib import import_module, resources
from types import ModuleType

from spikemark.core.errors import BadInput


def names() -> list[str]:
    """The papers, in order."""
    files = (resources.files(__package__) / "papers").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def module(name: str) -> ModuleType:
    """The functions that answer the rows of a paper. Raises BadInput naming all papers."""
    if name not in names():
        raise BadInput(f"study={name!r}: expected one of {', '.join(names())}")
    return import_module(f".{name}", __package__)
