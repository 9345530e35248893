"""Formatters, linters, types and layers: the tools have no complaints."""

import ast
import collections
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
TOOLS = Path(sys.executable).parent
C_SOURCES = [
    str(f) for end in ("c", "h", "cpp", "hpp") for f in (ROOT / "miniapp").rglob(f"*.{end}")
]
SNAKEFILES = [str(ROOT / "Snakefile"), *map(str, (ROOT / "workflows").rglob("*.smk"))]
SCRIPTS = [".ci/run", "tests/bare.sh", "setup/install.sh", *(ROOT / "workflows").rglob("*.sh")]

CHECKS = {
    "ruff check": [TOOLS / "ruff", "check", "--quiet", "."],
    "ruff format": [TOOLS / "ruff", "format", "--check", "--quiet", "."],
    "snakefmt": [TOOLS / "snakefmt", "--line-length", "100", "--check", *SNAKEFILES],
    "clang-format": [TOOLS / "clang-format", "--dry-run", "-Werror", *C_SOURCES],
    "layers of the mini-app": [sys.executable, "miniapp/layers.py"],
    "includes of the mini-app": [sys.executable, "miniapp/includes.py"],
    "layers of the analysis": [sys.executable, "analysis/layers.py"],
    "shell syntax": [
        "bash",
        "-c",
        'for file; do bash -n "$file" || exit 1; done',
        "bash",
        *SCRIPTS,
    ],
}


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_to_say(check):
    assert len(C_SOURCES) > 10 and len(SCRIPTS) > 3
    done = subprocess.run(CHECKS[check], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types():
    """A few seconds; where nothing is in .mypy_cache yet, half a minute."""
    done = subprocess.run([TOOLS / "mypy"], cwd=ROOT, capture_output=True, text=True)
    errors = done.stdout.splitlines()
    assert done.returncode == 0, "\n".join(errors[:10] + errors[-1:] + [done.stderr])


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


def test_files_that_comments_of_the_program_name_exist():
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    paths = [f"/{path}" for path in tracked.stdout.split()]
    built = {"provenance.c"}  # written by CMake
    missing = []
    for source in C_SOURCES:
        if "/tests/" in source:
            continue
        for comment in re.findall(r"//(.*)", Path(source).read_text()):
            for name in re.findall(r"[\w./-]*\w\.(?:c|h|py)\b", comment):
                if name not in built and not any(path.endswith(f"/{name}") for path in paths):
                    missing.append((source, name))
    assert len(paths) > 100
    assert not missing


def test_a_class_has_a_name_of_its_own():
    """One name, one class: a reader who looks for it finds one."""
    files = collections.defaultdict(list)
    for path in sorted((ROOT / "analysis").glob("spikemark*/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                files[node.name].append(path.name)
    assert len(files) > 300
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}
