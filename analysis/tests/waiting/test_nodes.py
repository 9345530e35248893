"""The node as a factor: a planted slow node is found, equal nodes are not called slow, noise stays noise."""

import numpy as np
import pytest
from synthetic import job, write_run

from spikemark.core.errors import BadInput
from spikemark.quantities.quantity import KINDS
from spikemark.records import record
from spikemark.waiting import nodes
from spikemark.waiting.budget import budget
from spikemark.waiting.components import Components
from spikemark.waiting.nodes import effects_of_nodes
from spikemark.waiting.observed import Observed
from spikemark.waiting.source import source

POOL = ["n1", "n2", "n3", "n4"]
SLOWER = {"n3": 1.05}


def rotating(run: int) -> list[str]:
    """Nodes of four ranks in blocks of two; each run gets the next two nodes of the pool."""
    first, second = POOL[run % 4], POOL[(run + 1 + run // 4) % 4]
    return [first, first, second, second]


def fixed(run: int) -> list[str]:
    return ["n1", "n1", "n1", "n3", "n3", "n3"]


def single(run: int) -> list[str]:
    return [POOL[run % 4]] * 4


def alone(run: int) -> list[str]:
    return POOL


#: By design: the nodes of the ranks of a run, and the number of runs.
LAYOUTS = {"crossed": (rotating, 12), "by rank": (fixed, 3), "by run": (single, 12), "alone": (alone, 1)}


def means(layout, runs, slower, rng, of_run=0.02, of_rank=0.0, rest=0.002):
    """Mean compute times [run][rank], and the nodes."""
    on = [layout(run) for run in range(runs)]
    ranks = 1 + of_rank * rng.standard_normal(len(on[0]))
    found = [
        (1 + of_run * rng.standard_normal())
        * ranks
        * np.array([slower.get(node, 1.0) for node in each])
        * (1 + rest * rng.standard_normal(len(each)))
        for each in on
    ]
    return found, on


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_slow_node_is_found_within_its_interval(name):
    layout, runs = LAYOUTS[name]
    of_run = 0.002 if name == "by run" else 0.02
    held, trials = 0, 60
    for seed in range(trials):
        given = means(layout, runs, SLOWER, np.random.default_rng(seed), of_run)
        found = effects_of_nodes(*given, known=(0.002, 50.0) if name == "alone" else None)
        assert found.slow == ("n3",)
        held += found.slower["n3"].low <= 0.05 <= found.slower["n3"].high
        assert found.slower["n3"].half < 0.05
        assert found.applied["n3"] - found.applied["n1"] == pytest.approx(0.05, abs=0.02)
        assert (found.note != "") == (name in ("alone", "by rank"))
    assert held >= 0.85 * trials


@pytest.mark.parametrize("name", LAYOUTS)
def test_equal_nodes_are_not_called_slow(name):
    layout, runs = LAYOUTS[name]
    of_rank = 0.0 if name == "alone" else 0.01
    called = trials = 100
    for seed in range(trials):
        given = means(layout, runs, {}, np.random.default_rng(seed), of_rank=of_rank)
        found = effects_of_nodes(*given, known=(0.002, 50.0) if name == "alone" else None)
        called -= not found.slow
    assert called <= 0.12 * trials  # 5 of 100 expected


def test_every_design_is_tried():
    assert len(nodes.DESIGNS) == len(LAYOUTS)


def test_nodes_that_the_runs_do_not_tell_apart_are_unknown_with_a_reason():
    once_each = effects_of_nodes([np.ones(2), np.ones(2) * 1.05], [["n1", "n1"], ["n2", "n2"]])
    assert once_each.slow == () and set(once_each.applied.values()) == {0.0}
    assert all(
        "several of these nodes" in one.reason for one in (*once_each.slower.values(), once_each.spread)
    )


def test_one_node_has_no_effect():
    assert effects_of_nodes([np.ones(2)] * 2, [["n1", "n1"]] * 2) is None


def written(folder, layout, runs, slower, **options):
    return [
        record.load(
            write_run(
                folder / f"{i}",
                ranks=len(layout(i)),
                nodes=layout(i),
                slower=slower,
                seed=i + 1,
                launch=job(i),
                cv=0.02,
                **options,
            )
        )
        for i in range(runs)
    ]


@pytest.fixture(scope="module")
def rotated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rotated")
    return {
        name: written(folder / name, rotating, 8, slower)
        for name, slower in (("slow", SLOWER), ("equal", {}))
    }


def test_runs_of_one_cluster_pool_with_the_node_as_a_factor(rotated):
    slow, equal = source(rotated["slow"]), source(rotated["equal"])
    assert slow.nodes.slow == ("n3",)
    assert slow.nodes.slower["n3"].low <= 0.05 <= slow.nodes.slower["n3"].high
    assert equal.nodes.slow == ()
    assert any("times are as on those of" in text for text in slow.warnings)
    spreads = [Components(one.compute).own for one in (slow, equal)]
    assert spreads[0] == pytest.approx(spreads[1], rel=0.05)
    unscaled = np.concatenate([run.compute() for run in rotated["slow"]], axis=1)
    assert Components(unscaled).own > 1.3 * spreads[1]


def test_the_times_are_those_of_the_nodes_of_the_first_run(rotated):
    later = rotated["slow"][1:]  # its first run has a slow node
    assert "n3" in later[0].node_of_rank
    found = source(later).compute.mean(axis=1)
    on = np.array(later[0].node_of_rank)
    assert found[on == "n3"].mean() / found[on != "n3"].mean() == pytest.approx(1.05, abs=0.01)


def test_runs_on_the_same_nodes_stay_as_they_are(tmp_path):
    runs = written(tmp_path, fixed, 2, SLOWER)
    found = source(runs)
    assert np.array_equal(found.compute, np.concatenate([source(run).compute for run in runs], axis=1))
    assert found.warnings == ()
    assert found.nodes.slow == ("n3",)


def test_runs_of_other_clusters_and_processors_are_refused(tmp_path):
    runs = written(tmp_path, rotating, 2, {})
    other = write_run(tmp_path / "c", ranks=4, nodes=rotating(0), launch=job(1, cluster="big"), seed=1)
    with pytest.raises(BadInput, match=r"cluster=big of .*: toy elsewhere; one fit, one machine"):
        source([*runs, record.load(other)])
    older = write_run(tmp_path / "d", ranks=4, nodes=rotating(0), seed=1)
    with pytest.raises(BadInput, match=r"cluster=None of .*: toy elsewhere"):
        source([*runs, record.load(older)])
    host = {**runs[0].record.host.per_node[0].model_dump(), "cpu": "other"}
    mixed = write_run(
        tmp_path / "e", ranks=4, nodes=rotating(0), launch=job(1), seed=1, host__per_node=[host, host]
    )
    with pytest.raises(BadInput, match=r"cpu=other of .*: synthetic CPU elsewhere"):
        source([*runs, record.load(mixed)])


def test_runs_that_do_not_say_their_nodes_pool_and_are_told(tmp_path):
    runs = written(tmp_path, rotating, 2, {})
    write_run(tmp_path / "old", ranks=4, host__nodes=2, launch=job(1), seed=1)
    old = record.load(tmp_path / "old")
    found = source([*runs, old])
    assert found.nodes is None
    assert any("whose effect is unknown: not all of them say where" in text for text in found.warnings)


def observed(on, slower, rank_sd=0.0, seed=0, cycles=4000):
    rng = np.random.default_rng(seed)
    levels = np.array([slower.get(node, 1.0) for node in on]) * (1 + rank_sd * rng.standard_normal(len(on)))
    times = 1e-4 * (levels[:, None] + 0.02 * rng.standard_normal((len(on), cycles)))
    return Observed(times, 1, nodes=tuple(on))


EIGHT = [node for node in POOL for _ in range(2)]


def test_the_budget_names_a_slow_node_and_its_share():
    found = budget(observed(EIGHT, {"n3": 1.2}, 0.002))
    assert found.nodes.nodes.slow == ("n3",)
    persistent = found.parts["persistent"]
    assert 0.9 * persistent.value < found.nodes.waiting.value <= persistent.value
    assert found.nodes.share.low <= found.nodes.share.value <= found.nodes.share.high
    assert found.nodes.share.value == pytest.approx(found.nodes.waiting.value / found.waiting_s)
    assert found.nodes.share.kind in KINDS


def test_ranks_that_differ_within_nodes_are_not_a_matter_of_nodes():
    made = [budget(observed(EIGHT, {}, 0.05, seed, 200)) for seed in range(40)]
    assert np.mean([one.nodes.waiting.value / one.parts["persistent"].value for one in made]) < 0.3
    assert sum(one.nodes.share.low > 0 for one in made) <= 6  # 2.5 % expected
    assert sum(bool(one.nodes.nodes.slow) for one in made) <= 6  # 5 % expected


def test_the_other_parts_of_the_budget_do_not_depend_on_nodes():
    given = observed(EIGHT, {"n3": 1.05}, 0.01)
    with_nodes, without = budget(given), budget(given.compute)
    assert with_nodes.parts == without.parts and without.nodes is None


def test_with_one_rank_per_node_all_that_lasts_is_between_nodes_and_that_is_said():
    found = budget(observed(POOL, SLOWER))
    assert found.nodes.nodes.slow == ("n3",)
    assert found.nodes.waiting.value == pytest.approx(found.parts["persistent"].value)
    assert found.nodes.nodes.note == nodes.ALONE


def test_nothing_is_said_of_nodes_where_all_ranks_are_on_one():
    assert budget(observed(["n1"] * 4, {})).nodes is None
