"""The site: `make docs` makes it from the Markdown of the checkout, the commands and the
docstrings.
"""

import re
import shutil
import sys
from pathlib import Path

import typer.main

import spikemark
from spikemark.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS))
import gallery  # noqa: E402

GENERATED = DOCS / "generated"

project = "Spikemark"
copyright = author = "The Spikemark developers"
release = version = spikemark.__version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
include_patterns = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "miniapp/FORMAT.md",
    "results/README.md",
    "results/examples/README.md",
]
include_patterns += ["workflows/experiments/README.md", "docs/*.md", "docs/**/*.md"]
exclude_patterns = [".*", "build*", "out", "analysis", "tests"]
root_doc = "README"
html_theme = "furo"
html_title = f"Spikemark {release}"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
suppress_warnings = ["myst.header"]  # a page may start at any level of heading
highlight_language = "none"
autodoc_default_options = {"members": True, "member-order": "bysource", "no-value": True}
nb_execution_mode = "cache"  # notebooks are executed anew where their code has changed
nb_execution_raise_on_error = True
nb_execution_timeout = 120  # seconds for a cell
smartquotes = False  # it makes one dash of the two of an option
autodoc_typehints_format = "short"

# Titles of the navigation, and their pages; others come last.
PAGES = {
    "Tutorials": "quickstart gallery waiting your-network python",
    "Notebooks": "notebooks/sweep notebooks/other-program notebooks/two-machines",
    "How to": (
        "sweeps clusters calibrate other-simulators choose-a-machine tender diff energy-and-traces"
        " without-a-cluster placement studies"
    ),
    "Reference": (
        "generated/commands /miniapp/FORMAT experiments machine-profile columns glossary"
        " generated/api"
    ),
    "Explanation": "miniapp models trust architecture",
    "Project": (
        "README /CONTRIBUTING /CHANGELOG /results/README /results/examples/README"
        " /workflows/experiments/README"
    ),
}
# Modules whose functions other programs may call.
API = """records.frames waiting.replay models.recursion models.order_statistics models.waiting_iid
models.access models.loggp models.exchange_times network.lanes quantities.quantity quantities.table
core.errors"""


def commands() -> str:
    """The help of every command, in Markdown."""
    text = [
        "# Commands",
        "`spikemark COMMAND --help` prints the same.",
        "Exit status: 0 done, 1 failed, 2 bad input.",
    ]

    def add(name: str, command: object, level: int) -> None:
        context = command.make_context(name, [], resilient_parsing=True)
        text.append(f"{'#' * level} {name}")
        text.append((command.help or "").replace("\b\n", "").replace("<", "\\<"))
        usage = " ".join(command.collect_usage_pieces(context))
        text.append(f"    {name} {usage}")
        if inner := getattr(command, "commands", None):
            for part in sorted(inner):
                if not inner[part].hidden:
                    add(f"{name} {part}", command.get_command(context, part), min(level + 1, 3))
        shown = [
            one.get_help_record(context)
            for one in command.params
            if not getattr(one, "hidden", False)
        ]
        rows = [
            [re.sub(r"\s+", " ", cell).replace("|", "\\|") for cell in one] for one in shown if one
        ]
        rows = [one for one in rows if one[0] != "--help"]
        # An argument says in its name what it is; Typer adds the type of Python.
        rows = [[re.sub(r"^([A-Z|.]+) <.*>$", r"\1", option), means] for option, means in rows]
        if rows:
            lines = [
                f"| `{option}` | {means.replace('<', chr(92) + '<')} |" for option, means in rows
            ]
            text.append("\n".join(["| argument or option | meaning |", "| --- | --- |", *lines]))

    program = typer.main.get_command(main.app)
    context = program.make_context("spikemark", [], resilient_parsing=True)
    for name in sorted(program.commands):
        command = program.get_command(context, name)
        if not command.hidden:
            add(f"spikemark {name}", command, 2)
    return "\n\n".join(text) + "\n"


def api() -> str:
    """A page of autodoc's directives."""
    names = [f"spikemark.{name}" for name in API.split()]
    parts = [f"## {name}\n\n```{{eval-rst}}\n.. automodule:: {name}\n```" for name in names]
    head = ["# Python functions", "For programs that read results or evaluate the models."]
    return "\n\n".join([*head, *parts]) + "\n"


def plain(
    app: object, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Docstrings are plain text with code in backticks, no reStructuredText."""
    parts = "\n".join(lines).split("`")
    marked = [
        part if i % 2 else re.sub(r"([*|\\]|_(?=\W|$))", r"\\\1", part)
        for i, part in enumerate(parts)
    ]
    text = "".join(f"``{part}``" if i % 2 else part for i, part in enumerate(marked))
    blocks = re.split(r"\n\s*\n", text)
    for i, block in enumerate(blocks):
        if re.search(r"^( |- )", block, re.M):  # a list or a table: keeps its lines
            blocks[i] = "\n".join(f"| {line}" for line in block.split("\n"))
    lines[:] = "\n\n".join(blocks).split("\n")


def navigation(app: object, name: str, source: list[str]) -> None:
    """Adds the table of contents to the front page, and links to its pages to the gallery."""
    if name == "docs/gallery":
        source[0] = gallery.with_links(source[0])
    if name != root_doc:
        return
    trees = {title: [_path(page) for page in pages.split()] for title, pages in PAGES.items()}
    named = {page for pages in trees.values() for page in pages}
    for title, pattern in {
        "Results": "results/*.md",
        "More": "*.md",
    }.items():
        found = sorted(_path(str(page.relative_to(DOCS))[:-3]) for page in DOCS.glob(pattern))
        trees[title] = [page for page in found if page not in named]
    for title, pages in trees.items():
        if pages:
            body = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:caption: {title}\n:hidden:\n\n{body}\n```\n"


def _path(page: str) -> str:
    """From the root of the checkout."""
    return page if page.startswith("/") else f"/docs/{page}"


def front(app: object, error: Exception | None) -> None:
    """A browser opens index.html; the pages of the gallery stand beside its text."""
    if error is None and app.builder.name == "html":
        gallery.write(Path(app.outdir) / "docs" / "gallery")
        shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def with_sources(app: object) -> list[object]:
    """Drops modules without sources, such as builtins, to which viewcode's index would link."""
    modules = getattr(app.env, "_viewcode_modules", {})
    app.env._viewcode_modules = {name: entry for name, entry in modules.items() if entry}
    return []


def setup(app: object) -> None:
    """Writes the generated pages before Sphinx looks for sources."""
    GENERATED.mkdir(exist_ok=True)
    for name, text in {"commands": commands(), "api": api()}.items():
        path = GENERATED / f"{name}.md"
        if not path.is_file() or path.read_text() != text:
            path.write_text(text)
    app.connect("autodoc-process-docstring", plain)
    app.connect("source-read", navigation)
    app.connect("html-collect-pages", with_sources, priority=1)  # before viewcode writes its pages
    app.connect("build-finished", front)
