"""Whether a page of a study still describes the code: digests of what it rests on.

A page written by `spikemark study NAME --markdown FILE` ends with a comment that holds a digest of
each part in PARTS. Where one differs from that of the checkout, the page was made with another
model, profile, claim or experiment: `differences` says which, and `marked` puts that on the first
line of the page, with the command that makes it again.

Digests are of meaning, not of text: Python without comments and docstrings, YAML and CSV as they
are read. So a better comment makes no page out of date.

    python -m spikemark_studies.staleness    # marks the pages in docs/results, and lists them
"""

import ast
import hashlib
import json
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

import spikemark
from spikemark.core import places
from spikemark.core.commands import command
from spikemark.core.files import write_atomically
from spikemark.core.yaml_file import read_yaml
from spikemark.quantities.words import listed

from .published import papers
from .study import load_paper, paper_file, study_names

#: Code and data from which modelled and simulated numbers come.
MODEL_PACKAGES = ("activity", "machines", "models", "network", "prediction", "running/simulation")
SUFFIXES = (".py", ".yaml", ".csv")  #: of code, and of the numbers that it reads
PARTS = ("models", "profiles", "claims", "experiments")
SHOWN_DIGITS = 12  #: of a digest of 64
_COMMENT = re.compile(r"<!-- rests on: (.*?) -->")
_MARK = re.compile(r"\*\*Out of date\.\*\* .*?\n\n")


def digests(name: str) -> dict[str, str]:
    """The digest of each part that a study rests on, by name of the part.

    Example:
        >>> list(digests("du"))
        ['models', 'profiles', 'claims', 'experiments']
    """
    package = Path(spikemark.__file__).parent
    priors = package / "machines" / "priors.yaml"
    sources: list[Path] = []
    for folder in MODEL_PACKAGES:
        for file in sorted((package / folder).rglob("*")):
            if file.suffix in SUFFIXES and file != priors:
                sources.append(file)
    module = import_module(f".{name}", __package__)
    paper = load_paper(name)
    machines = places.root() / "machines"
    profiles = [priors]
    profiles += [machines / f"{profile}.yaml" for profile in paper.profiles]
    workflows = places.root() / "workflows" / "experiments"
    experiments = [workflows / f"{experiment}.yaml" for experiment in paper.experiments]
    published = sorted(papers.path("any").parent.glob("*.csv"))
    return {
        "models": _digest(_meaning(source) for source in sources),
        "profiles": _digest(_meaning(file) for file in profiles if file.is_file()),
        "claims": _digest(
            _meaning(file) for file in (paper_file(name), *_modules(module), *published)
        ),
        "experiments": _digest(_meaning(file) for file in experiments),
    }


def comment(name: str) -> str:
    """The last line of a page: what it rests on."""
    parts = [f"{part} {digest}" for part, digest in digests(name).items()]
    return f"<!-- rests on: {', '.join(parts)} -->"


def differences(name: str, page: str) -> list[str]:
    """Parts that have changed since a page was written; all of them where it states no digests.

    Example:
        >>> differences("du", "# A page without digests")
        ['models', 'profiles', 'claims', 'experiments']
    """
    stated = _COMMENT.search(page)
    if stated is None:
        return list(PARTS)
    written = dict(part.split(" ") for part in stated[1].split(", "))
    return [part for part, digest in digests(name).items() if written.get(part) != digest]


def marked(name: str, page: str) -> str:
    """A page with a line on top that says how it is out of date, or without one where it is not.

    Example:
        >>> marked("du", "# A page without digests").partition(" Its")[0]
        '**Out of date.**'
    """
    page = _MARK.sub("", page, count=1)
    changed = differences(name, page)
    if not changed:
        return page
    again = command("study", name, markdown=f"docs/results/{name}.md")
    reason = f"Its {listed(changed)} have changed since it was written; `{again}` makes it again."
    return f"**Out of date.** {reason}\n\n{page}"


def page_file(name: str) -> Path:
    """The page of a study in the documentation.

    Example:
        >>> page_file("du").name
        'du.md'
    """
    return places.checkout() / "docs" / "results" / f"{name}.md"


def main() -> int:
    """Marks the pages of the documentation; prints those that are out of date."""
    for name in study_names():
        file = page_file(name)
        page = file.read_text(encoding="utf-8")
        write_atomically(file, marked(name, page))
        changed = differences(name, page)
        if changed:
            print(f"{file}: out of date: {listed(changed)}")
    return 0


def _modules(module: ModuleType) -> list[Path]:
    """The file of a study's module, and of all modules of this package that it imports."""
    folder = Path(str(module.__file__)).parent
    files = [Path(str(module.__file__))]
    for file in files:  # which grows meanwhile
        for statement in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(statement, ast.ImportFrom) or statement.level != 1:
                continue
            names = {statement.module or "", *(alias.name for alias in statement.names)}
            for name in sorted(names):
                path = folder / f"{name.replace('.', '/')}.py"
                if path.is_file() and path not in files:
                    files.append(path)
    return files


def _digest(meanings: Iterable[str]) -> str:
    digest_of_all = hashlib.sha256()
    for meaning in meanings:
        digest_of_all.update(meaning.encode())
    return digest_of_all.hexdigest()[:SHOWN_DIGITS]


def _meaning(file: Path) -> str:
    """The content of a file without what changes no number: comments, docstrings, layout."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        return _meaning_of_python(text)
    if file.suffix == ".yaml":
        return json.dumps(read_yaml(file), sort_keys=True, default=str)
    return text


@cache
def _meaning_of_python(text: str) -> str:
    """Kept, since every study rests on the same models."""
    return ast.dump(_without_docstrings(ast.parse(text)))


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        if ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree


if __name__ == "__main__":
    sys.exit(main())
