"""The engine of studies: every row of every paper, verdicts, and one study from end to end."""

import json
import types

import pytest
from html_page import Page
from pydantic import ValidationError

from spikemark import studies
from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing
from spikemark.running import experiments
from spikemark.studies import show, study
from spikemark.studies.study import Answer, Judged, Lacking, Paper, Row, Runs, judge

TINY = Paper.model_validate(
    {
        "title": "A paper",
        "reference": "nowhere",
        "experiments": {"smoke": {"grid": [{"schedule": ["conventional", "structure_aware"]}], "ranks": [2]}},
        "rows": [
            {
                "id": "fig. 1",
                "question": "How many spikes?",
                "theirs": {"value": 400},
                "ours": "spikes",
                "agree": {"within": 0.2},
            },
            {"id": "fig. 2", "question": "None?", "not_attempted": "it needs a brain"},
            {"id": "fig. 3", "question": "Lacking?", "ours": "lacking", "not_comparable": "no number"},
        ],
    }
)


def row(**fields) -> Row:
    return Row.model_validate({"id": "fig. 1", "question": "?", "ours": "f", **fields})


@pytest.mark.parametrize("name", studies.names())
def test_every_row_has_a_function_or_a_reason_and_every_function_a_row(name):
    paper, module = study.load(name), studies.module(name)
    named = {one.ours for one in paper.rows if one.ours}
    own = {
        key
        for key, value in vars(module).items()
        if isinstance(value, types.FunctionType) and value.__module__ == module.__name__ and key[0] != "_"
    }
    assert named == own
    for one, fields in paper.experiments.items():
        wanted = experiments.load(one)
        assert wanted.name == one
        if fields is not None:
            quick = study.scaled(wanted, fields)
            assert 0 < experiments.number(quick) <= 60
            first = {
                name: value[:1] if isinstance(value, list) else value for name, value in quick.grid[0].items()
            }
            assert experiments.expand(quick.model_copy(update={"grid": [first], "seeds": [1]}))
    nothing = Runs(None, True, {}, dict.fromkeys(paper.experiments, "nothing was run"))
    for one in paper.rows:
        if one.ours is None:
            found = study.answer(one, module, nothing)
            assert found.verdict in study.VERDICTS and found.why


@pytest.mark.parametrize(
    ("agree", "theirs", "ours", "verdict"),
    [
        ({"within": 0.1}, {"value": 10}, Quantity(10.9), study.AGREE),
        ({"within": 0.1}, {"value": 10}, Quantity(11.1), study.DISAGREE),
        ({"within": 0.1}, {"value": 10}, Quantity(12, 9.9, 14), study.AGREE),
        ({"factor": 2}, {"value": 10}, Quantity(5.1), study.AGREE),
        ({"factor": 2}, {"value": 10}, Quantity(4.9), study.DISAGREE),
        ({"factor": 2}, {"value": 10}, Quantity(-10), study.DISAGREE),
        ({"above": 0}, {"words": "longer"}, Quantity(0.1), study.AGREE),
        ({"above": 0}, {"words": "longer"}, Quantity(-0.1), study.DISAGREE),
        ({"below": 1}, {"words": "less"}, Quantity(0.9), study.AGREE),
        ({"order": True}, {"order": ["a", "b"]}, ["a", "b"], study.AGREE),
        ({"order": True}, {"order": ["a", "b"]}, ["b", "a"], study.DISAGREE),
        ({"within": 0.1}, {"value": 10}, missing("nobody looked"), study.NOT_ATTEMPTED),
    ],
)
def test_verdicts(agree, theirs, ours, verdict):
    found = judge(row(agree=agree, theirs=theirs), Answer(ours))
    assert found.verdict == verdict
    assert bool(found.why) == (verdict != study.AGREE)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"agree": {"within": 0.1}},
        {"agree": {"within": 0.1, "factor": 2}, "theirs": {"value": 1}},
        {"not_comparable": "x", "not_attempted": "y"},
        {"not_attempted": "y"},
        {"agree": {"within": 0.1}, "theirs": {"value": 1}, "ours": None},
    ],
)
def test_a_row_without_a_decision_is_refused(fields):
    with pytest.raises(ValidationError):
        row(**fields)


def test_names(tmp_path):
    with pytest.raises(BadInput, match="study='nobody'"):
        studies.module("nobody")


def test_what_was_computed_is_kept_until_something_else_is_asked(tmp_path):
    runs, calls = Runs(tmp_path), []
    for given in ({"n": 1}, {"n": 1}, {"n": 2}):
        assert runs.kept("x", given, lambda: calls.append(1) or len(calls)) == len(calls)
    assert len(calls) == 2


def test_a_study_from_end_to_end(tmp_path):
    def spikes(runs: Runs) -> Answer:
        assert set(runs["smoke"].runs["schedule"]) == {"conventional", "structure_aware"}
        return Answer(Quantity(float(runs["smoke"].runs["spikes"].mean()), kind="counted"))

    def lacking(runs: Runs) -> Answer:
        raise Lacking("the reason")

    module = types.SimpleNamespace(spikes=spikes, lacking=lacking)
    with open(tmp_path / "log", "w") as log:
        found = study.carry_out("tiny", module, True, None, tmp_path, log, TINY)
    assert found.complaints == []
    assert [one.verdict for one in found.rows] == [study.AGREE, study.NOT_ATTEMPTED, study.NOT_ATTEMPTED]
    assert [one.why for one in found.rows] == [
        "",
        "it needs a brain",
        "the reason; the full study may have it",
    ]
    content = json.loads(json.dumps(show.content(found)))
    assert content["verdicts"] == {"agree": 1, "disagree": 0, "not comparable": 0, "not attempted": 2}
    page = Page(show.page(found))
    assert page.loads == []
    commit = found.frames[0].runs["commit"].iloc[0][:10]
    assert commit in show.markdown(found) and show.markdown(found).count("| fig. ") == 3
    sentences, table, _ = show.screen(found)
    assert len(table.rows) == 3 and "3" in sentences[0]


def test_a_screen_has_at_most_twelve_rows_and_disagreements_first():
    rows = [Judged(row(not_comparable="x"), study.NOT_COMPARABLE, "x")] * 20
    rows += [Judged(row(agree={"within": 0.1}, theirs={"value": 1}), study.DISAGREE, "y", Answer("z"))]
    found = study.Study("x", TINY, False, rows, [], [])
    assert len(show.screen(found)[1].rows) == 12
    assert "disagree" in show.screen(found)[1].rows[0]["verdict"]
    assert len(show.screen(found, details=True)[1].rows) == 21
