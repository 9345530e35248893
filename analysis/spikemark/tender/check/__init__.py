"""The checker of answers, and its assembly into the one file that bidder and buyer run.

The modules of this package need nothing but the standard library of Python 3.9 and import only each other.
"""

import ast
from pathlib import Path

#: In the order in which they stand in check.py: each imports only from those before it.
MODULES = (
    "findings", "reading", "form", "forms", "arrays", "record", "defaults", "bundle", "rules", "spikes",
    "times", "waiting", "copies", "energy", "machine", "figures", "signature", "answer", "command",
)  # fmt: skip
HEAD = '''#!/usr/bin/env python3
"""Checks an answer to a tender of Spikemark: `python3 check.py ANSWER [--bundle BUNDLE] [--json]`.

It needs Python 3.9 or later and nothing else. The verdict is VALID, INVALID or INCOMPLETE, with numbered
reasons; the exit status is 0, 1 or 2. This file was assembled from analysis/spikemark/tender/check/.
"""

from __future__ import annotations

'''
FOOT = """

if __name__ == "__main__":
    sys.exit(main(beside=os.path.dirname(os.path.abspath(__file__))))
"""
WIDTH = 110


def text() -> str:
    """The text of check.py. The same sources give the same bytes."""
    imports: set[str] = set()
    parts = []
    for name in MODULES:
        source = (Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8")
        parts.append(_banner(name) + _body(source, imports))
    plain = sorted(line for line in imports if line.startswith("import "))
    chosen = sorted(line for line in imports if not line.startswith("import "))
    return HEAD + "\n".join([*plain, *chosen]) + "\n" + "".join(parts) + FOOT


def _banner(name: str) -> str:
    return f"\n\n# {f' {name} '.center(WIDTH - 2, '-')}\n"


def _body(source: str, imports: set[str]) -> str:
    """A module without its imports, which are added to `imports`; its docstring becomes a comment."""
    lines, tree = source.splitlines(), ast.parse(source)
    drop: set[int] = set()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            drop.update(range(node.lineno, node.end_lineno + 1))
            if isinstance(node, ast.Import) or (node.level == 0 and node.module != "__future__"):
                imports.add(ast.unparse(node))
    first = tree.body[0]
    comment = [f"# {line}".rstrip() for line in ast.get_docstring(tree).splitlines()]
    drop.update(range(first.lineno, first.end_lineno + 1))
    rest = "\n".join(line for number, line in enumerate(lines, 1) if number not in drop)
    return "\n".join(comment) + "\n\n" + rest.strip() + "\n"
