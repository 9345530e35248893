"""Every method: every neuron once, the same result for the same seed, and what each promises."""

import sys
from types import ModuleType

import numpy as np
import pytest

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.network import description, placement_file
from spikemark.prediction.partition import divide as divide_module
from spikemark.prediction.partition import graph, traffic
from spikemark.prediction.partition.divide import divide
from spikemark.prediction.partition.methods import METHODS, check_limit, find, genetic, peak_search
from spikemark.prediction.partition.problem import Pieces, Problem, in_sequence, large_ones
from spikemark.presets import PRESETS

OWN = [name for name, method in METHODS.items() if not method.library]
LIBRARIES = [name for name, method in METHODS.items() if method.library]


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    """Short searches."""
    monkeypatch.setattr(genetic, "GENERATIONS", 100)
    monkeypatch.setattr(peak_search, "MOST", 500)


@pytest.fixture(scope="module")
def voxel_graph(coarse):
    return graph.load(coarse)


@pytest.mark.parametrize("name", OWN)
def test_every_method_places_every_neuron_and_repeats_itself(name, voxel_graph):
    method = METHODS[name]
    assert method.name == name and len(method.summary) > 20
    for ranks in (1, 7, 300):
        first = divide(voxel_graph, ranks, method, seed=3)
        again = divide(voxel_graph, ranks, method, seed=3)
        made = first.placement.check(voxel_graph.neurons, name)
        assert first.finished and made.method == name and made.ranks == ranks
        assert (made.rank == again.placement.rank).all() and (made.end == again.placement.end).all()
        assert made.per_rank.sum() == voxel_graph.neurons
        assert made.per_rank.min() > 0


@pytest.mark.parametrize("name", OWN)
def test_every_method_places_areas_that_are_larger_than_a_rank(name, graphs):
    g = graphs["mam-benchmark"]  # three areas
    if name == "space_filling":
        with pytest.raises(BadInput, match="method='space_filling': the graph does not say where"):
            divide(g, 8, METHODS[name])
        return
    made = divide(g, 8, METHODS[name]).placement.check(g.neurons, name)
    assert made.per_rank.max() <= 2.1 * g.neurons / 8


@pytest.mark.parametrize("name", LIBRARIES)
def test_a_library_that_is_absent_is_named(name, voxel_graph, monkeypatch):
    library = METHODS[name].library
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(BadInput, match=f"^method='{name}': needs the Python package {library}: pip install"):
        divide(voxel_graph, 4, METHODS[name])


def test_metis_and_kahip_are_given_the_graph(voxel_graph, monkeypatch):
    """Stand-ins for the libraries, which say what they were given."""
    given = {}

    def part_graph(ranks, xadj, adjncy, vweights, eweights, options):
        given["metis"] = (ranks, len(xadj), len(adjncy), vweights, eweights)
        return 0, [v % ranks for v in range(len(xadj) - 1)]

    def kaffpa(vwgt, xadj, adjcwgt, adjncy, ranks, imbalance, quiet, seed, mode):
        given["kahip"] = (ranks, len(xadj), len(adjncy), vwgt, adjcwgt)
        return 0, [v % ranks for v in range(len(xadj) - 1)]

    for name, functions in (
        ("pymetis", {"part_graph": part_graph, "Options": dict}),
        ("kahip", {"kaffpa": kaffpa}),
    ):
        module = ModuleType(name)
        vars(module).update(functions)
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("metis", "kahip"):
        made = divide(voxel_graph, 5, METHODS[name]).placement
        ranks, starts, ends, loads, weights = given[name]
        assert (ranks, starts) == (5, 301) and ends == len(weights)
        assert all(type(x) is int and x >= 1 for x in [*loads[:9], *weights[:9]])
        assert made.per_rank.min() > 0


def test_unknown_method():
    with pytest.raises(BadInput, match="method='magic': one of round_robin, random, "):
        find("magic")


@pytest.mark.parametrize("ranks", [0, 10**9])
def test_impossible_numbers_of_ranks(ranks, brain):
    with pytest.raises(BadInput, match=f"ranks={ranks}: 1 to 600, the number of neurons"):
        divide(brain, ranks, METHODS["sequential"])


def test_memory_is_asked_for_before_anything_is_placed(brain, voxel_graph, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 20_000)
    with pytest.raises(BadInput, match=r"^ranks=600: a matrix of all pairs of ranks needs 0.0115 GB"):
        divide(brain, 600, METHODS["random"])
    with pytest.raises(BadInput, match=r"^ranks=7: method='peak_search' with 300 units needs 2.1e-05 GB"):
        divide(voxel_graph, 7, METHODS["peak_search"])


def test_balance_that_methods_promise(voxel_graph):
    ranks = 30

    def uneven(name):
        found = traffic.expected(voxel_graph, divide(voxel_graph, ranks, METHODS[name]).placement)
        return traffic.unevenness(found.neurons), traffic.unevenness(found.sent)

    sizes, sent = uneven("random")
    assert sizes > 1.05 and sent > 1.1
    assert uneven("genetic")[0] < sizes
    assert uneven("greedy_swap")[0] < 1.02
    assert uneven("largest_first")[0] < 1.05
    assert uneven("round_robin") == pytest.approx((1, 1), abs=1e-4)


def test_the_local_search_knows_the_exact_traffic_and_lowers_its_peak(voxel_graph):
    ranks = 20
    problem = Problem(voxel_graph, ranks, Pieces.cut(large_ones(voxel_graph, ranks)), 1)
    rank = METHODS["random"].place(problem, None)
    start = next(iter(rank))["rank"]
    search = peak_search.begin(problem, start)
    rng = problem.rng(5)
    for _ in range(50):
        search.move(int(rng.integers(len(start))), int(rng.integers(ranks)))
    exact = traffic.expected(voxel_graph, problem.placement(search.rank, "moved"))
    assert search.sent == pytest.approx(exact.sent, rel=1e-4)
    assert search.received == pytest.approx(exact.received, rel=1e-4)
    assert search.load == pytest.approx(exact.neurons)

    begun = {"rank": start, "at": start, "peak": np.array(np.inf), "done": np.array(0)}
    states = list(METHODS["peak_search"].place(problem, begun))
    peaks = [
        traffic.peak(traffic.expected(voxel_graph, problem.placement(s["rank"], "")).sent) for s in states
    ]
    assert peaks[-1] < 0.98 * peaks[0]


def test_a_search_goes_on_from_its_state(voxel_graph, tmp_path, monkeypatch):
    """An interruption leaves a state; the same call goes on, and ends where an unbroken one does."""
    kept, said = tmp_path / "state", []
    whole = divide(voxel_graph, 7, METHODS["genetic"], seed=2).placement
    monkeypatch.setattr(divide_module, "KEPT_EVERY_S", 0)
    place = METHODS["genetic"].place

    def interrupted(problem, earlier):
        for number, state in enumerate(place(problem, earlier)):
            if number == 2:
                raise KeyboardInterrupt
            yield state

    from dataclasses import replace

    with pytest.raises(KeyboardInterrupt):
        divide(voxel_graph, 7, replace(METHODS["genetic"], place=interrupted), seed=2, kept=kept)
    assert kept.is_file()
    other = divide(voxel_graph, 7, METHODS["genetic"], seed=4, kept=kept, say=said.append)
    assert not said and other.finished  # the state of another seed is not taken
    with pytest.raises(KeyboardInterrupt):
        divide(voxel_graph, 7, replace(METHODS["genetic"], place=interrupted), seed=2, kept=kept)
    resumed = divide(voxel_graph, 7, METHODS["genetic"], seed=2, kept=kept, say=said.append)
    assert said == [f"going on from {kept}"]
    assert (resumed.placement.rank == whole.rank).all()


@pytest.mark.parametrize("name", OWN)
def test_a_time_limit_ends_a_search_and_nothing_else(name, voxel_graph, tmp_path):
    """A method that ends by itself is not called ended; a search leaves what it can go on from."""
    method, kept, said = METHODS[name], tmp_path / "state", []
    made = divide(voxel_graph, 7, method, time_limit_s=0, kept=kept)
    made.placement.check(voxel_graph.neurons, name)
    assert (made.finished, kept.is_file()) == (not method.searches, method.searches)
    if not method.searches:
        with pytest.raises(BadInput, match=f"^--time-limit=9: method '{name}' ends by itself; allowed: gen"):
            check_limit(method, 9)
        return
    check_limit(method, 9)
    assert divide(voxel_graph, 7, method, kept=kept, say=said.append).finished
    assert said == [f"going on from {kept}"]


def test_after_its_time_limit_the_same_command_goes_on(coarse, tmp_path, monkeypatch, spikemark):
    monkeypatch.setattr(genetic, "SHOWN", 10)
    out = tmp_path / "placement.json"
    words = ["partition", coarse, "--ranks", 7, "--method", "genetic", "--out", out]
    status, output, errors = spikemark(*words, "--time-limit", 0)
    assert status == 0, errors
    assert "genetic, ended by the time limit after" in output and "the same command continues" in output
    assert sorted(path.name for path in tmp_path.iterdir()) == [f".{out.name}.state", out.name]
    status, output, errors = spikemark(*words)
    assert status == 0 and "going on from" in errors and "genetic, finished after" in output
    assert [path.name for path in tmp_path.iterdir()] == [out.name]
    went_on = out.read_bytes()
    assert spikemark(*words)[0] == 0 and out.read_bytes() == went_on  # as without a limit


@pytest.mark.parametrize(("count", "ranks"), [(10, 10), (11, 10), (100, 7), (3, 5)])
def test_a_sequence_is_cut_so_that_ranks_have_pieces(count, ranks):
    for loads in (np.ones(count), np.r_[1000.0, np.ones(count - 1)], np.r_[np.ones(count - 1), 1000.0]):
        rank = in_sequence(loads, ranks)
        assert (np.diff(rank) >= 0).all() and rank.min() >= 0 and rank.max() < ranks
        if count >= ranks:
            assert set(rank) == set(range(ranks))


def test_the_state_is_there_until_the_placement_is_written(
    voxel_graph, coarse, tmp_path, monkeypatch, spikemark
):
    """A command that ends in between loses nothing: the next call goes on from the last state."""
    monkeypatch.setattr(divide_module, "KEPT_EVERY_S", 0.0)
    write, out = placement_file.write, tmp_path / "placement.json"
    words = ["partition", coarse, "--ranks", 7, "--method", "genetic", "--out", out]

    def full(*_):
        raise OSError(28, "No space left on device", str(out))

    monkeypatch.setattr(placement_file, "write", full)
    status, _, errors = spikemark(*words)
    assert status == 1 and errors.endswith(f"spikemark: {out}: No space left on device\n")
    (kept,) = tmp_path.iterdir()
    monkeypatch.setattr(placement_file, "write", write)
    status, _, errors = spikemark(*words)
    assert status == 0 and f"going on from {kept}" in errors
    assert [path.name for path in tmp_path.iterdir()] == [out.name]


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("rate_hz", [0.0, 2.5])
def test_a_network_that_sends_nothing_is_placed_evenly(name, rate_hz, monkeypatch):
    """Without synapses, libraries get no edge that they could be asked about."""
    described = PRESETS["mam-benchmark"].describe(areas=6, neurons_per_area=40, indegree=4)
    for population in described["network"]["populations"]:
        population["neuron"]["rate_hz"] = rate_hz
    described["network"]["projections"] = []
    g = graph.of_description(description.read(described))

    def in_turn(count, ranks):
        return [v % ranks for v in range(count)]

    module = ModuleType(METHODS[name].library)
    vars(module).update(
        part_graph=lambda ranks, xadj, **_: (0, in_turn(len(xadj) - 1, ranks)),
        Options=dict,
        kaffpa=lambda loads, a, b, c, ranks, *_: (0, in_turn(len(loads), ranks)),
    )
    monkeypatch.setitem(sys.modules, METHODS[name].library, module)
    made = divide(g, 3, METHODS[name]).placement.check(g.neurons, name)
    assert made.per_rank.min() > 0
