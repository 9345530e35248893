"""analysis/layers.py finds every kind of breach it is there for, and none in our packages."""

from pathlib import Path

import pytest

import layers

ANALYSIS = Path(__file__).parents[1]
#: Files, and words of the one thing that is said of them.
BREACHES = {
    "an import upwards": (
        {
            "spikemark/core/a.py": "from spikemark.report import page\n",
            "spikemark/report/page.py": "",
        },
        "spikemark/core/a.py:1: imports spikemark.report.page, which is below core",
    ),
    "a module of ours inside a function": (
        {
            "spikemark/core/a.py": "def f():\n    from spikemark.core import b\n",
            "spikemark/core/b.py": "",
        },
        "imports spikemark.core.b inside a function",
    ),
    "a name of a library inside a function": (
        {"spikemark/core/a.py": "def f():\n    from json import loads\n"},
        "spikemark/core/a.py:2: imports json inside a function",
    ),
    "a library inside a function": (
        {"spikemark/core/a.py": "def f():\n    import json\n"},
        "imports json inside a function",
    ),
    "a module under another name": (
        {"spikemark/core/a.py": "from . import b as c\n", "spikemark/core/b.py": ""},
        "imports spikemark.core.b under the name c",
    ),
    "a circle": (
        {
            "spikemark/cli/a.py": "from . import b\n",
            "spikemark/cli/b.py": "def f():\n    from .a import x\n",
        },
        "circle: spikemark.cli.",
    ),
    "a package that is not in the list": (
        {"spikemark/utils/a.py": ""},
        "no package is called utils",
    ),
    "a client in spikemark": (
        {
            "spikemark/cli/a.py": "def f():\n    from spikemark_tender import check\n",
            "spikemark_tender/check.py": "",
        },
        "imports spikemark_tender.check, which spikemark must not know",
    ),
    "a client in a client": (
        {
            "spikemark_studies/a.py": "from spikemark_tender.check import check\n",
            "spikemark_tender/check.py": "",
        },
        "imports spikemark_tender.check, another client",
    ),
    "a module that is not public": (
        {
            "spikemark/core/__init__.py": '__all__ = ["files"]\n',
            "spikemark/core/lock.py": "",
            "spikemark_tender/a.py": "from spikemark.core.lock import locked\n",
        },
        "imports spikemark.core.lock.locked, which is not public",
    ),
    "a package without a list": (
        {
            "spikemark/core/__init__.py": "",
            "spikemark/core/files.py": "",
            "spikemark_tender/a.py": "from spikemark.core import files\n",
        },
        "imports spikemark.core.files, which is not public",
    ),
    "a package in a package that is not listed": (
        {
            "spikemark/report/__init__.py": "__all__ = []\n",
            "spikemark/report/sections/__init__.py": '__all__ = ["speed"]\n',
            "spikemark/report/sections/speed.py": "",
            "spikemark_tender/a.py": "from spikemark.report.sections import speed\n",
        },
        "imports spikemark.report.sections.speed, which is not public",
    ),
    "a private name": (
        {
            "spikemark/core/__init__.py": '__all__ = ["files"]\n',
            "spikemark/core/files.py": "",
            "spikemark_tender/a.py": "from spikemark.core.files import _temporary\n",
        },
        "imports spikemark.core.files._temporary, which is not public",
    ),
}

ALLOWED = {
    "spikemark/__init__.py": '__all__ = ["load"]\n__version__ = "1"\n',
    "spikemark/core/__init__.py": '__all__ = ["files"]\n',
    "spikemark/core/a.py": "from pathlib import Path as P\n",
    "spikemark/core/e.py": "def f():\n    from scipy.signal import welch\n",
    "spikemark/core/files.py": "",
    "spikemark/report/b.py": "from spikemark.core.a import P as Q\nfrom . import c\n",
    "spikemark/report/c.py": "",
    "spikemark/cli/d.py": "def f():\n    import json\n    from spikemark.report import b\n",
    "spikemark_tender/check.py": "import spikemark\nfrom spikemark import __version__, load\n",
    "spikemark_tender/page.py": "from spikemark.core import files\nfrom . import check\n",
    "spikemark_tender/cli.py": "def f():\n    from spikemark.core.files import write\n",
}


def planted(folder: Path, files: dict[str, str]) -> list[str]:
    """The breaches of packages with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(layers.breaches(folder))


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_found(name, tmp_path):
    files, message = BREACHES[name]
    (line,) = planted(tmp_path, files)
    assert message in line


def test_what_is_allowed_is_not_a_breach(tmp_path):
    assert planted(tmp_path, ALLOWED) == []


def test_our_packages_are_in_order():
    assert list(layers.breaches(ANALYSIS)) == []


def test_what_a_package_lists_is_there():
    """Every name of an `__all__` is a name or a module of the package."""
    modules = layers.modules_of(ANALYSIS)
    for package in modules.values():
        for name in layers.public_names(package) or []:
            text = package.path.read_text()
            assert f"{package.name}.{name}" in modules or text.count(name) > 1, (package.name, name)
