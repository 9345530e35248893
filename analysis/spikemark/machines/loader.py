"""Finds and reads profiles: machines/NAME.yaml in the checkout, or any file."""

from pathlib import Path

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.core.yaml_file import read_yaml

from .profile import Profile, checked


def folder() -> Path:
    """The folder of the project's profiles."""
    return places.root() / "machines"


def names() -> list[str]:
    """Names of all profiles in machines/, sorted."""
    return sorted(path.stem for path in folder().glob("*.yaml"))


def load(name: str | Path) -> Profile:
    """A profile given by its name, or by the path of a .yaml file.

    Raises BadInput naming the file, the path of the field, its value and what is allowed.
    """
    path = Path(name)
    if path.suffix not in (".yaml", ".yml"):
        path = folder() / f"{name}.yaml"
        if not path.is_file():
            known = ", ".join(names())
            raise BadInput(
                f"machine {str(name)!r} not found: give the path of a .yaml file or one of {known}"
            )
    profile = checked(read_yaml(path), str(path))
    if profile.name != path.stem:
        raise BadInput(f"{path}: name={profile.name!r}; allowed: the name of the file, {path.stem!r}")
    return profile
