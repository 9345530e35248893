"""Finds and reads profiles: machines/NAME.yaml in the checkout, or any file."""

import copy
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text
from spikemark.core.yaml_file import YAML, parsed

from .profile import Profile, checked


def folder() -> Path:
    """The folder of the project's profiles."""
    return places.root() / "machines"


def names() -> list[str]:
    """Names of all profiles in machines/, sorted."""
    try:
        files = os.listdir(folder())
    except FileNotFoundError:
        return []
    return sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml"))


def load(name: str | Path) -> Profile:
    """A profile given by its name, or by the path of a .yaml file.

    Raises BadInput naming the file, the path of the field, its value and what is allowed.
    """
    path = Path(name)
    if path.suffix not in YAML:
        path = folder() / f"{name}.yaml"
        if not path.is_file():
            known = ", ".join(names())
            raise BadInput(
                f"machine {str(name)!r} not found: give the path of a .yaml file or one of {known}"
            )
    profile = checked(copy.deepcopy(_content(read_text(path), path)), str(path))
    if profile.name != path.stem:
        raise BadInput(f"{path}: name={profile.name!r}; allowed: the name of the file, {path.stem!r}")
    return profile


@lru_cache(maxsize=32)  # one answer asks for a profile, its title and those like it many times
def _content(text: str, path: Path) -> Any:
    return parsed(text, path)


def title(name: str) -> str:
    """What people call a machine: the title of its profile up to the colon, with the name that commands take.

    A machine that has no profile in machines/ keeps its name.
    """
    return f"{load(name).title.partition(':')[0]} ({name})" if name in names() else name
