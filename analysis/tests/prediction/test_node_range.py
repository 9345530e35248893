"""How many nodes a target needs: a range, its figures, speed-ups, and cost over the life of a machine."""

from dataclasses import replace
from functools import lru_cache

import pytest
from small_machine import Machine, dear

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.prediction import asked, compare_offers, compare_show, decisions, node_range
from spikemark.prediction import compare as comparing
from spikemark.prediction.life import Life
from spikemark.prediction.node_range import interval
from spikemark.prediction.predict import Prediction
from spikemark.quantities.quantity import Quantity
from spikemark.report import machines_page

pytestmark = pytest.mark.usefixtures("few")


def compare(*of, schedule: str = "conventional", **others):
    """A comparison with one schedule, since the best ones take long to find."""
    return comparing.compare(*of, schedule=schedule, **others)


def test_the_fewest_nodes_that_reach_the_target(network):
    made = compare(network, [Machine(), dear()], target=0.2, schedule="conventional")
    for c in made.candidates:
        factors = [p.figures["real_time_factor"].value for p in c.tried]
        reached = [p.nodes for p, f in zip(c.tried, factors, strict=True) if f <= 0.2]
        assert c.needed.nodes == min(reached) and c.needed is c.chosen
    slow, quick = made.candidates
    assert quick.needed.nodes <= slow.needed.nodes


def test_a_target_nobody_reaches(network):
    made = compare(network, [Machine()], target=1e-6)
    (only,) = made.candidates
    assert only.needed is None and only.chosen is only.fastest and only.certainty == "excluded"
    assert only.span == [] and not only.over_range("energy_j")
    assert "excluded" in compare_show.sentence(made)


def test_how_sure_it_is_is_said(large):
    """The target reached by all of the interval, by the value, or by its lower end alone."""
    (c,) = compare(large, [Machine()], target=1e-6).candidates
    figures = [p.figures["real_time_factor"] for p in c.tried]
    last, target = figures[-1], {}
    target["likely"] = (last.value + last.high) / 2
    target["possible"] = (last.low + min(f.value for f in figures)) / 2
    target["sure"] = 2 * max(f.high for f in figures)
    for certainty, wanted in target.items():
        made = compare(large, [Machine()], target=wanted)
        assert made.candidates[0].certainty == certainty
        assert certainty in compare_show.sentence(made)
    made = compare(large, [Machine()], target=(figures[0].value + figures[0].high) / 2)
    found = made.candidates[0]
    assert found.needed.nodes == 1 and found.first("sure").nodes == found.last.nodes == 2
    assert " is likely with 1 node, sure with 2 nodes on " in compare_show.sentence(made), "each number once"


def with_words(made: comparing.Comparison, *limits: tuple[float, float, float]) -> node_range.Candidate:
    """A candidate with these real-time factors on the fewest nodes, and the last of them on all others."""
    (c,) = made.candidates
    each = [limits[min(i, len(limits) - 1)] for i in range(len(c.tried))]
    return replace(c, tried=[with_factor(p, *limit) for p, limit in zip(c.tried, each, strict=True)])


SURELY, PERHAPS, NEVER = (0.5, 0.4, 0.6), (1.5, 0.9, 2.0), (3.0, 2.0, 4.0)


def test_the_first_line_says_how_sure_the_named_number_of_nodes_is(network):
    """Where the fewest likely nodes are sure ones, all places say sure."""
    made = compare(network, [Machine(), Machine("twin")], target=1.0)
    both = [with_words(replace(made, candidates=[c]), SURELY) for c in made.candidates]
    rows = compare_offers.made_offers(replace(made, candidates=both))
    assert [(row.likely, row.sure) for row in rows] == [("1", "1")] * 2
    assert "is sure with 1 node." in compare_show.of_machine(both[0], compare_show.name_of)


def test_more_nodes_that_are_worse_again_do_not_read_as_a_second_answer(network):
    made = compare(network, [Machine()], target=1.0)
    order = [p.nodes for p in made.candidates[0].tried]
    said = compare_show.of_machine(with_words(made, SURELY, SURELY, NEVER), compare_show.name_of)
    assert f"is sure with 1 node; missed with {order[2]} to {order[-1]}." in said
    assert " More than 1 node makes it no faster." in said and "hardly" not in said
    said = compare_show.of_machine(with_words(made, SURELY, PERHAPS, NEVER), compare_show.name_of)
    assert f"sure with 1 node; only possible with {order[1]}; missed with {order[2]} to {order[-1]}." in said


def test_the_range_of_nodes_holds_the_figures_of_all_of_them(large):
    (c,) = compare(large, [Machine()], target=1e-6).candidates
    for wanted in [p.figures["real_time_factor"].value for p in c.tried]:
        found, energy = c.at(wanted), c.at(wanted).over_range("energy_j")
        each = [p.figures["energy_j"] for p in found.span]
        assert found.chosen in found.span
        assert (energy.low, energy.high) == (min(e.low for e in each), max(e.high for e in each))
        assert all(found.word(p) == "excluded" for p in c.tried if p.nodes < found.span[0].nodes)


def test_answers_of_neighbouring_targets_overlap(network, large):
    """No hair: whatever the target is, one that is 2 % higher has ranges that overlap with its own."""
    for asked_of in (network, large):
        (c,) = compare(asked_of, [Machine()], target=1.0).candidates
        slowest, fastest = interval(c.tried[0]).high, min(interval(p).low for p in c.tried)
        wanted = fastest * 1.001
        while wanted < 1.2 * slowest:
            one, other = c.at(wanted), c.at(1.02 * wanted)
            assert {p.nodes for p in one.span} & {p.nodes for p in other.span}
            for name in ("energy_j", "cost_eur"):
                mine, theirs = one.over_range(name), other.over_range(name)
                assert mine.low <= theirs.high and theirs.low <= mine.high
            assert one.span[0].nodes >= other.span[0].nodes  # an easier target needs no more
            wanted *= 1.02


@pytest.mark.parametrize("target", [0.95, 0.99, 1.0, 1.05, 1.1, 1.2, 1.3])
def test_no_verdict_hangs_on_the_target(target):
    """The multi-area benchmark on JURECA-DC: 256 nodes at 0.99 and 12 at 1.3, and no winner from that."""
    made = compared_at_one()
    moved = [c.at(target) for c in made.candidates]
    for name in ("energy_j", "cost_eur"):
        assert decisions.verdict(moved, name).best is None
    one, there = made.candidates[0], moved[0]
    assert {p.nodes for p in one.span} & {p.nodes for p in there.span}


@lru_cache(maxsize=1)
def compared_at_one():
    profiles = [machines.filled(machines.load(name)) for name in ("jureca-dc", "supermuc-ng")]
    return compare(asked.of_preset("mam-benchmark", full=True), profiles, schedule="conventional")


def test_more_nodes_that_do_not_help_are_said(network):
    (c,) = compare(network, [Machine()], target=0.2).candidates
    times = {p.nodes: interval(p).value for p in c.tried}
    assert {p.nodes: s for p, s in c.speed_ups} == {n: times[1] / t for n, t in times.items()}
    assert times[c.enough.nodes] <= 1.1 * min(times.values())
    assert all(t > 1.1 * min(times.values()) for n, t in times.items() if n < c.enough.nodes)
    content = compare_show.content(compare(network, [Machine()], target=0.2))
    assert content["machines"][0]["more_nodes_hardly_help_from"] == c.enough.nodes


def costs_of(c: node_range.Candidate, life: Life | None = None) -> dict[str, Quantity]:
    """What a machine costs over its life."""
    return {name: (life or Life()).of(c).over_range(name) for name in compare_show.LIFE}


def test_cost_over_the_life(network):
    (c,) = compare(network, [Machine()], target=100.0).candidates  # one node surely does
    costs = costs_of(c, Life(years=5, hours_per_year=8000, price_kwh=0.3))
    assert c.span[0].nodes == c.span[-1].nodes == 1
    assert costs["life_nodes"].value == pytest.approx(5 * 8000 * 2)
    watts = c.chosen.figures["power_w"].value
    assert costs["life_energy"].value == pytest.approx(5 * 8000 * 0.3 * watts / 1000)
    assert costs["life_cost"].value == pytest.approx(costs["life_nodes"].value + costs["life_energy"].value)
    assert costs["life_cost"].low < costs["life_cost"].value < costs["life_cost"].high
    assert "price of a kWh" in costs_of(c)["life_cost"].reason
    (free,) = compare(network, [Machine().with_(price__node_hour=None)], target=100.0).candidates
    assert "price.node_hour is unknown" in costs_of(free, Life(price_kwh=0.3))["life_cost"].reason
    for wrong in ({"years": 0}, {"hours_per_year": 9000}, {"price_kwh": -1}):
        with pytest.raises(BadInput, match=next(iter(wrong))):
            Life(**wrong)


def test_a_cost_without_an_upper_end_says_so(network):
    """Where the target is sure on no number of nodes, more nodes than were tried may be needed."""
    made = compare(network, [Machine()], target=1.0, life=Life(price_kwh=0.3))
    for limits, ends in ((PERHAPS, False), ((0.9, 0.8, 1.2), False), (SURELY, True)):
        shown = replace(made, candidates=[with_words(made, limits)])
        table = compare_show.table(shown)
        ((cost,),) = [[row["life_cost"] for row in table.rows]]
        column = next(c for c in table.columns if c.name == "life_cost")
        assert ("*" in column.text(cost)) is not ends
        assert any("no upper end" in note for note in table.notes) is not ends
        assert ("no upper end" in machines_page.render(shown)) is not ends
        assert compare_show.content(shown)["machines"][0]["no_upper_end"] is not ends


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ((0.4, 0.05, 3.0), "possible"), ((0.4, 0.2, 1.9), "likely"), ((0.4, 0.0, 1.1), "possible"),
        ((0.04, 0.005, 0.9), "sure"), ((4.0, 0.5, 30.0), "possible"), ((40.0, 1.5, 300.0), "excluded"),
    ],
)  # fmt: skip
def test_an_interval_that_spans_more_than_ten_times_around_the_target_makes_nothing_likely(
    network, limits, said
):
    """Where the middle reaches the target, but the interval leaves all open, advice and comparison say so."""
    made = compare(network, [Machine()], target=1.0)
    (c,) = made.candidates
    tried = [with_factor(p, *limits) for p in c.tried]
    c = replace(c, tried=tried)
    vague = limits[1] < 1 < limits[2] and limits[2] > 10 * limits[1]
    assert c.certainty == said == node_range.word(tried[0], 1.0)
    assert node_range.vague(tried[0], 1.0) == vague
    shown = replace(made, candidates=[c])
    words = compare_show.of_machine(c, compare_show.name_of)
    assert ("cannot be told from what is known" in words) == vague
    assert ("cannot be told from what is known" in machines_page.render(shown)) == vague
    assert compare_show.content(shown)["machines"][0]["target"] == said
    assert "factor of 10" in node_range.WORDS["likely"]


def with_factor(p: Prediction, *limits: float) -> Prediction:
    """The prediction with another real-time factor."""
    return replace(p, figures=p.figures | {"real_time_factor": Quantity(*limits, unit="1", kind="assumed")})
