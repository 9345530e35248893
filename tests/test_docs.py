"""The site has no warning: links, anchors, references. The commands of pages run as they are
written.
"""

import re
import shutil
import sys
from pathlib import Path

import foreign_logs
import numpy as np
import proposed
import pytest
import typer.main
from checkout import MINIAPP, ROOT, carry_out, checksums, run

from spikemark.cli import main

README = (ROOT / "README.md").read_text()


NOTEBOOKS = [path.stem for path in sorted((ROOT / "docs" / "notebooks").glob("*.md"))]
SPHINX = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", "."]


def headings(page: Path) -> set[str]:
    """The anchors of a page: those of its headings, as GitHub and the site name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    titles = [
        re.sub(r"[`*]|\]\([^)]*\)|\[", "", title) for title in re.findall(r"^#+ (.*)", text, re.M)
    ]
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def test_links_of_pages_lead_to_files_and_headings():
    """`make docs` finds more, but needs Sphinx."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *ROOT.glob("*/*/README.md")]
    seen, wrong = 0, []
    for page in pages:
        for path, anchor in re.findall(
            r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?\)", page.read_text()
        ):
            seen += 1
            target = (page.parent / path).resolve() if path else page
            there = target.exists() or "generated" in target.parts
            if not there or (anchor and target.is_file() and anchor not in headings(target)):
                wrong.append(f"{page.relative_to(ROOT)}: {path}#{anchor}")
    assert seen > 200 and not wrong


@pytest.mark.nightly
def test_the_site_is_made_without_a_warning(tmp_path):
    """Without the output of notebooks, which takes longer."""
    unknown = "suppress_warnings=myst.header,myst-nb.lexer"  # of cells that nobody executed
    options = ["-D", "nb_execution_mode=off", "-D", unknown]
    done = run(*SPHINX, *options, tmp_path / "site")
    assert done.returncode == 0, done.stderr
    commands = (tmp_path / "site" / "docs" / "generated" / "commands.html").read_text()
    assert all(
        verb in commands
        for verb in (
            *("spikemark waiting", "spikemark tender check", "--delay-ratio"),
            "spikemark predict [OPTIONS] [NETWORK]...",
        )
    )
    assert not re.search(r"&lt;(int|str|float|list|path)", commands)  # types of Python
    assert (tmp_path / "site" / "index.html").is_file() and (
        tmp_path / "site" / "searchindex.js"
    ).is_file()


@pytest.mark.nightly
def test_notebooks_are_carried_out_and_shown_with_figures(tmp_path):
    """A cell that fails ends the build."""
    done = run(*SPHINX, tmp_path / "site", timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    assert len(NOTEBOOKS) == 3
    for name in NOTEBOOKS:
        shown = (tmp_path / "site" / "docs" / "notebooks" / f"{name}.html").read_text()
        cells = (ROOT / "docs" / "notebooks" / f"{name}.md").read_text().count("{code-cell}")
        assert shown.count("cell_input") == cells >= 5, name
        assert shown.count("_images/") >= 1 and "cell_output" in shown, name


@pytest.mark.slow
def test_from_a_results_folder_to_a_figure_in_ten_lines(tmp_path):
    first = re.search(r"```python\n(.*?)```", page("python.md"), re.S)[1]
    assert len([line for line in first.splitlines() if line]) <= 10
    code = first.replace("docs/notebooks", str(ROOT / "docs" / "notebooks"))
    done = run(sys.executable, "-c", code, cwd=tmp_path, MPLBACKEND="Agg")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "parts.pdf").read_bytes().startswith(b"%PDF")
    assert "structure_aware" in done.stdout and "<Frames: " in done.stdout


#: The page whose tables take more than a second or two: it scores all models.
SCORES = "trust.md"
GENERATED = sorted(
    path.name for path in (ROOT / "docs").glob("*.md") if "[[[cog" in path.read_text()
)


def check_generated(pages):
    paths = [f"docs/{page}" for page in pages]
    done = run(sys.executable, "-m", "cogapp", "--check", *paths)
    reason = f"stale: .venv/bin/cog -r {' '.join(paths)}\n{done.stdout}{done.stderr}"
    assert done.returncode == 0, reason


def test_generated_tables_are_those_of_the_code():
    assert len(GENERATED) > 3
    check_generated(page for page in GENERATED if page != SCORES)


@pytest.mark.slow
def test_generated_scores_are_those_of_the_code():
    assert SCORES in GENERATED
    check_generated([SCORES])


def test_commands_options_and_targets_that_pages_name_exist():
    verbs, wrong, seen = typer.main.get_command(main.app).commands, [], 0
    for page in [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "miniapp" / "FORMAT.md",
    ]:
        if page.name == "CHANGELOG.md" or page.parent.name == "generated":
            continue  # it names old ones; those of an older build may, too
        text = page.read_text().replace("\\\n", " ")
        for line in re.findall(r"(?<![\w/-])spikemark ([a-z][a-z-]*(?: [^`\n|#]*)?)", text):
            verb, *words = line.split()
            seen += verb in verbs
            command = verbs.get(verb)
            while words and words[0] in getattr(command, "commands", {}):
                command, *words = command.commands[words[0]], *words[1:]
            options = {one for given in getattr(command, "params", ()) for one in given.opts} | {
                "--help"
            }
            named = {
                word.split("=")[0].rstrip(".,;:)") for word in words if re.match("--[a-z]", word)
            }
            if verb in verbs and verb != "preset":
                wrong += [f"{page.name}: {verb} {one}" for one in named - options]
    assert seen > 50 and not wrong
    targets = set(re.findall(r"^    make (\S+)|`make (\S+)`", README, re.M)) - {("", "")}
    makefile = (ROOT / "Makefile").read_text()
    assert len(targets) >= 3
    assert all(re.search(rf"^{''.join(name)}:.*## ", makefile, re.M) for name in targets)


GUIDES = ("CONTRIBUTING.md", "docs/architecture.md", "docs/miniapp.md")
#: Where a path of a guide may begin.
FOLDERS = ("", "docs", "miniapp", "miniapp/src", "miniapp/variants", "analysis/spikemark")


def file_of(path: str) -> Path | None:
    """The file or folder that a guide means, or None."""
    places = [ROOT / folder / path for folder in FOLDERS]
    beside = ROOT.glob(f"analysis/spikemark*/*/{path}")  # another file of the same package
    return next((place for place in [*places, *beside] if place.exists()), None)


def test_files_that_guides_name_exist():
    seen = missing = ()
    for guide in GUIDES:
        paths = re.findall(r"`([\w-]+/[\w./-]+)`", (ROOT / guide).read_text())
        written = [path for path in paths if not re.search("NAME|PACKAGE", path)]
        seen += tuple(written)
        missing += tuple((guide, path) for path in written if not file_of(path))
    assert len(seen) > 100
    assert not missing


def test_names_that_guides_look_for_in_a_file_are_there():
    """As in "`EXCHANGES` in `models/exchange_times.py`"."""
    pairs = [
        (guide, name, path)
        for guide in GUIDES
        for name, path in re.findall(
            r"`(\w+)(?:\(\))?` in `([\w./-]+/[\w-]+\.\w+)`", (ROOT / guide).read_text()
        )
    ]
    assert len(pairs) > 10
    assert not [
        (guide, name, path)
        for guide, name, path in pairs
        if not re.search(rf"\b{name}\b", file_of(path).read_text())
    ]


def test_files_of_the_core_are_about_as_long_as_its_reading_order_says():
    """Within a quarter: a reader plans an afternoon by these numbers."""
    numbers = re.findall(r"`([\w./]+\.[ch])` \((\d+)\)", page("miniapp.md"))
    lines = {path: len(file_of(path).read_text().splitlines()) for path, _ in numbers}
    assert len(numbers) > 30
    assert not [
        (path, said, lines[path])
        for path, said in numbers
        if not lines[path] / 1.25 <= int(said) <= lines[path] * 1.25
    ]


#: Pages whose commands are not carried out as they stand, and why. They are looked up all the same.
NOT_CARRIED_OUT = {
    "architecture": "explains what `sweep` and `compare` do, which other pages carry out",
    "calibrate": (
        "takes minutes on a quiet machine, and an allocation; tests/test_calibrate.py calibrates"
    ),
    "clusters": "needs a cluster: tests/slurm/test_cluster_page.py carries it out",
    "diff": "needs the results of hours: analysis/tests/diff carries out what it says",
    "energy-and-traces": (
        "needs a meter, Score-P and hours: tests/test_scorep_workflow.py does its part"
    ),
    "experiments": (
        "explains a file: analysis/tests/running/test_planning.py plans the runs of its examples"
    ),
    "gallery": "tests/test_gallery.py carries out its commands in results/examples",
    "install": "installs for all users: tests/test_install.py does so in a prefix of its own",
    "studies": "takes an hour: tests/test_studies.py carries out the quick ones",
    "sweeps": "takes minutes: tests/test_sweep.py sweeps",
    "tender": (
        "the first steps are carried out in tests/tender/test_walk.py; the rest names other"
        " machines"
    ),
    "trust": (
        "needs points and predictions of the reader's own: analysis/tests/prediction/test_score.py"
    ),
}
CARRIED_OUT = (
    "README",
    "choose-a-machine",
    "machine-profile",
    "other-simulators",
    "placement",
    "quickstart",
    "waiting",
    "without-a-cluster",
    "your-network",
)
MADE_ELSEWHERE = {"install"}  # targets of other programs' makefiles


def shell_lines(text: str) -> list[str]:
    """The lines of a page that are commands: indented ones, and those of blocks without a
    language.
    """
    text = text.replace("\\\n", " ")
    blocks = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", text, re.M | re.S)
    fenced = [block for language, block in blocks if language in ("", "bash", "sh")]
    indented = re.findall(r"^    (.*)", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return [line.strip() for line in [*indented, *"\n".join(fenced).splitlines()]]


def pages() -> dict[str, str]:
    """The text of the README and of each page of the documentation, by name."""
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return {path.stem: path.read_text() for path in files if path != ROOT / "docs" / "README.md"}


def test_commands_of_pages_would_be_accepted():
    """Words that the command line, the mini-app and make have to know; files of the checkout."""
    options = set(proposed.OPTION.findall(run(MINIAPP, "--help").stdout))
    makefile = (ROOT / "Makefile").read_text()
    seen = 0
    for name, text in pages().items():
        for line in shell_lines(text):
            if line.startswith(("docker ", "ssh-keygen ")):
                continue  # where `spikemark` is a name
            for words in proposed.in_text(line):
                seen += 1
                assert proposed.complaint(words) is None, (name, line)
            if found := re.search(r"\bminiapp ((?!and|is).*)", line):
                own = found[1].split("&&")[0].split(";")[0]
                assert set(proposed.OPTION.findall(own)) <= options, (name, line)
            for target in re.findall(r"(?:^|&& )make (?:-j\d+ )?([a-z-]+)", line):
                known = re.search(rf"^{target}:", makefile, re.M) or target in MADE_ELSEWHERE
                assert known, (name, line)
            for file in re.findall(r"(?<![\w/.-])(?:workflows|setup|docs|machines)/[\w./-]+", line):
                assert (ROOT / file).exists(), (name, line)
    assert seen > 60


def test_each_page_is_carried_out_or_says_why_not():
    commands = {
        name for name, text in pages().items() if any(map(proposed.in_text, shell_lines(text)))
    }
    assert commands <= {*CARRIED_OUT, *NOT_CARRIED_OUT}
    assert {*CARRIED_OUT, *NOT_CARRIED_OUT} <= pages().keys()


def written(text: str, begin: str = "", end: str = "") -> tuple[list[str], dict[str, str]]:
    """The commands of a part of a page in order, but for `make`, and the files that it shows."""
    text = text[text.index(begin) :]
    text = text[: text.index(end)] if end else text
    files = dict(re.findall(r" as `(\S+\.(?:py|yaml))`[^\n]*\n\n```\w+\n(.*?)```", text, re.S))
    return re.findall(
        r"^    (?!make )(.*)", re.sub(r"```.*?```", "", text, flags=re.S), re.M
    ), files


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


def check_first_steps(commands: list[str], folder: Path) -> None:
    found = checksums(carry_out(folder, commands))
    assert len(found) >= 2 and len(set(found)) == 1


@pytest.mark.slow
def test_first_steps(tmp_path):
    """Those of the README, of a smaller network."""
    commands, _ = written(README, "## Five minutes", "## Where to go next")
    size = "--neurons-per-area 40000 --simulate-ms 3000"
    smaller = "--neurons-per-area 4000 --simulate-ms 300"
    assert sum(size in line for line in commands) == 1
    check_first_steps([line.replace(size, smaller) for line in commands], tmp_path)


@pytest.mark.nightly
def test_first_steps_of_the_quickstart(tmp_path):
    """Which has those of the README, as they stand there, among its own."""
    commands, _ = written(page("quickstart.md"))
    short, _ = written(README, "## Five minutes", "## Where to go next")
    assert {line for line in short if not line.startswith("export ")} <= set(commands)
    check_first_steps(commands, tmp_path)


@pytest.mark.nightly
def test_your_network(tmp_path):
    commands, files = written(page("your-network.md"))
    assert files.keys() == {"network.py", "network.yaml", "six-areas.yaml"}
    script = "\n".join(commands)
    for shown, instead in {
        "calibrate": "calibrate --out my-machine.yaml",
        "--machine my-machine": "--machine my-machine.yaml",
        "sweep six-areas.yaml": "sweep six-areas.yaml --results results",
    }.items():
        assert shown in script
        script = script.replace(shown, instead)
    *same, longer = checksums(
        carry_out(tmp_path, [script], files)
    )  # the last run simulates more time
    assert len(same) == 3 and len(set(same)) == 1 and longer not in same


@pytest.mark.nightly
def test_without_a_cluster(tmp_path):
    carry_out(tmp_path, *written(page("without-a-cluster.md"), end="### Cost"))
    assert (tmp_path / "out" / "simulated" / "record.json").is_file()


@pytest.mark.nightly
def test_waiting(tmp_path):
    carry_out(tmp_path, written(page("waiting.md"))[0])


@pytest.mark.nightly
def test_placement(tmp_path):
    """Runs are shortened, since they have more ranks than there may be cores."""
    short = "--set time.warmup_ms=1 --set time.simulate_ms=20 --out"
    lines = [
        line.replace("--out out/", f"{short} out/") for line in written(page("placement.md"))[0]
    ]
    found = checksums(carry_out(tmp_path, ["export OMP_NUM_THREADS=1", *lines]))
    assert len(found) == 2


def offers() -> dict[str, str]:
    """The profile that a page shows, and another one."""
    blocks = re.findall(r"(?:^    .*\n)+", page("machine-profile.md"), re.M)
    profile = next(block for block in blocks if "name: offer-a " in block)
    profile = re.sub(r"^    ", "", profile, flags=re.M)
    return {"offer-a.yaml": profile, "offer-b.yaml": profile.replace("offer-a ", "offer-b ")}


@pytest.mark.nightly
def test_machines(tmp_path):
    lines = [
        line for line in written(page("machine-profile.md"))[0] if line.startswith("spikemark ")
    ]
    lines += [
        line for line in written(page("choose-a-machine.md"))[0] if line.startswith("spikemark ")
    ]
    assert len(lines) >= 6
    carry_out(tmp_path, [*lines, "spikemark machine offer-a.yaml offer-b.yaml"], offers())


@pytest.mark.nightly
def test_other_simulators(tmp_path):
    """Cycle times as other programs write them; building those programs is theirs."""
    compute = np.random.default_rng(1).normal(1.0, 0.1, (4, 3000))
    np.save(tmp_path / "times.npy", compute)
    others = foreign_logs.exchanged(compute, 0.05)
    for rank in range(4):
        rows = "\n".join(
            f"{own},{rest}" for own, rest in zip(compute[rank], others[rank], strict=True)
        )
        (tmp_path / f"rank-{rank}.csv").write_text(f"compute,communicate\n{rows}\n")
    rows = [f"{rank},{cycle},{own},0.4" for (rank, cycle), own in np.ndenumerate(compute)]
    names = "rank,cycle,t_compute_ms,t_comm_ms"
    (tmp_path / "mine.csv").write_text("\n".join([names, *rows, ""]))
    np.save(tmp_path / "wide.npy", compute)
    foreign_logs.nest(tmp_path, compute / 1000)
    lines = [
        line for line in written(page("other-simulators.md"))[0] if line.startswith("spikemark ")
    ]
    kept = [line for line in lines if "traces.otf2" not in line]  # of Score-P
    assert len(kept) >= 7
    shutil.rmtree(tmp_path / "mine", ignore_errors=True)
    carry_out(tmp_path, kept)
