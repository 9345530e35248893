#!/usr/bin/env python3
"""Checks the layers of analysis/spikemark: a package imports only packages above it in this list.

    core          errors, files, reading, places
    launch        layouts of ranks, mpirun, srun, allocations of Slurm, watching programs
    quantities    values with interval, unit and kind; tables and parts of pages; numbers as words
    network       run descriptions, placements, schedules as lanes, pools of neurons; known networks (presets)
    models        equations of the papers as pure functions, without files; published numbers of the papers
    machines      machine profiles
    records       plans, results folders, run records, and tables made of them
    waiting, activity    one analysis each
    prediction    time, memory, energy and traffic of runs that were not made; comparison of machines
    running       experiments, sweeps, single runs, simulated machines
    measuring     calibration, benches, energy, Score-P, other simulators
    report        pages, one file per section
    diff          two results side by side; the history of a machine
    studies       one file per study
    tender        rules for bidders, their answers, and what they commit themselves to
    cli           one file per verb

Imports inside functions and imports for type checking count. Prints one line per breach and exits with 1 if
there is one: an import upwards, a circle of modules, an import inside a function outside cli, a module
imported under another name, a package that is not in the list. Outside cli, only
SLOW libraries are imported inside functions: commands that do not call the function start sooner.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PROJECT = "spikemark"
ORDER = (
    "core",
    "launch",
    "quantities",
    "network",
    "models",
    "machines",
    "records",
    "waiting",
    "activity",
    "prediction",
    "running",
    "measuring",
    "report",
    "diff",
    "studies",
    "tender",
    "cli",
)
LAZY = ("cli", "__main__")  # only these may import inside functions, so that commands start quickly
SLOW = ("scipy", "ruptures")  # parts of these take up to two seconds to import


@dataclass(frozen=True)
class Import:
    """`target`: the module, dotted, without the project's name; `lazy`: inside a function."""

    target: str
    line: int
    lazy: bool
    renamed: str | None  # the other name of a module


def modules(source: Path) -> dict[str, Path]:
    """Every module below `source`, dotted, without the project's name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: dict[str, Path]) -> Iterator[Import]:
    """The project's modules that the module `name` imports."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]

    def walk(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ImportFrom) and (base := _base(child, package)) is not None:
                for alias in child.names:
                    full = f"{base}.{alias.name}".lstrip(".")
                    target = full if full in known else base
                    renamed = alias.asname if full in known and alias.asname != alias.name else None
                    yield Import(target, child.lineno, lazy, renamed)
            inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, lazy or inside)

    yield from walk(ast.parse(path.read_text()), False)


def hidden(path: Path) -> list[tuple[int, str]]:
    """Lines and names of other libraries than SLOW ones that are imported inside functions."""
    found = []
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and not node.level:
                    found.append((node.lineno, node.module))
                elif isinstance(node, ast.Import):
                    found += [(node.lineno, alias.name) for alias in node.names]
    return [(line, name) for line, name in found if name.split(".")[0] not in (*SLOW, PROJECT)]


def _base(node: ast.ImportFrom, package: str) -> str | None:
    """The module that is imported from, dotted; None where it is none of the project."""
    if node.level:
        parts = package.split(".") if package else []
        parts = parts[: len(parts) - node.level + 1]
        return ".".join([*parts, *([node.module] if node.module else [])])
    if node.module == PROJECT:
        return ""
    return node.module.removeprefix(f"{PROJECT}.") if node.module.startswith(f"{PROJECT}.") else None


def breaches(source: Path) -> Iterator[str]:
    """Yields one line of text for every breach below `source`."""
    known = modules(source)
    rank = {package: number for number, package in enumerate(ORDER)}
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        where, own = path.relative_to(source).as_posix(), name.split(".")[0]
        if name and own not in rank and own != "__main__":
            yield f"{where}: no package is called {own}; packages: {', '.join(ORDER)}"
            continue
        graph[name] = set()
        for found in imports(name, path, known):
            other = found.target.split(".")[0]
            if found.target != name:
                graph[name].add(found.target)
            if own in rank and rank.get(other, -1) > rank[own]:
                yield f"{where}:{found.line}: imports {found.target}, which is below {own}"
            if found.lazy and own not in LAZY:
                yield f"{where}:{found.line}: imports {found.target or PROJECT} inside a function"
            if found.renamed:
                yield f"{where}:{found.line}: imports {found.target} under the name {found.renamed}"
        if own not in LAZY:
            for line, library in hidden(path):
                yield f"{where}:{line}: imports {library} inside a function"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"circle: {' -> '.join(reversed(error.args[1]))}"


if __name__ == "__main__":
    found = list(breaches(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / PROJECT))
    print("\n".join(found) if found else "layers: in order")
    sys.exit(bool(found))
