"""The engine of studies: every claim of every paper, verdicts, and one study from end to end."""

import json
import re

import numpy as np
import pytest
from html_page import Page
from pydantic import ValidationError

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Table
from spikemark.running import experiments
from spikemark_studies import answer_schema, claims, show, study
from spikemark_studies.claims import Claim, Judged, Paper, StudyAnswer, judge
from spikemark_studies.study import Lacking, Runs

TINY = Paper.model_validate(
    {
        "title": "A paper",
        "reference": "nowhere",
        "conclusion": {"text": "There are {spikes}.", "rests_on": {"spikes": "reproduced"}},
        "experiments": {
            "smoke": {"grid": [{"schedule": ["conventional", "structure_aware"]}], "ranks": [2]}
        },
        "claims": [
            {
                "id": "spikes",
                "place": ["fig. 1"],
                "says": "It has 400 spikes.",
                "published": {"value": 400, "status": "printed in text"},
                "contradicted_by": [
                    {"ours": 200, "means": "half"},
                    {"ours": 800, "means": "twice"},
                ],
                "ours": "spikes",
                "rule": {"within": 0.2},
                "earns": "reproduced",
            },
            {
                "id": "brain",
                "place": ["fig. 2"],
                "says": "It thinks.",
                "published": {"words": "it does", "status": "printed in text"},
                "contradicted_by": [{"means": "it does not"}],
                "not_testable": "a brain",
            },
        ],
        "findings": [
            {"id": "lacking", "place": ["fig. 3"], "question": "Lacking?", "ours": "lacking"}
        ],
    }
)
#: Every figure, table, equation and algorithm of the five papers, by study.
ELEMENTS = {
    "lober": [
        *("fig. 1a", "fig. 1b", "fig. 2", "fig. 3", "fig. 4", "fig. 5", "fig. 6a", "fig. 6b"),
        *("fig. 7a", "fig. 7b", "fig. 7c", "fig. 8a", "fig. 8b", "fig. 8c"),
        *("fig. 9", "fig. 10", "fig. 11", "fig. 12"),
        *(f"eq. {number}" for number in range(1, 19)),
    ],
    "simula": [
        *(f"fig. {number}" for number in range(1, 9)),
        *("Table I", "Table II", "Table III", "Table IV"),
    ],
    "shehzad": [
        *(f"fig. {number}" for number in range(1, 8)),
        *("Table 1", "Table 2", "Table 3", "algorithm 1", "algorithm 2"),
    ],
    "music": [f"fig. {number}" for number in range(1, 13)],
    "du": [
        *(f"fig. {number}" for number in range(1, 5)),
        *("Table I", "Table II", "algorithm 1", "algorithm 2"),
    ],
}
#: What may hold a number in prose: where something is, names, and the terms of a question.
REFERENCES = re.compile(
    r"fig\w*\. ?\d+\w*|figures? \d+\w*|Tables? [IVX\d]+( and [IVX\d]+)?|eqs?\. ?\d+( to \d+)?"
    r"|sect\. [\d.]+|algorithm \d|arXiv [\w.]+|D = \d+( of \d+)?|\d+ (of \d+ )?(and \d+ )?\d*"
    r" ?(ranks|cores|processes|cells|neurons|threads|nodes|GPUs|boards)\b|level 2|NEST [\d.]+"
    r"|\dk\b|\d{4}|8[0-9]e9|the rows? of 1 and 2|with \d+(, \d+)* and (\d+|more)",
    re.IGNORECASE,
)


def claim(**fields) -> Claim:
    content = {
        "id": "c",
        "place": ["fig. 1"],
        "says": "?",
        "published": {"value": 10, "status": "printed in text"},
        "contradicted_by": [{"ours": 1, "means": "less"}, {"ours": 100, "means": "more"}],
        "ours": "f",
        "rule": {"within": 0.1},
        "earns": "reproduced",
    }
    content.update(fields)
    return Claim.model_validate(content)


def every_claim() -> list:
    cases = []
    for name in study.study_names():
        for each in study.load_paper(name).claims:
            cases.append(pytest.param(name, each, id=f"{name}-{each.id}"))
    return cases


@pytest.mark.parametrize("name", study.study_names())
def test_every_claim_has_a_function_or_a_reason_and_every_function_a_claim(name):
    paper = study.load_paper(name)
    named = {part.ours for part in (*paper.claims, *paper.findings) if part.ours}
    functions = study.answer_functions(name)
    assert named == set(functions)
    assert {function.__name__ for function in functions.values()} == {f"_{key}" for key in named}
    for title, fields in paper.experiments.items():
        wanted = experiments.load_experiment(title)
        assert wanted.name == title
        used = {wanted.machine.profile} if wanted.machine else set()
        for part in wanted.grid:
            swept = part.get("machine.profile", [])
            used.update([swept] if isinstance(swept, str) else swept)
        assert used <= {*paper.profiles, None}
        if fields is not None:
            quick = study._scaled(wanted, fields)
            assert 0 < experiments.number(quick) <= 60
            first = {
                name: value[:1] if isinstance(value, list) else value
                for name, value in quick.grid[0].items()
            }
            assert experiments.expand(quick.model_copy(update={"grid": [first], "seeds": [1]}))
    nothing = Runs(None, True, {}, dict.fromkeys(paper.experiments, "nothing was run"))
    for each in paper.claims:
        if each.ours is None:
            judged = study.answer(each, functions, nothing)
            assert judged.verdict == claims.NOT_TESTABLE and judged.why


@pytest.mark.parametrize(("name", "each"), every_claim())
def test_the_rule_of_a_claim_fails_for_what_would_contradict_it(name, each):
    """A claim that is called reproduced could have been contradicted, on each side of its rule."""
    if each.rule is None:
        assert each.not_testable
        return
    for outcome in each.contradicted_by:
        assert outcome.ours is not None
        answer = StudyAnswer(outcome.ours, drawn_orders=[outcome.ours])
        if not isinstance(outcome.ours, list):
            answer = StudyAnswer(Quantity(outcome.ours, outcome.ours, outcome.ours))
        verdict = claims.CONTRADICTED
        if each.earns == claims.BY_CONSTRUCTION:
            verdict = claims.BY_CONSTRUCTION
        assert judge(each, answer).verdict == verdict
    assert each.unopposed() == []


@pytest.mark.parametrize(("name", "each"), every_claim())
def test_a_claim_that_may_be_reproduced_has_two_opposites(name, each):
    if each.earns == claims.REPRODUCED:
        assert len(each.contradicted_by) >= 2


@pytest.mark.parametrize(
    ("words", "limit", "rule", "is_refused"),
    [
        ("faster", {"at": [1]}, {"above": 1}, False),
        ("faster", {"at": [1]}, {"above": 1.1}, False),  # stricter than the words
        ("faster", {"at": [1]}, {"above": 0.9}, True),  # the words ask for more
        ("noticeably faster", {"at": [1]}, {"above": 1.1}, True),
        ("Noticeably faster", {"at": [1]}, {"above": 1.1}, True),
        ("faster", {"at": [1.1]}, {"above": 1.1}, True),  # no word says so
        ("less than all", {"at": [100]}, {"below": 100}, False),
        ("less than all", {"at": [100]}, {"below": 101}, True),
        ("irregular", {"at": [0.75, 1.25]}, {"between": [0.75, 1.25]}, True),
        ("below the theory", {"at": [0, 68.4]}, {"between": [0, 68.4]}, True),
        ("below the theory", {"at": [0, 68.4], "place": "eq. 1"}, {"between": [1, 68]}, False),
        ("below the theory", {"at": [0, 68.4], "place": "eq. 2"}, {"between": [1, 68]}, True),
        ("below the theory", {"at": [0]}, {"between": [1, 68]}, True),
    ],
)
def test_only_limits_that_the_paper_gives_make_words_reproduced(words, limit, rule, is_refused):
    """A claim with limits of the project's own is refused with them, and no more than consistent
    without them.
    """
    fields = {
        "place": ["fig. 1", "eq. 1"],
        "published": {"words": words, "status": "printed in text"},
        "rule": rule,
    }
    ours = StudyAnswer(Quantity(50 if rule.keys() == {"below"} else 20, kind="measured"))
    without = claim(**fields)
    if without.rule.holds(ours.value.number, without.published):
        assert judge(without, ours).verdict == claims.CONSISTENT
    with_limit = {**fields, "limit": {**limit, "says": "the words"}}
    if is_refused:
        with pytest.raises(ValidationError, match="limit"):
            claim(**with_limit)
    else:
        assert judge(claim(**with_limit), ours).verdict == claims.REPRODUCED


@pytest.mark.parametrize(("name", "each"), every_claim())
def test_a_rule_about_a_printed_number_is_no_wider_than_a_quarter(name, each):
    """One tolerance for all numbers of all papers, chosen before any of ours; for fits as well."""
    is_computed = each.published.status.startswith("computed")
    if each.rule is None or each.published.value is None or is_computed:
        return
    size = abs(each.published.value)
    low, high = each.rule.limits(each.published)
    if size == 0:
        assert max(low, high) < 0.01
        return
    assert low * high > 0
    smallest, largest = sorted((abs(low), abs(high)))
    assert (2 - claims.WIDEST_FACTOR) * size <= smallest
    assert largest <= claims.WIDEST_FACTOR * size


@pytest.mark.parametrize(("name", "each"), every_claim())
def test_a_quotient_of_printed_numbers_is_not_printed(name, each):
    """What we divided, counted or subtracted says so."""
    is_worked_out = re.search(r"\d.* (over|for) \d", each.published.words)
    if each.published.value is not None and is_worked_out:
        assert each.published.status.startswith("computed")
    assert each.published.words in each.published.text
    assert each.published.status in each.published.text


@pytest.mark.parametrize("name", study.study_names())
def test_a_page_says_which_claims_share_a_cause(name):
    """A sentence for each cause, with its claims and how many of them are reproduced."""
    paper = study.load_paper(name)
    judged = []
    for each in paper.claims:
        verdict = each.earns if each.earns == claims.REPRODUCED else claims.CONSISTENT
        judged.append(Judged(each, verdict))
    sentences = show._shared(study.Study(name, paper, True, judged, [], [], []))
    assert len(sentences) == len(paper.shared)
    by_id = {each.id: each for each in paper.claims}
    for sentence, (cause, ids) in zip(sentences, paper.shared.items(), strict=True):
        assert len(set(ids)) == len(ids) >= 2
        reproduced = sum(by_id[id].earns == claims.REPRODUCED for id in ids)
        assert cause in sentence and f"{len(ids)} claims, {reproduced} of them" in sentence
        assert all(by_id[id].says in sentence for id in ids)


@pytest.mark.parametrize("name", ELEMENTS)
def test_every_figure_table_equation_and_algorithm_has_a_claim_or_a_reason(name):
    paper = study.load_paper(name)
    claimed = {place for each in paper.claims for place in each.place}
    assert not claimed & set(paper.unchecked)
    lacking = []
    for element in ELEMENTS[name]:
        panels = {place for place in claimed if place.rstrip("abc") == element}
        if element not in claimed | set(paper.unchecked) and not panels:
            lacking.append(element)
    assert lacking == []
    assert all(paper.unchecked.values())


@pytest.mark.parametrize("name", study.study_names())
def test_what_rests_on_a_fit_is_never_counted(name):
    paper = study.load_paper(name)
    by_id = {each.id: each for each in paper.claims}
    for fit in paper.fitted:
        assert fit.claims
        for id in fit.claims:
            assert by_id[id].earns == claims.BY_CONSTRUCTION


@pytest.mark.parametrize("name", study.study_names())
def test_a_first_line_states_the_verdict_of_each_claim_that_it_quotes(name):
    """Otherwise the claim could be contradicted, and the line would say the same."""
    paper = study.load_paper(name)
    quoted = set(re.findall(r"\{([^}]*)\}", paper.conclusion.text))
    assert quoted & {each.id for each in paper.claims} <= set(paper.conclusion.rests_on)


@pytest.mark.parametrize("name", study.study_names())
def test_no_number_of_ours_is_typed_into_prose(name):
    """Numbers in conclusions and causes are answers, written by code in place of `{id}`."""
    paper = study.load_paper(name)
    texts = [paper.conclusion.text, *paper.about]
    texts += [each.why + each.not_testable + each.because for each in paper.claims]
    ids = {part.id for part in (*paper.claims, *paper.findings)}
    for text in texts:
        named = set(re.findall(r"\{([^}]*)\}", text))
        assert named <= ids
        rest = REFERENCES.sub("", re.sub(r"\{[^}]*\}", "", text))
        assert not re.search(r"\d", rest), rest


@pytest.mark.parametrize(
    ("rule", "ours", "verdict"),
    [
        ({"within": 0.1}, Quantity(10.9), claims.REPRODUCED),
        ({"within": 0.1}, Quantity(11.1), claims.CONTRADICTED),
        ({"within": 0.1}, Quantity(10, 9.1, 10.9), claims.REPRODUCED),
        ({"within": 0.1}, Quantity(10, 8.9, 10.9), claims.UNDECIDED),
        ({"within": 0.1}, Quantity(10, 9.1, 11.1), claims.UNDECIDED),
        ({"within": 0.1}, Quantity(12, 11.1, 14), claims.CONTRADICTED),
        ({"within": 0.1}, Quantity(12, 9.9, 14), claims.UNDECIDED),
        ({"within": 0.1}, Quantity(10, 0.5, 20), claims.UNDECIDED),
        ({"within": 0.1}, Quantity(20, 0.5, 40), claims.UNDECIDED),
        ({"within": 0.1}, Quantity(10, 9.5, 10.5, kind="modelled"), claims.CONSISTENT),
        ({"above": 5}, Quantity(20, 0.5, 40), claims.UNDECIDED),
        ({"above": 5}, Quantity(4.9, 4, 6), claims.UNDECIDED),
        ({"factor": 2}, Quantity(5.1), claims.REPRODUCED),
        ({"factor": 2}, Quantity(4.9), claims.CONTRADICTED),
        ({"factor": 2}, Quantity(-10), claims.CONTRADICTED),
        ({"between": [8, 12]}, Quantity(11), claims.REPRODUCED),
        ({"between": [8, 12]}, Quantity(13), claims.CONTRADICTED),
        ({"above": 5}, Quantity(5.1), claims.REPRODUCED),
        ({"above": 5}, Quantity(5.1, 4.9, 5.3), claims.UNDECIDED),
        ({"above": 5}, Quantity(4.9), claims.CONTRADICTED),
        ({"above": 5}, Quantity(4.5, 4, 5), claims.CONTRADICTED),
        ({"within": 0.1}, Quantity(10, 9.1, 10.9, kind="simulated"), claims.CONSISTENT),
        ({"within": 0.1}, Quantity(10, kind="simulated"), claims.CONSISTENT),
        ({"within": 0.1}, Quantity(10, kind="modelled"), claims.CONSISTENT),
        ({"below": 50}, Quantity(49), claims.REPRODUCED),
        ({"below": 50}, Quantity(49, 40, 58), claims.UNDECIDED),
        ({"order": True}, ["a", "b"], claims.REPRODUCED),
        ({"order": True}, ["b", "a"], claims.CONTRADICTED),
        ({"within": 0.1}, missing("nobody looked"), claims.NOT_TESTABLE),
        ({"above": 5}, Quantity(float("nan")), claims.NOT_TESTABLE),
    ],
)
def test_verdicts(rule, ours, verdict):
    published = {"value": 10, "order": ["a", "b"], "status": "printed in text"}
    judged = judge(claim(rule=rule, published=published), StudyAnswer(ours))
    assert judged.verdict == verdict
    assert bool(judged.why) == (verdict != claims.REPRODUCED)


def test_what_holds_by_construction_is_not_counted_and_a_contradiction_has_a_cause():
    input_of_ours = claim(earns="by construction", because="an input", why="a slip")
    assert judge(input_of_ours, StudyAnswer(Quantity(10))).verdict == claims.BY_CONSTRUCTION
    missed = judge(input_of_ours, StudyAnswer(Quantity(1)))  # never counted, but it says so
    assert missed.verdict == claims.BY_CONSTRUCTION and "a slip" in missed.why
    assert claims.BY_CONSTRUCTION not in claims.COUNTED
    assert judge(claim(), StudyAnswer(Quantity(1))).why == claims.CAUSE_UNKNOWN
    assert judge(claim(why="a slip"), StudyAnswer(Quantity(1))).why == "a slip"
    weak = claim(earns="consistent", because="an input")
    judged = judge(weak, StudyAnswer(Quantity(10)))
    assert judged.verdict == claims.CONSISTENT and "an input" in judged.why


def test_what_assumes_something_is_reproduced_by_measurement_alone():
    assuming = claim(assumes="the jitter")
    for kind, verdict in (("simulated", claims.CONSISTENT), ("measured", claims.REPRODUCED)):
        judged = judge(assuming, StudyAnswer(Quantity(10, 9.5, 10.5, kind=kind)))
        assert judged.verdict == verdict
        assert ("the jitter" in judged.why) == (verdict == claims.CONSISTENT)
    assert judge(assuming, StudyAnswer(Quantity(1, 1, 2))).verdict == claims.CONTRADICTED
    for value in (1, 10):  # asked once, so that nothing says what the jitter decides
        once = judge(assuming, StudyAnswer(Quantity(value, kind="simulated")))
        assert (once.verdict, once.why) == (claims.NOT_TESTABLE, claims.NOT_VARIED)
    wide = Quantity(10, 0.5, 20, kind="simulated")  # it holds what would contradict the claim
    assert judge(assuming, StudyAnswer(wide)).verdict == claims.UNDECIDED


def test_an_interval_on_both_sides_of_a_limit_decides_nothing():
    words = claim(
        published={"words": "more", "status": "printed in text"},
        rule={"above": 5},
        limit={"at": [1], "says": "more"},
    )
    for ours in (Quantity(4, 1, 20), Quantity(6, 4.9, 7)):  # no matter which outcomes are stated
        undecided = judge(words, StudyAnswer(ours))
        assert (undecided.verdict, undecided.why) == (claims.UNDECIDED, claims.TOO_WIDE)
    assert judge(words, StudyAnswer(Quantity(4, 1, 4.9))).verdict == claims.CONTRADICTED


@pytest.mark.parametrize(
    ("holding", "verdict"),
    [
        (0, claims.CONTRADICTED),
        (1, claims.CONTRADICTED),
        (3, claims.UNDECIDED),
        (34, claims.UNDECIDED),
        (61, claims.UNDECIDED),
        (63, claims.CONSISTENT),
        (64, claims.CONSISTENT),
    ],
)
def test_an_order_is_decided_by_the_draws_of_what_it_assumes(holding, verdict):
    published = {"order": ["a", "b"], "status": "printed in text"}
    asked = claim(
        published=published,
        rule={"order": True},
        contradicted_by=[{"ours": ["b", "a"], "means": "b"}],
        assumes="the jitter",
    )
    middle = ["a", "b"] if holding > 32 else ["b", "a"]
    drawn = [["a", "b"]] * holding + [["b", "a"]] * (64 - holding)
    assert judge(asked, StudyAnswer(middle, drawn_orders=drawn)).verdict == verdict
    assert judge(asked, StudyAnswer(middle)).verdict == claims.NOT_TESTABLE


def test_one_number_of_ours_decides_its_claims_alike():
    """Or its inverse; generated pairs, of which some are alike."""
    rng = np.random.default_rng(1)
    limit = 1.1
    for _ in range(100):
        value, wide = rng.uniform(1.2, 5), bool(rng.integers(2))
        is_inverse, is_other = bool(rng.integers(2)), bool(rng.integers(2))
        other = value * (1.5 if is_other else 1)
        first = claim(id="first", rule={"above": limit}, contradicted_by=[{"ours": 1, "means": ""}])
        second = claim(id="second", rule={"above": 0}, contradicted_by=[{"ours": -1, "means": ""}])
        low = 1 if wide else 1.15
        narrow = StudyAnswer(Quantity(value, low, 2 * value))
        inverse = 1 / other if is_inverse else other
        judged = [judge(first, narrow), judge(second, StudyAnswer(Quantity(inverse)))]
        expected = [("first", "second")] if wide and not is_other else []
        assert claims.disagreeing(judged) == expected


def test_the_guide_has_the_definitions_of_the_verdicts():
    guide = (places.checkout() / "docs" / "studies.md").read_text(encoding="utf-8")
    for verdict, meaning in claims.MEANINGS.items():
        assert f"| {verdict} | {meaning} |" in guide
    assert tuple(claims.MEANINGS) == claims.VERDICTS


def test_a_page_says_what_fails_and_what_it_is_that_fails():
    """By construction and missed even so; our model on what they measured, or the paper's claim."""
    built = claim(id="built", earns="by construction", because="an input")
    measured = claim(id="measured", place=["Table 1"])
    said = claim(id="said", place=["sect. 1"])
    judged = [
        judge(built, StudyAnswer(Quantity(1, kind="modelled"))),
        judge(built, StudyAnswer(Quantity(10, kind="modelled"))),
        judge(measured, StudyAnswer(Quantity(1, kind="modelled"))),
        judge(measured, StudyAnswer(Quantity(1, kind="simulated"))),
        judge(measured, StudyAnswer(Quantity(1, kind="literature"))),
        judge(said, StudyAnswer(Quantity(1, kind="modelled"))),
    ]
    assert [each.misses for each in judged] == [True, False, False, False, False, False]
    assert [each.is_of_our_model for each in judged] == [False, False, True, True, False, False]
    finished = study.Study("x", TINY, True, judged, [], [], [])
    sentence = show._sentence(finished)
    assert "4 contradicted (2 of the paper's own claims, 2 of what they measured" in sentence
    assert "2 by construction (of which 1" in sentence
    rows = {row["verdict"]: row["claims"] for row in show._counts(finished).rows}
    assert rows[claims.BY_CONSTRUCTION] == 2 and rows[show.FAILING_EVEN_SO] == 1


def test_the_middle_of_an_interval_that_reaches_beyond_a_limit_decides_nothing():
    """Generated intervals: those that hold the claim and reach beyond it have one verdict."""
    rng = np.random.default_rng(1)
    verdicts = set()
    for _ in range(200):
        low, middle, high = np.sort(rng.uniform(0, 150, 3))
        ours = Quantity(float(middle), float(low), float(high))
        verdict = judge(claim(), StudyAnswer(ours)).verdict
        holds_the_claim = low < 11 and high > 9
        reaches_beyond = low < 9 or high > 11
        if holds_the_claim and reaches_beyond:
            assert verdict == claims.UNDECIDED
        if not holds_the_claim:
            assert verdict == claims.CONTRADICTED
        verdicts.add(verdict)
    assert verdicts >= {claims.UNDECIDED, claims.CONTRADICTED}


@pytest.mark.parametrize("rule", [{"above": 5}, {"below": 50}, {"between": [5, 50]}])
def test_words_without_a_limit_of_the_paper_are_never_reproduced(rule):
    said = {"words": "considerably", "status": "printed in text"}
    ours = StudyAnswer(Quantity(10, 9, 11))
    assert judge(claim(published=said, rule=rule), ours).verdict == claims.CONSISTENT
    with pytest.raises(ValidationError, match="considerably"):
        claim(published=said, rule=rule, limit={"at": [1], "says": "the paper gives it"})


@pytest.mark.parametrize(
    ("rule", "reach", "verdict"),
    [
        ({"within": 0.1}, (0.9, 110), claims.REPRODUCED),
        ({"within": 0.1}, (1.1, 110), claims.CONSISTENT),
        ({"within": 0.1}, (0.9, 90), claims.CONSISTENT),
        ({"above": 5}, (0.9, 90), claims.REPRODUCED),
        ({"above": 5}, (1.1, 110), claims.CONSISTENT),
        ({"below": 50}, (1.1, 110), claims.REPRODUCED),
        ({"below": 50}, (0.9, 90), claims.CONSISTENT),
    ],
)
def test_what_no_cost_of_a_model_contradicts_is_not_reproduced(rule, reach, verdict):
    ours = Quantity(10, 9.5, 10.5, kind="modelled")
    judged = judge(claim(rule=rule), StudyAnswer(ours, reach=reach))
    assert judged.verdict == verdict


def test_claims_that_share_their_evidence_are_one_piece_of_it():
    ids = ("a", "b", "c", "d", "e")
    of_paper = {
        **TINY.model_dump(),
        "claims": [claim(id=id) for id in ids],
        "conclusion": {"text": "", "rests_on": {}},
        "shared": {"one network": ["a", "b"], "one cost": ["b", "c"], "another": ["d", "e"]},
    }
    paper = Paper.model_validate(of_paper)
    for reproduced, pieces in (("abcde", 2), ("ac", 2), ("abc", 1), ("ad", 2), ("", 0)):
        judged = []
        for each in paper.claims:
            verdict = claims.REPRODUCED if each.id in reproduced else claims.CONSISTENT
            judged.append(Judged(each, verdict))
        finished = study.Study("x", paper, True, judged, [], [], [])
        assert show._pieces_of_evidence(finished) == pieces
        said = "of evidence" in show._sentence(finished)
        assert said == (pieces < len(reproduced))


@pytest.mark.parametrize("shown", [{}, {"note": "A note."}, {"tables": [Table([], [])]}])
def test_the_answer_of_a_finding_is_on_the_page(shown, tiny_digests):
    found = claims.Answered(TINY.findings[0], StudyAnswer("5 of 7", **shown))
    judged = [judge(each, StudyAnswer(Quantity(400))) for each in TINY.claims]
    finished = study.Study("x", TINY, True, judged, [found], [], [])
    assert show.markdown(finished).count("5 of 7.") == 1
    assert "5 of 7." in show.page(finished)


@pytest.mark.parametrize(
    ("rule", "outcomes"),
    [
        ({"within": 0.1}, [1]),
        ({"within": 0.1}, [100]),
        ({"within": 0.1}, [1, 10.5]),
        ({"above": 5}, [6]),
        ({"below": 5}, [4]),
        ({"between": [1, 2]}, [3]),
    ],
)
def test_a_rule_that_cannot_fail_is_found(rule, outcomes):
    contradicted_by = [{"ours": outcome, "means": "other"} for outcome in outcomes]
    assert claim(rule=rule, contradicted_by=contradicted_by).unopposed()


@pytest.mark.parametrize(
    "fields",
    [
        {"contradicted_by": []},
        {"rule": {}},
        {"rule": {"within": 0.1, "factor": 2}},
        {"rule": None},
        {"not_testable": "a brain"},
        {"earns": "by construction"},
        {"earns": "consistent"},
        {"because": "an input"},
        {"assumes": "the jitter", "earns": "consistent"},
        {"ours": None},
        {"limit": {"at": [1], "says": "beside a number"}},
        {"earns": "not testable here"},
        {"published": {"value": 1, "status": "inferred"}},
    ],
)
def test_a_claim_without_a_decision_is_refused(fields):
    with pytest.raises(ValidationError):
        claim(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"claims": [claim(), claim()]},
        {"conclusion": {"text": "", "rests_on": {"nobody": "reproduced"}}},
        {"fitted": [{"value": "v", "to": "t", "claims": ["nobody"]}]},
        {"shared": {"a cause": ["nobody"]}},
    ],
)
def test_a_paper_that_names_what_it_does_not_have_is_refused(fields):
    with pytest.raises(ValidationError):
        Paper.model_validate({**TINY.model_dump(), **fields})


def test_names(tmp_path):
    with pytest.raises(BadInput, match="study='nobody'"):
        study.answer_functions("nobody")


def test_what_was_computed_is_kept_until_something_else_is_asked(tmp_path):
    runs, calls = Runs(tmp_path), []
    for given in ({"n": 1}, {"n": 1}, {"n": 2}):
        assert runs.kept("x", given, lambda: calls.append(1) or len(calls)) == len(calls)
    assert len(calls) == 2


@pytest.fixture
def tiny_digests(monkeypatch):
    """The tiny paper has no file, so nothing of it can be out of date."""
    monkeypatch.setattr(show.staleness, "digests", lambda name: {"claims": "0"})


@pytest.mark.slow
def test_a_study_from_end_to_end(tmp_path, tiny_digests):
    def spikes(runs: Runs) -> StudyAnswer:
        assert set(runs["smoke"].runs["schedule"]) == {"conventional", "structure_aware"}
        return StudyAnswer(Quantity(float(runs["smoke"].runs["spikes"].mean()), kind="counted"))

    def lacking(runs: Runs) -> StudyAnswer:
        raise Lacking("the reason")

    functions = {"spikes": spikes, "lacking": lacking}
    with open(tmp_path / "log", "w") as log:
        finished = study.carry_out("tiny", functions, True, None, tmp_path, log, TINY)
    assert finished.complaints == []
    assert [judged.verdict for judged in finished.claims] == [
        claims.REPRODUCED,
        claims.NOT_TESTABLE,
    ]
    assert [judged.why for judged in finished.claims] == ["", "a brain"]
    assert finished.findings[0].why == "the reason; the full study may have it"
    content = json.loads(json.dumps(show.content(finished)))
    answer_schema.StudyContent.model_validate(content)
    assert content["verdicts"] == {
        **dict.fromkeys(claims.VERDICTS, 0),
        "reproduced": 1,
        "not testable here": 1,
    }
    answer = finished.claims[0].answer.value
    assert f"{answer.value:.0f}" in content["conclusion"]
    page = Page(show.page(finished))
    assert page.loads == []
    run = finished.frames[0].runs.iloc[0]
    origin = "a checkout with changes" if run["dirty"] else run["commit"][:10]
    written = show.markdown(finished)
    assert origin in written and written.count("| fig. ") == 2
    assert written.splitlines()[2] == content["conclusion"]
    sentences, table, _ = show.screen(finished)
    assert len(table.rows) == 2 and "1" in sentences[0]


def test_without_its_verdicts_there_is_no_conclusion(tiny_digests):
    judged = [judge(each, StudyAnswer(Quantity(1))) for each in TINY.claims]
    finished = study.Study("x", TINY, True, judged, [], [], [])
    assert "spikes" in show._conclusion(finished) and "{" not in show._conclusion(finished)
    assert show._conclusion(finished).startswith("No conclusion")


def test_a_screen_has_at_most_twelve_claims_and_contradictions_first():
    untested = Judged(TINY.claims[1], claims.NOT_TESTABLE, "x")
    contradicted = Judged(TINY.claims[0], claims.CONTRADICTED, "y", StudyAnswer("z"))
    finished = study.Study("x", TINY, False, [untested] * 20 + [contradicted], [], [], [])
    assert len(show.screen(finished)[1].rows) == 12
    assert "contradicted" in show.screen(finished)[1].rows[0]["verdict"]
    assert len(show.screen(finished, details=True)[1].rows) == 21


def test_a_library_that_the_full_study_needs_is_asked_for_before_anything_is_done(tmp_path):
    paper = TINY.model_copy(update={"libraries": ["no_such_library"], "experiments": {}})
    with pytest.raises(BadInput) as refused:
        study.carry_out("tiny", {}, False, None, tmp_path, None, paper)
    assert (refused.value.field, refused.value.code) == ("no_such_library", "missing")
    assert not list(tmp_path.iterdir())
    quick = study.carry_out(
        "tiny",
        {},
        True,
        None,
        tmp_path,
        None,
        paper.model_copy(update={"claims": [], "findings": []}),
    )
    assert quick.complaints == []
