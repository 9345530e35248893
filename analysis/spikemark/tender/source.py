"""The frozen sources of a tender: an archive whose bytes follow from the commit alone."""

import gzip
import io
import subprocess
import tarfile
from pathlib import Path

from spikemark.core.errors import BadInput

#: What the measured program is built from; it must be as in the archive in every category.
MEASURED = ("miniapp/", "CMakeLists.txt")
#: Holds the commit, which the record of a run then names; an unpacked archive has no git.
COMMIT = ".source-commit"


def commit_of(root: Path, wanted: str | None) -> str:
    """The commit that is archived: `wanted`, or what is checked out if no tracked file differs from it.

    Raises BadInput outside a checkout of git, for an unknown commit, and for files that differ.
    """
    changed = wanted is None and _git(root, "status", "--porcelain", "--untracked-files=no").decode()
    if changed:
        name, expected = changed.splitlines()[0][3:], "a checkout without changes, or --commit NAME"
        raise BadInput(f"commit: {name} is changed and not committed; expected {expected}")
    return _git(root, "rev-parse", "--verify", f"{wanted or 'HEAD'}^{{commit}}").decode().strip()


def archive(root: Path, commit: str) -> bytes:
    """The tracked files of a commit as a compressed tar file, with the commit in the file COMMIT.

    The same commit gives the same bytes with the same versions of git and zlib. Raises BadInput where git
    cannot archive it.
    """
    name, text = f"spikemark-{commit[:12]}", f"{commit}\n".encode()
    words = "-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix={name}/", commit
    packed = io.BytesIO(_git(root, *words))
    with tarfile.open(fileobj=packed, mode="a") as made:
        member = tarfile.TarInfo(f"{name}/{COMMIT}")
        member.size = len(text)
        made.addfile(member, io.BytesIO(text))
    return gzip.compress(packed.getvalue(), 9, mtime=0)


def differing(packed: Path, root: Path) -> list[str]:
    """Files of the measured program that a checkout has changed, lost or added beside an archive, sorted."""
    with tarfile.open(packed, "r:gz") as given:
        files = {m.name.partition("/")[2]: given.extractfile(m).read() for m in given if m.isfile()}
    wanted = {name: content for name, content in files.items() if name.startswith(MEASURED)}
    paths = (*(root / MEASURED[0]).rglob("*"), root / MEASURED[1])
    there = {path.relative_to(root): path for path in paths if path.is_file()}
    found = {n.as_posix(): p.read_bytes() for n, p in there.items() if "__pycache__" not in n.parts}
    return sorted(name for name in wanted | found if wanted.get(name) != found.get(name))


def _git(root: Path, *words: str) -> bytes:
    try:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", b"") or b"").decode(errors="replace").strip() or str(error)
        raise BadInput(f"commit: {said.splitlines()[-1]}; expected a commit of the checkout {root}") from None
