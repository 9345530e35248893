"""What machines cost over their lives: planted prices and powers, beside arithmetic by hand."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from small_machine import Machine, Value

from spikemark.network.presets import mam_benchmark
from spikemark.prediction import draws, points, question
from spikemark.prediction.answers import contradiction
from spikemark.prediction.compared import (
    ComparisonAnswer,
    _decision,
    _tipping_sentence,
)
from spikemark.prediction.costs import MachineLife, Use
from spikemark.prediction.option import Anchor, SearchResult, Way
from spikemark.prediction.production import ProductionOption
from spikemark.prediction.wording import supported
from spikemark.quantities.words import integer

NETWORK = mam_benchmark.describe(areas=4, neurons_per_area=100, indegree=10)
ASKED = question.of_description("a network", NETWORK)
SEEDS = range(20)
MEASURED = points.published()[0].machine
RUN = replace(ASKED.simulated_by("nest", "3.4", MEASURED, 2), seconds=1.0)


def option(name, rtf, nodes=2, offered=None, price=None, watts=None) -> ProductionOption:
    """An option with planted draws, on an offer of so many nodes at a price and a power each."""
    values = {"offer__nodes": offered, "offer__price": price, "offer__watts": watts}
    units = {"offer__nodes": "1", "offer__price": "EUR", "offer__watts": "W"}
    stated = {path: Value(value, units[path]) for path, value in values.items() if value}
    return ProductionOption(
        machine=Machine(name).with_(**stated),
        question=ASKED,
        nodes=nodes,
        ranks=nodes,
        threads=1,
        rtf=np.broadcast_to(rtf, draws.N).astype(float),
        parts={"kernel": np.broadcast_to(rtf, draws.N).astype(float)},
        inputs={},
        power_w=None if watts is None else float(nodes * watts),
        events=1e6,
        way=Way("conventional"),
        run=RUN,
        nearest=Anchor(RUN, ("machine",), is_own=False),
    )


def _itself(only: ProductionOption) -> ProductionOption:
    """What is found where there is one option."""
    return only


def compared(*options, price_kwh=0.3, years=5.0, hours=8000.0) -> ComparisonAnswer:
    results = {}
    for each in options:
        results[each.machine.name] = SearchResult(each, [each], partial(_itself, each))
    return ComparisonAnswer(results, ASKED, 1.0, Use(years, hours, price_kwh), {})


def offers(seed):
    """Two random offers: their planted values, and the answer."""
    rng = np.random.default_rng(seed)
    planted = []
    for name in "ab":
        nodes = int(rng.integers(1, 8))
        planted.append(
            {
                "name": name,
                "rtf": np.exp(rng.normal(0, 0.5, draws.N)),
                "nodes": nodes,
                "offered": int(rng.integers(nodes, 60)),
                "price": float(rng.integers(1000, 40000)),
                "watts": float(rng.integers(200, 1500)),
            }
        )
    return planted, compared(*[option(**each) for each in planted])


def cost_by_hand(offer, number, price_kwh=0.3, years=5.0, hours=8000.0) -> float:
    """EUR for a simulated second in one draw, counted run by run."""
    whole_life_s = years * hours * 60 * 60
    runs_at_a_time = 0
    free_nodes = offer["offered"]
    while free_nodes >= offer["nodes"]:
        runs_at_a_time += 1
        free_nodes -= offer["nodes"]
    simulated_s = runs_at_a_time * whole_life_s / offer["rtf"][number]
    joules = runs_at_a_time * offer["nodes"] * offer["watts"] * whole_life_s
    paid = offer["offered"] * offer["price"] + joules / 1000 / 3600 * price_kwh
    return paid / simulated_s


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_are_those_of_arithmetic_by_hand(seed):
    planted, answer = offers(seed)
    first, second = planted
    numbers = range(0, draws.N, 97)
    for offer in planted:
        by_hand = [cost_by_hand(offer, number) for number in numbers]
        assert answer.costs_eur[offer["name"]][numbers] == pytest.approx(by_hand)
    cheaper = [cost_by_hand(first, n) < cost_by_hand(second, n) for n in range(draws.N)]
    assert answer.cheapest["a"] == pytest.approx(np.mean(cheaper))
    assert answer.cheapest["a"] + answer.cheapest["b"] == pytest.approx(1)
    assert answer.fastest["a"] == pytest.approx((first["rtf"] < second["rtf"]).mean())
    content = answer.content()["machines"][0]
    assert content["simulations"] == first["offered"] // first["nodes"]
    middle = np.median(answer.costs_eur["a"])
    assert content["cost_per_simulated_s"]["value"] == pytest.approx(middle)
    power = content["best"]["figures"]["power_w"]
    assert power["interval"] == [power["value"]] * 2 == [first["nodes"] * first["watts"]] * 2


@pytest.mark.parametrize("seed", SEEDS)
def test_at_the_even_price_both_cost_the_same(seed):
    planted, answer = offers(seed)
    first, second = planted
    for number in range(0, draws.N, 211):
        even = float(answer.even_prices["b"][number])
        cost = cost_by_hand(second | {"price": even}, number)
        assert cost == pytest.approx(cost_by_hand(first, number))


def test_the_verdict_follows_speed_and_cost():
    fast = option("fast", 0.5, offered=10, price=9000, watts=500)
    slow = option("slow", 1.5, offered=10, price=9000, watts=500)
    cheap = option("cheap", 1.5, offered=10, price=500, watts=500)
    assert _decision(compared(fast, slow))[0].startswith("Take fast")
    assert _decision(compared(slow, fast))[0].startswith("Take fast")
    assert _decision(compared(fast, cheap, price_kwh=None))[0].startswith("Speed or cost")
    assert _decision(compared(fast, twin_of(fast)))[0].startswith("Not decided")
    assert _decision(compared(fast)) == []
    rng = np.random.default_rng(1)
    uncertain = option("open", 0.5 * np.exp(rng.normal(0, 1, draws.N)), 2, 10, 9000, 500)
    dear = option("dear", 0.5, offered=10, price=900000, watts=500)
    line = _decision(compared(uncertain, dear))[0]
    assert line.startswith("Take open: ") and "cheaper per simulated hour" in line
    unknown = option("unknown", 0.5)
    assert "offer.price and offer.watts of unknown" in _decision(compared(fast, unknown))[0]


def twin_of(offer: ProductionOption) -> ProductionOption:
    """The same offer under another name: nothing may tell the two apart."""
    twin = option("twin", 0.5, offered=10, price=9000, watts=500)
    answer = compared(offer, twin)
    assert answer.fastest == {offer.machine.name: 0.5, "twin": 0.5} == answer.cheapest
    return twin


def test_a_price_difference_tips_it():
    first = option("first", 1.0, offered=10, price=9000, watts=500)
    second = option("second", 1.0, offered=10, price=10000, watts=500)
    answer = compared(first, second)
    difference = 10000 - np.median(answer.even_prices["second"])
    assert difference == pytest.approx(1000)
    assert "9\u202f000 EUR instead of 10\u202f000" in _tipping_sentence(answer)[0]
    hungry = option("hungry", 4.0, offered=10, price=100, watts=5000)
    assert "cost nothing" in _tipping_sentence(compared(first, hungry))[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_difference_of_both_signs_is_not_told(seed):
    _, answer = offers(seed)
    shares = answer.cheapest
    prices = {name: life.price_of_node for name, life in answer.lives.items()}
    rows = {row["what"]: row for row in answer.screen().tables[0].rows}
    for name, even in answer.even_prices.items():
        _, low, high = draws.interval(even)
        untold = "not told apart" in rows["price of a node for equal costs (EUR)"][name]
        assert untold == (0 < low < prices[name] < high)
    slower = rows["its ratio to a"]["b"]
    is_told = max(answer.fastest.values()) >= 0.975
    assert ("no clear difference" in slower) != is_told
    (sentence,) = _tipping_sentence(answer)
    runner_up = min(shares, key=lambda name: shares[name])
    _, low, high = draws.interval(prices[runner_up] - answer.even_prices[runner_up])
    assert ("lies within that interval" in sentence) == (low < 0 < high)


@pytest.mark.parametrize("lacking", ["price", "watts"])
@pytest.mark.parametrize("price_kwh", [0.3, None])
def test_what_is_known_of_costs_is_shown_beside_the_missing_field(lacking, price_kwh):
    planted, whole = offers(3)
    second = planted[1] | {lacking: None}
    answer = compared(option(**planted[0]), option(**second), price_kwh=price_kwh)
    expected = {"b": [f"offer.{lacking}"]}
    if lacking == "watts" and price_kwh is None:
        expected = {}
    assert answer.missing == expected
    machines = answer.content()["machines"]
    assert [machine["missing"] for machine in machines] == [[], expected.get("b", [])]
    assert machines[0]["cost_per_simulated_s"] is not None
    text = f"{answer.sentence} {[*answer.screen().tables[0].cells]}"
    for field in expected.get("b", []):
        assert text.count(field) >= 2
    if lacking == "price" and price_kwh is not None:
        assert answer.even_prices["b"] == pytest.approx(whole.even_prices["b"])
        assert machines[1]["energy_cost_per_simulated_s"] is not None


def test_what_is_not_offered_has_no_cost():
    life = MachineLife(option("a", 1.0, nodes=3, watts=100), Use(1, 1, 0.3))
    assert (life.nodes, life.simulations, life.cost_eur) == (3, 1, None)
    assert MachineLife(option("a", 1.0), Use(1, 1, 0.3)).energy_j is None
    without_energy = MachineLife(option("a", 2.0, nodes=1, price=7200), Use(1, 1, None))
    assert without_energy.cost_eur == pytest.approx(4.0)


@pytest.mark.parametrize(
    ("seconds", "differs", "lines"),
    [
        (1.0, (), 0),
        (9.0, (), 1),
        (9.0, ("version",), 1),
        (9.0, ("machine",), 0),
    ],
)
def test_a_measured_run_that_contradicts_is_named(seconds, differs, lines):
    planted = option("a", np.exp(np.random.default_rng(1).normal(0, 0.2, draws.N)))
    machine = points.PublishedMachine("a")
    network = points.PublishedNetwork("", "", 1, 1, 1)
    near = points.PublishedRun("nest", "3.4", network, machine, 2, 2, seconds=seconds)
    contradicting = replace(planted, nearest=Anchor(near, differs, is_own=False))
    assert len(contradiction([contradicting])) == lines
    assert sum("Contradiction" in note for note in compared(contradicting).screen().notes) == lines
    other_nodes = replace(contradicting, nodes=3)
    assert contradiction([other_nodes]) == []


def sentence_about(answer) -> str:
    (sentence,) = _tipping_sentence(answer)
    return sentence


@pytest.mark.parametrize("price_kwh", [None, 0.3])
@pytest.mark.parametrize("price", [21000.0, 12345.0, 777.0])
@pytest.mark.parametrize("seed", SEEDS[:3])
def test_identical_offers_cost_the_same_in_numbers_without_rounding_errors(seed, price, price_kwh):
    rtf = np.exp(np.random.default_rng(seed).normal(0, 0.5, draws.N))
    both = [option(name, rtf, 3, 24, price, 650.0) for name in "ab"]
    answer = compared(*both, price_kwh=price_kwh)
    assert "told" not in sentence_about(answer) and "EUR" not in sentence_about(answer)
    (table,) = answer.screen().tables
    (row,) = [row for row in table.rows if "equal costs" in row["what"]]
    assert row["a"] == row["b"] == integer(price)


def test_a_likely_difference_in_cost_is_not_called_none():
    rng = np.random.default_rng(3)
    for factor, is_likely in ((1.0, False), (1.55, True)):
        first = option("a", np.exp(rng.normal(0, 0.2, draws.N)), 3, 24, 12000.0, 650.0)
        rtf = factor * np.exp(rng.normal(0, 0.2, draws.N))
        answer = compared(first, option("b", rtf, 3, 24, 12000.0, 650.0))
        assert (0.8 < max(answer.cheapest.values()) < 0.975) == is_likely
        assert ("likely" in sentence_about(answer)) == is_likely
        assert ("is cheaper is open" in sentence_about(answer)) != is_likely


@pytest.mark.parametrize(
    ("option", "value"),
    [("--hours-per-year", "8785"), ("--hours-per-year", "10000"), ("--years", "500")],
)
def test_a_year_has_no_more_hours_and_no_machine_lives_so_long(spikemark, option, value):
    words = ["compare", "jureca-dc", "supermuc-ng", "--preset", "mam", "--full"]
    status, output, errors = spikemark(*words, "--program", "nest", option, value)
    assert (status, output, errors.count("\n")) == (2, "", 1)
    assert option.strip("-").replace("-", "_") in errors.replace("-", "_") and value in errors


def test_unusual_use_is_remarked_upon_in_words_and_in_json():
    planted, usual = offers(1)
    assert usual.remarks == []
    for changed, name in (
        ({"years": 40.0}, "years"),
        ({"hours": 24.0}, "hours_per_year"),
        ({"price_kwh": 30.0}, "price_kwh"),
    ):
        answer = compared(*[option(**each) for each in planted], **changed)
        [remark] = answer.remarks
        assert name in remark and remark in answer.content()["remarks"]
        assert any(name in note for note in answer.screen().notes)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("priced", [True, False])
def test_the_sentence_on_the_tipping_price_has_its_median_and_its_end(seed, priced):
    planted, answer = offers(seed)
    if not priced:
        answer = compared(option(**planted[0]), option(**{**planted[1], "price": None}))
    (sentence,) = _tipping_sentence(answer)
    name = "b"
    if priced:
        name = min(answer.cheapest, key=lambda each: answer.cheapest[each])
    middle, low, high = draws.interval(answer.even_prices[name])
    ends = [middle, high] if low <= 0 else [middle, low, high]
    for text, value in zip(supported(low, high, *ends), ends, strict=True):
        is_shown = high > 0 and not (value == middle and (middle <= 0 or text == "0"))
        assert not is_shown or f" {text}" in sentence.replace("(", " ")
    if high > 0:
        assert sentence.startswith(f"For equal costs, a node of {name} would cost ")


@pytest.mark.parametrize("number", [2, 3, 4])
def test_all_machines_that_cost_the_same_are_named(number):
    rtf = np.exp(np.random.default_rng(3).normal(0, 0.5, draws.N))
    names = [f"machine-{place}" for place in range(number)]
    same = [option(name, rtf, 2, 10, 9000, 500) for name in names]
    dear = option("dear", rtf, 2, 10, 90000, 500)
    (sentence,) = _tipping_sentence(compared(*same, dear))
    assert all(name in sentence for name in names) and "dear" not in sentence
