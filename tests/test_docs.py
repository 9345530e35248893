"""The site has no warning: links, anchors, references. The commands of pages run as they are written."""

import re
import sys

import pytest
import typer.main
from checkout import ROOT, carry_out, checksums, run

from spikemark.cli import main

README = (ROOT / "README.md").read_text()


@pytest.mark.slow
def test_the_site_is_made_without_a_warning(tmp_path):
    done = run(
        sys.executable, *["-m", "sphinx", "-W", "--keep-going", "-q", "-c", "docs", "."], tmp_path / "site"
    )
    assert done.returncode == 0, done.stderr
    commands = (tmp_path / "site" / "docs" / "generated" / "commands.html").read_text()
    assert all(verb in commands for verb in ("spikemark waiting", "spikemark tender check", "--delay-ratio"))
    assert (tmp_path / "site" / "index.html").is_file() and (tmp_path / "site" / "searchindex.js").is_file()


@pytest.mark.slow
def test_generated_tables_are_those_of_the_code():
    pages = [page for page in (ROOT / "docs").glob("*.md") if "[[[cog" in page.read_text()]
    done = run(sys.executable, "-m", "cogapp", "--check", *pages)
    assert pages and done.returncode == 0, done.stdout + done.stderr


def test_commands_options_and_targets_that_pages_name_exist():
    verbs, wrong, seen = typer.main.get_command(main.app).commands, [], 0
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "miniapp" / "FORMAT.md"]:
        if page.name == "CHANGELOG.md":
            continue  # it names old ones
        text = page.read_text().replace("\\\n", " ")
        for line in re.findall(r"(?<![\w/-])spikemark ([a-z][a-z-]*(?: [^`\n|#]*)?)", text):
            verb, *words = line.split()
            seen += verb in verbs
            command = verbs.get(verb)
            while words and words[0] in getattr(command, "commands", {}):
                command, *words = command.commands[words[0]], *words[1:]
            options = {one for given in getattr(command, "params", ()) for one in given.opts} | {"--help"}
            named = {word.split("=")[0].rstrip(".,;:)") for word in words if re.match("--[a-z]", word)}
            if verb in verbs and verb != "preset":
                wrong += [f"{page.name}: {verb} {one}" for one in named - options]
    assert seen > 50 and not wrong
    targets = set(re.findall(r"^    make (\S+)|`make (\S+)`", README, re.M)) - {("", "")}
    makefile = (ROOT / "Makefile").read_text()
    assert len(targets) >= 3
    assert all(re.search(rf"^{''.join(name)}:.*## ", makefile, re.M) for name in targets)


def written(text: str, begin: str = "", end: str = "") -> tuple[list[str], dict[str, str]]:
    """The commands of a part of a page in order, but for `make`, and the files that it shows."""
    text = text[text.index(begin) :]
    text = text[: text.index(end)] if end else text
    files = dict(re.findall(r" as `(\S+\.(?:py|yaml))`[^\n]*\n\n```\w+\n(.*?)```", text, re.S))
    return re.findall(r"^    (?!make )(.*)", re.sub(r"```.*?```", "", text, flags=re.S), re.M), files


def page(name: str) -> str:
    return (ROOT / "docs" / name).read_text()


QUICKSTART = pytest.param((page("quickstart.md"),), marks=pytest.mark.nightly, id="quickstart")


@pytest.mark.slow
@pytest.mark.parametrize("part", [(README, "## Five minutes", "## Where to go next"), QUICKSTART])
def test_first_steps(part, tmp_path):
    found = checksums(carry_out(tmp_path, written(*part)[0]))
    assert len(found) >= 2 and len(set(found)) == 1


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
    *same, longer = checksums(carry_out(tmp_path, [script], files))  # the last run simulates more time
    assert len(same) == 3 and len(set(same)) == 1 and longer not in same


@pytest.mark.nightly
def test_without_a_cluster(tmp_path):
    carry_out(tmp_path, *written(page("without-a-cluster.md"), end="### Cost"))
    assert (tmp_path / "out" / "simulated" / "record.json").is_file()
