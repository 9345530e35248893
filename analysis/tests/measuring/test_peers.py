"""`spikemark peers` with stand-ins for the programs: order, factors, refusals, disturbances."""

from itertools import pairwise

import fake_peers
import numpy as np
import pytest
from fake_peers import QUICK, Fake, busy_machine, figures, quiet_machine

from spikemark.core.errors import BadInput
from spikemark.measuring import peer_factors, peers
from spikemark.measuring.peer_factors import MEMORY, SPEED_FIGURE, estimate
from spikemark.measuring.peer_programs import OURS
from spikemark.measuring.peers import plan

pytestmark = pytest.mark.usefixtures("four_cores")


def says(**changes):
    return lambda threads, call: figures(threads=threads, **changes)


def compare(tmp_path, *programs, busy=quiet_machine, **changes):
    experiment = fake_peers.experiment(tmp_path, **changes)
    return peers.compare(experiment, tmp_path / "out", QUICK, compared=programs, busy=busy)


def test_the_factors_are_those_that_were_planted(tmp_path):
    ours = Fake(OURS, says(speed=6.0))
    theirs = Fake("NEST", says(speed=2.0, bytes_per_synapse=40))
    comparison = compare(tmp_path, ours, theirs, repetitions=3)
    assert comparison.complaints == [] and len(comparison.trials) == 12
    assert peer_factors.factor(comparison.trials, "NEST", 2, SPEED_FIGURE).value == pytest.approx(3)
    assert peer_factors.factor(comparison.trials, "NEST", 1, MEMORY).value == pytest.approx(4)
    assert len(peer_factors.factor_table(comparison).rows) == 6 and any(
        "3" in line for line in peer_factors.sentences(comparison)
    )
    assert len(ours.calls) == len(theirs.calls) == 6


def test_each_round_has_every_program_once_in_an_order_of_its_own(tmp_path):
    programs = [Fake(name) for name in (OURS, "a", "b")]
    _, trials = plan(fake_peers.experiment(tmp_path, repetitions=6), programs)
    rounds = [[(t.program.name, t.threads) for t in trials if t.round == n] for n in range(1, 7)]
    assert all(
        sorted(trials_of_round) == sorted(rounds[0]) and len(set(trials_of_round)) == 6
        for trials_of_round in rounds
    )
    assert any(
        trials_of_round != trials_of_next for trials_of_round, trials_of_next in pairwise(rounds)
    )
    _, more = plan(fake_peers.experiment(tmp_path / "more", repetitions=7), programs)
    assert more[: len(trials)] == trials


@pytest.mark.parametrize("changes", [{"synapses": 4001}, {"neurons": 201}, {"spikes": 300}])
def test_another_network_is_not_compared(tmp_path, changes):
    comparison = compare(
        tmp_path, Fake(OURS), Fake("NEST", says(**changes)), threads=[1], repetitions=1
    )
    assert [*comparison.refused] == [("NEST", 1)] and len(comparison.complaints) == 1
    assert peer_factors.factor_table(comparison).rows[0]["ahead of NEST"].value is None


def test_a_program_that_fails_stops_no_other_and_is_not_started_again(tmp_path):
    bad = Fake("NEST", lambda threads, call: "no such neuron")
    comparison = compare(tmp_path, Fake(OURS), bad, repetitions=3)
    assert len(bad.calls) == 1 and set(comparison.trials["program"]) == {OURS}
    assert (
        comparison.failed
        and "no such neuron" in comparison.failed[0]
        and len(comparison.refused) == 2
    )


def test_a_disturbed_run_says_so(tmp_path):
    ours = Fake(OURS, lambda threads, call: figures(threads=threads, foreign_load=9.0))
    comparison = compare(tmp_path, ours, Fake("NEST"), threads=[1], repetitions=1)
    row = comparison.trials.set_index("program").loc[OURS]
    assert row["foreign_load"] == 9.0 and row["disturbed"]
    assert [line for line in peer_factors.sentences(comparison) if "1 run" in line]
    busy = compare(
        tmp_path / "busy", Fake(OURS), Fake("NEST"), threads=[1], repetitions=1, busy=busy_machine
    )
    assert busy.trials["disturbed"].all()


@pytest.mark.slow
def test_the_interval_holds_the_median_as_often_as_it_says():
    rng = np.random.default_rng(1)
    for n in (5, 9):
        held = [
            quantity.low <= 0 <= quantity.high
            for quantity in (estimate(rng.normal(size=n)) for _ in range(300))
        ]
        assert np.mean(held) >= peer_factors.CONFIDENCE
    assert estimate([1.0, 2.0, 4.0]).interval == (1, 4)  # too few: the extremes
    assert estimate([2.0]).interval is None and estimate([np.nan]).value is None


def test_too_many_threads_are_refused(tmp_path):
    with pytest.raises(BadInput) as error:
        plan(fake_peers.experiment(tmp_path, threads=[5]), [Fake(OURS), Fake("NEST")])
    assert error.value.field == "threads"
