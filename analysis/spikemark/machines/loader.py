"""Finds and reads profiles and machines of parts: machines/NAME.yaml in the checkout, or any file."""

import copy
import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text
from spikemark.core.yaml_file import YAML, parsed, read_yaml

from . import accelerated, parts_file
from .parts import PARTS, Machine
from .profile import Profile, checked

Made = TypeVar("Made", Profile, Machine)


def folder() -> Path:
    """The folder of the project's profiles and machines of parts."""
    return places.root() / "machines"


def names() -> list[str]:
    """Names of the profiles of CPU nodes in machines/, sorted. Machines of parts are not among them."""
    return [name for name, holds in _files() if holds is None]


def names_of_parted() -> list[str]:
    """Names of all machines of parts in machines/, sorted."""
    return [name for name, holds in _files() if holds == PARTS]


def accelerated_names() -> list[str]:
    """Names of the profiles of nodes with accelerators in machines/, sorted."""
    return [name for name, holds in _files() if holds == accelerated.KEY]


def all_names() -> list[str]:
    """Names of all profiles, those of nodes with accelerators last, then those of all machines of parts."""
    return [*profile_names(), *names_of_parted()]


def profile_names() -> list[str]:
    """Names of the profiles of CPU nodes, then those of nodes with accelerators."""
    return [*names(), *accelerated_names()]


def _files() -> list[tuple[str, str | None]]:
    """The names of the files in machines/, sorted, and PARTS or `accelerator` where they hold these."""
    try:
        with os.scandir(folder()) as found:
            files = [(f.path, f.stat()) for f in found if f.name.endswith(".yaml") and f.is_file()]
    except FileNotFoundError:
        return []
    found = [_named_and_held(path, s.st_mtime_ns, s.st_size) for path, s in files]
    return sorted(found, key=lambda one: one[0])


@lru_cache(maxsize=200)  # by what changes with the content: names are asked for many times
def _named_and_held(path: str, changed: int, size: int) -> tuple[str, str | None]:
    """The name of a file, and which of PARTS and `accelerator` it holds. What cannot be read is taken for a
    profile, and refused as one.
    """
    try:
        content = read_yaml(Path(path))
    except (BadInput, OSError):
        content = None
    held = content if isinstance(content, dict) else {}
    return Path(path).stem, next((key for key in (PARTS, accelerated.KEY) if key in held), None)


def load(name: str | Path) -> Profile:
    """A profile of equal nodes, given by its name, or by the path of a .yaml file.

    Raises BadInput naming the file, the path of the field, its value and what is allowed; for a machine of
    parts, too.
    """
    path, content = _read(name, profile_names)
    if isinstance(content, dict) and PARTS in content:
        raise BadInput(f"machine {path.stem} has unequal parts; allowed here: a profile{_of(content[PARTS])}")
    return _named(checked(content, str(path)), path)


def load_any(name: str | Path) -> Profile | Machine:
    """A profile, or a machine of parts. Raises BadInput as `load` does.

    The file of a part's profile is looked for beside the file of the machine, unless its path is absolute.
    """
    path, content = _read(name, all_names)
    if not isinstance(content, dict) or PARTS not in content:
        return _named(checked(content, str(path)), path)

    def part(profile: str) -> Profile:
        return load(path.parent / profile if Path(profile).suffix in YAML else profile)

    return _named(parts_file.read(content, str(path), part), path)


def _read(name: str | Path, known: Callable[[], list[str]]) -> tuple[Path, Any]:
    """The file of a machine, given by its name or its path, and what it contains."""
    path = Path(name)
    if path.suffix not in YAML:
        path = folder() / f"{name}.yaml"
        if not path.is_file():
            raise BadInput(
                f"machine {str(name)!r} not found: give the path of a .yaml file or one of"
                f" {', '.join(known())}"
            )
    return path, copy.deepcopy(_content(read_text(path), path))


def _named(found: Made, path: Path) -> Made:
    if found.name != path.stem:
        raise BadInput(f"{path}: name={found.name!r}; allowed: the name of the file, {path.stem!r}")
    return found


def _of(parts: Any) -> str:
    """The profiles that a machine of parts names, for a complaint."""
    given = parts.values() if isinstance(parts, dict) else ()
    found = [part["profile"] for part in given if isinstance(part, dict) and "profile" in part]
    return f", such as {' or '.join(dict.fromkeys(map(str, found)))}" if found else ""


@lru_cache(maxsize=32)  # one answer asks for a profile, its title and those like it many times
def _content(text: str, path: Path) -> Any:
    return parsed(text, path)


def title(name: str) -> str:
    """Title of a machine for readers: that of its file up to the colon, with the name that commands take.

    A machine that has no file in machines/ keeps its name.
    """
    return f"{load_any(name).title.partition(':')[0]} ({name})" if name in all_names() else name
