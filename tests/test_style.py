"""Formatters, linters and layers: the tools have no complaints."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent
C_SOURCES = [str(f) for end in ("c", "h", "cpp", "hpp") for f in (ROOT / "miniapp").rglob(f"*.{end}")]
SNAKEFILES = [str(ROOT / "Snakefile"), *map(str, (ROOT / "workflows").rglob("*.smk"))]
SCRIPTS = [".ci/run", "tests/bare.sh", "setup/install.sh", *(ROOT / "workflows").rglob("*.sh")]

CHECKS = {
    "ruff check": [TOOLS / "ruff", "check", "--quiet", "."],
    "ruff format": [TOOLS / "ruff", "format", "--check", "--quiet", "."],
    "snakefmt": [TOOLS / "snakefmt", "--line-length", "110", "--check", *SNAKEFILES],
    "clang-format": [TOOLS / "clang-format", "--dry-run", "-Werror", *C_SOURCES],
    "layers": [sys.executable, "miniapp/layers.py"],
    "shell syntax": ["bash", "-c", 'for file; do bash -n "$file" || exit 1; done', "bash", *SCRIPTS],
}


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_to_say(check):
    assert len(C_SOURCES) > 10 and len(SCRIPTS) > 3
    done = subprocess.run(CHECKS[check], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_shell_commands_of_rules_quote_what_they_fill_in():
    """Ids of plan.json reach a shell where Snakemake is called directly."""
    filled = [
        (path, name)
        for path in SNAKEFILES
        for _, command in re.findall(r"""shell:?\(?\n?\s*(['"])(.*)\1""", Path(path).read_text())
        for name in re.findall(r"{([^}]*)}", command)
    ]
    assert filled
    assert not [it for it in filled if not it[1].endswith(":q")]


def test_planted_faults_can_still_be_planted():
    faults = yaml.safe_load((ROOT / "tests/mutants/mutants.yaml").read_text())
    assert len(faults) > 20
    assert not [f["name"] for f in faults if (ROOT / f["file"]).read_text().count(f["old"]) != 1]
