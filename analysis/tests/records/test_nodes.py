"""Where and when runs were carried out: nodes of ranks, jobs, the order, and what ran beside what."""

import json

import pandas as pd
import pytest
from planned import run, write_experiment
from synthetic import job, write_run

from spikemark.core.errors import BadInput
from spikemark.records import order, record
from spikemark.records.collect import collect
from spikemark.records.gather import gather

PAIRS = ["n1", "n1", "n2", "n2"]


def test_the_node_of_each_rank_is_known_by_name(tmp_path):
    assert record.load(write_run(tmp_path, ranks=4, nodes=["b", "a", "b", "a"])).node_of_rank == list("baba")


def test_records_from_before_the_fields_load(tmp_path):
    one = record.load(write_run(tmp_path / "one", ranks=2))
    assert one.record.host.per_node is None and one.node_of_rank == ["synthetic"] * 2
    assert one.launched is None and one.cluster is None and one.cpus == ("synthetic CPU",)
    assert record.load(write_run(tmp_path / "two", ranks=2, host__nodes=2)).node_of_rank is None


def test_a_node_without_a_name_is_refused(tmp_path):
    folder = write_run(tmp_path, ranks=4, nodes=PAIRS, host__node_names=["n1"])
    with pytest.raises(BadInput, match=r"ranks\.csv: node=\[0, 0, 1, 1\]; record\.json names 1 nodes"):
        record.load(folder)


def test_the_job_of_a_run_is_read_from_its_launch(tmp_path):
    found = record.load(write_run(tmp_path, launch=job(7, began_s=5.0)))
    assert found.cluster == "toy"
    assert found.launched.allocation.modules == ("gcc/13",)
    (tmp_path / "launch.json").write_text(json.dumps({"command": ["mpirun"], "wall_s": 1.0}))
    assert record.load(tmp_path).launched.allocation is None


@pytest.mark.parametrize(
    ("content", "complaint"),
    [([1], "holds list; one JSON object is needed"), ({"allocation": {"cluster": "toy"}}, "allocation.job")],
)
def test_a_damaged_launch_is_refused(tmp_path, content, complaint):
    write_run(tmp_path, launch=content)
    with pytest.raises(BadInput, match=rf"launch\.json: .*{complaint}"):
        record.load(tmp_path)


def sweep(folder, *launches, **options):
    """A sweep of runs that were started as told, in the order of the plan."""
    runs = [run(repetition=i + 1, launch=one, **options) for i, one in enumerate(launches)]
    return gather(write_experiment(folder, runs))


def test_the_summary_says_where_and_when(tmp_path):
    found = sweep(tmp_path, job(1, 5.0), None, nodes=["n1", "n2"])
    collect(found)
    table = pd.read_parquet(found.path / "summary.parquet")
    assert table["nodes"].tolist() == [2, 2]
    assert json.loads(table["node_of_rank"][0]) == ["n1", "n2"]
    assert table["job"][0] == "1" and table["cluster"][0] == "toy" and table["began_s"][0] == 5
    assert table[["job", "cluster", "began_s"]].loc[1].isna().all()


@pytest.mark.parametrize(("began", "moved"), [((1, 2, 3, 4), 0), ((2, 3, 4, 1), 1), ((4, 3, 2, 1), 3)])
def test_runs_out_of_the_planned_order_are_counted(tmp_path, began, moved):
    assert order.out_of_order(sweep(tmp_path, *(job(1, 10 * at) for at in began))) == moved


def test_runs_that_overlap_on_a_node_ran_beside_others(tmp_path):
    launches = [job(1, 0, wall_s=10), job(2, 20, wall_s=10), job(3, 25, wall_s=2), job(4, 30, wall_s=1)]
    assert order.beside_others(sweep(tmp_path / "alike", *launches)) == [f"{i:012x}" for i in (1, 2)]
    runs = [
        run(repetition=i + 1, launch=job(i, 0, wall_s=10), nodes=nodes)
        for i, nodes in enumerate((["n1", "n2"], ["n3", "n4"], ["n2", "n5"]))
    ]
    found = order.beside_others(gather(write_experiment(tmp_path / "apart", runs)))
    assert found == [f"{i:012x}" for i in (0, 2)]


def test_older_records_of_the_same_second_overlap_with_nothing(tmp_path):
    found = sweep(tmp_path, None, None)
    assert order.beside_others(found) == [] and order.out_of_order(found) == 0


def test_one_job_for_each_run_is_told_from_one_for_all(tmp_path):
    assert order.one_job_per_run(sweep(tmp_path / "each", job(1), job(2)))
    assert not order.one_job_per_run(sweep(tmp_path / "all", job(1), job(1)))
    assert not order.one_job_per_run(sweep(tmp_path / "none", None, None))
    assert order.jobs(sweep(tmp_path / "two", job(9), job(1), job(9))) == ["9", "1"]
