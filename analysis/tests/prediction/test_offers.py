"""What a buyer reads first: a table of offers, one sentence, what numbers rest on, and what decides."""

import json
from dataclasses import replace

import pytest
from html_page import Page
from small_machine import Machine, dear

from spikemark.prediction import compare as comparing
from spikemark.prediction import compare_offers, compare_sentence, compare_show, offers, sensitivity
from spikemark.prediction.life import COST, NODES, Life
from spikemark.prediction.node_range import interval
from spikemark.prediction.offers import Effect, fitting, money, ranked
from spikemark.quantities.quantity import Quantity, missing
from spikemark.report import machines_page

pytestmark = pytest.mark.usefixtures("few")

T_NEXT = "kernels.full_node.t_next"


def compare(*of, **others):
    """A comparison with one schedule, since the best ones take long to find."""
    return comparing.compare(*of, schedule="conventional", **others)


def guessed(name: str, path: str = T_NEXT, least: float = 0.0, most: float = 4.0) -> Machine:
    """A machine of which one value is assumed, from `least` to `most` times the known one."""
    known = Machine().get(path)
    limits = (least * known.value, most * known.value)
    return Machine(name).with_(**{path.replace(".", "__"): replace(known, kind="assumed", interval=limits)})


def test_the_first_table_has_every_offer_with_intervals_and_kinds(network):
    made = compare(network, [Machine(), dear()], target=0.2, life=Life(price_kwh=0.2))
    table = compare_offers.first(made)
    assert [column.name for column in table.columns] == [
        "offer", "likely", "sure", "real_time_factor", "energy_per_event_uj", "cost"
    ]  # fmt: skip
    for row, c in zip(table.rows, made.candidates, strict=True):
        assert row["offer"] == c.name and row["likely"].split(",")[0] == str(c.needed.nodes)
        assert row["real_time_factor"] == interval(c.chosen)
        assert row["cost"] == c.over_range(COST)
        for name in ("real_time_factor", "energy_per_event_uj", "cost"):
            assert row[name].interval and row[name].kind
    assert " ".join(map(str, table.cells)).count("measured") == 6


def test_prices_are_never_made_up(network):
    free = [m.with_(price__node_hour=None) for m in (Machine(), dear())]
    made = compare(network, free, target=0.2)
    assert [cells[-1] for cells in compare_offers.first(made).cells] == ["unknown", "unknown"]
    assert compare_offers.NO_PRICE in compare_offers.first(made).notes
    known = compare(network, [Machine(), dear()], target=0.2)
    assert compare_offers.NO_PRICE not in compare_offers.first(known).notes
    assert any("no price of energy was given" in note for note in compare_offers.first(known).notes)
    assert known.life.decides == NODES


def test_a_machine_without_the_memory_keeps_its_row(network):
    small = Machine("small").with_(node__memory=1e-4)
    rows = compare_offers.first(compare(network, [Machine(), small], target=0.5)).cells
    assert rows[1] == ["small", "none", "none", *["does not fit"] * 3]


def test_the_value_that_turns_the_order_comes_first_and_is_named(network):
    """Of two machines alike but for one assumed value, this value decides; small ones do not."""
    shaky = guessed("shaky")
    hub = replace(shaky.get("jitter.cv"), kind="assumed", interval=(0.09, 0.11))
    shaky = shaky.with_(jitter__cv=hub, price__node_hour=None)
    made = compare(network, [Machine().with_(price__node_hour=None), shaky], target=0.2)
    found = compare_sentence.effects(made)
    assert (found[0].offer, found[0].path, found[0].turns) == ("shaky", T_NEXT, True)
    assert found == ranked(found)
    said = compare_show.sentence(made)
    assert "No verdict on" in said and "unmeasured time per synapse of shaky decides" in said
    (table,) = [t for t in compare_offers.tables(made) if t.name == "sensitivity"]
    assert table.rows[0]["order"] in ("shaky or made-up", "made-up or shaky")


def test_where_no_unknown_decides_alone_the_one_that_moves_most_is_named(network):
    """Intervals overlap by many small unknowns, none of which turns the order."""
    free = Machine().with_(price__node_hour=None)
    kernels = {p: v for p, v in free.values.items() if p.startswith("kernels.full_node.t_")}
    wide = {p: replace(v, interval=(0.8 * v.value, 1.2 * v.value)) for p, v in kernels.items()}
    known = free.with_(**{path.replace(".", "__"): value for path, value in wide.items()})
    power = {p.replace(".", "__"): 1.06 * v.value for p, v in free.values.items() if p.startswith("power.")}
    barely = replace(kernels[T_NEXT], value=2.0, kind="assumed", interval=(1.99, 2.01))
    shaky = replace(known, name="shaky").with_(kernels__full_node__t_next=barely, **power)
    made = compare(network, [known, shaky], target=0.2)
    found = compare_sentence.effects(made)
    assert found and not any(effect.turns for effect in found)
    said = compare_show.sentence(made)
    assert "no unknown decides alone, the unmeasured time per synapse of shaky moves most" in said
    assert len(said) <= 200


def test_ends_are_those_of_the_machine_with_that_value(network):
    """Moving a value to its end gives what a machine that has this value gets."""
    made = compare(network, [guessed("one", least=0.5, most=1.5)], target=100.0)
    (effect,) = [e for e in compare_sentence.effects(made) if e.path == T_NEXT]
    for end, times in zip(effect.ends, (0.5, 1.5), strict=True):
        known = Machine("one").with_(kernels__full_node__t_next=times * Machine().get(T_NEXT).value)
        (c,) = compare(network, [known], target=100.0).candidates
        assert end == pytest.approx(c.needed.figures[effect_figure(made)].value)


def effect_figure(made) -> str:
    return compare_sentence.of_effects(made)


def test_missing_the_target_is_said_of_an_end(network):
    """At the bad end of the value, no number of nodes reaches the target."""
    path = "kernels.full_node.update.ignore_and_fire"
    steady = compare(network, [Machine("one")], target=1.0).candidates[0]
    target = 1.2 * min(p.figures["real_time_factor"].value for p in steady.tried)
    made = compare(network, [guessed("one", path, 0.9, 9.0)], target=target)
    effect = next(e for e in compare_sentence.effects(made) if e.path == path)
    assert effect.ends[1] is None and effect.ends[0] is not None and effect.orders == (("one",), ())
    assert effect.turns and effect.width == float("inf")
    assert offers.MISSES in offers.sensitivity([effect], "energy").cells[0][3]


def test_what_has_no_value_at_all_comes_first(network):
    priced = [Machine(), dear().with_(price__node_hour=None)]
    found = sensitivity.effects(compare(network, priced, target=0.2).candidates, NODES)
    assert found[0].no_value and (found[0].offer, found[0].path) == ("dear", "price.node_hour")


def effect(**known) -> Effect:
    base = {"offer": "a", "path": "p", "value": "v", "how": "h", "usual": ("a", "b"), "middle": 1.0}
    return Effect(**(base | {"ends": (1.0, 1.0), "orders": (("a", "b"),) * 2} | known))


def test_effects_are_ranked_by_order_then_width():
    unknown = effect(no_value=True)
    turning = effect(orders=(("a", "b"), ("b", "a")), ends=(1.0, 1.1))
    swapping = effect(usual=("a", "b", "c"), orders=(("a", "b", "c"), ("a", "c", "b")), ends=(1.0, 1.2))
    wide, narrow = effect(ends=(1.0, 9.0)), effect(ends=(1.0, 1.01))
    order = [unknown, turning, swapping, wide, narrow]
    assert ranked(reversed(order)) == order
    assert [e.turns for e in order] == [True, True, False, False, False]
    json.dumps([e.content() for e in order], allow_nan=False)


def test_a_long_table_says_how_much_it_leaves_out():
    made = offers.sensitivity([effect()] * (offers.SHOWN + 2), "energy")
    assert len(made.rows) == offers.SHOWN and made.notes == ["2 further values move less."]


@pytest.mark.parametrize("word", ["word", "w" * 250])
def test_the_sentence_is_short_whatever_names_there_are(word):
    found = fitting([" ".join([word] * 60), " ".join([word] * 50)])
    assert len(found) <= 200 and len(found.split()) <= 31
    assert fitting(["a " * 60, "short."]) == "short."


def test_every_number_says_what_it_rests_on(network):
    lacking = Machine("lacking").with_(price__node_hour=None, power__idle=None)
    made = compare(network, [guessed("one"), lacking], target=0.2)
    rests = {(b.offer, b.figure): b.rests_on for b in compare_offers.bases(made)}
    assert len(rests) == 6 and all(rests.values())
    assert "time per synapse, all cores at work [assumed]" in rests["one", "real-time factor"]
    assert rests["lacking", offers.ENERGY] == "unknown: power of an idle node"


def test_json_keeps_its_fields_and_has_the_new_ones(network):
    content = compare_show.content(compare(network, [guessed("one"), Machine()], target=0.2))
    before = {
        "network", "rates", "schedule", "target_rtf", "kind", "simulator", "times_of", "sources", "words",
        "sentence", "verdict", "verdicts", "machines", "pareto",
    }  # fmt: skip
    assert before <= content.keys() and {"offers", "rests_on", "sensitivity"} <= content.keys()
    assert [o["machine"] for o in content["offers"]] == ["one", "made-up"]
    assert content["sensitivity"]["effects"] and content["verdict"][0] == content["sentence"]
    json.dumps(content, allow_nan=False)


def test_the_page_begins_with_the_sentence_and_the_offers(network):
    made = compare(network, [Machine(), dear()], target=0.2)
    page = machines_page.render(made)
    text = Page(page).text
    places = [text.index(compare_show.sentence(made)), text.index("What each machine needs")]
    places += [text.index(t) for t in ("How many nodes", "what they rest on", "Time against energy")]
    assert places == sorted(places)
    head = page.partition("<main>")[0]
    assert 'class="cards"' in head and head.count('data-head="nodes, sure"') == 2
    assert "data-head" not in page.partition("<main>")[2]


def test_an_interval_that_nobody_would_see_is_left_out():
    none = missing("not offered", mark="not offered")
    for high, shown in ((1.0001e6, money(1e6)), (2e6, f"{money(1e6)} ({money(1e6)} to {money(2e6)})")):
        row = offers.Offer("a", "none", "none", none, none, Quantity(1e6, 1e6, high))
        assert offers.table([row], "title", "cost (EUR)", []).cells[0][-1] == shown


def test_an_offer_may_lack_every_number():
    none = missing("not offered", mark="not offered")
    row = offers.Offer("a", "none", "none", none, none, Quantity(1e6), "INVALID")
    table = offers.table([row], "title", "cost (EUR)", [])
    assert table.cells == [["a", "INVALID", "none", "none", "not offered", "not offered", money(1e6)]]
