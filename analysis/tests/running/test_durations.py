"""How long runs take."""

import pytest

from spikemark.running.experiments import expand, load
from spikemark.running.possible import sift

#: Medians of whole runs on a virtual machine with two EPYC cores, s, by experiment and ranks (2026-11-22).
TOOK_S = {("smoke", 1): 0.8, ("smoke", 2): 0.9, ("demo", 1): 1.3, ("demo", 2): 0.95}


@pytest.mark.parametrize(("experiment", "ranks"), TOOK_S)
def test_a_guess_is_what_runs_took_within_a_factor_of_two(experiment, ranks):
    runs = sift(load(experiment), expand(load(experiment))).runs
    run = next(run for run in runs if run.ranks == ranks)
    assert 0.5 < TOOK_S[experiment, ranks] / run.guess_s < 2
