"""Commands that are imported when they are asked for, and those that other packages add."""

import importlib
import subprocess
import sys

import pytest

from spikemark.cli import groups, main

PLUGIN = """
import typer

def hello(name: str) -> None:
    '''Greet somebody.'''
    print("hello", name)

def add_hello(app: typer.Typer) -> None:
    app.command(rich_help_panel="Answer a question")(hello)

def add_group(app: typer.Typer) -> None:
    group = typer.Typer(help="Commands of a group.")
    group.command()(hello)
    group.command("bye")(hello)
    app.add_typer(group, name="talk", rich_help_panel="Talk")

def add_predict(app: typer.Typer) -> None:
    app.command("predict")(hello)

def add_nothing(app: typer.Typer) -> None:
    raise RuntimeError("no licence")
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that installs a package which adds commands by the functions named."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "polite.py").write_text(PLUGIN)
    information = tmp_path / "polite-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: polite\nVersion: 1.0\n")

    def install(*functions: str) -> None:
        lines = [f"{function} = polite:{function}" for function in functions]
        text = "\n".join([f"[{groups.ENTRY_POINTS}]", *lines])
        (information / "entry_points.txt").write_text(text + "\n")
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, "polite", raising=False)

    return install


def test_a_package_adds_commands_and_groups_in_panels(package, spikemark):
    package("add_hello", "add_group")
    assert spikemark("hello", "you") == (0, "hello you\n", "")
    assert spikemark("talk", "bye", "you") == (0, "hello you\n", "")
    status, output, errors = spikemark("--help")
    assert (status, errors) == (0, "")
    before, talk = output.split("Talk:")
    assert "talk" in talk and "Commands of a group." in talk
    answers = before.split("Answer a question:")[1].split("\n\n")[0]
    assert "predict" in answers and "Greet somebody." in answers


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        ("add_predict", "there is a command predict already"),
        ("add_nothing", "RuntimeError: no licence"),
        ("add_what", "AttributeError: module 'polite' has no attribute 'add_what'"),
    ],
)
def test_a_package_that_cannot_be_used_is_named_and_left_out(package, spikemark, function, reason):
    package(function, "add_group")
    status, output, errors = spikemark("--help")
    assert status == 0 and "Commands of a group." in output
    assert errors == f"spikemark: commands of polite:{function} are left out: {reason}\n"
    status, output, errors = spikemark("predict", "--help")
    assert (status, errors) == (0, "") and "supermuc-ng" in output


@pytest.mark.parametrize("name", main.MODULES)
def test_each_module_has_the_commands_that_are_listed(name):
    assert main.commands()[name].name == name


def modules_loaded_by(*words: str) -> set[str]:
    """Modules that are imported when a command line is carried out in a process of its own."""
    code = f"""
import sys
from spikemark.cli.main import main
try:
    main({list(words)})
finally:
    print(*sys.modules, file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return set(done.stderr.splitlines()[-1].split())


def test_a_command_imports_only_its_own_module():
    loaded = modules_loaded_by("diff", "--help")
    others = {f"spikemark.cli.{module}" for name, module in main.MODULES.items() if name != "diff"}
    assert "spikemark.cli.diff" in loaded
    assert not loaded & {*others, "numpy", "rich"}


def test_help_needs_no_heavy_libraries():
    """Answering at once is a matter of what is imported, which can be tested without a clock."""
    heavy = [
        "numpy",
        "pydantic",
        "yaml",
        "pandas",
        "matplotlib",
        "scipy",
        "snakemake",
        "pyarrow",
        "rich",
    ]
    assert not modules_loaded_by("--help") & {*heavy, "spikemark.launch"}


@pytest.mark.slow
@pytest.mark.parametrize("program", ["mini-app", "nest"])
def test_a_prediction_needs_no_frames(program):
    """pandas and Arrow take half of the time of a prediction to load. The waiting of the mini-app
    needs SciPy, which takes another sixth.
    """
    words = ("predict", "microcircuit", "--full", "--machine", "jureca-dc", "--nodes", "2")
    loaded = modules_loaded_by(*words, "--program", program)
    assert "spikemark.prediction.predicted" in loaded
    assert not loaded & {"pandas", "pyarrow", "matplotlib"}
    assert ("scipy.special" in loaded) == (program == "mini-app")


@pytest.mark.parametrize("module", ["spikemark.running.sweeps", "spikemark.running.simulation"])
def test_a_workflow_and_its_simulated_runs_need_no_frames(module):
    """Each of a sweep's processes would take half of its start for them, and for SciPy."""
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = set(done.stdout.split())
    assert module in loaded
    assert not loaded & {"pandas", "pyarrow", "scipy", "matplotlib"}


def test_help_names_no_type_of_the_language(spikemark):
    """Such as <list[str]> or <path>: what stands in angle brackets are values to choose from."""
    for command in main.commands():
        shown = spikemark(command, "--help")[1]
        assert not [name for name in groups.PLAIN_TYPES if name in shown], command
