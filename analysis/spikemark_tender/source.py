"""The frozen sources of a tender: an archive whose bytes follow from the commit alone.

The buyer archives what git tracks at a commit; a bidder builds what the archive holds. `differing`
compares a checkout with the archive, byte by byte, in what the measured program is built from.
"""

import gzip
import io
import subprocess
import tarfile
from pathlib import Path

from spikemark.core.errors import BadInput

#: What the measured program is built from; it must be as in the archive in every category.
MEASURED = ("miniapp/", "CMakeLists.txt")
#: File with the commit, which the record of a run then names; an unpacked archive has no git.
COMMIT_FILE = ".source-commit"


def commit_of(checkout: Path, name: str | None) -> str:
    """The full hash of the commit that is archived.

    Args:
        checkout: a checkout of git.
        name: a commit, tag or branch; None for what is checked out, if no tracked file differs.

    Raises BadInput outside a checkout of git, for an unknown commit, and for files that differ.
    """
    if name is None:
        _refuse_changes(checkout)
    words = ("rev-parse", "--verify", f"{name or 'HEAD'}^{{commit}}")
    return _git(checkout, *words).decode().strip()


def _refuse_changes(checkout: Path) -> None:
    changes = _git(checkout, "status", "--porcelain", "--untracked-files=no").decode().splitlines()
    if changes:
        file = changes[0][3:]
        raise BadInput(
            field="commit",
            reason=f"{file} is changed and not committed",
            expected="a checkout without changes, or --commit NAME",
        )


def archive(checkout: Path, commit: str) -> bytes:
    """The tracked files of a commit as a compressed tar file, with the commit in COMMIT_FILE.

    The same commit gives the same bytes with the same versions of git and zlib. Raises BadInput
    where git cannot archive it.
    """
    folder = f"spikemark-{commit[:12]}"
    words = ("-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix={folder}/", commit)
    packed = io.BytesIO(_git(checkout, *words))
    content = f"{commit}\n".encode()
    with tarfile.open(fileobj=packed, mode="a") as tar:
        member = tarfile.TarInfo(f"{folder}/{COMMIT_FILE}")
        member.size = len(content)
        tar.addfile(member, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), 9, mtime=0)


def differing(packed: Path, checkout: Path) -> list[str]:
    """Files of the measured program that a checkout has changed, lost or added, in order.

    Args:
        packed: an archive that `archive` made.
        checkout: the folder that is compared with it.
    """
    archived = _archived_files(packed)
    present = _present_files(checkout)
    names = archived.keys() | present.keys()
    return sorted(name for name in names if archived.get(name) != present.get(name))


def _archived_files(packed: Path) -> dict[str, bytes]:
    """Contents of the files of the measured program in an archive, by path."""
    contents = {}
    with tarfile.open(packed, "r:gz") as tar:
        for member in tar:
            _, _, name = member.name.partition("/")  # without the folder of the archive
            if name.startswith(MEASURED) and (file := tar.extractfile(member)) is not None:
                contents[name] = file.read()
    return contents


def _present_files(checkout: Path) -> dict[str, bytes]:
    """Contents of the files of the measured program in a checkout, by path."""
    folder, build_file = MEASURED
    contents = {}
    for path in (*(checkout / folder).rglob("*"), checkout / build_file):
        name = path.relative_to(checkout)
        if path.is_file() and "__pycache__" not in name.parts:
            contents[name.as_posix()] = path.read_bytes()
    return contents


def _git(checkout: Path, *words: str) -> bytes:
    """What a command of git prints. Raises BadInput with the last line of its complaint."""
    try:
        command = ["git", "-C", str(checkout), *words]
        return subprocess.run(command, capture_output=True, check=True).stdout
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.decode(errors="replace").strip() or str(error)
    except OSError as error:
        complaint = str(error)
    raise BadInput(
        field="commit",
        reason=complaint.splitlines()[-1],
        expected=f"a commit of the checkout {checkout}",
    )
