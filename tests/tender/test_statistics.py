"""Statistics of acceptance against exact formulae, against simulated runs, and as the command gives
them.
"""

import json
import math

import numpy as np
import pytest
from scipy import stats

from spikemark_tender import statistics
from spikemark_tender.statistics import RUNS, TOLERANCES, VariationOfRuns


@pytest.mark.parametrize("runs", RUNS)
def test_probabilities_are_those_of_simulated_runs(runs):
    made = np.median(np.random.default_rng(7).standard_normal((200_000, runs)), axis=1)
    for z in (-1.0, 0.0, 0.3, 1.0, 2.0):
        assert statistics.exceeds(z, runs) == pytest.approx((made > z).mean(), abs=0.005)


def test_an_odd_median_is_binomial_and_one_run_of_an_estimated_spread_students_t():
    p = stats.norm.sf(0.5)  # of one run
    assert statistics.fails(VariationOfRuns(0.02), 5, 0.01) == pytest.approx(
        stats.binom.sf(2, 5, p)
    )
    assert [
        statistics.fails(VariationOfRuns(0.0), 5, 0.01, shortfall) for shortfall in (0, 0.05)
    ] == [0, 1]
    for degrees in (3, 9, 40):
        found = statistics.fails(VariationOfRuns(0.02, degrees), 1, 0.01)
        assert found == pytest.approx(stats.t.sf(0.5, degrees), abs=2e-4)


@pytest.mark.parametrize(
    "spread", [VariationOfRuns(0.02), VariationOfRuns(0.02, 12), VariationOfRuns(0.0)]
)
def test_a_remedy_keeps_both_risks(spread):
    found = statistics._remedy(spread)
    assert found is not None and 0 <= found.least <= found.most
    for tolerance in (found.least, found.most * (1 - 1e-9)):
        assert statistics.fails(spread, found.runs, tolerance) <= 0.05 + 1e-6
        assert 1 - statistics.fails(spread, found.runs, tolerance, 0.05) <= 0.05 + 1e-6
    assert statistics._remedy(VariationOfRuns(0.9)) is None


def test_the_spread_is_pooled_over_groups_of_any_size():
    rng = np.random.default_rng(3)
    made = [list(mean * (1 + 0.03 * rng.standard_normal(20))) for mean in (0.1, 1.0, 50.0)]
    spread = statistics._pooled([*made, [4.0]])
    assert spread.degrees == 57 and spread.value == pytest.approx(0.03, rel=0.25)
    low, high = spread.interval
    assert low < spread.value < high
    assert low == pytest.approx(math.sqrt(57 * spread.value**2 / stats.chi2.ppf(0.975, 57)))


SECONDS = (1.0, 1.02, 0.98, 1.01, 1.4)


@pytest.fixture
def answer(copy):
    """An answer with two runs of five repetitions; one of five took 40 % longer."""
    with copy.edit() as content:
        for scale, run in zip((1, 7), content["runs"], strict=True):
            [one, *_] = run["repetitions"]
            none = {"joules_per_synaptic_event": None, "readings": None}
            run["repetitions"] = [one | none | {"real_time_factor": scale * s} for s in SECONDS]
    return copy.path


@pytest.mark.slow  # measures an answer
def test_the_command_gives_one_table_and_json(spikemark, answer):
    status, output, errors = spikemark("tender", "statistics", answer, "--json")
    found, expected = (
        json.loads(output),
        statistics._pooled([list(SECONDS), [7 * s for s in SECONDS]]),
    )
    spread = found["spread"]
    assert (status, errors) == (0, "") and (spread["kind"], spread["degrees"]) == ("measured", 8)
    assert spread["value"] == pytest.approx(expected.value)
    assert len(found["risks"]) == len(RUNS) * len(TOLERANCES)
    for cell in found["risks"][::7]:
        asked = expected, cell["runs"], cell["tolerance"]
        assert cell["good_fails"] == pytest.approx(statistics.fails(*asked))
        assert cell["bad_passes"] == pytest.approx(1 - statistics.fails(*asked, 0.05))
    status, output, _ = spikemark("tender", "statistics", "--spread", "0.02")
    assert status == 0 and len(output.splitlines()) < 24
    assert len([line for line in output.splitlines() if " / " in line]) >= len(RUNS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ((), "runs"),
        (("--spread", "1.5"), "spread"),
        (("--spread", "0.02", "--shortfall", "0"), "shortfall"),
        (("{answer}/empty",), "empty"),
    ],
)
def test_bad_questions_are_refused_in_one_line(refusal, answer, arguments, field):
    (answer / "empty").mkdir()
    assert field in refusal(
        "tender", "statistics", *(text.format(answer=answer) for text in arguments)
    )
