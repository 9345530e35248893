"""Every way to cheat is caught by its reason, or is listed as what no checker can see."""

import pytest
from tender import offered
from tender.cheats import CHEATS

from spikemark.tender.check.answer import check_answer
from spikemark.tender.check.findings import REASONS, VALID

LEAST = 30  # ways that are caught


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An answer from real runs, and its bundle."""
    bundle, answer = offered.bundle_and_answer(tmp_path_factory.mktemp("honest"))
    return offered.Answer(answer, bundle)


def checked(answer):
    return check_answer(str(answer.path), str(answer.bundle))


@pytest.mark.slow
def test_an_honest_answer_is_valid(honest):
    report = checked(honest)
    assert report.verdict == VALID, report.text()


@pytest.mark.slow
@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.name)
def test_a_cheat_is_caught_by_its_reason_or_cannot_be_seen(honest, tmp_path, cheat):
    answer = honest.copy(tmp_path)
    cheat.apply(answer)
    report = checked(answer)
    if cheat.reason is None:
        assert report.verdict == VALID, report.text()
    else:
        assert REASONS[cheat.reason].number in report.numbers, report.text()
        assert report.verdict != VALID
    assert REASONS["fault"].number not in report.numbers


def test_the_registry_is_complete():
    assert len({cheat.name for cheat in CHEATS}) == len(CHEATS)
    assert all((cheat.reason is None) == bool(cheat.unseen) for cheat in CHEATS)
    assert all(cheat.do is not None for cheat in CHEATS if cheat.reason)
    assert sum(cheat.reason is not None for cheat in CHEATS) >= LEAST
    tried = {cheat.reason for cheat in CHEATS} - {None}
    assert tried <= set(REASONS)
    told_elsewhere = {"no bundle", "signature", "not verified", "fault"}  # test_check.py
    assert set(REASONS) - tried == told_elsewhere
