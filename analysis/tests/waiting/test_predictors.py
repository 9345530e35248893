"""Every predictor of the registry: what must hold for any, and what each must find on planted processes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_network import describe
from synthetic import waiting_s, write_run

from spikemark.core.errors import BadInput
from spikemark.models import recursion
from spikemark.models.injected import Truth
from spikemark.network.schedules import SCHEDULES
from spikemark.records import record
from spikemark.waiting import PREDICTORS
from spikemark.waiting.source import source

every = pytest.mark.parametrize("kind", PREDICTORS.values(), ids=list(PREDICTORS))
REALISTIC = ("correlated", "replay")


def times(seed: int = 1, ranks: int = 4, cycles: int = 2000, **truth) -> np.ndarray:
    planted = Truth(**{"mean_s": 50e-6, "sd_s": 5e-6, **truth})
    return planted.draw(np.random.default_rng(seed), ranks, cycles)


@every
class TestEveryPredictor:
    def test_is_named_and_described(self, kind):
        assert PREDICTORS[kind.name] is kind
        assert len(kind.summary) > 20

    @pytest.mark.parametrize("schedule", SCHEDULES)
    def test_answers_for_every_schedule(self, kind, schedule):
        c = times()
        made = kind.fit(c).predict(schedule, 4)
        low, high = made.waiting.interval
        assert 0 < low < made.waiting_s < high
        assert made.runtime_s == pytest.approx(c.mean() * c.shape[1] + made.waiting_s)
        assert (made.plan.schedule, made.plan.ranks, made.cycles) == (schedule, 4, 2000)

    def test_conventional_run_is_explained(self, kind):
        c = times()
        made = kind.fit(c).predict("conventional")
        assert made.waiting_s == pytest.approx(waiting_s(c).mean(), rel=0.03)
        assert made == kind.fit(c).predict("conventional")  # no chance in it

    @settings(max_examples=8)
    @given(
        seed=st.integers(0, 99), correlation=st.sampled_from([0.0, 0.9]), rank_sd=st.sampled_from([0, 4e-6])
    )
    def test_numbers_of_ranks_and_unit_do_not_matter(self, kind, seed, correlation, rank_sd):
        c = times(seed, cycles=800, correlation=correlation, rank_sd_s=rank_sd)
        shuffled = 1e3 * np.random.default_rng(seed).permutation(c)
        plain, other = kind.fit(c), kind.fit(shuffled)
        for schedule in ("conventional", "structure_aware", "overlapped"):
            for ranks in (2, 4, 6):
                a, b = (fitted.predict(schedule, 4, ranks=ranks) for fitted in (plain, other))
                assert 1e3 * a.waiting_s == pytest.approx(b.waiting_s, rel=1e-3)
                assert 1e3 * np.array(a.waiting.interval) == pytest.approx(
                    np.array(b.waiting.interval), rel=1e-2
                )

    @settings(max_examples=8)
    @given(seed=st.integers(0, 99), correlation=st.sampled_from([0.0, 0.9]))
    def test_more_ranks_never_reduce_the_maximum(self, kind, seed, correlation):
        c = times(seed, cycles=400, correlation=correlation)
        c += 50e-6 - c.mean(axis=1, keepdims=True)  # then the mean over ranks is the same for any of them
        fitted = kind.fit(c)
        found = [fitted.predict("structure_aware", 4, ranks=ranks).waiting_s for ranks in range(1, 9)]
        assert np.all(np.diff(found) >= -1e-9 * max(found))
        assert found[0] == pytest.approx(0.0, abs=1e-9)

    @settings(max_examples=8)
    @given(seed=st.integers(0, 99), ratio=st.integers(1, 8), correlation=st.sampled_from([0.0, 0.9]))
    def test_lag_0_is_structure_aware(self, kind, seed, ratio, correlation):
        fitted = kind.fit(times(seed, cycles=400, correlation=correlation))
        lagging = fitted.predict("overlapped", ratio, lag=0)
        aware = fitted.predict("structure_aware", ratio)
        assert lagging.waiting == aware.waiting

    def test_d_1_is_conventional(self, kind):
        fitted = kind.fit(times())
        assert fitted.predict("structure_aware", 1).waiting_s == fitted.predict("conventional").waiting_s

    def test_a_lag_cuts_the_waiting(self, kind):
        fitted = kind.fit(times(correlation=0.5))
        without, *lagging = (fitted.predict("overlapped", 12, lag=lag).waiting_s for lag in (0, 1, 2, 3))
        assert all(0 < waiting < without / 2 for waiting in lagging)

    def test_float32_is_as_good(self, kind):
        c = times(correlation=0.9, rank_sd_s=2e-6)
        for schedule in ("structure_aware", "overlapped"):
            single, double = (kind.fit(x).predict(schedule, 10) for x in (c.astype(np.float32), c))
            assert single.waiting_s == pytest.approx(double.waiting_s, rel=1e-4)

    def test_times_that_do_not_vary_make_nobody_wait(self, kind):
        fitted = kind.fit(np.full((3, 200), 1e-3))
        for schedule in ("conventional", "overlapped"):
            assert fitted.predict(schedule, 2).waiting_s == pytest.approx(0.0, abs=1e-9)

    def test_ranks_that_differ_but_never_change(self, kind):
        fitted = kind.fit(np.repeat([[1e-3], [2e-3], [6e-3]], 200, axis=1))
        for schedule in ("conventional", "structure_aware", "overlapped"):
            made = fitted.predict(schedule, 2)
            assert np.isfinite([made.waiting_s, *made.waiting.interval]).all()
            if kind.name != "iid":
                assert made.waiting_s == pytest.approx(200 * (6e-3 - 3e-3), rel=1e-2)

    def test_too_few_cycles_say_how_many_are_needed(self, kind):
        fitted = kind.fit(times(cycles=300))
        with pytest.raises(
            BadInput, match="cycles=300: delay_ratio=20 of structure_aware needs 400, 20 windows"
        ):
            fitted.predict("structure_aware", 20)


@pytest.mark.parametrize("name", REALISTIC)
@pytest.mark.parametrize(
    "truth",
    [
        {"correlation": 0.9},
        {"rank_sd_s": 5e-6},
        {"minor_share": 0.02, "minor_factor": 2.0},
        {"correlation": 0.8, "rank_sd_s": 3e-6, "minor_share": 0.01, "minor_factor": 3.0},
    ],
)
def test_unseen_runs_of_the_same_process(name, truth):
    """The other runs have the same ranks: the second half of the same draws."""
    both = times(3, 8, 24_000, **truth)
    seen, unseen = both[:, :12_000], both[:, 12_000:]
    fitted = PREDICTORS[name].fit(seen)
    for schedule, lanes in (
        ("structure_aware", [recursion.Lane(10)]),
        ("overlapped", [recursion.Lane(5, 1)]),
        ("hierarchical", [recursion.Lane(2, group=(0, 0, 1, 1, 2, 2, 3, 3)), recursion.Lane(10)]),
    ):
        measured = recursion.evaluate(unseen, lanes).waiting_s.mean(axis=0).sum()
        made = fitted.predict(schedule, 10, group_period=2 if schedule == "hierarchical" else None)
        assert made.waiting_s == pytest.approx(measured, rel=0.25 if schedule == "overlapped" else 0.07)


@pytest.mark.parametrize("name", REALISTIC)
def test_phases_of_thousands_of_cycles_survive(name):
    """Each rank is 10 us slower a fifth of the time, in phases of 2000 cycles, which no window averages."""
    rng = np.random.default_rng(7)
    ranks, cycles, share, slower = 8, 100_000, 0.2, 10e-6
    change = rng.random((ranks, cycles)) < 1 / 2000  # of phase; every phase draws its kind anew
    change[:, 0] = True
    kind = rng.random((ranks, cycles)) < share
    phase = np.maximum.accumulate(np.where(change, np.arange(cycles), 0), axis=1)
    c = 50e-6 + 5e-8 * rng.standard_normal((ranks, cycles))
    c += slower * np.take_along_axis(kind, phase, axis=1)
    truth = cycles * slower * (1 - (1 - share) ** ranks - share)
    made = PREDICTORS[name].fit(c).predict("structure_aware", 50)
    assert made.waiting_s == pytest.approx(truth, rel=0.1)
    assert PREDICTORS["iid"].fit(c).predict("structure_aware", 50).waiting_s < 0.3 * truth


def test_more_and_fewer_ranks_of_the_same_process():
    c = times(4, 8, 10_000, correlation=0.8)
    for ranks in (4, 16):
        measured = waiting_s(times(5, ranks, 40_000, correlation=0.8), 10).mean() / 4
        for name in REALISTIC:
            made = PREDICTORS[name].fit(c).predict("structure_aware", 10, ranks=ranks)
            assert made.waiting_s == pytest.approx(measured, rel=0.05)


def test_what_all_ranks_share_makes_nobody_wait():
    c = times(6, 4, 10_000)
    shared = c + 20e-6 * np.random.default_rng(1).standard_normal(10_000) + 50e-6
    for name in REALISTIC:
        alone, together = (
            PREDICTORS[name].fit(x).predict("structure_aware", 10).waiting_s for x in (c, shared)
        )
        assert together == pytest.approx(alone, rel=0.05)
    iid = PREDICTORS["iid"]
    assert (
        iid.fit(shared).predict("conventional").waiting_s > 3 * iid.fit(c).predict("conventional").waiting_s
    )


def run(folder, **options) -> record.Run:
    return record.load(write_run(folder, **{"ranks": 4, "cycles": 400, **options}))


def test_a_run_is_read_as_its_waiting_was_measured(tmp_path):
    made = run(tmp_path / "a", ar1=0.5)
    fitted = PREDICTORS["replay"].fit(made)
    measured = made.record.timing.phases["synchronise"].mean_s
    found = fitted.predict("conventional")
    assert found.waiting_s == pytest.approx(measured, rel=1e-4)
    simulate = made.record.timing.simulate_s
    assert found.runtime_s == pytest.approx(simulate, rel=1e-3)
    aware = fitted.predict("structure_aware", 10)
    assert aware.runtime_s - aware.waiting_s < found.runtime_s - found.waiting_s  # fewer exchanges


def test_what_a_barrier_takes_is_paid_once_per_window(tmp_path):
    made = run(tmp_path / "a")
    given = source(made)
    assert abs(given.overhead_s).max() < 1e-9
    later = type(given)(given.compute, given.overhead_s + 3e-6, given.exchange_s)
    for kind in PREDICTORS.values():
        for schedule, meetings in (("conventional", 400), ("structure_aware", 40), ("overlapped", 0)):
            plain, dearer = (kind.fit(x).predict(schedule, 10).waiting_s for x in (given, later))
            assert dearer - plain == pytest.approx(3e-6 * meetings, rel=1e-6, abs=1e-12)


def test_several_runs_of_one_machine_are_one_fit(tmp_path):
    runs = [run(tmp_path / str(seed), seed=seed) for seed in (1, 2)]
    given = source(runs)
    assert (given.ranks, given.cycles) == (4, 800)
    assert given.compute[:, 400:] == pytest.approx(runs[1].compute(), rel=1e-6)
    with pytest.raises(BadInput, match=r"1: given twice; each run counts once"):
        source([*runs, record.load(tmp_path / "2" / ".." / "1")])


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (
            {"schedule": "structure_aware"},
            "schedule=structure_aware: a fit needs a run in which all ranks exchange",
        ),
        ({"ranks": 1}, "ranks=1: there is nobody to wait for"),
    ],
)
def test_runs_that_do_not_show_waiting_are_refused(tmp_path, options, complaint):
    with pytest.raises(BadInput, match=complaint):
        source(run(tmp_path, **options))


def test_a_run_without_barrier_is_refused(tmp_path):
    description = describe(areas=4, delay_ratio=10)
    description["record"] = {"barrier": False}
    with pytest.raises(BadInput, match=r"record\.barrier=false: waiting was not timed"):
        source(run(tmp_path, description=description))


def test_mixed_machines_are_refused(tmp_path):
    runs = [run(tmp_path / name, host__name=name) for name in ("first", "second")]
    with pytest.raises(BadInput, match=r"host.name=second of .*: first elsewhere; one fit, one machine"):
        source(runs)
    with pytest.raises(BadInput, match=r"ranks=2 of .*: 4 elsewhere"):
        source([runs[0], run(tmp_path / "few", ranks=2, host__name="first")])
    with pytest.raises(BadInput, match=r"host.name=second of .*second: first elsewhere"):
        source([*runs, run(tmp_path / "third", host__name="first")])


def test_mixed_setups_are_refused(tmp_path):
    usual = run(tmp_path / "usual")
    other = run(tmp_path / "other", description=describe(areas=4, delay_ratio=10, neurons=50))
    with pytest.raises(BadInput, match=r"network of .*other: not that of .*usual; one fit, one setup"):
        source([usual, other])
    with pytest.raises(BadInput, match=r"placement of .*apart: not that of .*usual; one fit, one setup"):
        source([usual, run(tmp_path / "apart", schedule="placement_only")])
    for name, value in (("cycle_ms", 0.2), ("resolution_ms", 0.05)):
        unlike = describe(areas=4, delay_ratio=10)
        unlike["time"] = unlike["time"] | {name: value}
        with pytest.raises(BadInput, match=rf"time\.{name} of .*{name}: not that of .*usual"):
            source([usual, run(tmp_path / name, description=unlike)])


def test_an_oversubscribed_run_is_told(tmp_path):
    text = "oversubscribed: 4 ranks x 1 threads on 2 cores of a node; times are no evidence of speed"
    given = source(run(tmp_path, warnings=[text, "virtual machine"]))
    assert [warning.endswith(text) for warning in given.warnings] == [True]


@pytest.mark.parametrize(
    ("array", "complaint"),
    [
        (np.ones(5), r"shape \[5\]; expected \[rank, cycle\]"),
        (np.ones((1, 50)), "ranks=1: there is nobody to wait for"),
        (np.ones((2, 5)), "cycles=5: a fit needs at least 20"),
        (np.full((2, 50), np.nan), "a compute time of nan s"),
        (np.full((2, 50), -1.0), "a compute time of -1.0 s"),
    ],
)
def test_times_that_are_none_are_refused(array, complaint):
    with pytest.raises(BadInput, match=complaint):
        source(array)
