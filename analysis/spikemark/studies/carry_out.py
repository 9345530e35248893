"""Carries a study out: measures what is missing of its experiment, reads the runs, writes tables and page."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from spikemark.core.errors import BadInput
from spikemark.core.files import write_atomically, write_json
from spikemark.records.cases import Case, View, timed
from spikemark.records.gather import Sweep
from spikemark.report import conclude, page
from spikemark.report.sections import correctness, glossary, literature, provenance, runs
from spikemark.running import experiments, possible, sweeps, ways

from . import STUDIES
from .study import Findings, Study


@dataclass(frozen=True)
class Done:
    """A study as far as it has progressed; `page` and `tables` are the files written."""

    study: Study
    sweep: Sweep
    findings: Findings
    page: Path
    tables: Path

    def content(self) -> dict[str, Any]:
        """The content of study.json."""
        runs = {"planned": len(self.sweep.planned), "complete": len(self.sweep.runs)}
        machine = {"study": self.study.name, "machine": self.sweep.machine, "runs": runs}
        return {**machine, **self.findings.content()}


def find(name: str) -> Study:
    """The study of that name. Raises BadInput naming all studies."""
    if name not in STUDIES:
        raise BadInput(f"study {name!r} not found: one of {', '.join(STUDIES)}")
    return STUDIES[name]


def carry_out(
    study: Study,
    machine: str | None = None,
    root: Path | None = None,
    profile: str = ways.HERE,
    stream: TextIO | None = None,
    full: bool = False,
) -> tuple[Done, sweeps.Outcome]:
    """Sweep the experiment of the study, then write study.json and study.html beside its runs.

    The records are read once, at the end of the sweep. Raises what `sweeps.sweep` raises, and BadInput for a
    full size that the study does not have. The same call goes on after an interruption.
    """
    if full and study.full is None:
        sized = ", ".join(name for name, other in STUDIES.items() if other.full)
        raise BadInput(f"--full: study {study.name} has one size only; allowed with {sized}")
    prepare, lasts = (study.prepare, study.lasts) if not full else (study.full.prepare, study.full.lasts)
    experiment = experiments.load(study.experiment)
    folder = sweeps.folder(experiment, machine, root)
    sifted = possible.sift(experiment, experiments.expand(experiment))
    for line in sifted.lines:
        print(line, file=stream)
    outcome = sweeps.sweep(experiment, sifted.runs, folder, conclude, ways.find(profile), stream)
    if prepare and profile == ways.HERE:
        more = f"measuring or computing what else the study needs; {lasts}, unless it is known"
        print(more, file=stream, flush=True)
        outcome.complaints.extend(prepare(outcome.sweep))
    return write(study, outcome.sweep), outcome


def write(study: Study, sweep: Sweep) -> Done:
    """Write study.json and study.html of a gathered sweep into its results folder."""
    done = Done(study, sweep, study.read(sweep), sweep.path / "study.html", sweep.path / "study.json")
    write_json(done.tables, done.content())
    write_atomically(done.page, render(done))
    return done


def render(done: Done) -> str:
    """The page as one HTML document that loads nothing."""
    view = View(done.sweep, Case(timed(done.sweep.runs)))
    common = [kind.section(view) for kind in (correctness, provenance, runs, glossary, literature)]
    findings = done.findings
    return page.fill(view, findings.sentence, findings.key_figures, findings.sections, common)
