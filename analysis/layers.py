#!/usr/bin/env python3
"""Checks who imports whom in analysis/: packages of spikemark in layers, clients its public API.

A package of spikemark imports only packages above it in this list:

    core          errors, files, reading, places
    launch        layouts of ranks, mpirun, srun, allocations of Slurm, watching programs
    quantities    values with interval, unit and kind; tables and parts of pages; numbers as words
    network       run descriptions, placements, schedules as lanes, pools of neurons; presets
    models        equations of the papers as pure functions, without files
    machines      machine profiles
    records       plans, results folders, run records, and tables made of them
    waiting, activity    one analysis each
    prediction    time, memory, energy and traffic of runs that were not made; machines compared
    running       experiments, sweeps, single runs, simulated machines
    measuring     calibration, benches, energy, Score-P, other simulators
    report        pages, one file per section
    diff          two results side by side; the history of a machine
    api           the functions of the public API (spikemark/__init__.py)
    cli           one file per verb

The packages in CLIENTS stand beside it, and nothing in spikemark knows them. They import only what
spikemark makes public: names in the `__all__` of a package's `__init__.py`, and, where such a name
is a module, names of that module without an underscore.

Imports inside functions and imports for type checking count. Prints one line per breach and exits
with 1 if there is one. Breaches are: an import upwards, of a client, or of what is not public; a
circle of modules; an import inside a function outside `cli` (there, commands start sooner that do
not need it; elsewhere, only what is SLOW is imported so); a module of ours imported under
another name; a package that is not in the list.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SPIKEMARK = "spikemark"
CLIENTS = ("spikemark_studies", "spikemark_tender")
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
    "api",
    "cli",
)
STARTS_QUICKLY = ("cli", "__main__")  # packages that may import inside functions
#: Libraries of which parts take up to two seconds to import, and modules that load such parts.
SLOW = ("arch", "matplotlib", "pandas", "ruptures", "scipy", "seaborn")
SLOW_MODULES = (
    "spikemark.core.csv_file",
    "spikemark.prediction.replayed",
    "spikemark.records.imported",
)


@dataclass(frozen=True)
class Module:
    """A file with Python code."""

    name: str  #: dotted, such as spikemark.core.errors
    path: Path

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__.py` of a folder."""
        return self.path.name == "__init__.py"

    @property
    def distribution(self) -> str:
        """spikemark, or one of the clients."""
        return self.name.split(".")[0]

    @property
    def layer(self) -> str:
        """The package below its distribution, such as core; empty for the distribution itself."""
        return layer_of(self.name)

    @property
    def imports_on_demand(self) -> bool:
        """Whether it may import inside functions."""
        return self.layer in STARTS_QUICKLY

    @cached_property
    def tree(self) -> ast.Module:
        """Its code."""
        return ast.parse(self.path.read_text())


@dataclass(frozen=True)
class Import:
    """One name that a module imports."""

    source: str  #: what stands behind `from`, or `import`, dotted and absolute
    name: str | None  #: what stands behind `import` in `from ... import ...`
    line: int
    in_function: bool
    other_name: str | None  #: what stands behind `as`, if it is not the name itself

    @property
    def full_name(self) -> str:
        """Dotted, as if the name were a module."""
        return self.source if self.name is None else f"{self.source}.{self.name}"


def layer_of(name: str) -> str:
    """The package below the distribution in the dotted name of a module.

    >>> layer_of("spikemark.core.errors"), layer_of("spikemark")
    ('core', '')
    """
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


def modules_of(folder: Path) -> dict[str, Module]:
    """Every module of the distributions in a folder, by name."""
    modules = {}
    for distribution in (SPIKEMARK, *CLIENTS):
        for path in sorted((folder / distribution).rglob("*.py")):
            parts = path.relative_to(folder).with_suffix("").parts
            if parts[-1] == "__init__":
                parts = parts[:-1]
            name = ".".join(parts)
            modules[name] = Module(name, path)
    return modules


def imports_of(module: Module) -> Iterator[Import]:
    """Everything that a module imports, in the order of its lines."""
    yield from _imports_below(module.tree, module, in_function=False)


def _imports_below(node: ast.AST, module: Module, in_function: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):  # most nodes; no import is among them
            continue
        if isinstance(child, ast.ImportFrom):
            source = _absolute(child, module)
            for alias in child.names:
                yield _import(source, alias.name, child.lineno, in_function, alias.asname)
        elif isinstance(child, ast.Import):
            for alias in child.names:
                yield _import(alias.name, None, child.lineno, in_function, alias.asname)
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _imports_below(child, module, in_function or is_function)


def _import(
    source: str, name: str | None, line: int, in_function: bool, alias: str | None
) -> Import:
    is_renamed = alias is not None and alias != (name or source)
    return Import(source, name, line, in_function, alias if is_renamed else None)


def _absolute(node: ast.ImportFrom, module: Module) -> str:
    """The dotted name of the module that a `from` names."""
    if node.level == 0:
        return node.module or ""
    parts = module.name.split(".")
    if not module.is_package:
        parts = parts[:-1]
    parts = parts[: len(parts) - node.level + 1]
    if node.module:
        parts.append(node.module)
    return ".".join(parts)


def public_names(package: Module) -> list[str] | None:
    """The `__all__` of a package; None where it has none."""
    for node in package.tree.body:
        if isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if "__all__" in names:
                return list(ast.literal_eval(node.value))
    return None


def is_public(name: str, modules: dict[str, Module]) -> bool:
    """Whether clients may import what has this full name.

    Args:
        name: dotted, such as spikemark.core.errors.BadInput.
        modules: all modules, by name.
    """
    if name == SPIKEMARK:
        return True
    package, _, last = name.rpartition(".")
    if package not in modules:
        return False
    if last == "__version__":
        return True
    if modules[package].is_package:
        names = public_names(modules[package])
        return names is not None and last in names and _is_reachable(package, modules)
    return not last.startswith("_") and is_public(package, modules)


def _is_reachable(package: str, modules: dict[str, Module]) -> bool:
    """Whether a package is public: one directly in spikemark, or one that is listed."""
    return package.count(".") < 2 or is_public(package, modules)


def breaches(folder: Path) -> Iterator[str]:
    """Yields one line of text for every breach in the distributions of a folder."""
    modules = modules_of(folder)
    imported: dict[str, set[str]] = {}  # modules of ours, by the module that imports them
    for module in modules.values():
        place = module.path.relative_to(folder).as_posix()
        if not _is_listed(module):
            packages = ", ".join(ORDER)
            yield f"{place}: no package is called {module.layer}; packages: {packages}"
            continue
        imported[module.name] = set()
        for entry in imports_of(module):
            target = _module_of(entry, modules)
            if target is not None and target.name != module.name:
                imported[module.name].add(target.name)
            for complaint in _complaints(module, entry, target, modules):
                yield f"{place}:{entry.line}: {complaint}"
    try:
        TopologicalSorter(imported).prepare()
    except CycleError as error:
        yield f"circle: {' -> '.join(reversed(error.args[1]))}"


def _is_listed(module: Module) -> bool:
    """Whether a module of spikemark stands in a package of ORDER."""
    if module.distribution != SPIKEMARK or not module.layer:
        return True
    return module.layer in (*ORDER, "__main__")


def _module_of(entry: Import, modules: dict[str, Module]) -> Module | None:
    """The module of ours that is imported, or that a name is imported from; None for others."""
    return modules.get(entry.full_name) or modules.get(entry.source)


def _complaints(
    module: Module, entry: Import, target: Module | None, modules: dict[str, Module]
) -> Iterator[str]:
    """What is wrong with an import of a module."""
    if target is None:
        library = entry.source.split(".")[0]
        if entry.in_function and not module.imports_on_demand and library not in SLOW:
            yield f"imports {entry.source} inside a function"
        return
    is_slow = target.name in SLOW_MODULES
    if entry.in_function and not module.imports_on_demand and not is_slow:
        yield f"imports {target.name} inside a function"
    if entry.other_name and entry.full_name == target.name:
        yield f"imports {target.name} under the name {entry.other_name}"
    if module.distribution == SPIKEMARK:
        if target.distribution != SPIKEMARK:
            yield f"imports {target.name}, which spikemark must not know"
        elif _is_below(target, module):
            yield f"imports {target.name}, which is below {module.layer}"
    elif target.distribution == SPIKEMARK:
        if not is_public(entry.full_name, modules):
            yield f"imports {entry.full_name}, which is not public"
    elif target.distribution != module.distribution:
        yield f"imports {target.name}, another client of spikemark"


def _is_below(target: Module, module: Module) -> bool:
    """Whether a module of spikemark stands in a layer below that of another."""
    if module.layer not in ORDER:
        return False
    if target.layer not in ORDER:
        return target.layer == "__main__"
    return ORDER.index(target.layer) > ORDER.index(module.layer)


def main() -> int:
    """Prints the breaches in the folder of this file, or in another one; returns their number."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    lines = list(breaches(folder))
    print("\n".join(lines) if lines else "layers: in order")
    return len(lines)


if __name__ == "__main__":
    sys.exit(min(main(), 1))
