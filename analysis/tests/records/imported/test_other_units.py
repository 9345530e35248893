"""Times of some ranks or cycles in another unit, and zeros: planted, found, and nothing else."""

import numpy as np
import pytest

import spikemark as sm
from spikemark.core.errors import BadInput
from spikemark.records.imported.other_units import seem_other_units, seem_unmeasured
from spikemark.waiting.answer import answer
from spikemark.waiting.trace import trace

FACTORS = (1e-9, 1e-6, 1e-3, 1e3, 1e6)


def planted(seed: int) -> np.ndarray:
    """Times [rank, cycle] in s of ranks that differ up to threefold, with jitter and drift."""
    random = np.random.default_rng(seed)
    ranks = int(random.integers(2, 12))
    cycles = int(random.integers(300, 3000))
    noise = random.standard_normal((ranks, cycles))
    correlation = random.choice([0, 0.9, 0.99])
    for cycle in range(1, cycles):
        noise[:, cycle] *= (1 - correlation**2) ** 0.5
        noise[:, cycle] += correlation * noise[:, cycle - 1]
    means = 10 ** random.uniform(-5.3, -2) * random.uniform(1, 3, (ranks, 1))
    return means * np.exp(random.uniform(0.005, 0.15) * noise)


def interrupted(seed: int) -> np.ndarray:
    """The same, of ranks that lose their cores for some ms now and then."""
    times = planted(seed)
    random = np.random.default_rng(seed + 1000)
    lost = random.random(times.shape) < random.uniform(0, 0.05)
    times[lost] += random.uniform(0.002, 0.012, int(lost.sum()))
    return times


@pytest.mark.parametrize("make", [planted, interrupted])
def test_usual_times_are_in_one_unit(make):
    named = [seed for seed in range(150) if seem_other_units(make(seed))]
    assert not named


@pytest.mark.parametrize("factor", FACTORS)
def test_ranks_in_another_unit_are_named(factor):
    for seed in range(60):
        times = planted(seed)
        rank = seed % len(times)
        times[rank] *= factor
        (remark,) = seem_other_units(times, first_rank=1)
        if len(times) > 2:
            assert f"rank {rank + 1} " in remark


@pytest.mark.parametrize("factor", [1e-6, 1e-3, 1e3])
@pytest.mark.parametrize("every", [1, 7])
def test_cycles_in_another_unit_are_named(factor, every):
    for seed in range(60):
        times = planted(seed)
        if every > 1 and factor > 1 and np.quantile(times[0], 0.99) > 1.4 * times[0].min():
            continue  # long cycles here and there may be interruptions of ranks that vary so much
        cycles = slice(50, 50 + 100 * (every == 1) + 200 * (every > 1), every)
        times[0, cycles] *= factor
        (remark,) = seem_other_units(times)
        last = np.arange(times.shape[1])[cycles][-1]
        assert "rank 0 " in remark and "50 " in remark and str(last) in remark


def test_zeros_are_counted():
    times = planted(1)
    times[1, 100:300] = 0
    (remark,) = seem_unmeasured(times)
    assert "200" in remark and "rank 1" in remark and "100" in remark and "299" in remark
    assert seem_unmeasured(planted(1)) == []


def in_a_file(tmp_path, **columns):
    """Times of columns [rank, cycle], read from a file."""
    path = tmp_path / "times.npz"
    np.savez(path, **columns)
    return sm.read_cycles(path, unit="s")


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("communicated", [False, True])
def test_nothing_is_predicted_from_times_in_two_units(tmp_path, factor, communicated):
    random = np.random.default_rng(7)
    times = random.normal(1e-3, 5e-5, (4, 1000))
    communicate = times.max(axis=0) - times + 1e-5
    times[2] *= factor
    columns = {"compute": times}
    if communicated:
        communicate[2] *= factor
        columns["communicate"] = communicate
    read = in_a_file(tmp_path, **columns)
    explained = sm.waiting(
        read, schedule="structure_aware", delay_ratio=10, changes=["level-ranks", "slow-rank=2:0.5"]
    )
    content = explained.content()
    assert "rank 2" in content["doubtful"]
    assert content["rarely"] is None and content["helps"] == []
    assert content["replay"]["change"]["value"] is None
    assert content["slowest"]["change"]["value"] is None
    assert content["parts"]["barrier"]["value"] is None
    for outcome in content["changes"].values():
        assert outcome["change"]["value"] is None and outcome["waiting"]["value"] is None
    assert any("rank 2" in warning for warning in content["warnings"])
    assert "%" not in " ".join(line for line in explained.lines[1:] if line[:1] != " ")
    assert trace(times).doubtful


def test_no_change_of_the_run_time_is_below_nothing():
    """Measured times that contradict each other: no run takes less than no time."""
    for seed in range(40):
        random = np.random.default_rng(seed)
        times = planted(seed)[:, :500]
        meetings = times.shape[1]
        run = trace(times)
        waited = random.uniform(0, 2) * run.implied * random.exponential(1, meetings)
        exchanged = random.uniform(-1, 1) * times.mean() * random.exponential(1, meetings)
        for disturbed in ("", "other programs"):
            odd = type(run)(times, waited=waited, exchanged=exchanged, disturbed=disturbed)
            names = ["level-ranks", "halve-latency", "halve-jitter", "slow-rank=1:0.001"]
            try:
                explained = answer(odd, changes=names)
            except BadInput:
                continue
            found = [explained.ladder.slowest.change]
            found += [outcome.prediction.change for outcome in explained.changes + explained.helps]
            assert all(change.limits[0] >= 0 for change in found)


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("files", [False, True])
def test_ranks_keep_their_numbers(tmp_path, spikemark, refused, first, files):
    """Rank 6 of the files is rank 6 in sentences, tables, JSON and changes."""
    random = np.random.default_rng(3)
    times = random.normal(1.0, 0.02, (8, 600))
    times[6 - first] *= 1.2
    times[2 - first, 300] = 100.0
    ranks = range(first, first + 8)
    paths = [tmp_path / f"times-{rank}.csv" for rank in ranks]
    if not files:
        paths = [tmp_path / "times.csv"]
        cycle = np.tile(np.arange(600), 8)
        table = np.column_stack([np.repeat(list(ranks), 600), cycle, times.ravel()])
        header = "rank,cycle,compute_ms"
        np.savetxt(paths[0], table, delimiter=",", header=header, comments="", fmt="%.6g")
    else:
        for path, of_rank in zip(paths, times, strict=True):
            np.savetxt(path, of_rank, header="compute_ms", comments="")
    explained = sm.waiting(sm.read_cycles(paths), changes=["slow-rank=6:0.8"])
    content = explained.content()
    assert content["first_rank"] == first
    assert content["slowest"]["rank"] == 6
    assert content["longest"]["rank"] == 2 and content["longest"]["cycle"] == 300
    assert content["changes"]["slow-rank=6:0.8"]["change"]["value"] < 0.95
    ranks_named = [row["rank"] for row in explained.tables[-1].rows]
    assert ranks_named[0] == 6 and {*ranks_named} <= {*ranks}
    outside = f"slow-rank={first + 8}:0.8"
    assert str(first + 7) in refused(sm.waiting, sm.read_cycles(paths), changes=[outside])
    folder = tmp_path / "kept"
    spikemark("import", *paths, "--out", folder)
    spikemark("report", folder)
    page = (folder / "report.html").read_text()
    assert "Rank 6 " in page
    assert sm.waiting(folder).content()["slowest"]["rank"] == 6
