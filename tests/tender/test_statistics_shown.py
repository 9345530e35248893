"""`spikemark tender statistics`: from given spreads and from measured runs, in words, tables and JSON."""

import json
import re

import pytest
from swept import planned, write

from spikemark.core import places
from spikemark.core.errors import BadInput
from spikemark.tender import repetitions, statistics, statistics_show
from spikemark.tender.statistics import MEDIAN, RULES, RUNS, TOLERANCES, WORST, Groups, Spread
from spikemark.tender.statistics_show import Contract

SECONDS = (1.0, 1.02, 0.98, 1.01, 1.4)


@pytest.fixture
def answer(tmp_path):
    """An answer whose two runs were repeated five times; one of five took 40 % longer."""
    runs = [
        {"name": f"bench-{scale}", "repetitions": [
            {"folder": f"runs/bench-{scale}/{k}", "real_time_factor": scale * s,
             "joules_per_synaptic_event": None, "reason": "no meter"}
            for k, s in enumerate(SECONDS, 1)
        ]}
        for scale in (1, 7)
    ]  # fmt: skip
    content = {"kind": "tender_answer", "format_version": 1, "bidder": "A", "runs": runs}
    (tmp_path / "answer.json").write_text(json.dumps(content))
    return tmp_path


@pytest.fixture
def sweep(tmp_path):
    """A results folder with three repetitions of two networks."""
    results, runs = planned(tmp_path / "sweep", repetitions=3, seeds=[1, 2])
    for run in runs:
        write(results, run)
    return results.path


def test_repetitions_of_an_answer_are_groups(answer):
    groups, weak = repetitions.read([answer], "real_time_factor")
    assert groups.values == [list(SECONDS), [7 * s for s in SECONDS]] and weak == []
    with pytest.raises(BadInput, match="no two repetitions"):
        repetitions.read([answer], "joules_per_synaptic_event")


def test_repetitions_of_a_sweep_are_groups_by_network(sweep):
    groups, _ = repetitions.read([sweep], "real_time_factor")
    assert [len(group) for group in groups.values] == [3, 3]
    alone = sorted(path.parent for path in sweep.rglob("record.json"))
    assert sorted(map(sorted, repetitions.read(alone, "real_time_factor")[0].values)) == sorted(
        map(sorted, groups.values)
    )


def test_every_cell_is_the_probability_of_the_formulae():
    of = Contract(Spread(0.02))
    failures, needed, remedies = statistics_show.tables(of)
    rows = {(row["rule"], row["tolerance"]): row for row in failures.rows}
    assert len(rows) == len(RULES) * len(TOLERANCES)
    for (rule, tolerance), row in rows.items():
        for n in RUNS:
            assert row[f"runs_{n}"] == statistics.fails(of.spread, n, tolerance, rule)
    assert [row["rule"] for row in needed.rows] == [row["rule"] for row in remedies.rows] == list(RULES)


def test_the_page_has_the_tables_of_the_command():
    page = (places.root() / "docs" / "tender-offers.md").read_text()
    shown = {table.name: table.markdown() for table in statistics_show.tables(Contract(Spread(0.02)))}
    stored = re.findall(r"<!-- statistics: (\w+) 0\.02 -->\n(.*?)\n<!-- end -->", page, re.DOTALL)
    assert dict(stored) == {name: shown[name] for name in ("failures", "remedies")}


def test_the_sentence_states_the_remedy_of_the_median():
    found = statistics.remedy(Spread(0.02), MEDIAN)
    said = statistics_show.sentence(Contract(Spread(0.02)))
    assert f"the median of {found.runs} runs" in said and len(said) <= 200
    assert "no median of up to" in statistics_show.sentence(Contract(Spread(0.5)))
    assert "one run" in statistics_show.sentence(Contract(Spread(0.001)))


def test_heavy_tails_are_said_where_the_two_differ(answer):
    groups, _ = repetitions.read([answer], "real_time_factor")
    of = Contract(groups.spread, groups)
    assert {table.name for table in statistics_show.tables(of)} == {
        "failures", "failures_resampled", "needed", "remedies"
    }  # fmt: skip
    first, limit = statistics_show.differences(of)
    assert "differs from normal runs by more than 5 percentage points" in first
    assert "nothing slower than it" in limit
    worst = [abs(statistics.fails(of.spread, n, 0.05, WORST) - statistics.resampled(groups, n, 0.05, WORST))
             for n in RUNS]  # fmt: skip
    assert max(worst) > statistics_show.DIFFERS
    assert statistics_show.differences(Contract(Spread(0.02))) == []


def test_alike_runs_are_said_to_agree():
    """Evenly spread quantiles of a normal resample as the formulae say."""
    from scipy import special

    runs = 1 + 0.02 * special.ndtri([(i + 0.5) / 400 for i in range(400)])
    groups = Groups([list(runs)])
    assert "agrees with normal runs" in statistics_show.differences(Contract(groups.spread, groups))[0]


def test_the_command_prints_and_gives_json(spikemark, answer):
    status, output, errors = spikemark("tender", "statistics", answer)
    assert (status, errors) == (0, "") and "measured, from 10 runs with 8 degrees of freedom" in output
    status, output, _ = spikemark("tender", "statistics", "--spread", "0.02", "--json")
    content = json.loads(output)
    assert content["spread"]["kind"] == "given" and set(content["remedies"]) == set(RULES)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ((), "runs: either folders of RUNS or --spread is needed"),
        (("{answer}", "--spread", "0.02"), "and not both"),
        (("--spread", "1.5"), "spread=1.5; allowed: 0 or more, below 1"),
        (("--spread", "nan"), "spread=nan; allowed"),
        (("--spread", "0.02", "--shortfall", "0"), "--shortfall=0; allowed: above 0"),
        (("{answer}", "--figure", "speed"), "figure='speed'; allowed: real_time_factor"),
        (("{empty}",), "holds no runs; needed: answer.json of an answer"),
    ],
)
def test_bad_questions_are_refused_in_one_line(refusal, answer, arguments, complaint):
    (answer / "empty").mkdir()
    named = [text.format(answer=answer, empty=answer / "empty") for text in arguments]
    assert complaint in refusal("tender", "statistics", *named)


def test_a_damaged_answer_is_refused(refusal, answer):
    content = json.loads((answer / "answer.json").read_text())
    for runs in (
        "text",
        [{"name": "a"}],
        [{"name": "a", "repetitions": [{"real_time_factor": "fast"}]}],
        [3],
    ):
        (answer / "answer.json").write_text(json.dumps({**content, "runs": runs}))
        assert "answer.json: runs" in refusal("tender", "statistics", answer)
