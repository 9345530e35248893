"""Every study: its page and tables whatever runs there are, the kinds of their numbers, and the command."""

import json
import re

import pytest
from planned import ABSENT
from studied import carried_out, exchanging, says_simulated

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import KINDS
from spikemark.records.gather import gather
from spikemark.report.headline import MOST_WORDS
from spikemark.report.page import MOST_ROWS
from spikemark.running import experiments
from spikemark.studies import STUDIES, carry_out

RUNS = [exchanging(r, n, e) for r in (1, 2, 4) for n in (1, 2) for e in ("allgather", "rma_doubling")]


@pytest.mark.parametrize("study", STUDIES.values(), ids=list(STUDIES))
class TestEveryStudy:
    def test_is_named_and_has_its_experiment(self, study):
        assert STUDIES[study.name] is study
        assert len(study.summary) > 40 and "\n" not in study.summary
        assert experiments.expand(experiments.load(study.experiment))

    def test_page_without_any_run(self, study, tmp_path):
        done, page = carried_out(study, tmp_path, [exchanging(2, state=ABSENT)])
        assert "Nothing to compare yet" in page.text
        assert page.loads == [] and len(page.ids) == len(set(page.ids))
        content = json.loads(done.tables.read_text())
        assert content["study"] == study.name
        assert content["runs"] == {"planned": 1, "complete": 0}
        assert list(content["tables"]) == [t.name for t in done.findings.tables]

    def test_tables_say_what_kind_their_numbers_are(self, study, tmp_path):
        done, page = carried_out(study, tmp_path, RUNS)
        for table in done.findings.tables:
            names = [column.name for column in table.columns]
            assert table.name and table.title and len(names) == len(set(names))
            assert all(column.kind in {"", *KINDS} for column in table.columns)
            assert all(_plain(note) in _plain(page.text) for note in table.notes)
        text = done.page.read_text(encoding="utf-8")
        top = re.search(r'<header class="first-screen">.*?</header>', text, re.S).group()
        headline = re.search(r'id="headline">(.*?)</p>', top, re.S).group(1)
        assert len(headline.split()) <= MOST_WORDS, "a person reads it at a glance"
        assert top.count("<svg") <= 1 and top.count("<table") <= 1
        drawn = [figure for part in done.findings.parts for figure in part.figures]
        short = [table for table in done.findings.tables if len(table.rows) <= MOST_ROWS]
        assert top.count("<svg") == bool(drawn) and ("<table" in top) == bool(short)
        assert page.loads == []
        json.loads(done.tables.read_text(), parse_constant=lambda x: pytest.fail(f"{x} in JSON"))

    def test_simulated_runs_are_never_called_measured(self, study, tmp_path):
        done, page = carried_out(study, tmp_path, RUNS, on_machine=True)
        says_simulated(done)
        own = page.text.replace(done.sweep.title, "").replace("not measured on this machine; run", "")
        assert "this machine" not in own.lower()


def _plain(text: str) -> str:
    return "".join(text.replace("`", "").split())


def test_command_without_a_name_lists_the_studies(spikemark):
    status, output, _ = spikemark("study")
    assert status == 0
    assert [line.split()[0] for line in output.splitlines()] == list(STUDIES)


def test_command_refuses_a_study_that_there_is_not(spikemark):
    status, output, errors = spikemark("study", "nope")
    assert (status, output) == (2, "")
    assert re.fullmatch(rf"spikemark: study 'nope' not found: one of {', '.join(STUDIES)}\n", errors)


def test_no_plan_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match="no plan"):
        carry_out.write(STUDIES["schedules"], gather(tmp_path))
