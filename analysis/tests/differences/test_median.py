"""The median cycle of runs, which few long cycles do not move."""

from dataclasses import replace

import pytest
from compared import sweep

from spikemark.differences import show
from spikemark.differences.compare import OPEN, SLOWER, compare, verdict
from spikemark.differences.times import CYCLE

UNSURE_S = 1.0  # error of a mean that long cycles moved, far above the time of a cycle


@pytest.mark.parametrize(("slower", "found"), [(1.1, SLOWER), (1.0, OPEN)])
def test_a_slowdown_that_the_mean_does_not_tell_is_seen_in_the_median(tmp_path, slower, found):
    made = compare(sweep(tmp_path / "a", seed=1), sweep(tmp_path / "b", slower, seed=2))
    (setup,) = made.setups
    unsure = replace(setup, parts={**setup.parts, CYCLE: replace(setup.cycle, error_s=UNSURE_S)})
    made = replace(made, setups=[unsure])
    assert verdict(made.change(unsure)) == OPEN
    change = made.median_change(unsure)
    assert verdict(change) == found and change.value == pytest.approx(slower - 1, abs=0.03)
    said = show.sentence(made)
    assert said.startswith("No difference is sure")
    assert ("The median cycle is surely slower" in said) == (found == SLOWER)
    assert show.content(made)["setups"][0]["median_change"] == change.content()


def test_where_mean_and_median_agree_there_is_one_sentence(tmp_path):
    made = compare(sweep(tmp_path / "a", seed=1), sweep(tmp_path / "b", 1.2, seed=2))
    assert "median" not in show.sentence(made)


def test_a_single_pair_of_runs_has_no_median_that_is_judged(tmp_path):
    made = compare(sweep(tmp_path / "a", repetitions=1), sweep(tmp_path / "b", slower=1.3, repetitions=1))
    assert made.median_change(made.setups[0]) is None
