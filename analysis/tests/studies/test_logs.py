"""`spikemark study lober --logs DIR`: logs in the authors' format, of a machine that is planted."""

import numpy as np
import pytest
from foreign_logs import nest, structure_aware

from spikemark.core.errors import BadInput
from spikemark_studies import claims, lober, study
from spikemark_studies.study import Runs

RANKS, CYCLES, D = 8, 12_000, 10
CLAIMS = {claim.id: claim for claim in study.load_paper("lober").claims}


def logs(folder, compute_s: np.ndarray) -> Runs:
    """Logs of the same computing under both schedules."""
    for schedule, every in (("conventional", 1), ("structure-aware", D)):
        (folder / schedule).mkdir(parents=True)
        structure_aware(folder / schedule, compute_s, every)
    return Runs(folder, logs=folder)


def verdicts(runs: Runs) -> dict[str, str]:
    given = {}
    for id in ("two-modes", "slow-phases", "only-part-of-maxima", "waiting-saved"):
        given[id] = study.answer(CLAIMS[id], study.answer_functions("lober"), runs).verdict
    return given


@pytest.mark.slow
def test_logs_of_independent_times_contradict_what_the_paper_found(tmp_path):
    rng = np.random.default_rng(1)
    runs = logs(tmp_path, 1e-3 * rng.normal(1, 0.02, (RANKS, CYCLES)))
    assert verdicts(runs) == {
        "two-modes": claims.CONTRADICTED,
        "slow-phases": claims.CONTRADICTED,
        "only-part-of-maxima": claims.CONTRADICTED,
        "waiting-saved": claims.CONTRADICTED,  # 68 %, as the theory says
    }
    answer = lober._waiting_saved(runs).value
    assert answer.kind == "measured" and answer.value == pytest.approx(68.4, abs=2)
    assert lober._cv_ratio(runs).value.value == pytest.approx(D**-0.5, rel=0.05)


@pytest.mark.slow
def test_logs_with_slow_phases_of_all_ranks_and_rare_long_cycles_reproduce_it(tmp_path):
    rng = np.random.default_rng(1)
    compute_s = 1e-3 * rng.normal(1, 0.02, (RANKS, CYCLES))
    for rank in range(RANKS):  # slow phases of single ranks, longer than LONG_PHASE
        compute_s[rank, 1000 * rank : 1000 * rank + 3000] *= 1.03
    is_long = rng.random(CYCLES) < 0.05  # for all ranks together
    compute_s[:, is_long] *= 1.5
    runs = logs(tmp_path, compute_s)
    given = verdicts(runs)
    assert given["two-modes"] == given["slow-phases"] == claims.REPRODUCED
    assert given["only-part-of-maxima"] == claims.CONSISTENT  # "not too far" has no limit
    assert given["waiting-saved"] == claims.REPRODUCED
    assert lober._minor_mode(runs).value.value == pytest.approx(1.5, rel=0.05)


def test_logs_of_nest_are_read_as_those_of_the_benchmark(tmp_path):
    rng = np.random.default_rng(1)
    compute_s = 1e-3 * rng.normal(1, 0.02, (RANKS, CYCLES))
    for schedule in ("conventional", "structure-aware"):
        (tmp_path / schedule).mkdir()
        nest(tmp_path / schedule, compute_s)
    runs = Runs(tmp_path, logs=tmp_path)
    assert verdicts(runs)["two-modes"] == claims.CONTRADICTED
    assert lober._cv_ratio(runs).value.value == pytest.approx(D**-0.5, rel=0.05)


def test_without_logs_these_claims_say_what_it_takes(tmp_path):
    for id in ("two-modes", "slow-phases"):
        judged = study.answer(CLAIMS[id], study.answer_functions("lober"), Runs(tmp_path))
        assert judged.verdict == claims.NOT_TESTABLE and "--logs" in judged.why


def test_logs_that_are_not_there_and_studies_without_logs_are_refused(tmp_path):
    with pytest.raises(BadInput, match="conventional") as refused:
        lober._slow_phases(Runs(tmp_path, logs=tmp_path))
    assert refused.value.field == "logs"
    with pytest.raises(BadInput) as refused:
        study.carry_out(
            "shehzad", study.answer_functions("shehzad"), True, None, tmp_path, logs=tmp_path
        )
    assert refused.value.field == "logs"
