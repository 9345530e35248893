"""Studies on planted runs: what a study made of them, its tables by name, and its page."""

import re
from pathlib import Path

from fake_simulation import simulated
from html_page import Page, without_glossary
from planned import write_experiment
from small_network import describe

from spikemark.quantities.table import Table
from spikemark.records.gather import gather
from spikemark.studies import carry_out
from spikemark.studies.carry_out import Done
from spikemark.studies.study import Study

OVERSUBSCRIBED = ["oversubscribed: 4 ranks x 1 threads on 2 cores of a node; times are no evidence of speed"]


def exchanging(ranks: int, repetition: int = 1, exchange: str = "allgather", **options) -> dict:
    """A run of one small network on `ranks` of two cores."""
    description = {**describe(areas=2, neurons=50, indegree=10, delay_ratio=10), "exchange": exchange}
    return {
        "label": f"{exchange} {ranks} {repetition}",
        "repetition": repetition,
        "fields": {"exchange": exchange, **options.pop("fields", {})},
        "cycles": 200,
        "warnings": OVERSUBSCRIBED if ranks > 2 else [],
        "description": description,
        "schedule": "conventional",
        "delay_ratio": 1,
        "ranks": ranks,
        "seed": 1,
        **options,
    }


def carried_out(
    study: Study, folder: Path, runs: list[dict], on_machine: bool = False, machine: dict | None = None
) -> tuple[Done, Page]:
    """The study of runs that are written to `folder`: measured ones, or `on_machine` simulated ones."""
    results = write_experiment(folder, runs)
    done = carry_out.write(study, gather(simulated(results, machine) if on_machine else results))
    return done, Page(done.page.read_text(encoding="utf-8"))


def table(done: Done, name: str) -> Table:
    return next(t for t in done.findings.tables if t.name == name)


#: What pages of simulated runs may call measured: what others measured, kernels on their own, real runs, and
#: what simulating itself takes.
ELSEWHERE = re.compile(
    r"measured the power from outside|not measured (on this machine; run|for lists of)"
    r"|as measured on one machine"
    r"|(real \(\S+s\)|processor time of the replay \(s\)|memory of the simulator \(MB\))"
    r"\W+(span class=)?\W*kind\W+measured"
)


def says_simulated(done: Done) -> None:
    """A page and a JSON file of simulated runs call none of their own times measured."""
    written = [path.read_text(encoding="utf-8") for path in (done.page, done.tables)]
    for text in written:
        found = re.search(
            r".{,60}\bmeasured\b.{,60}", ELSEWHERE.sub("", without_glossary(text)), re.IGNORECASE
        )
        assert not found, found[0]
    figures = [*done.findings.key_figures, *(c for t in done.findings.tables if t.rows for c in t.columns)]
    assert "measured" not in {figure.kind for figure in figures}
