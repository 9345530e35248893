"""The files of a tender on disk: their names, the published bundle, and manifests.

The content of tender.json, answer.json and the others is described by the classes in schema.py.
A manifest lists size and hash of every file of a folder, so that a bundle or an answer is known by
the hash of its manifest, and nothing can be added, changed or lost unseen.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.core.fields import assign, checked
from spikemark.core.files import write_json
from spikemark.core.reading import read_json
from spikemark.records.run_files import CYCLES

from . import schema
from .schema import ListedFile, Manifest, RunRule, Tender, TenderAnswer

TENDER, RULES, SOURCE = "tender.json", "RULES.md", "source.tar.gz"
ANSWER, ENVIRONMENT = "answer.json", "environment.json"
#: Folder of an answer with the profile of the offered machine.
MACHINE = "machine"
MANIFEST, SIGNATURE = "manifest.json", "manifest.json.sig"
MISSING = "missing"  #: a file of the manifest that is not there
LINK = "a link, whose contents are not in the manifest"
#: Names of figures in these files. Smaller is better.
RTF, JOULES, POWER = "real_time_factor", "joules_per_synaptic_event", "power_w"


class FigureOfMerit(NamedTuple):
    """How a figure is called."""

    heading: str
    unit: str  #: empty for a ratio


#: Figures that are measured, projected and promised, by name.
FIGURES = {
    RTF: FigureOfMerit("real-time factor", ""),
    JOULES: FigureOfMerit("energy per synaptic event", "J"),
}

File = TypeVar("File", bound=BaseModel)


def read(kind: type[File], path: Path, command: str) -> File:
    """A file of a tender as an object of its class.

    Args:
        kind: a class of schema.py.
        path: the file.
        command: the word of `spikemark tender COMMAND`, which writes such files.

    Raises BadInput for any other file.

    Example:
        >>> read(Tender, Path("nowhere/tender.json"), "new")
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/tender.json: not found; expected a folder ...
    """
    content = read_json(path, f"expected a folder that `spikemark tender {command}` wrote")
    return checked(kind, content, path, path.stem)


def read_answer(folder: Path) -> TenderAnswer:
    """answer.json of a folder. Raises BadInput where it is none.

    Example:
        >>> read_answer(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/answer.json: not found; expected a folder ...
    """
    return read(TenderAnswer, folder / ANSWER, "answer")


@dataclass(frozen=True)
class Bundle:
    """A bundle that is as its manifest says."""

    path: Path
    tender: Tender
    sha256: str  #: hash of the manifest

    def file(self, rule: RunRule) -> Path:
        """The run description of a run."""
        return self.path / "runs" / f"{rule.name}.json"

    def description(
        self, rule: RunRule, settings: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The run description of a run, with fields set.

        Raises BadInput for the path of a field that does not exist.
        """
        content: dict[str, Any] = read_json(self.file(rule))
        for field, value in (settings or {}).items():
            assign(content, field, value)
        return content

    def check_set(self, category: str, settings: Mapping[str, Any]) -> None:
        """Raises BadInput for an unknown category, and for a field that it does not let one set."""
        if category not in self.tender.categories:
            expected = " or ".join(self.tender.categories)
            raise BadInput(field="category", value=category, expected=expected)
        allowed = self.tender.categories[category].changes
        for field in settings:
            if field.split(".")[0] not in allowed:
                expected = f"in the category {category}: {', '.join(allowed) or 'none'}"
                raise BadInput(field="set", value=field, expected=expected)

    def rules(self, names: list[str] | None) -> list[RunRule]:
        """The runs of these names, or else all that must be measured, in the order of the tender.

        Raises BadInput for a name that is none of a run.
        """
        for name in names or []:
            if self.tender.run(name) is None:
                expected = ", ".join(rule.name for rule in self.tender.runs)
                raise BadInput(field="run", value=name, expected=expected)
        if names:
            return [rule for rule in self.tender.runs if rule.name in names]
        return [rule for rule in self.tender.runs if rule.measured]


def read_bundle(path: Path) -> Bundle:
    """The bundle in a folder. Raises BadInput where it is none, or differs from its manifest.

    The sources (3 MB) may be missing: only who measures needs them.

    Example:
        >>> read_bundle(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/manifest.json: not found; expected a folder ...
    """
    for name, difference in sorted(compare_manifest(path).items()):
        if name == SOURCE and difference == MISSING:
            continue
        expected = "the bundle as it was published"
        raise BadInput(file=path / name, reason=difference, expected=expected, code="file")
    tender = read(Tender, path / TENDER, "new")
    return Bundle(path.resolve(), tender, sha256.file_digest(path / MANIFEST))


def write_manifest(folder: Path) -> None:
    """Writes size and hash of every file of a folder.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as name:
        ...     folder = Path(name)
        ...     size = (folder / "answer.json").write_text("{}")
        ...     write_manifest(folder)
        ...     size = (folder / "answer.json").write_text("{ }")
        ...     compare_manifest(folder)
        {'answer.json': 'differs from the manifest'}
    """
    files = _files(folder)
    content = {
        "kind": "tender_manifest",
        "format_version": schema.VERSION,
        "files": {name: files[name].model_dump() for name in files},
    }
    write_json(folder / MANIFEST, content)


def compare_manifest(folder: Path) -> dict[str, str]:
    """Files that differ from the manifest of a folder, and how, such as "missing".

    A link to a file or a folder differs: what it leads to can change after the manifest is signed.

    Raises BadInput where there is no manifest.

    Example:
        >>> compare_manifest(Path("nowhere"))
        Traceback (most recent call last):
            ...
        spikemark.core.errors.BadInput: nowhere/manifest.json: not found; expected a folder ...
    """
    listed = read(Manifest, folder / MANIFEST, "new").files
    present = _files(folder)
    differences = {}
    for name in sorted(listed.keys() | present.keys()):
        if name not in present:
            differences[name] = MISSING
        elif name not in listed:
            differences[name] = "not in the manifest"
        elif present[name] != listed[name]:
            differences[name] = "differs from the manifest"
    for path in folder.rglob("*"):
        if path.is_symlink():
            differences[path.relative_to(folder).as_posix()] = LINK
    return differences


def cycle_times(folder: Path) -> list[Path]:
    """The files of cycle times of an answer, wherever it says that its runs lie.

    Example:
        >>> cycle_times(Path("/nowhere"))
        []
    """
    return sorted(path for path in folder.rglob(CYCLES) if path.is_file())


def _files(folder: Path) -> dict[str, ListedFile]:
    """Size and hash of every file of a folder but manifest and signature, by path."""
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path not in (folder / MANIFEST, folder / SIGNATURE):
            name = path.relative_to(folder).as_posix()
            files[name] = ListedFile(sha256=sha256.file_digest(path), bytes=path.stat().st_size)
    return files
