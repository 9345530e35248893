#!/usr/bin/env python3
"""Checks the layers of src and variants: includes point downwards, without circles, and never from
the core to the variants; MPI, OpenMP and clocks stay in their files.

Prints one line per breach and exits with 1 if there is one.
"""

import re
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

#: From below; those of one layer do not include each other.
LAYERS = (
    "base",
    "description",
    "neuron synapse transport measurement",
    "schedule",  # which lanes a run has, and whether they are exact
    "run",  # the network in memory, the cycle loop, and what is read while it turns
    "record",  # what all ranks measured, gathered and written
    # The command line: a run from its description to its record, --explain, --list. core_only: the
    # tables and hooks of the core where it is built without variants.
    "app core_only",
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names.split()}
# What is called or written, and the only files that may.
MAY_USE = {
    r"\bMPI_[A-Z][a-z]\w*\(": (
        r"(transport|run|record|app)/.*|base/fatal\.c|measurement/clock\.[ch]"
    ),
    r"\b(?:smpi|sg)_\w+\(": r"measurement/clock\.[ch]",
    r"\bSCOREP_\w+": r"measurement/regions\.h",
    r"#\s*pragma\s+omp": r"run/(build|counters|dry_routes|simulate)\.c",
    r"\bclock_(now|ahead|ticks|cost)\(": (
        r"measurement/clock\.[ch]"
        r"|run/(counters|dry|dry_routes|measured|phase_timer)\.c|app/job\.c"
    ),
}
# A variable at the left margin, defined rather than declared, that is not constant.
GLOBAL = re.compile(
    r"""
    ^(?:static\s+)?
    (?!.*\bconst\b)(?!.*\b(?:typedef|extern|enum|return)\b)(?!struct\s+\w+\s*[{;])
    [a-z_][\w\s*]*\b\w+        # type and name
    (?:\[[^\]]*\])?\s*(?:=[^=].*)?;
    """,
    re.VERBOSE,
)


def breaches(source: Path) -> Iterator[str]:
    """Yields one line of text for every breach below `source`."""
    for file in sorted(source.rglob("*.[ch]")):
        name = file.relative_to(source).as_posix()
        layer = name.split("/")[0]
        text = file.read_text()
        if layer not in LAYER:
            yield f"{name}: no layer is called {layer}; layers: {', '.join(LAYER)}"
            continue
        yield from wrong_includes(name, layer, text)
        for pattern, allowed in MAY_USE.items():
            use = re.search(pattern, text)
            if use and not re.fullmatch(allowed, name):
                yield f"{name}: {use[0].strip('(')} belongs into {allowed}"
        for number, line in enumerate(text.splitlines(), 1):
            if GLOBAL.match(line):
                yield f"{name}:{number}: a mutable global: {line}"
    yield from circles(source)


def wrong_includes(name: str, layer: str, text: str) -> Iterator[str]:
    """Includes of a file that do not point downwards."""
    for included in re.findall(r'#include "(\w+)/', text):
        if LAYER.get(included, len(LAYERS)) > LAYER[layer]:
            yield f"{name}: includes {included}, which is above {layer}"
        elif LAYER[included] == LAYER[layer] and included != layer:
            yield f"{name}: includes {included}, which is beside {layer}"


def includes(source: Path) -> dict[str, set[str]]:
    """What each unit below `source` includes; a .c file and the header of its name are one unit."""
    units: dict[str, set[str]] = {}
    for file in sorted(source.rglob("*.[ch]")):
        unit = file.relative_to(source).with_suffix("").as_posix()
        headers = re.findall(r'#include "([\w/]+)\.h"', file.read_text())
        units.setdefault(unit, set()).update(set(headers) - {unit})
    return units


def circles(source: Path) -> Iterator[str]:
    """Units that include each other, directly or through others."""
    try:
        TopologicalSorter(includes(source)).prepare()
    except CycleError as error:
        yield f"a circle: {' -> '.join(error.args[1])}"


def of_variants(core: Path, variants: Path) -> Iterator[str]:
    """Includes of the core that only the variants have: the core is built without them."""
    for unit, headers in includes(core).items():
        for header in sorted(headers):
            if not (core / f"{header}.h").exists() and (variants / f"{header}.h").exists():
                yield f"{unit}: includes {header}.h, which belongs to the variants"


def main() -> int:
    """Checks the folders on the command line, or the core and the variants."""
    here = Path(__file__).parent
    core, variants = here / "src", here / "variants"
    folders = [Path(argument) for argument in sys.argv[1:]] or [core, variants]
    lines = [line for folder in folders for line in breaches(folder)]
    lines += of_variants(core, variants)
    print("\n".join(lines) or "layers: in order")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
