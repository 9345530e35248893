"""Formatters, linters and layers: the tools have no complaints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent
C_SOURCES = sorted(
    str(f) for suffix in ("c", "h", "cpp", "hpp") for f in (ROOT / "miniapp").rglob(f"*.{suffix}")
)
SNAKEFILES = sorted([str(ROOT / "Snakefile"), *map(str, (ROOT / "workflows").rglob("*.smk"))])

CHECKS = {
    "ruff check": [TOOLS / "ruff", "check", "--quiet", "."],
    "ruff format": [TOOLS / "ruff", "format", "--check", "--quiet", "."],
    "snakefmt": [TOOLS / "snakefmt", "--line-length", "110", "--check", *SNAKEFILES],
    "clang-format": [TOOLS / "clang-format", "--dry-run", "-Werror", *C_SOURCES],
    "layers": [sys.executable, "miniapp/layers.py"],
    "layers of the analysis": [sys.executable, "analysis/layers.py"],
    "shell syntax": [
        "bash",
        "-n",
        "setup/install.sh",
        "workflows/peers/install.sh",
        "miniapp/tests/openmpi5.sh",
        ".ci/run",
    ],
}


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_to_say(check):
    done = subprocess.run(CHECKS[check], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_files_checked_are_there():
    assert len(C_SOURCES) > 10
    assert len(SNAKEFILES) > 1


def test_shell_commands_of_rules_quote_what_they_fill_in():
    """Ids of plan.json reach a shell where Snakemake is called directly."""
    filled = [
        (path.name, name)
        for path in (ROOT / "workflows" / "rules").glob("*.smk")
        for command in re.findall(r'shell:\n\s+"(.*)"', path.read_text())
        for name in re.findall(r"{([^}]*)}", command)
    ]
    assert len(filled) >= 8
    assert not [it for it in filled if not it[1].endswith(":q")]
