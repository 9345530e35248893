"""analysis/layers.py finds every kind of breach it is there for, and none in the package."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
layers = runpy.run_path(str(ROOT / "layers.py"))
CIRCLE = {"cli/a.py": "from . import b\n", "cli/b.py": "def f():\n    from .a import x\n"}
#: Files of a package, and words of what is said of them.
BREACHES = [
    ({"core/a.py": "from spikemark.report import page\n", "report/page.py": ""}, "which is below core"),
    (
        {"core/a.py": "def f():\n    from spikemark.core import b\n", "core/b.py": ""},
        "core.b inside a function",
    ),
    ({"core/a.py": "def f():\n    from json import loads\n"}, "imports json inside a function"),
    ({"core/a.py": "def f():\n    import json\n"}, "imports json inside a function"),
    ({"core/a.py": "from . import b as c\n", "core/b.py": ""}, "imports core.b under the name c"),
    (CIRCLE, "circle: cli."),
    ({"utils/a.py": ""}, "no package is called utils"),
]


def planted(folder: Path, files: dict[str, str]) -> list[str]:
    """The breaches of a package with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return list(layers["breaches"](folder))


@pytest.mark.parametrize(("files", "message"), BREACHES)
def test_a_breach_is_found(files, message, tmp_path):
    (found,) = planted(tmp_path, files)
    assert message in found


def test_what_is_allowed_is_not_a_breach(tmp_path):
    files = {
        "core/a.py": "from pathlib import Path as P\n",
        "report/b.py": "from spikemark.core.a import P as Q\nfrom . import c\n",
        "report/c.py": "",
        "core/e.py": "def f():\n    from scipy.signal import welch\n",
        "cli/d.py": "def f():\n    import json\n    from spikemark.report import b\n",
    }
    assert planted(tmp_path, files) == []


def test_the_package_is_in_order():
    assert list(layers["breaches"](ROOT / layers["PROJECT"])) == []
