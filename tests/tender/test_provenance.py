"""The commit that a build names: of its own checkout, or of the archive that it was unpacked from."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "miniapp" / "provenance.cmake"


def git(folder, *words) -> str:
    named = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
    return subprocess.run(
        ["git", "-C", str(folder), *named, *words], check=True, capture_output=True, text=True
    ).stdout.strip()


@pytest.fixture
def outer(tmp_path):
    """A checkout of something else, in which sources may lie."""
    folder = tmp_path / "outer"
    (folder / "inner").mkdir(parents=True)
    (folder / "file").write_text("tracked\n")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "first")
    return folder


def named(source, tmp_path) -> tuple[str, str]:
    """The commit and `dirty` that a build of `source` would name."""
    out = tmp_path / "provenance.c"
    options = {"SOURCE": source, "OUTPUT": out, "VERSION": "1", "COMPILER": "c", "FLAGS": "f"}
    words = [f"-D{name}={value}" for name, value in options.items()]
    subprocess.run(["cmake", *words, "-P", str(SCRIPT)], check=True)
    lines = out.read_text().splitlines()
    commit = next(line.split('"')[1] for line in lines if "provenance_commit" in line)
    dirty = next(line.split("=")[1].strip(" ;") for line in lines if "provenance_dirty" in line)
    return commit, dirty


def test_of_a_checkout_it_is_the_commit_and_whether_files_differ(outer, tmp_path):
    assert named(outer, tmp_path) == (git(outer, "rev-parse", "HEAD"), "0")
    (outer / "file").write_text("changed\n")
    assert named(outer, tmp_path) == (git(outer, "rev-parse", "HEAD"), "1")


def test_of_an_archive_it_is_the_archives_even_inside_another_checkout(outer, tmp_path):
    assert named(outer / "inner", tmp_path) == ("", "-1")
    (outer / "inner" / ".source-commit").write_text(f"{'ab' * 20}\n")
    assert named(outer / "inner", tmp_path) == ("ab" * 20, "-1")


def test_a_name_that_is_no_commit_is_not_taken_over(tmp_path):
    (tmp_path / ".source-commit").write_text('"; evil\n')
    assert named(tmp_path, tmp_path)[0] == ""
