"""Plants the faults of mutants.yaml, one after another, in a copy of the tree, for tests to find.

    python tests/mutants/run.py [--all] [WORD]     faults whose name or file holds WORD

Each fault must be found by its killer, or with --all by the fast suite. Prints a line per fault;
exit status 1 if one is not found, cannot be planted, or does not compile.
"""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
FAST = ["-m", "not nightly and not alone and not slurm", "tests", "analysis/tests", "miniapp/tests"]
TARGETS = "miniapp"


def copied(folder: Path) -> Path:
    """A copy of what git tracks or would track.

    It gets a build of its own, and the tools of this environment.
    """
    tree = folder / "tree"
    git = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(git, cwd=ROOT, capture_output=True, check=True).stdout.decode()
    for name in names.split("\0"):
        if name and (ROOT / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tree / name)
    for built in (".venv", "build-smpi"):
        if (ROOT / built).exists():
            (tree / built).symlink_to(ROOT / built)
    return tree


def compiled(tree: Path, target: str) -> None:
    """Builds in the copy. Raises CalledProcessError."""
    settings = ["-S", tree, "-B", tree / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    environment = {**os.environ, "CCACHE_BASEDIR": str(tree)}  # else ccache knows nothing of a copy
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "env": environment}
    if not (tree / "build" / "build.ninja").exists():
        subprocess.run(["cmake", *settings], **quiet)
    subprocess.run(["cmake", "--build", tree / "build", "--target", *target.split()], **quiet)


def tested(tree: Path, arguments: list[str]) -> int:
    """The exit status of pytest: 0 if the tests passed, 1 if one failed."""
    paths = [str(tree / "build"), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {
        **os.environ,
        "PYTHONPATH": str(tree / "analysis"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PATH": os.pathsep.join(paths),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *arguments]
    with open(tree / "pytest.log", "w") as log:
        done = subprocess.run(command, cwd=tree, env=environment, stdout=log, stderr=log)
    return done.returncode


def verdict(tree: Path, mutant: dict, everything: bool) -> str:
    """`killed`, or what is wrong."""
    path, old = tree / mutant["file"], mutant["old"]
    if not path.is_file():
        return "no such file"
    content = path.read_text()
    if content.count(old) != 1:
        return f"its text is there {content.count(old)} times"
    path.write_text(content.replace(old, mutant["new"]))
    try:
        compiled(tree, "all" if everything else TARGETS)  # also what the fault before has left
        status = tested(tree, FAST if everything else shlex.split(mutant["killer"]))
    except subprocess.CalledProcessError:
        return "does not compile"
    finally:
        path.write_text(content)
    return {0: "alive", 1: "killed"}.get(status, f"pytest ended with {status}")


def main() -> int:
    """The exit status."""
    words = [word for word in sys.argv[1:] if word != "--all"]
    mutants = yaml.safe_load(Path(__file__).with_name("mutants.yaml").read_text())
    chosen = [m for m in mutants if all(word in m["name"] + m["file"] for word in words)]
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        compiled(tree, "all" if "--all" in sys.argv else TARGETS)
        for mutant in chosen:
            begin = time.monotonic()
            result = verdict(tree, mutant, "--all" in sys.argv)
            wrong += result != "killed"
            print(f"{result:8} {time.monotonic() - begin:5.1f} s  {mutant['name']}", flush=True)
    print(f"{len(chosen) - wrong} of {len(chosen)} killed")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
