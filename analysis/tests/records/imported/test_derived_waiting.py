"""Waiting that was not timed: our own records with their synchronise column hidden, whole and damaged."""

import foreign_logs
import numpy as np
import pandas as pd
import pytest
from synthetic import compute_times, write_run

from spikemark.records import imported, record
from spikemark.records.imported import derived, timeline
from spikemark.records.imported.checks import examine, leaving_one_out

ABOUT = {"files": ["made up"], "unit": "s", "skipped": 0, "cycle_ms": None}
WITHIN = 0.05


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Our own record: 8 ranks with cycles of a millisecond, of which one is 10 % slower."""
    folder = tmp_path_factory.mktemp("own")
    return record.load(write_run(folder, ranks=8, cycles=2000, mean_s=1e-3, ar1=0.5, rank_sd=0.03))


@pytest.fixture(scope="module")
def lines(run):
    """A table of every rank and cycle, without waiting."""
    ranks, cycles = np.indices(run.compute().shape)
    columns = {
        "rank": ranks,
        "cycle": cycles,
        "compute": run.compute(),
        "communicate": run.waiting() + run.phase("exchange"),
    }
    return pd.DataFrame({name: values.reshape(-1) for name, values in columns.items()})


def waited(path, lines):
    """Mean derived waiting, and the remarks."""
    lines.to_csv(path, index=False)
    made = imported.save(path.with_suffix(".out"), imported.read([path], "s"), ABOUT)
    return made.waiting.mean(), made.about.remarks


def test_the_whole_record(run, lines, tmp_path):
    found, remarks = waited(tmp_path / "a.csv", lines)
    assert found == pytest.approx(run.waiting().mean(), rel=0.01) and remarks == []


@pytest.mark.parametrize("rank", [0, 3, 7])
def test_a_missing_rank_is_said_and_changes_little(run, lines, tmp_path, rank):
    """Against the waiting of the ranks that are there. The missing one is not the slowest."""
    assert run.compute().mean(axis=1).argmax() != rank
    found, remarks = waited(tmp_path / "a.csv", lines[lines["rank"] != rank])
    others = np.delete(run.waiting(), rank, axis=0).mean()
    assert found == pytest.approx(others, rel=2 * WITHIN)
    if rank in (3,):
        assert remarks[0].startswith(
            "rank 3 is missing: derived waiting does not know of it; without any one"
        )


def test_cycles_that_ranks_lack_are_left_out_and_counted(run, lines, tmp_path):
    lost = np.random.default_rng(5).choice(len(lines), 100, replace=False)
    found, remarks = waited(tmp_path / "a.csv", lines.drop(index=lost))
    assert found == pytest.approx(run.waiting().mean(), rel=WITHIN)
    assert (
        remarks[0].endswith(f"such as {lines['cycle'].iloc[lost].min()}") or "not on all ranks" in remarks[0]
    )


def test_a_restart_begins_with_cycles_that_were_there_before(run, lines, tmp_path):
    """The program was killed when ranks had come to different cycles, and went on from cycle 900."""
    first = lines[lines["cycle"] < 1000 + lines["rank"]]
    again = lines[lines["cycle"] >= 900]
    found, remarks = waited(tmp_path / "a.csv", pd.concat([first, again]))
    assert found == pytest.approx(run.waiting().mean(), rel=WITHIN)
    assert remarks[0] == "the program was restarted 1 time: its cycles follow each other"
    assert remarks[1].startswith("7 of 2107 cycles are not on all ranks")


def test_ranks_that_were_restarted_differently_are_refused(refused, lines, tmp_path):
    again = lines[(lines["cycle"] >= 900) & (lines["rank"] != 2)]
    path = tmp_path / "a.csv"
    pd.concat([lines, again]).to_csv(path, index=False)
    assert "restarts 0 times on rank 2 and 1 time on rank 0" in refused(imported.read, [path], "s")


@pytest.mark.parametrize("clocks", [0.0, 3.0])
def test_clocks_that_do_not_agree_change_nothing(run, tmp_path, clocks):
    files = foreign_logs.trace(tmp_path / "t", run.compute()[:, :400], clocks, barrier=False)
    found = imported.read(files, None, {"communicate": "MPI_Alltoall"})
    made = imported.save(tmp_path / "out", found, ABOUT)
    barrier = derived.SHARE * foreign_logs.EXCHANGE_S
    assert made.waiting.mean() == pytest.approx(run.waiting()[:, :400].mean() + barrier, rel=0.01)


def left_late(seed=1, ranks=8, cycles=2000, late_s=1e-4):
    """Computing, communication and waiting of ranks that leave exchanges at other times, [rank, cycle]."""
    draw = np.random.default_rng(seed)
    compute = compute_times(ranks, cycles, mean_s=1e-3, cv=0.05, ar1=0.5, rank_sd=0.02, seed=seed)
    begun, communicate, wait = np.zeros(ranks), np.empty_like(compute), np.empty_like(compute)
    for cycle in range(cycles):
        come = begun + compute[:, cycle]
        left = come.max() + 2e-5 + draw.exponential(late_s, ranks)
        wait[:, cycle], communicate[:, cycle] = come.max() - come, left - come
        begun = left
    return compute, communicate, wait


def test_ranks_may_leave_an_exchange_at_different_times():
    """The compute times alone miss half of the waiting."""
    compute, communicate, wait = left_late()
    implied = compute.max(axis=0) - compute.mean(axis=0)
    assert implied.mean() < 0.7 * wait.mean()
    found = timeline.waiting(compute, communicate)
    assert found.mean() == pytest.approx(wait.mean(), rel=WITHIN)
    np.testing.assert_allclose(found, wait.mean(axis=0), atol=5e-5)


def test_times_that_leave_gaps_fall_back_on_the_compute_times():
    """A part of the cycle that was not logged, and differs between ranks, hides the timeline."""
    compute, communicate, _ = left_late()
    hidden = compute * np.linspace(0.5, 1.0, 8)[:, None]
    implied = hidden.max(axis=0) - hidden.mean(axis=0)
    np.testing.assert_allclose(timeline.waiting(hidden, communicate), implied)


def test_leaving_one_out_is_what_it_says():
    compute, _, _ = left_late()
    whole = (compute.max(axis=0) - compute.mean(axis=0)).mean()
    each = [np.delete(compute, rank, axis=0) for rank in range(8)]
    changes = [(one.max(axis=0) - one.mean(axis=0)).mean() / whole - 1 for one in each]
    assert leaving_one_out(compute) == pytest.approx((min(changes), max(changes)))


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda compute, communicate: (0.1 * compute, communicate), "times as much waiting as compute"),
        (lambda compute, communicate: (compute, np.roll(communicate, 1, 1)), "do not line up"),
        (lambda compute, communicate: (compute, shifted(communicate, 2)), "1 rank, such as 2, does not"),
        (lambda compute, communicate: (1e6 * compute, 1e6 * communicate), "is the unit right?"),
        (lambda compute, communicate: (1e-5 * compute, 1e-5 * communicate), "is the unit right?"),
        (lambda compute, communicate: (10 * compute, communicate), "units or cycles do not match"),
        (lambda compute, communicate: (compute, communicate), None),
    ],
)
@pytest.mark.parametrize("late_s", [1e-6, 1e-4])
def test_what_does_not_belong_together_is_said_in_one_line(spoil, words, late_s):
    compute, communicate = spoil(*left_late(late_s=late_s)[:2])
    said = examine({"compute": compute, "communicate": communicate})
    assert len(said) == (words is not None), said
    if words:
        assert words in said[0] and "\n" not in said[0]


def shifted(times, rank):
    """One rank's cycles are one later."""
    found = times.copy()
    found[rank] = np.roll(found[rank], 1)
    return found
