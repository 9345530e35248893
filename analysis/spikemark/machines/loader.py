"""Finds and reads profiles and machines of parts.

They are machines/NAME.yaml of the project, or any file that ends in .yaml.
"""

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from spikemark.core import fields, places
from spikemark.core.errors import BadInput, unknown_name
from spikemark.core.reading import read_text
from spikemark.core.yaml_file import YAML, parsed

from . import identity, parts, processors, usual
from .fields import MachineFile
from .parts import PARTS, MachineOfParts
from .profile import Profile, arranged, checked

#: Kinds of files: a profile, one of a node with accelerators, a machine of parts.
PROFILE, ACCELERATED = "profile", "accelerator"
ALL = (PROFILE, ACCELERATED, PARTS)
#: Why no data sheet gives what is unknown of a node.
NO_PROCESSOR = "`processor: ID` in its file takes it from a data sheet"


def folder() -> Path:
    """The folder of the project's profiles and machines of parts.

    Example:
        >>> (folder() / "jureca-dc.yaml").exists()
        True
    """
    return places.root() / "machines"


def exists(name: str | Path) -> bool:
    """Whether machines/ has a file of this name.

    Example:
        >>> exists("jureca-dc")
        True
    """
    wanted = f"{name}.yaml"
    return any(file.name == wanted and file.is_file() for file in folder().glob("*.yaml"))


def names(*kinds: str) -> list[str]:
    """Names of files in machines/, in the order of the kinds, sorted within each.

    `kinds`: of ALL; profiles of CPU nodes by default.

    Example:
        >>> "jureca-dc" in names()
        True
    """
    names_by_kind: dict[str, list[str]] = {}
    for file in sorted(folder().glob("*.yaml"), key=lambda file: file.stem):
        if file.is_file():
            names_by_kind.setdefault(_kind(file), []).append(file.stem)
    names = []
    for kind in kinds or (PROFILE,):
        names += names_by_kind.get(kind, [])
    return names


def _kind(path: Path) -> str:
    """What a file holds; a file that cannot be read counts as a profile."""
    try:
        content = _content(read_text(path), path)
    except BadInput:
        return PROFILE
    if not isinstance(content, dict):
        return PROFILE
    if PARTS in content:
        return PARTS
    return ACCELERATED if ACCELERATED in content else PROFILE


def load(name: str | Path) -> Profile:
    """A profile of equal nodes, given by its name, or by the path of a .yaml file.

    Raises:
        BadInput: naming the file, the path of the field, its value and what is expected; for a
            machine of parts, too.

    Example:
        >>> load("jureca-dc").values["node.cores"].value
        128
    """
    path = _path(name, (PROFILE, ACCELERATED))
    profile = _profile_in(path)
    if profile.measured_as is not None and path != folder() / f"{profile.measured_as}.yaml":
        _check_identity(profile, profile.measured_as, path)
    return profile


def _profile_in(path: Path) -> Profile:
    """The profile of a file, whatever it says that it is measured as."""
    content = _content(read_text(path), path)
    if _has_parts(content):
        fields.checked(MachineFile, content, path, "content")
        profiles = dict.fromkeys(part["profile"] for part in content[PARTS].values())
        raise BadInput(
            f"machine {path.stem} has unequal parts; expected a profile, such as"
            f" {' or '.join(profiles)}",
            field="machine",
        )
    _refuse_words_of_vendor(content, path)
    profile = checked(content, str(path))
    _check_name(profile.name, path)
    return _with_data_sheet(profile, path)


def _refuse_words_of_vendor(content: object, path: Path) -> None:
    """Raises BadInput for a processor that is named as its vendor does, with spaces."""
    stated = content.get("processor") if isinstance(content, dict) else None
    if not isinstance(stated, str) or not re.search(r"\s", stated):
        return
    meant = processors.called(stated)
    if meant is not None:
        expected = f"{meant}, the name of its data sheet"
        raise BadInput(field="processor", value=stated, expected=expected, file=path)


def _with_data_sheet(profile: Profile, path: Path) -> Profile:
    """The profile with what the data sheet of its processor says, where it names one, and with
    remarks on values that are not usual.

    A profile of published runs may name a processor that has no sheet; an offer is asked for one.
    """
    stated = profile.values
    if profile.processor is None:
        remarks = usual.remarks(stated, profile.name, title=profile.title)
        return replace(profile, without_sheet=NO_PROCESSOR, remarks=remarks)
    try:
        completed = processors.completed(stated, profile.processor, profile.name)
    except BadInput as error:
        raise error.within(file=path) from None
    remarks = usual.remarks(stated, profile.name, completed.values, profile.title)
    if not profile.measured_as:
        remarks = completed.remarks + remarks
    values = arranged(completed.values, str(path))
    return replace(profile, values=values, remarks=remarks, without_sheet=completed.without_sheet)


def _check_identity(profile: Profile, measured_as: str, path: Path) -> None:
    """Raises BadInput for a profile that is not the machine as which it says it was measured."""
    if not exists(measured_as):
        known = names(PROFILE, ACCELERATED)
        raise unknown_name("measured_as", measured_as, known).within(file=path)
    try:
        identity.check(profile, _profile_in(folder() / f"{measured_as}.yaml"))
    except BadInput as error:
        raise error.within(file=path) from None


def load_any(name: str | Path) -> Profile | MachineOfParts:
    """A profile, or a machine of parts. Raises BadInput as `load` does.

    The file of a part's profile is looked for beside the file of the machine, unless its path is
    absolute.

    Example:
        >>> list(load_any("two-generations").parts)
        ['older', 'newer']
    """
    path = _path(name, ALL)
    content = _content(read_text(path), path)
    if not _has_parts(content):
        return load(name)

    def load_part(profile: str) -> Profile:
        is_file = Path(profile).suffix in YAML
        return load(path.parent / profile if is_file else profile)

    machine = parts.read(content, str(path), load_part)
    _check_name(machine.name, path)
    return machine


def _path(name: str | Path, kinds: tuple[str, ...]) -> Path:
    """The file of a machine. Raises BadInput for a name that machines/ does not have."""
    path = Path(name)
    if path.suffix in YAML:
        return path
    if len(path.parts) > 1:
        reason = "not a .yaml file" if path.exists() else "not found"
        expected = "the path of a .yaml file, or a name in machines/"
        raise BadInput(file=path, reason=reason, expected=expected, code="file")
    if not exists(name):
        known = names(*kinds)
        expected = f"the path of a .yaml file or one of {', '.join(known)}"
        raise unknown_name("machine", str(name), known, expected=expected)
    return folder() / f"{name}.yaml"


def file_of(name: str | Path) -> Path:
    """The file of a machine. Raises BadInput for a name that machines/ does not have.

    Example:
        >>> file_of("jureca-dc").name
        'jureca-dc.yaml'
    """
    return _path(name, ALL)


def _has_parts(content: object) -> bool:
    """True for the content of a machine of parts."""
    return isinstance(content, dict) and PARTS in content


def _check_name(name: str, path: Path) -> None:
    """Raises BadInput for a machine that is not called as its file."""
    if name != path.stem:
        expected = f"the name of the file, {path.stem!r}"
        raise BadInput(field="name", value=name, expected=expected, file=path)


@lru_cache(maxsize=64)  # one answer asks for profiles many times; nothing changes the content
def _content(text: str, path: Path) -> Any:
    """The content of a file with this text."""
    return parsed(text, path)


def title(name: str) -> str:
    """Title of a machine for readers: that of its file up to the colon, with its name.

    A machine that has no file in machines/ keeps its name.

    Example:
        >>> title("jureca-dc")
        'JURECA-DC, Jülich (jureca-dc)'
    """
    if not exists(name):
        return name
    words = load_any(name).title.partition(":")[0]
    return f"{words} ({name})"
