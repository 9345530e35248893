"""Finds and reads profiles and machines of parts: machines/NAME.yaml of the project, or any file."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core import fields, places
from spikemark.core.errors import BadInput
from spikemark.core.reading import read_text
from spikemark.core.yaml_file import YAML, parsed

from . import parts
from .fields import MachineFile
from .parts import PARTS, Machine
from .profile import Profile, checked

PROFILE, ACCELERATED = "profile", "accelerator"
ALL = (PROFILE, ACCELERATED, PARTS)  # kinds of files


def folder() -> Path:
    """The folder of the project's profiles and machines of parts."""
    return places.root() / "machines"


def exists(name: str | Path) -> bool:
    """Whether machines/ has a file of this name."""
    return str(name) in {file.stem for file in folder().glob("*.yaml") if file.is_file()}


def names(*kinds: str) -> list[str]:
    """Names of files in machines/ of these kinds of ALL, in their order, sorted within each [profiles of CPU
    nodes]."""
    files = sorted(folder().glob("*.yaml"), key=lambda file: file.stem)
    held = [(file.stem, _kind(file)) for file in files if file.is_file()]
    return [name for kind in kinds or (PROFILE,) for name, is_kind in held if is_kind == kind]


def _kind(path: Path) -> str:
    """What a file holds; a file that cannot be read counts as a profile."""
    try:
        content = _content(read_text(path), path)
    except BadInput:
        return PROFILE
    keys = content if isinstance(content, dict) else ()
    return next((kind for kind in (PARTS, ACCELERATED) if kind in keys), PROFILE)


def load(name: str | Path) -> Profile:
    """A profile of equal nodes, given by its name, or by the path of a .yaml file.

    Raises BadInput naming the file, the path of the field, its value and what is expected; for a machine of
    parts, too.
    """
    return _load(name, (PROFILE, ACCELERATED))


def load_any(name: str | Path) -> Profile | Machine:
    """A profile, or a machine of parts. Raises BadInput as `load` does.

    The file of a part's profile is looked for beside the file of the machine, unless its path is absolute.
    """
    return _load(name, ALL)


def _load(name: str | Path, kinds: tuple[str, ...]) -> Any:
    path = Path(name)
    if path.suffix not in YAML:
        path = folder() / f"{name}.yaml"
        if not exists(name):
            known = f"the path of a .yaml file or one of {', '.join(names(*kinds))}"
            raise BadInput(f"machine {str(name)!r} not found: expected {known}", field="machine")
    content, found = _content(read_text(path), path), None
    if not isinstance(content, dict) or PARTS not in content:
        found = checked(content, str(path))
    elif PARTS not in kinds:
        fields.checked(MachineFile, content, path, "content")
        profiles = " or ".join(dict.fromkeys(part["profile"] for part in content[PARTS].values()))
        raise BadInput(f"machine {path.stem} has unequal parts; expected a profile, such as {profiles}")
    else:
        found = parts.read(
            content, str(path), lambda of: load(path.parent / of if Path(of).suffix in YAML else of)
        )
    if found.name != path.stem:
        raise BadInput.of("name", found.name, f"the name of the file, {path.stem!r}", file=path)
    return found


@lru_cache(maxsize=64)  # one answer asks for profiles and titles many times; nothing changes the content
def _content(text: str, path: Path) -> Any:
    return parsed(text, path)


def title(name: str) -> str:
    """Title of a machine for readers: that of its file up to the colon, with the name that commands take.

    A machine that has no file in machines/ keeps its name.
    """
    return f"{load_any(name).title.partition(':')[0]} ({name})" if exists(name) else name
