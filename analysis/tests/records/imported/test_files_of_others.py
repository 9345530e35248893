"""Files as other people's programs write them: whose times they are, in which unit, and whether
durations.
"""

import json

import numpy as np
import pandas as pd
import pytest

from spikemark.records import imported
from spikemark.records.imported.names import columns_of, parted
from spikemark.records.imported.ranks import check_numbers, in_order_of_ranks

TIMES = np.random.default_rng(3).gamma(20, 5e-5, (12, 40))
PAIR = TIMES[:2]


def lines(times=PAIR, **names):
    """A table with a line for each rank and cycle; `names`: other names of its columns."""
    ranks, cycles = (numbers.ravel() for numbers in np.indices(times.shape))
    table = pd.DataFrame({"rank": ranks, "cycle": cycles, "compute": times.ravel()})
    return table.rename(columns=names)


def csv(path, table, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    table.to_csv(path, index=False, **options)
    return path


def compute(*files, unit="s", **options):
    return imported.read_times(files, unit, **options).columns["compute"]


@pytest.mark.parametrize(
    "name",
    [
        "rank.{}/times",
        "{}/times",
        "times-{}",
        "log.{:05d}",
        "job.4711.{}",
        "out_r{:02d}_seed12",
        "v2/times_{}_of_12",
        "run3/rank{}/times-{}",
        "rank{}-pid4711",
        "boston.R{}",
        "1/rank.{}/stdout",
        "mpi_rank={}",
    ],
)
@pytest.mark.parametrize("first", [0, 1])
def test_files_are_in_the_order_of_their_ranks(tmp_path, name, first):
    files = []
    for rank, times in enumerate(TIMES):
        path = tmp_path / (name.format(rank + first, rank + first) + ".csv")
        files.append(csv(path, pd.DataFrame({"compute": times})))
    for order in (sorted(files), files[::-1]):
        np.testing.assert_allclose(compute(*order), TIMES, rtol=1e-9)
    remarks = imported.read_times(files, "s").remarks
    assert [remark for remark in remarks if "from 1 to 12" in remark] == [*remarks] and len(
        remarks
    ) == first


def test_other_numbers_may_differ_beside_the_rank(tmp_path):
    names = [f"node{rank // 4}_rank{rank}_pid{4000 + 7 * rank % 5}" for rank in range(12)]
    hosts = [f"{letter}.site/rank.{rank}/times" for rank, letter in enumerate("lkjihgfedcba")]
    for paths in (names, hosts):
        files = [tmp_path / path for path in paths]
        assert in_order_of_ranks(files[::-1]) == (files, [])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["times-0", "times-1", "times-3"], "rank 2 missing"),
        (["times-0", "times-9", "times-30"], "0 to 2"),
        (["times-1", "times-01"], "no number"),
        (["seed-0", "seed-1"], "seed: 0, 1"),
        (["run0", "run1"], "run: 0, 1"),
        (["a", "b"], "more than numbers"),
        (["a-0", "b-1"], "more than numbers"),
        (["0-1", "1-0"], "0, 1; 1, 0"),
        (["node0-local_rank0", "node0-local_rank1", "node1-local_rank0"], "2 numbers"),
        (["rank0/run1", "rank0/run2"], "run: 1, 2"),
        (["r0_1", "r0_2", "r0_3"], "rank 0"),
        (["out_r0_seed1", "out_r2_seed0"], "rank 1 missing"),
        (["4711", "4712"], "expected 1 to 2"),
    ],
)
def test_files_whose_names_do_not_tell_their_ranks_are_refused(refused, tmp_path, names, words):
    files = [tmp_path / f"{name}.csv" for name in names]
    said = refused(in_order_of_ranks, files)
    assert str(files[0]) in said and words in said


def test_ranks_are_numbered_without_gaps(refused):
    assert check_numbers("a", [2, 0, 1]) == [] and len(check_numbers("a", [1, 2])) == 1
    for ranks, words in (
        ([0, 2, 5], "1, 3, 4 missing"),
        ([1, 1], "1 twice"),
        ([7], "1 to 1"),
        ([-1, 0], "-1"),
    ):
        assert words in refused(check_numbers, "a", ranks)


@pytest.mark.parametrize(
    "rank", ["Rank", "mpi_rank", "MPI rank", "rank_id", "process", "proc", "mpi.rank", "RANK"]
)
@pytest.mark.parametrize("cycle", ["Cycle", "cycle_id", "iteration", "step"])
def test_columns_of_ranks_and_cycles_have_other_names(tmp_path, rank, cycle):
    table = lines(rank=rank, cycle=cycle).sample(frac=1, random_state=1)
    np.testing.assert_allclose(compute(csv(tmp_path / "a.csv", table)), PAIR, rtol=1e-9)


def test_a_header_of_savetxt_and_an_index_of_parquet(tmp_path):
    table, text = lines().sample(frac=1, random_state=1), tmp_path / "a.csv"
    np.savetxt(text, table.to_numpy(), delimiter=",", header="rank,cycle,compute")
    parquet = tmp_path / "a.parquet"
    table.set_index(["rank", "cycle"]).to_parquet(parquet)
    for path in (text, parquet):
        np.testing.assert_allclose(compute(path), PAIR, rtol=1e-9)


@pytest.mark.parametrize(
    "names", [["rank", "cycle", "compute"], ["mpi_rank", "step", "compute [s]"]]
)
def test_fields_of_a_structured_array_are_columns(tmp_path, names):
    array = lines().to_records(index=False)
    array.dtype.names = names
    np.save(tmp_path / "a.npy", array)
    np.testing.assert_allclose(compute(tmp_path / "a.npy"), PAIR)


REPEATED = lines().drop(columns="rank")
UNNUMBERED = lines().drop(columns="cycle")
TIMED = UNNUMBERED.assign(
    ms=lines()["cycle"] / 10
)  # simulated time, which does not count whole cycles
BLOCKS = pd.concat([lines(TIMES[:2]), lines(TIMES[2:4])]).drop(columns="cycle")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (REPEATED, "a column of ranks"),
        (REPEATED.assign(worker=lines()["rank"]), "a column of ranks"),
        (lines(rank="worker").drop(columns="cycle"), "--column rank=worker"),
        (lines(TIMES[[0, 0]])[:-1], ""),
        (lines(cycle="window").sample(frac=1, random_state=1), "--column cycle=window"),
        (lines().assign(rank=4000 + lines()["rank"]), "expected 1 to 2"),
        (BLOCKS, "blocks"),
        (lines().assign(rank=lines()["rank"] * 2), "rank 1 missing"),
        (lines().assign(rank=lines()["rank"] / 2), "rank=0.5"),
        (pd.concat([lines().assign(thread=number) for number in (0, 1)]), "cycle=0: twice"),
        (
            pd.concat([lines().assign(thread=number) for number in (0, 1)]).drop(columns="cycle"),
            "'thread'",
        ),
        (lines().assign(Compute=1.0), "compute, Compute"),
        (lines().assign(t=1.0), ""),
        (
            pd.concat([UNNUMBERED.assign(variant=name) for name in ("static", "dynamic")]),
            "static, dynamic",
        ),
        (pd.concat([UNNUMBERED.assign(size=size) for size in (1000, 100_000)]), "1000, 100000"),
        (
            pd.concat([lines(TIMES[:2, :1]).assign(phase=name) for name in "ab"]).drop(
                columns="cycle"
            ),
            "'phase'",
        ),
        (pd.concat([UNNUMBERED.assign(host=name) for name in ("n0", "n1")]), "'host'"),
        (UNNUMBERED.reset_index().sample(frac=1, random_state=1), "'index'"),
        (UNNUMBERED.reset_index().sort_values("compute"), "'index'"),
        (TIMED.sample(frac=1, random_state=1), "--column cycle=ms"),
        (TIMED, ""),
        (UNNUMBERED.assign(node=UNNUMBERED["rank"] // 2, host="n"), ""),
        (
            pd.concat([UNNUMBERED]).assign(
                began=pd.date_range("2026-01-31", periods=80).astype(str)
            ),
            "",
        ),
    ],
)
def test_lines_of_an_unknown_rank_or_cycle_are_refused(refused, tmp_path, table, words):
    path = csv(tmp_path / "a.csv", table)
    if words:
        said = refused(imported.read_times, [path], "s")
        assert str(path) in said and words in said
    else:
        assert len(imported.read_times([path], "s").remarks) == 1


def test_a_name_twice_and_a_field_too_many(refused, tmp_path):
    path = csv(
        tmp_path / "a.csv", lines().assign(more=7.0), header=["rank", "cycle", "compute", "compute"]
    )
    assert "'compute'" in refused(imported.read_times, [path], "s")
    path.write_text("rank,cycle,compute\n0,0,1,5\n0,1,2\n")
    assert "line 2" in refused(imported.read_times, [path], "s")


def test_columns_that_are_not_used_are_named_once(tmp_path):
    files = [
        csv(tmp_path / f"{rank}.csv", pd.DataFrame({"compute": times, "spikes": 7, "host": "n"}))
        for rank, times in enumerate(PAIR)
    ]
    assert imported.read_times(files, "s").remarks == ("columns that are not used: spikes, host",)


@pytest.mark.parametrize(
    ("name", "base", "unit"),
    [
        ("compute_us", "compute", "us"),
        ("Compute [ms]", "compute", "ms"),
        ("compute(µs)", "compute", "us"),
        ("compute time in ns", "compute time", "ns"),
        ("compute, s", "compute", "s"),
        ("compute", "compute", None),
        ("compute [ticks]", "compute", "ticks"),
        ("wait_seconds", "wait", "s"),
        ("status", "status", None),
    ],
)
def test_the_unit_in_a_name(name, base, unit):
    assert parted(name) == (base, unit)


@pytest.mark.parametrize("name", ["compute_us", "compute [us]", "compute(µs)", "Compute time [us]"])
def test_the_unit_is_that_in_the_name_of_the_column(refused, tmp_path, name):
    path = csv(tmp_path / "a.csv", lines(1e6 * PAIR, compute=name))
    np.testing.assert_allclose(compute(path, unit=None), PAIR)
    np.testing.assert_allclose(compute(path, unit="us"), PAIR)
    said = refused(imported.read_times, [path], "ms")
    assert "unit='ms'" in said and name in said


def test_columns_in_two_units_and_one_without(refused, tmp_path):
    table = lines(1e3 * PAIR, compute="compute [ms]")
    both = csv(tmp_path / "a.csv", table.assign(**{"communicate [us]": 50.0}))
    np.testing.assert_allclose(compute(both, unit=None), PAIR)
    assert imported.read_times([both]).columns["communicate"].max() == pytest.approx(5e-5)
    one = csv(tmp_path / "b.csv", table.assign(communicate=0.05))
    assert "communicate" in refused(imported.read_times, [one])
    np.testing.assert_allclose(imported.read_times([one], "ms").columns["communicate"], 5e-5)
    assert "'ticks'" in refused(
        imported.read_times, [csv(tmp_path / "c.csv", lines(compute="compute [ticks]"))], "s"
    )
    called = columns_of(tmp_path, ["t [ms]", "n_s"], {"compute": "t", "wait": "n_s"})
    assert [column.unit for column in called.values()] == ["ms", None]


def test_a_column_has_one_meaning(refused, tmp_path):
    path = csv(tmp_path / "a.csv", lines(PAIR, compute="t").assign(u=0.05))
    assert "'t'" in refused(imported.read_times, [path], "s", {"compute": "t", "communicate": "t"})
    called = {"compute": "t", "communicate": "u"}
    assert imported.read_times([path], "s", called).columns["communicate"].max() == 0.05


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.cumsum(TIMES, axis=1), "only rise"),
        (1.7e9 + np.cumsum(TIMES, axis=1), "clock"),
        (np.hstack([np.cumsum(TIMES, axis=1), np.cumsum(TIMES, axis=1)]), "only rise"),
        (np.vstack([TIMES, np.cumsum(TIMES[:1], axis=1)]), "rank 12 only rise"),
        (np.cumsum(TIMES[:, :8], axis=1), "only rise"),
        (1.7e9 + TIMES[:, :1], "clock"),
        (0 * TIMES, "0 s in every cycle"),
        (5e-324 + 0 * TIMES, "s in a cycle"),
        (1e-30 * TIMES, "s in a cycle"),
    ],
)
def test_times_that_are_no_durations_are_refused(refusal, tmp_path, times, words):
    path = tmp_path / "a.npy"
    np.save(path, times)
    for command in (("waiting", path), ("import", path, "--out", tmp_path / "out")):
        line = refusal(*command, "--unit", "s")
        assert str(path) in line and words in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "times",
    [
        TIMES,
        np.tile(1e-3, (3, 40)),
        np.sort(TIMES)[:, ::-1],
        TIMES + np.linspace(0, 1e-3, 40),
        TIMES[:, :3],
    ],
)
def test_durations_with_a_drift_are_durations(tmp_path, times):
    np.save(tmp_path / "a.npy", times)
    np.testing.assert_array_equal(compute(tmp_path / "a.npy"), times)


@pytest.mark.parametrize("every", [5, 10])
def test_a_stopwatch_that_is_reset_now_and_then_gets_a_remark(tmp_path, every):
    blocks = np.split(np.tile(TIMES, 2), 80 // every, axis=1)
    times = np.hstack([np.cumsum(block, axis=1) for block in blocks])
    np.save(tmp_path / "a.npy", times)
    found = imported.read_times([tmp_path / "a.npy"], "s")
    assert any(
        "times rise in" in remark for remark in imported.cycle_times(found, tmp_path).cautions
    )
    np.save(tmp_path / "b.npy", np.tile(TIMES, 2))
    found = imported.read_times([tmp_path / "b.npy"], "s")
    assert not any(
        "times rise in" in remark for remark in imported.cycle_times(found, tmp_path).cautions
    )


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.column_stack([np.arange(12.0), TIMES]), "numbers of ranks"),
        (np.column_stack([np.arange(1.0, 13.0), TIMES]), "numbers of ranks"),
        (np.pad(TIMES, ((0, 0), (0, 5))), "padding"),
        (np.where(np.indices(TIMES.shape).sum(axis=0) > 45, 0, TIMES), "rank 9 computes 0 s"),
        (np.hstack([TIMES, TIMES]), "twice"),
        (TIMES, ""),
        (np.where(TIMES < 8e-4, 0, TIMES), ""),
        (np.tile(1e-3, (3, 40)), ""),
    ],
)
def test_what_was_not_measured_gets_a_remark(tmp_path, times, words):
    np.save(tmp_path / "a.npy", times)
    remarks = imported.times._examine(imported.read_times([tmp_path / "a.npy"], "s"))
    odd = [remark for remark in remarks if remark.endswith("?") and "--skip" not in remark]
    assert (words in odd[0] and len(odd) == 1) if words else not odd


@pytest.mark.parametrize("name", ["unit", "Time Unit", "time_unit"])
def test_a_column_of_units(refused, tmp_path, name):
    """As Google Benchmark writes `time_unit`."""
    path = csv(tmp_path / "a.csv", lines(1e6 * PAIR).assign(**{name: "us"}))
    np.testing.assert_allclose(compute(path, unit=None), PAIR)
    np.testing.assert_allclose(compute(path, unit="us"), PAIR)
    assert all(words in refused(imported.read_times, [path], "ms") for words in (name, "us", "ms"))
    mixed = csv(tmp_path / "b.csv", lines(PAIR).assign(**{name: ["us", "ms"] * 40}))
    assert name in refused(imported.read_times, [mixed], "us")
    named = csv(tmp_path / "c.csv", lines(PAIR, compute="compute_ms").assign(**{name: "us"}))
    assert "ms" in refused(imported.read_times, [named])


def test_a_share_is_no_time(refused, tmp_path):
    assert "compute %" in refused(
        imported.read_times, [csv(tmp_path / "a.csv", lines(compute="compute %"))], "s"
    )


def test_more_communication_than_run_time_in_a_table_of_bennch(refused, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("num_nodes,time_simulate,time_communicate_spike_data\n1,100,10\n2,50,120\n")
    said = refused(imported.read_times, [path])
    assert (
        all(words in said for words in (str(path), "2 nodes", "120 s", "50 s"))
        and "Value error" not in said
    )


def test_random_durations_are_not_taken_for_a_stopwatch():
    """Of few cycles and ranks, which may only rise by chance."""
    from spikemark.records.imported.durations import _only_rising

    rng = np.random.default_rng(5)
    tables = [rng.random((rng.integers(1, 4), rng.integers(2, 30))) for _ in range(20_000)]
    assert not any(_only_rising(table).size for table in tables)


BENNCH = (
    "rng_seed,num_nodes,tasks_per_node,model_time_sim,wall_time_sim,"
    "wall_time_phase_communicate,py_time"
)


def test_good_runs_of_bennch_are_read_and_others_named(spikemark, refused, tmp_path):
    path, out = tmp_path / "bennch.csv", tmp_path / "out"
    path.write_text(
        f"{BENNCH}\n11,1,8,10000.0,40.0,8.0,\n12,2,8,10000.0,22.0,nan,\n13,4,8,10000.0,,2.0,1\n"
    )
    sums = imported.read_times([path])
    assert [run.run_s for run in sums.runs] == [[40.0]] and sums.runs[0].ranks == 8
    first, second = sums.remarks
    assert (
        "line 3: wall_time_phase_communicate='nan'" in first
        and "line 4: wall_time_sim=''" in second
    )
    status, _, errors = spikemark("import", path, "--out", out)
    assert status == 0 and "line 3" in errors and "line 4" in errors
    assert json.loads(spikemark("waiting", out, "--json")[1])["remarks"] == sums.remarks
    path.write_text(f"{BENNCH}\n11,1,8,10000.0,40.0,,\n")
    assert "line 2: wall_time_phase_communicate=''" in refused(imported.read_times, [path])


def test_quotes_in_a_table_of_bennch(tmp_path):
    path, quoted = tmp_path / "bennch.csv", ",".join(f'"{name}"' for name in BENNCH.split(","))
    path.write_text(f"\ufeff{quoted}\n11,1,8,10000.0,40.0,8.0,\n12,2,8,10000.0,22.0,6.0,\n")
    assert imported.reader_of([path]).name == "bennch"
    assert [run.communicate_s for run in imported.read_times([path]).runs] == [[8.0], [6.0]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rank;cycle;compute\n0;0;1,5\n", "semicolons"),
        ("rank\tcycle\tcompute\n0\t0\t1.5\n", "tabs"),
        ("rank,cycle,compute\n0,0,nan\n", "line 2: compute='nan'"),
        ("rank,cycle,compute\n0,0,\n", "line 2: compute=''"),
        ("rank,cycle,compute\n0,0,1\n0,1,-1\n", "line 3: compute='-1'"),
    ],
)
def test_cells_and_separators_are_named(refused, tmp_path, text, words):
    (tmp_path / "a.csv").write_text(text)
    assert words in refused(imported.read_times, [tmp_path / "a.csv"], "s")


def test_one_file_for_two_ranks_gets_a_remark(tmp_path):
    table = lines(TIMES[[0, 1, 0]])
    made = imported.cycle_times(
        imported.read_times([csv(tmp_path / "a.csv", table)], "s"), tmp_path
    )
    assert any("ranks 0 and 2" in remark for remark in made.about.remarks)
    level = imported.cycle_times(imported.ReadTimes({"compute": np.full((2, 40), 1e-3)}), tmp_path)
    assert not any("same times" in remark for remark in level.about.remarks)


def test_times_that_only_fall_are_remarked_upon(tmp_path):
    """The time that is left of a run; durations that fall while a run warms up read the same."""
    np.save(tmp_path / "left.npy", np.cumsum(TIMES, axis=1)[:, ::-1])
    times = imported.cycle_times(
        imported.read_times([tmp_path / "left.npy"], "ms"), tmp_path / "left.npy"
    )
    assert any("only fall" in caution for caution in times.cautions)
