"""Every command that the code, a screen or a message proposes exists, and does what it was proposed
for.

What the code says is looked through for commands and options. Then commands are asked about runs,
files and machines; whatever their screens propose is carried out, and so is what that proposes.
"""

import ast
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dry_folder
import foreign_logs
import machine_file
import numpy as np
import proposed
import pytest
import swept
import synthetic
import yaml
from checkout import ROOT
from checkout import run as run_program
from small_network import describe

import layers
import spikemark

PACKAGE = ROOT / "analysis" / "spikemark"
MADE_BY = PACKAGE / "core" / "commands.py"
DOCUMENTED = ast.Module | ast.FunctionDef | ast.ClassDef
#: Options of other programs in prose.
FOREIGN = {
    "--bind-to",
    "--cpus-per-task",
    "--hint",
    "--mem",
    "--mpi",
    "--time",  # mpirun, srun, sbatch
    "--compute-times",
    "--model",
    "--nodes",
    "--progress",
    "--table",
    "--threads",  # scripts, the mini-app
    "--list",  # the mini-app
    "--config",  # snakemake
}


# -------------------- what the code says


def docstrings(tree: ast.AST) -> set[int]:
    """The nodes that are docstrings, by their identities."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node):
            found.add(id(node.body[0].value))
    return found


def texts(tree: ast.AST, left_out: set[int]) -> Iterator[tuple[int, str]]:
    """The line and the text of each string but those that are left out; what is filled in is {}."""
    left_out = set(left_out)
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            left_out |= {id(part) for part in node.values}
            yield node.lineno, "".join(parts)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in left_out
        ):
            yield node.lineno, node.value


def modules() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path != MADE_BY]


def test_commands_are_made_by_one_function_and_mentions_name_what_exists():
    wrong, mentions = [], 0
    for path in modules():
        tree = ast.parse(path.read_text())
        for line, text in texts(tree, docstrings(tree)):
            where = f"{path.relative_to(PACKAGE)}:{line}"
            for begin in proposed.BEGIN.finditer(text):
                end = proposed.END.search(text, begin.end())
                words = text[begin.end() : end.start()]
                if proposed.command(words.split()[:1])[0] is None:
                    continue  # the name of the program in a sentence
                mentions += 1
                quoted = text[begin.start() - 1 : begin.start()] == "`" and end[0] == "`"
                if not quoted or ("{}" in words and words != "tender {}"):
                    wrong.append(f"{where}: {text!r}; expected core.commands.command")
                    continue
                verb = [word for word in words.split() if word != "{}"]
                found = proposed.command(verb)[0]
                named = set(proposed.OPTION.findall(words))
                wrong += [f"{where}: {words}"] * (
                    found is None or not named <= proposed.options(found)
                )
    assert mentions > 10
    assert not wrong


def commands_by_function() -> dict[tuple[str, str], set[str]]:
    """The options of each command, by the module and the name of the function that carries it
    out.
    """
    found = {}
    for name, command in proposed.ROOT.commands.items():
        parts = [] if name == "preset" else getattr(command, "commands", {name: command}).values()
        for part in parts:
            found[part.callback.__module__, part.callback.__name__] = proposed.options(part)
    return found


def is_prose(text: str) -> bool:
    """True unless it is a word of a command line, or names a command, which the test above looks
    at.
    """
    return re.search(r"[a-z;:] ", text) is not None and "spikemark " not in text


def used_directly(module: layers.Module) -> list[str]:
    """Names of what a module imports, and the modules of the public functions that it calls."""
    names = []
    for entry in layers.imports_of(module):
        names += [entry.full_name, entry.source]
    for node in ast.walk(module.tree):
        is_attribute = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if is_attribute and node.value.id == "spikemark" and node.attr in spikemark._HOMES:
            names.append(f"spikemark.{spikemark._HOMES[node.attr]}")
    return names


def modules_used(direct: dict[str, list[str]], start: str) -> set[str]:
    """The modules that a module uses, itself or through others; `direct`: those that each uses."""
    used: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in used and name in direct:
            used.add(name)
            waiting += direct[name]
    return used


def options_by_module() -> dict[str, set[str]]:
    """The options of all commands that use a module, by its name."""
    by_name = layers.modules_of(PACKAGE.parent)
    del by_name["spikemark"]  # its public functions are looked for by name
    direct = {name: used_directly(module) for name, module in by_name.items()}
    options: dict[str, set[str]] = {}
    for (module, _), flags in commands_by_function().items():
        for name in modules_used(direct, module):
            options.setdefault(name, set(FOREIGN)).update(flags)
    return options


@pytest.mark.slow
def test_options_in_messages_exist():
    """Those in a function of a command belong to it; elsewhere, a command that uses the module has
    them.
    """
    by_function = commands_by_function()
    by_module = options_by_module()
    every = set().union(FOREIGN, *by_function.values())
    assert by_module["spikemark.diff.compare"] < every > by_module["spikemark.measuring.meter"]
    wrong, seen = [], 0
    for path in modules():
        tree = ast.parse(path.read_text())
        left_out = docstrings(tree)
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        of_module = by_module.get(module.removesuffix(".__init__"), every)
        for node in tree.body:
            allowed = by_function.get((module, getattr(node, "name", "")), of_module)
            for line, text in texts(node, left_out):
                named = set(proposed.OPTION.findall(text)) if is_prose(text) else set()
                seen += len(named)
                wrong += [f"{path.name}:{line}: {flag}" for flag in named - allowed]
    assert seen > 30
    assert not wrong


def test_examples_in_help_exist():
    seen = 0
    for path in sorted((PACKAGE / "cli").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
                for words in proposed.in_text(text):
                    words = [word.rstrip(".,;:)") for word in words]
                    if proposed.command(words[:1])[0] is not None:
                        seen += 1
                        assert proposed.complaint(words) is None or len(words) < 3, (
                            path.name,
                            words,
                        )
    assert seen > 15


# -------------------- what screens propose


RUNS_LONG = {"calibrate", "bench", "peers", "sweep", "study", "tender", "dryrun"}
MISSING = "nothing is here.csv"


def furnish(folder: Path) -> None:
    """Writes what commands are asked about; names have blanks."""
    rng = np.random.default_rng(1)
    compute = rng.normal(1.0, 0.1, (4, 600)) * [[1.0], [1.0], [1.0], [1.2]]
    np.savez(
        folder / "my times.npz", compute=compute, communicate=foreign_logs.exchanged(compute, 0.05)
    )
    np.savez(folder / "theirs.npz", busy=compute, communicate=foreign_logs.exchanged(compute, 0.05))
    network = describe(areas=4)
    (folder / "my network.json").write_text(json.dumps(network))
    (folder / "my network.yaml").write_text(yaml.safe_dump(network))
    machine_file.write(folder / "made-up.yaml")
    synthetic.write_run(
        folder / "my run", ranks=4, cycles=2000, ar1=0.5, rank_sd=0.02, description=network
    )
    synthetic.write_run(folder / "windows", ranks=4, cycles=2000, schedule="structure_aware")
    (folder / "logs").mkdir()
    foreign_logs.stopwatches(folder / "logs", 0, 1, {"biological_time": 100.0})
    (folder / "runs.csv").write_text(
        "nodes,ranks,threads,real_time_factor\n1,2,64,20\n2,4,64,11\n4,8,64,6.5\n"
    )
    results, runs = swept.planned(folder / "results" / "x" / "here")
    for run in runs:
        swept.write(results, run)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("a place with blanks")
    furnish(folder)
    return folder


SCREENS = {
    "a file": 'waiting "my times.npz" --unit ms',
    "a file with other names": "waiting theirs.npz --unit ms --column compute=busy",
    "a schedule": (
        'waiting "my times.npz" --unit ms --schedule structure_aware --delay-ratio 10 --ranks 8'
    ),
    "a run": 'waiting "my run"',
    "what if": 'waiting "my run" --change halve-jitter,level-ranks',
    "a run with windows": "waiting windows",
    "imported": 'import "my times.npz" --unit ms --out "my import"',
    "a dry run": 'waiting "my dry run"',
    "a prediction": 'predict "my network.json" --machine made-up.yaml --ranks 4',
    "of a dry run": 'predict --machine made-up.yaml --compute-from "my dry run"',
    "a run beside": 'predict "my run" --machine made-up.yaml',
    "of a simulator": "predict mam-benchmark --full --program nest --machine jureca-dc --nodes 8",
    "advice": 'advise "my network.json" --machine made-up.yaml --nodes 2',
    "advice of YAML": 'advise "my network.yaml" --machine made-up.yaml --nodes 2',
    "advice of a preset": (
        "advise mam-benchmark --option areas=4 --option neurons-per-area=50"
        " --option indegree=10 --machine made-up.yaml --nodes 2"
    ),
    "advice of a simulator": "advise mam-benchmark --full --program nest --machine jureca-dc",
    "two machines": 'compare made-up.yaml epyc-vm --run "my network.json" --nodes 1',
    "two machines of a simulator": (
        "compare jureca-dc supermuc-ng --preset microcircuit --full --program nest"
    ),
    "two offers of a simulator": (
        "compare piz-daint grace --preset microcircuit --full --program nest --nodes 1"
    ),
    "methods": 'partition "my network.json" --ranks 4',
    "one method": (
        'partition "my network.json" --ranks 4 --method sequential --out "my placement.json"'
    ),
    "anchors": (
        'anchor --run "my network.json" --machine jureca-dc --nodes 1,2,12 --out "my anchors"'
    ),
    "anchors of a preset": "anchor --preset microcircuit --full --machine jureca-dc --out anchors",
    "own runs": "anchor mam-benchmark --full --machine jureca-dc --runs runs.csv --nodes 8",
    "score": "score",
    "energy of a machine": 'energy "my run" --machine made-up.yaml',
    "no energy": 'energy "my run"',
    "preset": "preset mam-benchmark",
    "machine": "machine made-up.yaml",
    "report": "report results/x/here",
}
WITHOUT_PROPOSALS = (
    "preset",
    "machine",
    "report",
    "no energy",
    "a prediction",
    "of a dry run",
    "a run beside",
)
#: Situations that are refused, and whose lines may name options and commands.
REFUSED = {
    "a table without its unit": 'waiting "my times.npz"',
    "a run with a unit": 'waiting "my run" --unit ms',
    "a lag alone": 'waiting "my run" --lag 2',
    "sums": "waiting logs/logfile_0 --schedule structure_aware",
    "no ranks": 'predict "my network.json" --machine made-up.yaml',
    "ranks of a simulator": (
        "predict mam-benchmark --full --program nest --machine jureca-dc --ranks 4"
    ),
    "no machine": 'advise "my network.json"',
    "no network": "compare made-up.yaml epyc-vm",
    "partition": 'partition "my network.json"',
    "anchor": "anchor mam-benchmark --machine jureca-dc",
    "simulate without rates": "simulate lif.json --machine made-up.yaml --ranks 2",
    "predict without rates": "predict lif.json --machine made-up.yaml --ranks 2",
    "dry run without rates": "dryrun lif.json --of 2 --rate -1",
    "a rate that is replayed": (
        'simulate "my network.json" --machine made-up.yaml --ranks 4 --compute "my run" --rate 4'
    ),
    "no history": "diff --history nowhere",
    "one result": 'diff "my run"',
    "a gate": 'diff "my run" --fail-above 5%',
    "energy": 'energy "my run" --channel node1',
    "bench": "bench --ranks 2",
    "scorep": 'scorep "my run"',
    "filled": "machine --filled",
    "cachesim": f'cachesim "{MISSING}"',
    "tender statistics": "tender statistics",
    "tender check": 'tender check "my run" --bundle "my run"',
    "tender accept": 'tender accept "my run" x.json --run bench-small',
    "export": "export results/x/here --format extra-p --only nothing",
    "score of nothing": "score --runs x",
    "report of nothing": 'report "my run"',
}


@pytest.fixture
def screen(place, spikemark, monkeypatch):
    """Carries out a command in the place: (status, output and errors)."""
    monkeypatch.chdir(place)
    dry_folder.in_process(monkeypatch, rank_sd=0.02)
    if not (place / "my dry run").exists():
        words = ["dryrun", "my network.json", "--of", 8, "--sample", 3, "--out", "my dry run"]
        assert spikemark(*words)[0] == 0
        network = describe()
        for population in network["network"]["populations"]:
            population["neuron"] = {"model": "lif_delta"}
        (place / "lif.json").write_text(json.dumps(network))

    def run(words: list[str]) -> tuple[int, str]:
        status, output, errors = spikemark(*words)
        return status, f"{output}\n{errors}"

    return run


def check_options(words: list[str], text: str) -> None:
    """Options that a screen names are those of its command, or stand in a proposal of another."""
    found = proposed.command(words)[0]
    for line in text.splitlines():
        own = line.split("spikemark ")[0] if proposed.BEGIN.search(line) else line
        own = re.sub(r"--set \w+=\w+", "", own)  # of the mini-app: how to make another run
        if re.search(r"mpirun|srun|bash ", own) is None:
            assert set(proposed.OPTION.findall(own)) <= proposed.options(found), line


def follow(words: list[str], screen, seen: set[str], depth: int = 3) -> int:
    """Carries out a command and what its screen proposes; how many proposals there were."""
    status, text = screen(words)
    assert status == 0, (words, text)
    check_options(words, text)
    count = 0
    for proposal in proposed.in_text(text):
        assert proposed.complaint(proposal) is None, (words, text)
        count += len(proposal) > 1
        line = shlex.join(proposal)
        placeholders = [word for word in proposal if proposed.PLACEHOLDER.fullmatch(word)]
        mention = len(proposal) == 1 or "--help" in proposal or placeholders
        if depth and line not in seen and proposal[0] not in RUNS_LONG and not mention:
            seen.add(line)
            fill_in_runs(proposal)
            count += follow(proposal, screen, seen, depth - 1)
    for line in text.splitlines():
        if " miniapp " in line:
            explain(line)
            count += 1
    return count


def fill_in_runs(proposal: list[str]) -> None:
    """Writes what runs of NEST on the machine would, into the table that the proposal reads."""
    if proposal[0] == "anchor" and "--runs" in proposal:
        table = Path(proposal[proposal.index("--runs") + 1])
        if len(table.read_text().splitlines()) == 1:
            assert table.read_text().split(",")[:4] == [
                "nodes",
                "ranks",
                "threads",
                "real_time_factor",
            ]
            with table.open("a") as file:
                file.write("1,2,64,20,\n2,4,64,11,\n")


@cache
def absent_exchanges() -> list[str]:
    """Those that the MPI library here lacks, other than perhaps that of a machine asked about."""
    listed = json.loads(run_program(ROOT / "build" / "miniapp", "--list").stdout)
    return [exchange["name"] for exchange in listed["exchanges"] if exchange["absent"]]


def explain(line: str) -> None:
    """Has the mini-app say what a line that runs it would do, without the ranks that it asks
    for.
    """
    line = re.sub(r"^\w+: ", "", line)
    line, starts = re.subn(
        r"mpirun -n (\d+) (?:--map-by \S+ )?miniapp", r"miniapp --explain --ranks \1", line
    )
    assert starts == 1
    path = f"{ROOT}/build:{Path(sys.executable).parent}:{os.environ['PATH']}"
    for name in absent_exchanges():
        line = line.replace(f'"{name}"', '"alltoall"')
    done = run_program("bash", "-c", re.sub(r" --out \S+", "", line), cwd=Path.cwd(), PATH=path)
    assert done.returncode == 0, (line, done.stderr)


@pytest.mark.slow
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("name", SCREENS)
def test_what_a_screen_proposes_can_be_done(name, screen):
    count = follow(shlex.split(SCREENS[name]), screen, set())
    assert count or name in (
        "preset",
        "machine",
        "report",
        "no energy",
        "a prediction",
        "of a dry run",
        "a run beside",
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", REFUSED)
def test_what_a_refusal_names_exists(name, screen):
    words = shlex.split(REFUSED[name])
    status, text = screen(words)
    assert status == 2, text
    check_options(words, text)
    for proposal in proposed.in_text(text):
        assert proposed.complaint(proposal) is None, text
        mention = (
            any(proposed.PLACEHOLDER.fullmatch(word) for word in proposal) or len(proposal) == 1
        )
        if not mention and "--help" not in proposal and proposal[0] not in RUNS_LONG:
            assert screen(proposal)[0] == 0, text
