"""Times of some ranks or cycles in another unit, and zeros: planted, found, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest
from by_day import half_by_night, more_by_night
from scipy.signal import lfilter

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
    noise[:, 1:] *= (1 - correlation**2) ** 0.5
    noise = lfilter([1], [1, -correlation], noise, axis=1)  # each cycle from the one before
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
    assert "%" not in " ".join(explained.lines)
    assert trace(times).doubtful


@pytest.mark.slow
@pytest.mark.parametrize("seeds", more_by_night(range(40)))
def test_no_change_of_the_run_time_is_below_nothing(seeds):
    """Measured times that contradict each other: no run takes less than no time."""
    for seed in seeds:
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


@pytest.mark.parametrize(("first", "files"), half_by_night([0, 1], [False, True]))
@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("cycle_s", "odd"), [(1.27, True), (1.27e-6, True), (1.27e-3, False), (2e-5, False)]
)
def test_unlikely_units_get_a_remark(tmp_path, cycle_s, odd):
    times = cycle_s * np.random.default_rng(1).normal(1, 0.05, (4, 600))
    for source in (times, in_a_file(tmp_path, compute=times)):
        warnings = sm.waiting(source).content()["warnings"]
        assert any("unit right" in warning for warning in warnings) == odd


@pytest.mark.parametrize("noise_s", [0, 1e-7, 1e-6])
def test_whole_cycles_in_the_place_of_computing_get_a_remark(tmp_path, noise_s):
    random = np.random.default_rng(1)
    compute = random.normal(1.27e-3, 6e-5, (8, 1000))
    whole = np.tile(compute.max(axis=0), (8, 1)) + noise_s * random.standard_normal((8, 1000))
    for source in (whole, in_a_file(tmp_path, compute=whole)):
        assert any("cycle_time" in text for text in sm.waiting(source).content()["warnings"])


def test_ranks_that_slow_down_together_are_no_whole_cycles():
    for seed in range(60):
        assert not any("cycle_time" in warning for warning in trace(planted(seed)).warnings)


def rows_of(ranks, times) -> str:
    """Lines of ranks, cycles and times [rank][cycle] in µs."""
    lines = ["rank,cycle,compute_us"]
    for rank, of_rank in zip(ranks, times, strict=True):
        lines += [f"{rank},{cycle},{time}" for cycle, time in enumerate(of_rank)]
    return "\n".join(lines)


@pytest.mark.parametrize("word", ["rank", "Rank ", "rank_", "p", "mpi-"])
def test_ranks_may_have_a_word_before_their_number(tmp_path, word):
    path = tmp_path / "times.csv"
    times = np.arange(11 * 30.0).reshape(11, 30) % 7 + 100
    path.write_text(rows_of([f"{word}{rank}" for rank in range(11)], times))
    assert np.allclose(1e6 * sm.read_cycles(path).compute, times)


def test_different_words_before_ranks_are_refused(tmp_path, refused):
    path = tmp_path / "times.csv"
    path.write_text(rows_of(["node0", "rank1"], np.full((2, 30), 100.0)))
    assert "number" in refused(sm.read_cycles, path)


@pytest.mark.parametrize("header", ["rank0,rank1,rank2", "cycle,r1,r2,r3", "cycle,0,1,2"])
def test_a_column_for_each_rank_is_refused_with_the_right_hint(tmp_path, refused, header):
    path = tmp_path / "times.csv"
    line = ",".join("1" for _ in header.split(","))
    path.write_text(f"{header}\n" + f"{line}\n" * 30)
    assert "one line for each rank and cycle" in refused(sm.read_cycles, path, unit="ms")


def test_a_missing_communicate_names_the_columns_that_are_there(tmp_path, refused):
    path = tmp_path / "times.csv"
    path.write_text("rank,cycle,cycle_time_ms,mpi_time_ms\n0,0,1,0.5\n1,0,1,0.4\n")
    said = refused(sm.read_cycles, path)
    assert "mpi_time_ms" in said and "--column communicate=" in said


def test_the_d_that_was_asked_for_is_the_one_that_helps():
    times = replace(trace(np.random.default_rng(1).normal(1e-3, 1e-4, (8, 2000))), unplaced="")
    assumed = sm.waiting(times)
    asked = sm.waiting(times, delay_ratio=50)
    for explained, d, is_assumed in ((assumed, 10, True), (asked, 50, False)):
        tried = [helping["name"] for helping in explained.content()["helps"]]
        assert any(f"D = {d}" in name for name in tried)
        assert not any("D = " in name and f"D = {d}" not in name for name in tried)
        assert any("assumed, since" in line for line in explained.lines) == is_assumed


def test_of_times_that_seem_wrong_only_that_is_said_and_no_parts(tmp_path, spikemark):
    times = np.random.default_rng(1).normal(1e-3, 5e-5, (3, 400))
    times[2] *= 1000
    np.save(tmp_path / "compute.npy", times)
    status, output, _ = spikemark("waiting", str(tmp_path / "compute.npy"), "--unit", "s")
    assert status == 0 and "rank 2" in output.splitlines()[0]
    assert "imbalance" not in output and "%" not in output
