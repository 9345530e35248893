"""The programs of this checkout, started as people start them."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import yaml

from spikemark.records.results import Results

ROOT = Path(__file__).parents[1]
MINIAPP = ROOT / "build" / "miniapp"
EXPERIMENTS = ROOT / "workflows" / "experiments"
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",  # as the quickstart says
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # on one core, too
}


def run(*words, cwd=ROOT, timeout: float = 300, **environment: str) -> subprocess.CompletedProcess:
    """Runs a program to its end, for at most `timeout` seconds; nothing is checked."""
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        timeout=timeout,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )


def spikemark(*words, **how) -> subprocess.CompletedProcess:
    return run(sys.executable, "-m", "spikemark", *words, **how)


def workflow(file: Path, results: Results, *arguments: str) -> list[str]:
    """The command line of Snakemake, as in the checkout."""
    results.path.mkdir(parents=True, exist_ok=True)  # Snakemake keeps its own files there
    command = [sys.executable, "-m", "snakemake", "--snakefile", ROOT / "Snakefile"]
    command += ["--directory", results.path]
    command += ["--configfile", file, "--config", f"results={results.path}", *arguments]
    return [str(part) for part in command]


def snakemake(file: Path, results: Results, *arguments: str, **how) -> subprocess.CompletedProcess:
    return run(*workflow(file, results, *arguments), **how)


def experiment(folder: Path, **changes) -> tuple[Path, Results]:
    """The file of a changed `smoke`, and where its results will be."""
    content = yaml.safe_load((EXPERIMENTS / "smoke.yaml").read_text())
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump({**content, "name": "small", **changes}))
    return path, Results(folder / "small" / "here")


def records(results: Results) -> dict[str, int]:
    """When each record was written."""
    return {
        path.parent.name: path.stat().st_mtime_ns
        for path in results.path.glob("runs/*/record.json")
    }


def script(path: Path, *lines: str) -> Path:
    """An executable of bash."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([f"#!{shutil.which('bash')}", *lines, ""]))
    path.chmod(0o755)
    return path


def carry_out(folder: Path, commands: list[str], files: dict[str, str] | None = None) -> str:
    """What commands of a page print, in a folder with the programs of this checkout and these
    files.
    """
    (folder / "build").symlink_to(ROOT / "build")
    (folder / ".venv").symlink_to(Path(sys.executable).parents[1])
    for name, content in (files or {}).items():
        (folder / name).write_text(content)
    lines = ["set -e", "export PATH=$PWD/build:$PWD/.venv/bin:$PATH", *commands]
    done = run("bash", "-c", "\n".join(lines), cwd=folder, timeout=1200, **OPEN_MPI)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def until(happened, limit_s: float = 120) -> None:
    """Waits for it."""
    deadline = time.monotonic() + limit_s
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def checksums(text: str) -> list[str]:
    return re.findall(r"checksum ([0-9a-f]{16})", text)
