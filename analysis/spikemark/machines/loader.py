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

from . import accelerated, parts_file
from .parts import PARTS, Machine
from .profile import Profile, checked


def folder() -> Path:
    """The folder of the project's profiles."""
    return places.root() / "machines"


def names() -> list[str]:
    """Names of all profiles in machines/, sorted; without those of accelerated nodes."""
    return _names(folder())


def accelerated_names() -> list[str]:
    """Names of the profiles of accelerated nodes, sorted."""
    return _names(folder() / accelerated.FOLDER)


def _names(where: Path) -> list[str]:
    try:
        files = os.listdir(where)
    except FileNotFoundError:
        return []
    return sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml"))


def load(name: str | Path) -> Profile:
    """A profile of equal nodes, given by its name, or by the path of a .yaml file.

    Raises BadInput naming the file, the path of the field, its value and what is allowed; for a machine of
    several parts, too.
    """
    found = load_any(name)
    if isinstance(found, Machine):
        known = ", ".join(part.profile.name for part in found.parts.values())
        raise BadInput(f"machine {found.name} has unequal parts; allowed here: one of its profiles, {known}")
    return found


def load_any(name: str | Path) -> Profile | Machine:
    """A profile, or a machine of several parts. Raises BadInput as `load` does."""
    path = Path(name)
    if path.suffix not in YAML:
        path = folder() / f"{name}.yaml"
        if not path.is_file():
            path = folder() / accelerated.FOLDER / f"{name}.yaml"
        if not path.is_file():
            known = ", ".join([*names(), *accelerated_names()])
            raise BadInput(
                f"machine {str(name)!r} not found: give the path of a .yaml file or one of {known}"
            )
    content = copy.deepcopy(_content(read_text(path), path))
    if isinstance(content, dict) and PARTS in content:
        found = parts_file.read(content, str(path), load)
    else:
        found = checked(content, str(path))
    if found.name != path.stem:
        raise BadInput(f"{path}: name={found.name!r}; allowed: the name of the file, {path.stem!r}")
    return found


@lru_cache(maxsize=32)  # one answer asks for a profile, its title and those like it many times
def _content(text: str, path: Path) -> Any:
    return parsed(text, path)


def title(name: str) -> str:
    """What people call a machine: the title of its profile up to the colon, with the name that commands take.

    A machine that has no profile in machines/ keeps its name.
    """
    known = name in [*names(), *accelerated_names()]
    return f"{load(name).title.partition(':')[0]} ({name})" if known else name
