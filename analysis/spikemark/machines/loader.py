"""Finds and reads profiles and machines of parts: machines/NAME.yaml of the project, or any file."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text
from spikemark.core.yaml_file import YAML, parsed

from . import parts
from .parts import PARTS, Machine
from .profile import Profile, checked

PROFILE, ACCELERATED = "profile", "accelerator"
ALL = (PROFILE, ACCELERATED, PARTS)  # kinds of files


def folder() -> Path:
    """The folder of the project's profiles and machines of parts."""
    return places.root() / "machines"


def names(*kinds: str) -> list[str]:
    """Names of files in machines/ of these kinds of ALL, in their order, sorted within each [profiles of CPU
    nodes]."""
    try:
        with os.scandir(folder()) as found:
            files = sorted((f.name, f.path) for f in found if f.name.endswith(".yaml") and f.is_file())
    except FileNotFoundError:
        return []
    held = [(Path(name).stem, _kind(Path(path))) for name, path in files]
    return [name for kind in kinds or (PROFILE,) for name, is_kind in sorted(held) if is_kind == kind]


def _kind(path: Path) -> str:
    """What a file holds, by the keys at the start of its lines."""
    try:
        keys = {line.partition(":")[0] for line in read_text(path).splitlines()}
    except BadInput:
        return PROFILE
    return next((kind for kind in (PARTS, ACCELERATED) if kind in keys), PROFILE)


def load(name: str | Path) -> Profile:
    """A profile of equal nodes, given by its name, or by the path of a .yaml file.

    Raises BadInput naming the file, the path of the field, its value and what is expected; for a machine of
    parts, too.
    """
    path, content = _read(name, (PROFILE, ACCELERATED))
    if isinstance(content, dict) and PARTS in content:
        raise BadInput(f"machine {path.stem} has unequal parts; expected a profile{_of(content[PARTS])}")
    return _named(checked(content, str(path)), path)


def load_any(name: str | Path) -> Profile | Machine:
    """A profile, or a machine of parts. Raises BadInput as `load` does.

    The file of a part's profile is looked for beside the file of the machine, unless its path is absolute.
    """
    path, content = _read(name, ALL)
    if not isinstance(content, dict) or PARTS not in content:
        return _named(checked(content, str(path)), path)

    def part(profile: str) -> Profile:
        return load(path.parent / profile if Path(profile).suffix in YAML else profile)

    return _named(parts.read(content, str(path), part), path)


def _read(name: str | Path, kinds: tuple[str, ...]) -> tuple[Path, Any]:
    """The file of a machine, given by its name or its path, and what it contains."""
    path = Path(name)
    if path.suffix not in YAML:
        path = folder() / f"{name}.yaml"
        if not path.is_file():
            known = f"the path of a .yaml file or one of {', '.join(names(*kinds))}"
            raise BadInput(f"machine {str(name)!r} not found: expected {known}", field="machine")
    return path, _content(read_text(path), path)


def _named(found: Any, path: Path) -> Any:
    if found.name != path.stem:
        raise BadInput.of("name", found.name, f"the name of the file, {path.stem!r}", file=path)
    return found


def _of(given: Any) -> str:
    """The profiles that a machine of parts names, for a complaint."""
    every = given.values() if isinstance(given, dict) else ()
    found = [str(one["profile"]) for one in every if isinstance(one, dict) and "profile" in one]
    return f", such as {' or '.join(dict.fromkeys(found))}" if found else ""


@lru_cache(maxsize=32)  # one answer asks for a profile and its title many times; nothing changes the content
def _content(text: str, path: Path) -> Any:
    return parsed(text, path)


def title(name: str) -> str:
    """Title of a machine for readers: that of its file up to the colon, with the name that commands take.

    A machine that has no file in machines/ keeps its name.
    """
    return f"{load_any(name).title.partition(':')[0]} ({name})" if name in names(*ALL) else name
