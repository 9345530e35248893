"""Names from files are words, whatever they hold: on pages, in shells, in paths and in
workflows.
"""

import base64
import hashlib
import html
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from by_day import half_by_night
from html_page import Page
from hypothesis import given
from hypothesis import strategies as st
from planned import LINE, run, write_experiment
from pydantic import ValidationError
from synthetic import describe

from spikemark.core import places
from spikemark.core.errors import BadInput, plain
from spikemark.quantities import terminal
from spikemark.quantities.table import Column, Table
from spikemark.records import imported
from spikemark.records.experiment_fields import Experiment
from spikemark.records.frames import load_folder
from spikemark.records.plan import Planned
from spikemark.records.results import Results
from spikemark.report import sweep_page, times_page

HOSTILE = [
    "<script>alert(1)</script>",
    "</style><script>",
    "<img src=x onerror=alert(1)>",
    "\"onload='x",
    "a'b\"c",
    "&lt;b&gt;",
    "]]><!--",
    "`code`",
    "$(touch harmed)",
    "`touch harmed`",
    "; touch harmed",
    "../../up",
    "-rf",
    "--out",
    "a\nb",
    "a\tb",
    "{wildcards.id}",
    "{0}",
    "%s%n",
    "\u202egnp.exe",
    "\u0007\u001b[2J",
    "ünï 名",
    "[bold]x[/bold]",
    "$x^2$",
]
RULES = places.root() / "workflows" / "rules"
hostile = st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=40))


def is_name(text: str) -> bool:
    """Says whether a folder could have this name."""
    return "\0" not in text and not re.search("[\ud800-\udfff]", text)


class Attributes(Page):
    """A page, and the names of all attributes."""

    def __init__(self, text: str):
        self.attributes = set()
        super().__init__(text)

    @property
    def text(self) -> str:
        return super().text.replace("`", "'")  # a name may have one by itself

    def handle_starttag(self, tag, attrs):
        self.attributes |= {name for name, _ in attrs}
        super().handle_starttag(tag, attrs)


def harmless(text: str, allowed: Page) -> Page:
    """A page that loads nothing, and has no element that the allowed page does not have, and no
    handler.
    """
    found = Attributes(text)
    assert found.loads == [] and set(found.tags) <= {*allowed.tags, "code", "span"}
    assert found.tags.count("script") == allowed.tags.count("script") == 1
    assert found.scripts == allowed.scripts
    assert f"script-src '{digest_of(found.scripts[0])}'" in html.unescape(text)
    assert not [name for name in found.attributes if name.startswith("on")]
    return found


def digest_of(script: str) -> str:
    """What a security policy calls a script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def renamed(named, old: str, new: str):
    """Populations that a projection names: one, or a list."""
    if isinstance(named, list):
        return [renamed(one, old, new) for one in named]
    return new if named == old else named


def written(folder, name: str, title: str, host: str) -> str:
    """The page of an experiment in which everything that may have any name has one of these."""
    network = describe(areas=2, neurons=60, indegree=6)
    for number, population in enumerate(network["network"]["populations"]):
        old, population["name"] = population["name"], f"{name}{number}"
        population["area"] = population["name"]
        for projection in network["network"]["projections"]:
            for end in ("source", "target"):
                projection[end] = renamed(projection[end], old, population["name"])
    more = {
        "description": network,
        "cycles": 60,
        "nodes": [host, f"{host}2"],
        "host__cpu": host,
        "provenance__compiler": title,
        "provenance__commit": host,
        "warnings": [title],
    }
    runs = [run(delay_ratio=d, label=f"{title} {d}", **more) for d in (1, 2)]
    plan = {"experiment": {"name": "demo", "title": title, "shuffle_seed": 7}}
    results = write_experiment(folder, runs, **plan)
    sweep_page.write(load_folder(results), folder / "page.html")
    return (folder / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page_of_plain_names(tmp_path_factory):
    return Page(written(tmp_path_factory.mktemp("plain"), "plain", "plain", "plain"))


@pytest.mark.slow
@pytest.mark.parametrize("first", half_by_night(range(0, len(HOSTILE), 3)))
def test_names_of_runs_are_words_on_the_page(first, page_of_plain_names, tmp_path):
    names = [HOSTILE[(first + n) % len(HOSTILE)] for n in range(3)]
    found = harmless(written(tmp_path, *names), page_of_plain_names)
    if "<" in names[1] or "&" in names[1]:
        assert names[1] in found.text


@pytest.mark.slow
def test_names_of_files_are_words_on_the_page_of_imported_times(tmp_path, request):
    """Four names on a page. Figures do not name the files: those of two pages are drawn."""
    times = {"compute": np.random.default_rng(1).normal(1e-3, 1e-5, (2, 50))}
    pages = []
    fours = [HOSTILE[first : first + 4] for first in range(0, len(HOSTILE), 4)]
    for number, names in enumerate([["plain"], *fours]):
        about = {"files": names, "unit": "s", "skipped": 0, "cycle_ms": 0.1}
        remarks = imported.ReadTimes(times, remarks=tuple(names))
        out = tmp_path / str(number)
        if number == 2:
            request.getfixturevalue("undrawn")
        imported.save(out, remarks, about)
        times_page.write(imported.load_cycle_times(out), tmp_path / "page.html")
        pages.append((tmp_path / "page.html").read_text(encoding="utf-8"))
    allowed = Page(pages[0])
    for text, names in zip(pages[1:], fours, strict=True):
        found = harmless(text, allowed)
        assert all(name in found.text for name in names if "<" in name or "&" in name)


@given(hostile)
def test_tables_are_words_everywhere(name):
    table = Table([Column("x", name)], [{"x": name}], name, notes=[name])
    with open("/dev/null", "w") as nowhere:
        terminal.show(table, stream=nowhere)
    cells = table.markdown().splitlines()
    assert len(cells) >= 3
    said = plain(name)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", said)
    assert said == name or not name.isprintable()
    said.encode()


@given(hostile)
def test_names_that_become_paths_cannot_lead_elsewhere(name):
    good = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name)
    content = {
        "name": name,
        "title": "x",
        "preset": {"name": "mam-benchmark"},
        "grid": [{}],
        "ranks": 1,
        "seeds": 1,
        "shuffle_seed": 1,
    }
    for read in (lambda: places.check_machine(name), lambda: Experiment.model_validate(content)):
        if good:
            read()
        else:
            with pytest.raises((BadInput, ValidationError)):
                read()
    if re.fullmatch(r"[0-9A-Za-z]+", name):
        place = Results(Path("/r")).run(Planned.model_validate({**LINE, "id": name}).id)
        assert place.parent == Path("/r/runs")
    else:
        with pytest.raises(ValidationError):
            Planned.model_validate({**LINE, "id": name})


def test_workflows_quote_everything_that_they_put_into_a_shell():
    """Snakemake quotes {x:q} only; ids are hashes, and only those of the rules' own experiment
    match.
    """
    for path in RULES.glob("*.smk"):
        for command in re.findall(r"shell:\s*'(.*)'", path.read_text()):
            for used in re.findall(r"\{([^}]*)\}", command):
                assert used.endswith(":q") or used == "wildcards.id", f"{path.name}: {{{used}}}"


def test_a_command_that_is_printed_can_be_pasted(tmp_path, spikemark):
    tables = [tmp_path / f"rank-{rank}.csv" for rank in range(2)]
    for table in tables:
        table.write_text("compute\n" + "0.001\n" * 20)
    for number, name in enumerate(
        n for n in HOSTILE if "/" not in n and "\n" not in n and n.isprintable()
    ):
        out = tmp_path / str(number) / name
        status, said, errors = spikemark("import", *tables, "--unit", "s", "--out", out)
        assert status == 0, errors
        assert shlex.split(said.splitlines()[-1])[2::3] == [str(out), str(out)]
        assert json.loads((out / "imported.json").read_text())["ranks"] == 2
