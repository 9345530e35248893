"""`spikemark advise`: against brute force, who wins where, ties, and options that are exact for nobody."""

import shlex
from contextlib import suppress

import pytest
from advised import MACHINE, SLOW, benchmark, few, network
from small_machine import Value
from small_network import describe

from spikemark.core.errors import BadInput
from spikemark.network import placement_file
from spikemark.network.description import read
from spikemark.network.placement import PLACEMENTS
from spikemark.network.schedules import SCHEDULES
from spikemark.prediction import advise_commands, advise_search, advise_show, exchange, rates
from spikemark.prediction.advise import advise
from spikemark.prediction.advise_option import layouts, placements
from spikemark.prediction.compare import compare
from spikemark.prediction.loads import Loads
from spikemark.prediction.partition.placement import of_rule
from spikemark.prediction.predict import numbers


@pytest.fixture(autouse=True)
def _few(monkeypatch):
    few(monkeypatch)


KEPT: dict[tuple, dict[tuple, float]] = {}


def brute(areas: int, **changes) -> dict[tuple, float]:
    """The real-time factor of everything that is exact on a machine with these changes; computed once."""
    asked_for = areas, *sorted(changes.items())
    if asked_for not in KEPT:
        KEPT[asked_for] = tried(benchmark(areas=areas), MACHINE.with_(**changes))
    return KEPT[asked_for]


def tried(description: dict, machine, lags=range(1, 10), nodes=(1, 2, 4)) -> dict[tuple, float]:
    """The real-time factor of everything that is exact."""
    found, hz = {}, rates.of(description).hz
    for schedule in SCHEDULES.values():
        for placement in PLACEMENTS:
            for n in nodes:
                for each in layouts(machine):
                    for lag in lags if schedule.lagged else lags[:1]:
                        if n * each > 8:
                            continue
                        asked_for = description | {"delay_ratio": "auto", "lag": lag, "exchange": "p2p"}
                        key = (schedule.name, placement, n, each, lag)
                        with suppress(BadInput):
                            loads = Loads.of(asked_for, n * each, 16 // each, hz, schedule, placement)
                            found[key] = numbers(loads, machine, each)["real_time_factor"]
    return found


@pytest.mark.parametrize("areas", [3, 4])
@pytest.mark.parametrize("changes", [{}, SLOW, {"jitter__cv": 0.3}])
def test_nothing_that_is_exact_is_better(areas, changes):
    description, machine = benchmark(areas=areas), MACHINE.with_(**changes)
    made = advise(network(description, exchange="p2p"), machine)
    everything = brute(areas, **changes)
    # lags above 1 are tried on the best nodes only
    assert made.best.option.factor == pytest.approx(min(everything.values()), rel=0.01)


def test_every_schedule_and_placement_is_tried():
    tried = {(s.name, p) for s in SCHEDULES.values() for p in placements(s)}
    assert {name for name, _ in tried} == set(SCHEDULES) and {p for _, p in tried} == set(PLACEMENTS)
    lanes = {(SCHEDULES[name].lanes, p) for name, p in tried}
    assert len(lanes) == len(tried) == len({s.lanes for s in SCHEDULES.values()}) * len(PLACEMENTS)
    made = advise(network(benchmark(areas=4)), MACHINE)
    assert {r.option.schedule.name for r in made.ranked} == set(SCHEDULES)
    assert made.ranked == sorted(made.ranked, key=lambda r: r.option.factor)


@pytest.mark.parametrize("nodes", [1, 2, 3])
def test_no_more_nodes_are_used_than_the_machine_has(nodes):
    """The number itself is tried, too, although no search begins there."""
    asked_for = network(benchmark(areas=4), exchange="p2p"), MACHINE
    made = advise(*asked_for, nodes=nodes)
    assert max(r.prediction.nodes for r in made.ranked) <= nodes
    everything = tried(benchmark(areas=4), MACHINE, nodes=range(1, nodes + 1))
    assert made.best.option.factor == pytest.approx(min(everything.values()), rel=0.01)
    assert any(f"on up to {nodes} node" in line for line in advise_show.lines(made))
    assert advise_show.content(made)["most_nodes"] == nodes


@pytest.mark.parametrize("nodes", [0, 257])
def test_numbers_of_nodes_that_no_search_reaches_are_refused(nodes):
    with pytest.raises(BadInput, match=f"nodes={nodes}; allowed: 1 to 256"):
        advise(network(benchmark(areas=4)), MACHINE, nodes=nodes)


def pairs_of_areas() -> dict:
    """Four areas: 0.5 ms within each half of them, 3 ms between the halves."""
    description = describe(areas=4, neurons=2000, indegree=200, delay_ratio=30)
    kept = []
    for projection in description["network"]["projections"]:
        target = projection["target"]
        if isinstance(projection["source"], str):
            kept.append(projection)
            continue
        partner = f"area{int(target[-1]) ^ 1}"
        short = {"distribution": "constant", "mean": 0.5}
        kept.append(projection | {"source": partner, "indegree": 50, "delay": short})
        others = [name for name in projection["source"] if name != partner]
        kept.append(projection | {"source": others, "indegree": 50})
    description["network"]["projections"] = kept
    return description


@pytest.mark.parametrize(
    ("winner", "description", "changes", "nodes"),
    [
        ("conventional", benchmark(areas=1), {}, (1,)),
        ("placement_only", benchmark(areas=4, delay_ratio=1), {}, (4,)),
        ("overlapped", benchmark(areas=4), {"jitter__cv": 0.3}, (4,)),
        ("hierarchical", pairs_of_areas(), SLOW, (2,)),
    ],
)
def test_schedules_win_where_they_should(monkeypatch, winner, description, changes, nodes):
    monkeypatch.setattr(advise_search, "DOUBLING", nodes)
    made = advise(network(description), MACHINE.with_(**changes))
    assert made.best.prediction.schedule == winner


def test_equal_options_are_ties_and_errors_that_both_share_do_not_matter():
    made = advise(network(benchmark(areas=1)), MACHINE)
    by_name = {r.prediction.schedule: r for r in made.ranked}
    assert by_name["placement_only"].same and not made.ties
    guessed = MACHINE.with_(kernels__full_node__t_next=Value(2, "ns", "assumed", interval=(0.5, 8)))
    made = advise(network(benchmark(areas=4, indegree=1000)), guessed)
    conventional = next(r for r in made.ranked if r.prediction.schedule == "conventional")
    first, other = (r.prediction.figures["real_time_factor"] for r in (made.best, conventional))
    apart = (first.high / first.low) * (other.high / other.low)
    assert conventional.ratio.high / conventional.ratio.low < apart**0.5 and not conventional.tied


def test_too_few_areas_are_refused_in_one_line_and_shared(monkeypatch):
    monkeypatch.setattr(advise_search, "DOUBLING", (4,))
    made = advise(network(benchmark(areas=2)), MACHINE)
    (line,) = [line for line in made.refused if "placement 'area'" in line]
    assert "structure_aware" in line and "4 and 8 ranks" in line
    shared = [r for r in made.ranked if r.prediction.schedule != "conventional"]
    assert shared and all(r.prediction.placement == "area_group" for r in shared)


def test_the_target_on_the_fewest_nodes():
    description = benchmark(areas=4)
    fastest = advise(network(description, exchange="p2p"), MACHINE).best.option.factor
    alone = {key: f for key, f in brute(4).items() if key[2] == 1}
    for target, nodes in ((min(alone.values()) * 1.01, 1), (fastest / 100, None)):
        made = advise(network(description, exchange="p2p"), MACHINE, target)
        assert made.best.reached == ("likely" if nodes else "excluded")
        if nodes:
            assert made.best.prediction.nodes == nodes
        assert len(advise_show.sentence(made).split()) <= 30


def test_a_placement_file_is_kept_and_takes_as_many_ranks_as_it_is_for(tmp_path):
    path = tmp_path / "p.json"
    placement_file.write(path, of_rule(read(benchmark(areas=4)), "area", 4))
    made = advise(network(benchmark(areas=4), placement=str(path)), MACHINE)
    assert {(r.prediction.placement, r.prediction.ranks) for r in made.ranked} == {(str(path), 4)}
    assert f"Placement {path} puts neurons where its file says." in advise_show.explained(made)
    said = shlex.split(advise_commands.running(made)[-1])
    assert f'placement={{"name": "from_file", "file": "{path}"}}' in said
    stated = benchmark(areas=4) | {"placement": {"name": "from_file", "file": str(path)}}
    line = advise_show.described(advise(network(stated), MACHINE))
    assert f"placement {path}, 4 ranks" in line


@pytest.mark.parametrize("how", [{}, {"schedule": "structure_aware"}, {"placement": "area_group"}])
def test_a_d_that_no_schedule_has_exactly_is_refused_with_the_largest(monkeypatch, how):
    with pytest.raises(BadInput, match=r"^delay_ratio=11: exact for no .*; the largest exact one is 10$"):
        advise(network(benchmark(areas=4), delay_ratio=11, **how), MACHINE)
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (1, 2))
    with pytest.raises(BadInput, match=r"the largest exact one is 10$"):
        compare(network(benchmark(areas=4), delay_ratio=11), [MACHINE])
    made = advise(network(benchmark(areas=4), delay_ratio=9), MACHINE)
    assert "structure_aware" in {r.prediction.schedule for r in made.ranked}


def test_a_d_that_nothing_uses_is_refused():
    with pytest.raises(BadInput) as refused:
        advise(network(benchmark(areas=1), delay_ratio=5), MACHINE, simulator="nest")
    assert "delay_ratio=5: no schedule uses it with this network here; leave it out" in str(refused.value)


@pytest.mark.parametrize("whose", ["mini-app", "nest"])
def test_options_that_are_the_same_on_one_rank_are_called_so(monkeypatch, whose):
    """Neither tied nor slower, and nothing to measure tells them apart; D of an unused lane is none."""
    monkeypatch.setattr(advise_search, "MOST_RANKS", 1)
    made = advise(network(benchmark(areas=4)), MACHINE, simulator=whose)
    said = {r.prediction.schedule: advise_show.verdict(made, r) for r in made.ranked}
    assert said["placement_only"].split(",")[0] == "the same"
    assert not made.ties
    lines = advise_show.lines(made)
    assert any(
        "exactly as long as the best option here: " in line and "placement only" in line for line in lines
    )
    assert not any("apart" in line or "which is faster" in line or "tied" in line for line in lines)
    rows = advise_show.table(made).rows
    ratios = {r.prediction.schedule: row["delay_ratio"] for r, row in zip(made.ranked, rows, strict=True)}
    assert ratios["structure_aware"] == "10" and ratios.get("hierarchical", "not used") == "not used"


def test_what_to_measure_names_both_options(monkeypatch):
    monkeypatch.setattr(advise_search, "DOUBLING", (4,))
    guessed = MACHINE.with_(interconnect__latency_node=Value(1, "us", "assumed", interval=(0.05, 5)))
    made = advise(network(benchmark(areas=2)), guessed)
    (line,) = [line for line in advise_show.lines(made) if line.startswith("Measure ")]
    first, other = (r.prediction.loads.schedule.label for r in (made.best, made.closest))
    assert line.endswith(f"to tell which is faster, {first} or {other}.")
    assert made.measure in made.closest.ratio.depends


def test_exchanges_for_a_lag_are_those_that_the_mini_app_overlaps():
    assert set(exchange.OVERLAPPING) <= set(exchange.EXCHANGES)
