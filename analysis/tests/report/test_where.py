"""What the page says about nodes, jobs, the order of runs and what ran beside them."""

import pytest
from planned import run, view_of
from printed import heads, lines
from synthetic import job, write_run

from spikemark.records import record
from spikemark.report.cautions import BESIDE, ORDER, cautions
from spikemark.report.ranks_on_nodes import ranks_on_nodes
from spikemark.report.sections import provenance, runs

BLOCK, CYCLIC = ["n1", "n1", "n2", "n2"], ["n1", "n2", "n1", "n2"]


def view(folder, *launches, nodes=BLOCK, **options):
    each = [
        run(ranks=4, repetition=i + 1, launch=launch, nodes=nodes, **options)
        for i, launch in enumerate(launches)
    ]
    return view_of(folder, each)


def starting(found, beginning):
    return [text for text in found if text.startswith(beginning)]


def terms(shown):
    return dict(provenance.section(shown).terms)


def test_the_facts_of_the_jobs_are_shown(tmp_path):
    found = terms(view(tmp_path, job(11, 0), job(12, 5)))
    assert found["cluster"] == "toy" and found["partition"] == "main" and found["modules"] == "gcc/13"
    assert found["jobs of Slurm (2)"] == "11, 12"
    assert found["nodes (runs on each)"] == "n1 (2), n2 (2)"
    assert found["frequency governor"] == "performance"
    assert found["binding of ranks"] == "each rank to 1 hardware thread"
    assert found["started by"] == "srun (2)"
    assert found["order of the runs"] == "as planned" and found["runs beside others"] == "none"


def test_outside_slurm_no_job_is_shown(tmp_path):
    found = terms(view(tmp_path, None, nodes=None))
    assert "cluster" not in found and not any("Slurm" in head for head in found)
    assert found["frequency governor"] == "unknown"


def test_ranks_that_may_run_anywhere_are_not_bound(tmp_path):
    everywhere = [[0, 1]] * 4
    assert terms(view(tmp_path, None, host__binding=everywhere))["binding of ranks"].startswith("none: ")


@pytest.mark.parametrize(
    ("passive", "chooser", "shown"),
    [
        (True, "miniapp", "passive, chosen by the miniapp"),
        (False, "environment", "as the libraries do, chosen by the environment"),
        (False, None, "as the libraries do"),
    ],
)
def test_the_way_of_waiting_is_shown(tmp_path, passive, chooser, shown):
    waiting = {"passive": passive, "chosen_by": chooser, "variables": {}}
    found = terms(view(tmp_path, None, host__waiting=waiting))
    assert found["waiting of threads and ranks"] == shown


@pytest.mark.parametrize(
    ("numbers", "why"), [((1, 2, 3), ", since each run was a job of its own"), ((1, 1, 1), "")]
)
def test_an_order_that_was_not_kept_is_a_caution(tmp_path, numbers, why):
    began = (20, 0, 10)
    shown = view(tmp_path, *(job(n, at) for n, at in zip(numbers, began, strict=True)))
    [text] = starting(cautions(shown), ORDER)
    assert text.startswith(f"order: the planned order was not kept{why}: 1 run of 3 began out of turn")
    assert terms(shown)["order of the runs"] == "1 run of 3 began out of turn"
    (table,) = runs.section(shown).tables
    assert [line["begun as"] for line in lines(table)] == ["3", "1", "2"]


def test_jobs_that_ran_at_the_same_time_did_not_keep_the_order(tmp_path):
    """Also on nodes of their own."""
    jobs = [job(1, 0, wall_s=10), job(2, 5, wall_s=10)]
    each = [run(ranks=2, repetition=i + 1, launch=jobs[i], nodes=[f"n{i}", f"m{i}"]) for i in range(2)]
    shown = view_of(tmp_path, each)
    [text] = starting(cautions(shown), ORDER)
    assert "since each run was a job of its own: 2 runs ran at the same time as others" in text
    assert starting(cautions(shown), BESIDE) == []


def test_an_order_that_was_kept_is_no_caution(tmp_path):
    assert starting(cautions(view(tmp_path, *(job(n, 10 * n) for n in range(3)))), ORDER) == []


def test_runs_that_ran_beside_others_are_a_caution(tmp_path):
    shown = view(tmp_path, job(1, 0, wall_s=10), job(2, 5), job(3, 20))
    [text] = starting(cautions(shown), BESIDE)
    assert text.startswith("beside others: 2 of 3 runs ran beside others")
    assert terms(shown)["runs beside others"] == "2 of 3"


def test_runs_of_one_cluster_are_of_one_machine_though_their_first_nodes_differ(tmp_path):
    each = [run(ranks=2, repetition=i + 1, launch=job(i, 10 * i), nodes=[f"n{i}", f"m{i}"]) for i in range(2)]
    found = cautions(view_of(tmp_path, each))
    assert starting(found, "mixed") == []


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (BLOCK, "block: n1, n2"),
        (CYCLIC, "cyclic: n1, n2"),
        (["n1"] * 4, "n1"),
        (["n1", "n2", "n2", "n1"], "n1 (0, 3); n2 (1–2)"),
        ([f"n{i}" for i in range(10)], "block: n0, n1, n2, n3, n4, n5, n6, n7 and 2 more"),
    ],
)
def test_the_nodes_of_ranks_in_words(tmp_path, nodes, words):
    assert ranks_on_nodes(record.load(write_run(tmp_path, ranks=len(nodes), nodes=nodes))) == words


def test_the_table_of_runs_shows_nodes_where_there_are_several(tmp_path):
    for name, nodes, shown in (("one", None, False), ("two", CYCLIC, True)):
        (table,) = runs.section(view(tmp_path / name, None, nodes=nodes)).tables
        assert ("ranks on nodes" in heads(table)) == shown
