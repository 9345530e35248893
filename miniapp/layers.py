#!/usr/bin/env python3
"""Checks the layers of src and variants: includes point downwards; MPI, OpenMP, clocks stay in their files.

Prints one line per breach and exits with 1 if there is one.
"""

import re
import sys
from pathlib import Path

#: From below; those of one layer do not include each other.
LAYERS = (
    "base",
    "description",
    "neuron synapse transport measurement",
    "schedule",  # which lanes a run has, and whether they are exact
    "run",  # the network in memory, the cycle loop, and what is read while it turns
    "record",  # what all ranks measured, gathered and written
    "app",  # the command line: a run from its description to its record, --explain, --list
)
LAYER = {name: number for number, names in enumerate(LAYERS) for name in names.split()}
# What is called or written, and the only files that may.
MAY_USE = {
    r"\bMPI_[A-Z][a-z]\w*\(": r"(transport|run|record|app)/.*|base/alloc\.c|measurement/clock\.[ch]",
    r"\b(?:smpi|sg)_\w+\(": r"measurement/clock\.[ch]",
    r"\bSCOREP_\w+": r"measurement/phases\.h",
    r"#\s*pragma\s+omp": r"run/(build|counters|dry|simulate)\.c",
    r"\bclock_(now|ahead|ticks|cost)\(": r"measurement/clock\.[ch]"
    r"|run/(counters|dry|simulate)\.c|app/job\.c",
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


def breaches(source: Path):
    """Yields one line of text for every breach below `source`."""
    for file in sorted(source.rglob("*.[ch]")):
        name = file.relative_to(source).as_posix()
        layer = name.split("/")[0]
        text = file.read_text()
        if layer not in LAYER:
            yield f"{name}: no layer is called {layer}; layers: {', '.join(LAYER)}"
            continue
        for included in re.findall(r'#include "(\w+)/', text):
            if LAYER.get(included, 9) > LAYER[layer]:
                yield f"{name}: includes {included}, which is above {layer}"
            elif LAYER[included] == LAYER[layer] and included != layer:
                yield f"{name}: includes {included}, which is beside {layer}"
        for pattern, allowed in MAY_USE.items():
            found = re.search(pattern, text)
            if found and not re.fullmatch(allowed, name):
                yield f"{name}: {found[0].strip('(')} belongs into {allowed}"
        for number, line in enumerate(text.splitlines(), 1):
            if GLOBAL.match(line):
                yield f"{name}:{number}: a mutable global: {line}"


if __name__ == "__main__":
    here = Path(__file__).parent
    found = [b for f in sys.argv[1:] or (here / "src", here / "variants") for b in breaches(Path(f))]
    print("\n".join(found) if found else "layers: in order")
    sys.exit(bool(found))
