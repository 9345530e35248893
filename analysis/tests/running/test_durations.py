"""How long work takes, in words."""

import pytest

from spikemark.running.durations import Pace, guess_s
from spikemark.running.experiments import expand, load

#: Medians of whole runs on a virtual machine with two EPYC cores, s, by experiment and ranks (2026-11-22).
TOOK_S = {("smoke", 1): 0.8, ("smoke", 2): 0.9, ("demo", 1): 1.3, ("demo", 2): 0.95}


@pytest.mark.parametrize(("experiment", "ranks"), TOOK_S)
def test_a_guess_is_what_runs_took_within_a_factor_of_two(experiment, ranks):
    run = next(run for run in expand(load(experiment)) if run.ranks == ranks)
    assert 0.5 < TOOK_S[experiment, ranks] / guess_s(run.description, run.ranks, run.threads) < 2


def test_what_is_left_follows_from_what_is_done():
    now = [100.0]
    pace = Pace(10, lambda: now[0])
    assert pace.left(0) == ""
    now[0] += 60
    assert pace.left(2) == "about 4 min left"
    assert pace.left(4) == "about 2 min left"
    assert pace.left(9) == "about 7 s left"
    assert pace.left(10) == ""
