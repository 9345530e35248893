"""What is compared in which order, and what spikes cost where a program does not count."""

import itertools

import pytest
from fake_peers import Fake, experiment
from small_network import describe

from spikemark.bench.peers.trials import events_per_spike, plan
from spikemark.core.errors import BadInput

pytestmark = pytest.mark.usefixtures("four_cores")

PROGRAMS = (Fake("miniapp"), Fake("one"), Fake("two"))


def test_every_round_has_every_program_with_every_number_of_threads(tmp_path):
    trials = plan(experiment(tmp_path), PROGRAMS).trials
    assert [t.round for t in trials] == [r for r in range(1, 6) for _ in range(6)]
    wanted = set(itertools.product(("miniapp", "one", "two"), (1, 2)))
    for number in range(1, 6):
        assert {(t.program, t.threads) for t in trials if t.round == number} == wanted
    assert len({t.id for t in trials}) == len(trials)


def order(trials, **only):
    kept = [t for t in trials if all(getattr(t, name) in values for name, values in only.items())]
    return [(t.program, t.threads, t.round) for t in kept]


def test_the_order_is_shuffled_by_the_seed_and_differs_between_rounds(tmp_path):
    first, second = (order(plan(experiment(tmp_path, shuffle_seed=s), PROGRAMS).trials) for s in (1, 2))
    assert first != second
    assert first == order(plan(experiment(tmp_path), PROGRAMS).trials)
    rounds = {tuple((p, t) for p, t, r in first if r == number) for number in range(1, 6)}
    assert len(rounds) > 1


def test_more_rounds_or_threads_keep_ids_and_order(tmp_path):
    few = plan(experiment(tmp_path, threads=[1], repetitions=2), PROGRAMS).trials
    many = plan(experiment(tmp_path), PROGRAMS).trials
    assert {t.id for t in few} <= {t.id for t in many}
    assert order(many, threads=[1], round=[1, 2]) == order(few)


@pytest.mark.parametrize("change", ["identity", "network"])
def test_what_would_measure_something_else_has_another_id(tmp_path, change):
    programs, settings = PROGRAMS, {}
    if change == "identity":
        programs = (Fake("miniapp", identity="2"), *PROGRAMS[1:])
    else:
        settings = {"set": {"time.simulate_ms": 200}}
    before = {t.id: t for t in plan(experiment(tmp_path), PROGRAMS).trials}
    after = {t.id for t in plan(experiment(tmp_path, **settings), programs).trials}
    changed = {t.program for i, t in before.items() if i not in after}
    assert changed == ({"miniapp"} if change == "identity" else {"miniapp", "one", "two"})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ranks": [1, 2]}, "2"),
        ({"ranks": 2}, "one rank"),
        ({"seeds": [1, 2]}, "2 descriptions"),
        ({"grid": [{"schedule": ["conventional", "placement_only"]}]}, "2 descriptions"),
        ({"grid": [{"threads": 2}]}, "threads in the grid"),
        ({"grid": [{"ranks": 2}]}, r"1 descriptions on \[2\] ranks"),
        ({"threads": [5]}, "threads: 5; allowed: at most 4"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, changes, words):
    with pytest.raises(BadInput, match=words):
        plan(experiment(tmp_path, **changes), PROGRAMS)


def test_only_programs_that_have_the_neurons_are_compared(tmp_path):
    picky = Fake("two")
    picky.takes = lambda models: models == {"lif_exp"}
    found = plan(experiment(tmp_path), (*PROGRAMS[:2], picky))
    assert [program.name for program in found.programs] == ["miniapp", "one"]
    assert {trial.program for trial in found.trials} == {"miniapp", "one"}
    with pytest.raises(BadInput, match="ignore_and_fire: no peer has such neurons"):
        plan(experiment(tmp_path), (PROGRAMS[0], picky))


def test_events_per_spike_follow_from_pools_and_rates():
    assert events_per_spike(describe(indegree=20)) == pytest.approx(20)
    description = describe(indegree=20)
    small, large = description["network"]["populations"]
    small["size"], large["neuron"]["rate_hz"] = 50, 40
    # area0 -> area0: 500 synapses from 50 neurons; area1 -> area0: 500 from 100; into area1: 1000 each.
    events = (500 / 50 + 1000 / 50) * 50 * 10 + (1000 / 100 + 500 / 100) * 100 * 40
    assert events_per_spike(description) == pytest.approx(events / (50 * 10 + 100 * 40))
    for projection in description["network"]["projections"]:
        projection["indegree"] = {"mean": projection["indegree"], "distribution": "poisson"}
    assert events_per_spike(description) == pytest.approx(events / (50 * 10 + 100 * 40))
    for population in (small, large):
        population["neuron"]["rate_hz"] = 0
    assert events_per_spike(description) == 0
