"""The frozen sources of a tender: an archive whose bytes follow from the commit alone."""

import gzip
import hashlib
import io
import subprocess
import tarfile
from pathlib import Path

from spikemark.core.errors import BadInput

#: What the measured program is built from; it must be as in the archive in every category.
MEASURED = ("miniapp/", "CMakeLists.txt")
#: Holds the commit, which the record of a run then names; an unpacked archive has no git.
COMMIT = ".source-commit"
BUILT = ("build", "__pycache__")


def commit_of(root: Path, wanted: str | None) -> str:
    """The commit that is archived: `wanted`, or what is checked out if no tracked file differs from it.

    Raises BadInput outside a checkout of git, for an unknown commit, and for files that differ.
    """
    if wanted is None and (
        changed := _git(root, "status", "--porcelain", "--untracked-files=no").split("\n")[:-1]
    ):
        raise BadInput(
            f"commit: {changed[0][3:]} is changed and not committed; allowed: a checkout without changes,"
            " or --commit NAME"
        )
    return _git(
        root, "rev-parse", "--verify", "--quiet", f"{'HEAD' if wanted is None else wanted}^{{commit}}"
    ).strip()


def archive(root: Path, commit: str) -> bytes:
    """The tracked files of a commit as a compressed tar file: sorted, without owners, times and links' ages.

    The same commit gives the same bytes with the same version of zlib, and the same tar file with any.
    Raises BadInput where git cannot archive it.
    """
    done = _run(root, "archive", "--format=tar", commit)
    name = f"spikemark-{commit[:12]}"
    packed = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(done)) as given,
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, compresslevel=9, mtime=0) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as made,
    ):
        files = {member.name: member for member in given.getmembers() if not member.isdir()}
        for path in sorted([*files, COMMIT]):
            data = f"{commit}\n".encode() if path == COMMIT else _data(given, files[path])
            made.addfile(_member(f"{name}/{path}", files.get(path), data), io.BytesIO(data))
    return packed.getvalue()


def _data(given: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = given.extractfile(member) if member.isfile() else None
    return b"" if file is None else file.read()


def _member(name: str, like: tarfile.TarInfo | None, data: bytes) -> tarfile.TarInfo:
    """The head of a file in the archive; only whether it can be executed, and a link's target, are kept."""
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(data), 0, 0o644
    if like is not None:
        member.type, member.linkname = like.type, like.linkname
        member.mode = 0o755 if like.mode & 0o111 else 0o644
    return member


def hashes(packed: Path) -> dict[str, str]:
    """The hash of every file of an archive, by its path in the checkout. Raises BadInput for no archive."""
    found = {}
    try:
        with tarfile.open(packed, "r:gz") as given:
            for member in given.getmembers():
                if member.isfile():
                    found[member.name.split("/", 1)[-1]] = hashlib.sha256(_data(given, member)).hexdigest()
    except (OSError, EOFError, tarfile.TarError) as error:
        raise BadInput(f"{packed}: not an archive of sources: {error}") from None
    return found


def differing(packed: Path, root: Path) -> list[str]:
    """Files of a checkout that are changed, missing or added beside those of the archive, sorted.

    Files are added only where the measured program lies: others do not change what is measured.
    """
    wanted = hashes(packed)
    wanted.pop(COMMIT, None)
    found = []
    for name, digest in wanted.items():
        path = root / name
        try:
            same = hashlib.sha256(path.read_bytes()).hexdigest() == digest
        except OSError:
            same = False
        if not same:
            found.append(name)
    for path in sorted((root / MEASURED[0]).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name not in wanted and not any(part in BUILT for part in path.parts):
            found.append(name)
    return sorted(found)


def measured(names: list[str]) -> list[str]:
    """The files among `names` from which the measured program is built."""
    return [name for name in names if name.startswith(MEASURED)]


def _git(root: Path, *words: str) -> str:
    return _run(root, *words).decode(errors="replace")


def _run(root: Path, *words: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(root), *words], capture_output=True)
    except OSError:
        raise BadInput(
            "commit: there is no git here; allowed: a checkout of git with the program git"
        ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1] if said else f"git {words[0]} has the status {done.returncode}"
        raise BadInput(f"commit: {why}; allowed: a commit of the checkout {root}")
    return done.stdout
