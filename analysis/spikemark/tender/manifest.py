"""manifest.json: the hash and the size of every file of a folder that is handed on."""

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.core.files import write_json
from spikemark.core.reading import read_json

FILE = "manifest.json"
SIGNATURES = ("manifest.json.sig", "manifest.json.minisig")
KIND, VERSION = "tender_manifest", 1
BLOCK = 1 << 20


def sha256(path: Path) -> str:
    """The hash of a file, in hex digits."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(BLOCK):
            found.update(block)
    return found.hexdigest()


def files(folder: Path) -> list[str]:
    """Every file below a folder but the manifest and its signatures, sorted, with `/` between its parts."""
    found = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file() or p.is_symlink())
    return sorted(name for name in found if name not in (FILE, *SIGNATURES))


def write(folder: Path, **more: Any) -> None:
    """Writes the manifest of all files of a folder; a signature of an earlier one is removed."""
    listed = {
        name: {"sha256": sha256(folder / name), "bytes": (folder / name).stat().st_size}
        for name in files(folder)
    }
    for name in SIGNATURES:
        (folder / name).unlink(missing_ok=True)
    write_json(folder / FILE, {"kind": KIND, "format_version": VERSION, **more, "files": listed})


def check(folder: Path, but: Collection[str] = ()) -> dict[str, Any]:
    """The manifest of a folder. Raises BadInput where it is none, or a file differs that is not in `but`."""
    path = folder / FILE
    content = read_json(path, "a folder that `spikemark tender` wrote is needed")
    listed = content.get("files") if isinstance(content, dict) else None
    if not isinstance(listed, dict) or content.get("kind") != KIND:
        raise BadInput(f"{path}: kind: one JSON object of the kind {KIND} with files is needed")
    there = set(files(folder))
    for name in sorted(listed.keys() - but):
        if name not in there:
            raise BadInput(f"{folder / name}: missing, although manifest.json lists it")
        about = listed[name]
        wanted = about.get("sha256") if isinstance(about, dict) else None
        if (found := sha256(folder / name)) != wanted:
            raise BadInput(f"{folder / name}: sha256 is {found}; allowed: {wanted}, as manifest.json says")
    if more := sorted(there - listed.keys() - {*but}):
        raise BadInput(f"{folder / more[0]}: not in manifest.json; allowed: only the files listed there")
    return content
