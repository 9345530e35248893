"""Offers side by side: probabilities over draws."""

import dataclasses
import json
import re

import numpy as np
import pytest
import yaml
from html_page import Page
from leaves import offered
from tender.offered import OFFER, WATTS

import spikemark as sm
from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.prediction import draws, question
from spikemark_tender import answer, check, formats, offers, page
from spikemark_tender.check import VALID, AnswerFinding, Report
from spikemark_tender.schema import NestRun

pytestmark = pytest.mark.slow  # its folders of answers take ten seconds to make


@pytest.fixture
def compare(honest, monkeypatch):
    """Compares made-up answers, each a dict of what differs from the honest one; `wrong`: a
    finding.
    """
    base, answers = formats.read_answer(honest.path), {}
    monkeypatch.setattr(offers, "check", lambda path, bundle: answers[path])
    monkeypatch.setattr(offers, "_answer_folders", lambda paths: paths)

    def run(*bids, reach=1.0, quick=False, **life):
        for number, given in enumerate(bids):
            usual = {"rtf": (0.8, 0.76, 0.84), "power": (600, 590, 610, 2)}
            bid = {"bidder": f"bidder {number}", **usual, **given}
            report, rtf, power = Report(bid.pop("wrong", [])), bid.pop("rtf"), bid.pop("power")
            ends = {formats.RTF: rtf and (*rtf, 2), formats.POWER: power}
            made = [
                base.projected[0].model_copy(
                    update={
                        "figure": figure,
                        **dict(zip(("value", "low", "high", "nodes"), of, strict=True)),
                    }
                )
                for figure, of in ends.items()
                if of
            ]
            own = {name: bid.pop(name) for name in [*bid] if name in type(base.offer).model_fields}
            offer = base.offer.model_copy(update=own)
            answer = base.model_copy(update={**bid, "offer": offer, "projected": made})
            answers[honest.folder / str(number)] = (report, answer)
        tender = honest.bundle.tender.model_copy(update={"quick": quick})
        bundle = dataclasses.replace(honest.bundle, tender=tender)
        return offers.compare(list(answers), bundle, reach, **life)

    return run


def test_the_cheapest_that_reaches_the_target_is_named(compare):
    of = compare({"price": 1e6}, {"price": 1.5e6}, {"price": 1e5, "rtf": (2.0, 1.8, 2.2)})
    assert of.best == {"bidder 0": 1.0, "bidder 1": 0.0, "bidder 2": 0.0}
    assert [bid.reached for bid in of.bids] == [1.0, 1.0, 0.0]
    assert offers.sentence(of).startswith("bidder 0 ")


def test_a_target_that_is_reached_in_half_of_the_draws_halves_the_chance(compare):
    alone = compare({"price": 1e6, "rtf": (1.0, 0.8, 1.25)})
    nobody = next(line for line in offers.lines(alone) if "none does" in line)
    assert 48 <= float(re.search(r"(\d+)\s?%", nobody)[1]) <= 52
    of = compare({"price": 1e6, "rtf": (1.0, 0.8, 1.25)}, {"price": 2e6})
    assert of.best["bidder 0"] == pytest.approx(0.5, abs=0.02)
    assert of.best["bidder 0"] + of.best["bidder 1"] == 1.0
    text = " ".join(offers.lines(of))
    assert "bidder 0" in text and "none does" not in text


def test_offers_that_cost_the_same_share_the_draws_that_they_reach(compare):
    """Three equal prices, of which one reaches the target in half of the draws; a dearer one."""
    nobody = compare(*({"price": 1e6, "rtf": (2.0, 1.8, 2.2)} for _ in range(2)))
    assert set(nobody.best.values()) == {0.0}
    half, surely = (1.0, 0.8, 1.25), (0.8, 0.76, 0.84)
    bids = [{"price": 1e6, "rtf": rtf} for rtf in (surely, surely, half)]
    of = compare(*bids, {"price": 2e6})
    expected = (5 / 12, 5 / 12, 1 / 6, 0.0)
    assert list(of.best.values()) == pytest.approx(expected, abs=0.02)
    assert of.best["bidder 0"] == of.best["bidder 1"]
    assert sum(of.best.values()) == pytest.approx(1.0)
    names = re.findall(r"bidder \d", offers.sentence(of))
    assert names == ["bidder 0", "bidder 1"]


def test_the_factor_is_said_to_be_the_mini_apps_and_that_of_nest_is_beside_it(compare):
    whose = "mini-app's real-time factor"
    ends = {"value": 1.9, "low": 1.8, "high": 2.0}
    run = {"layout": {"ranks": 1, "threads": 2, "nodes": 1}, "repetitions": 3, formats.RTF: ends}
    for runs in ([], [NestRun.model_validate(run)]):
        of = compare({"price": 1e6, "nest": runs}, {"price": 2e6, "nest": []})
        assert "mini-app" in offers.sentence(of)
        (column,) = [column for column in offers.table(of).columns if column.name == "rtf"]
        assert column.head == whose
        named = [line for line in offers.lines(of) if "NEST" in line]
        assert len(named) == 2 * len(runs)
        assert all("1.9" in line for line in named[1:])


@pytest.mark.parametrize("lacking", [{"price": None}, {"rtf": None}])
def test_one_offer_that_lacks_a_figure_does_not_hide_the_others(compare, lacking):
    of = compare(lacking, {"price": 1e6}, {"price": 2e6})
    assert of.best == {"bidder 1": 1.0, "bidder 2": 0.0}
    rows = offers.content(of)["offers"]
    assert rows[0]["left_out"] and rows[0]["cheapest"] is None and rows[1]["left_out"] is None


def test_the_energy_is_that_of_all_offered_nodes(compare):
    """300 W a node on 32 nodes, whether the projected run takes 8 of them or all."""
    for nodes in (8, 32):
        power = (300.0 * nodes, 299.0 * nodes, 301.0 * nodes, nodes)
        [bid] = compare({"price": 1e6, "nodes": 32, "power": power}, price_kwh=0.3).bids
        assert draws.interval(bid.cost)[0] == pytest.approx(
            1e6 + 0.3 * 32 * 5 * 8000 * 0.3, rel=1e-3
        )


def test_power_follows_from_energy_or_else_from_the_limit(compare, honest):
    [bid] = compare({"price": 1.0, "nodes": 4, "power": None, "node_limit_w": 500.0}).bids
    assert set(bid.power_w) == {2000.0}
    rule, rtf = honest.bundle.tender.target_rule, np.full(draws.N, 2.0)
    ends = {"value": 1e-6, "low": 0.9e-6, "high": 1.1e-6}
    joules = bid.answer.projected[0].model_copy(update={"figure": formats.JOULES, **ends})
    answer = bid.answer.model_copy(update={"projected": [joules]})
    found = offers._power("x", answer, honest.bundle, rtf)
    assert np.median(found) == pytest.approx(
        1e-6 * rule.expected.events_per_s / 2.0 * 4 / 2, rel=1e-2
    )


def test_time_and_energy_that_were_projected_together_give_one_power(compare, honest):
    """Both are 0.7 to 1.4 times their value, at the same power: it has no interval. Those of other
    methods are not of one draw.
    """
    [bid] = compare({"price": 1.0, "nodes": 4, "power": None}).bids
    ends = {"value": 1e-6, "low": 0.7e-6, "high": 1.4e-6}
    time = bid.answer.projected[0].model_copy(update={"value": 2.0, "low": 1.4, "high": 2.8})
    watts = 1e-6 * honest.bundle.tender.target_rule.expected.events_per_s / 2.0 * 4 / 2
    for method, spread in ((time.method, 1.0), ("another", 1.5)):
        update = {"figure": formats.JOULES, "method": method, **ends}
        joules = time.model_copy(update=update)
        stated = bid.answer.model_copy(update={"projected": [time, joules]})
        rtf = draws.log_normal(f"x/{formats.RTF}", time.value, time.low, time.high)
        middle, low, high = draws.interval(offers._power("x", stated, honest.bundle, rtf))
        assert middle == pytest.approx(watts, rel=2e-2)
        assert (high / low == pytest.approx(1.0)) if spread == 1.0 else (high / low > spread)


def test_measured_power_is_that_of_each_repetition(honest):
    """Repetitions whose times differ by a factor of three, each at WATTS on one of eight nodes."""
    base = formats.read_answer(honest.path)
    tender = honest.bundle.tender
    run = base.runs[0]
    events_per_s = tender.target_rule.expected.events_per_s
    repetitions = []
    for factor in (1.0, 3.0):
        figures = {formats.RTF: factor, formats.JOULES: WATTS * factor / events_per_s}
        repetitions.append(run.repetitions[0].model_copy(update=figures))
    nodes = {"layout": run.layout.model_copy(update={"nodes": 1})}
    update = {"name": tender.target_rule.name, "repetitions": repetitions, **nodes}
    measured = base.model_copy(update={"runs": [run.model_copy(update=update)], "projected": []})
    found = offers._power("x", measured, honest.bundle, None)
    assert found == pytest.approx(np.full(draws.N, WATTS * measured.offer.nodes))


@pytest.mark.parametrize("watts", [1050.0, None])
def test_power_and_cost_of_an_offer_are_those_of_compare(honest, tmp_path, watts):
    """For the same profile: exactly where it states the watts of a node, and then an answer with
    it is valid.
    """
    values = {"offer.price": 9000.0}
    if watts is not None:
        values["offer.watts"] = watts
    content = yaml.safe_load(machines.file_of("jureca-dc").read_text())
    profile = tmp_path / "jureca-dc.yaml"
    profile.write_text(yaml.safe_dump(content | offered(values)))
    rule = honest.bundle.tender.target_rule
    machine = machines.filled(machines.load(profile))
    projected = answer.project(honest.bundle, rule, machine, (2, 128, 1), {}, "base")
    out = tmp_path / "answer"
    offer = OFFER | {"nodes": 2, "price": 2 * 9000.0, "node_limit_w": 1100.0, "node_idle_w": None}
    work = honest.folder / "work"
    answer.write(honest.bundle, work, out, "A", offer, projected=projected, profile=profile)
    report, _ = check.check(out, honest.bundle)
    assert [finding for finding in report.findings if finding.check in ("statistic", "power")] == []
    [bid] = offers.compare([out], honest.bundle, price_kwh=0.3).bids
    description = honest.bundle.description(rule)
    network = question.of_description(rule.name, description, rule.expected.rates_hz)
    compared = sm.compare(network, [profile], nodes=2, schedule="conventional", price_kwh=0.3)
    [life] = compared.lives.values()
    for of_offer, of_compare in (
        (bid.power_w, np.broadcast_to(life.option.power_w, draws.N)),
        (bid.cost, life.cost_eur * life.simulated_s),
    ):
        ends = draws.interval(of_compare)
        if watts is not None:
            assert ends[1] == pytest.approx(ends[2])
        assert draws.interval(of_offer) == pytest.approx(ends, rel=1e-9 if watts else 0.05)
    if watts is not None:
        assert set(bid.power_w) == {2 * watts}


def test_energy_can_turn_the_order(compare):
    bids = (
        {"price": 1e6, "power": (1e5, 9e4, 1.1e5, 8)},
        {"price": 1.5e6, "power": (1e4, 9e3, 1.1e4, 8)},
    )
    assert compare(*bids).best["bidder 0"] == 1.0
    assert compare(*bids, price_kwh=0.3).best["bidder 1"] == 1.0


@pytest.mark.parametrize("bad", [{"wrong": [AnswerFinding("sums", "x")]}, {"quick": True}])
def test_invalid_answers_and_tries_are_never_chosen(compare, bad):
    of = compare({"price": 1.0, **bad}, {"price": 1e6})
    assert of.best == {"bidder 1": 1.0} and "bidder 0" in offers.lines(of)[0]


def test_a_trial_ranks_its_tries_and_says_that_they_are_no_offers(compare):
    tries = [{"price": 1e6, "quick": True}, {"price": 1.5e6, "quick": True}]
    of = compare(*tries, quick=True)
    assert of.best == {"bidder 0": 1.0, "bidder 1": 0.0}
    assert "trial" in offers.sentence(of) and "bidder 0" in offers.sentence(of)
    assert offers.content(of)["trial"] is True
    assert "trial" not in offers.sentence(compare({"price": 1e6}, {"price": 2e6}))


#: Characters of 13 px that fit into 1200 px beside the padding of eight columns, and into the three
#: fifths of that which a table beside a picture has.
WIDTH, BESIDE_PICTURE = 160, 100


def test_the_table_fits_into_1200_px_with_long_names_and_large_prices(compare, tmp_path):
    bids = [
        {"bidder": f"{name} Supercomputing and Storage Ltd", "price": 1.234e7, "currency": "CHF"}
        for name in ("Aurora", "Borealis")
    ]
    of = compare(*bids, price_kwh=0.31)
    table = offers.table(of)
    widths = []
    for column in table.columns:
        cells = [str(row[column.name]) for row in table.rows]
        widths.append(max(len(text) for text in (column.head, *cells)))
    assert sum(widths) <= WIDTH
    longest_name, *others = widths[: page.DECISIVE_COLUMNS]
    assert longest_name + sum(width / 2 for width in others) <= BESIDE_PICTURE  # in two lines
    page.write(tmp_path / "page.html", of, "a tender")
    text = (tmp_path / "page.html").read_text()
    assert text.count("CHF") >= 2  # of the table and of the figure


def test_names_of_bidders_change_no_number(compare):
    both = []
    for names in ("Aurora", "Borealis"), ("One Ltd", "Two Ltd"):
        bids = [
            {"bidder": names[0], "price": 1e6, "rtf": (0.9, 0.7, 1.2)},
            {"bidder": names[1], "price": 1.1e6, "rtf": (0.8, 0.6, 1.1)},
        ]
        both.append(compare(*bids, price_kwh=0.3))
    first, second = both
    assert list(first.best.values()) == list(second.best.values())
    for bid, other in zip(first.bids, second.bids, strict=True):
        assert np.array_equal(bid.rtf, other.rtf) and np.array_equal(bid.cost, other.cost)
    assert not np.array_equal(first.bids[0].rtf / 0.9, first.bids[1].rtf / 0.8)


@pytest.mark.parametrize("place", range(3))
def test_an_offer_in_another_currency_is_left_out_and_the_others_are_compared(compare, place):
    """Of three, the one at each place; the others write theirs in both cases."""
    bids = [{"price": price} for price in (1e6, 2e6, 3e6)]
    bids[(place + 1) % 3]["currency"] = "chf"
    bids[(place + 2) % 3]["currency"] = "CHF"
    bids[place] |= {"currency": "USD", "price": 1.0}
    of = compare(*bids)
    left_out = [bid.name for bid in of.bids if bid.left_out]
    assert left_out == [f"bidder {place}"] and of.currency == "CHF"
    assert sorted(of.best.values()) == [0.0, 1.0]
    (line,) = [line for line in offers.lines(of) if f"bidder {place}" in line]
    assert "USD" in line and "CHF" in line
    row = offers.content(of)["offers"][place]
    assert row["cost"] is None and row["left_out"] and row["cheapest"] is None


def test_where_as_many_are_in_each_currency_the_bidders_are_named(compare):
    with pytest.raises(BadInput) as error:
        compare({"currency": "EUR"}, {"currency": "USD"})
    assert error.value.field == "currency"
    assert "EUR (bidder 0)" in str(error.value) and "USD (bidder 1)" in str(error.value)


def test_a_bidder_without_power_counts_for_the_common_currency(compare):
    unknown = {"currency": "EUR", "power": None, "node_limit_w": None}
    of = compare(unknown, {"currency": "EUR"}, {"currency": "USD"}, price_kwh=0.3)
    assert of.currency == "EUR"
    assert [bool(bid.left_out) for bid in of.bids] == [True, False, True]


def test_bidders_who_hand_in_the_same_measured_run_are_named(compare, tmp_path, monkeypatch):
    for number, content in enumerate(("one", "one", "another")):
        (tmp_path / str(number)).write_text(content)
    monkeypatch.setattr(formats, "cycle_times", lambda folder: [tmp_path / folder.name])
    (line,) = compare({}, {}, {}).remarks
    assert "bidder 0" in line and "bidder 1" in line and "bidder 2" not in line
    (tmp_path / "1").write_text("its own")
    assert not compare({}, {}, {}).remarks


def test_one_currency_in_two_cases_is_one(compare):
    of = compare({"currency": "EUR", "price": 1e6}, {"currency": "eur", "price": 2e6})
    assert list(of.best.values()) == [1.0, 0.0]


@pytest.mark.parametrize(
    ("field", "unusual", "impossible"),
    [("years", 40.0, 0.0), ("hours_per_year", 24.0, 9000.0), ("price_kwh", 30.0, -1.0)],
)
def test_unusual_use_is_remarked_upon_and_impossible_use_is_refused(
    compare, field, unusual, impossible
):
    usual = {"price_kwh": 0.3}
    assert compare({"price": 1e6}, **usual).remarks == ()
    of = compare({"price": 1e6}, **usual | {field: unusual})
    [remark] = of.remarks
    assert field in remark and remark in offers.lines(of)
    with pytest.raises(BadInput) as error:
        compare({"price": 1e6}, **usual | {field: impossible})
    assert error.value.field == field


@pytest.mark.parametrize(("currency", "remarks"), [("EUR", 1), ("CHF", 1), ("JPY", 0)])
def test_prices_of_energy_are_usual_in_currencies_of_about_one_value(compare, currency, remarks):
    of = compare({"price": 1e6, "currency": currency}, price_kwh=30.0)
    assert [f"30 {currency}/kWh" in text for text in of.remarks] == [True] * remarks


def test_a_target_of_zero_is_refused(compare):
    with pytest.raises(BadInput) as error:
        compare({"price": 1e6}, reach=0.0)
    assert error.value.field == "target_rtf"


def test_the_command_compares_folders(spikemark, honest, tmp_path):
    given = (
        "tender",
        "offers",
        honest.folder,
        "--bundle",
        honest.folder / "bundle",
        "--price-kwh",
        0.3,
    )
    status, output, _ = spikemark(*given, "--json", "--target-rtf", 1)
    [row] = json.loads(output)["offers"]
    assert (
        status == 0 and (row["offer"], row["verdict"]) == ("Ada", VALID) and row["cheapest"] > 0.99
    )
    assert row["real_time_factor"]["value"] == pytest.approx(0.8, rel=0.01)
    status, output, _ = spikemark(*given, "--html", tmp_path / "page.html")
    assert status == 0 and output.count("\n") < 20
    page = Page((tmp_path / "page.html").read_text())
    assert page.loads == [] and page.tags.count("svg") == 2 and "by hand" in page.text
    assert "neurons" in page.text and "kWh over 5 years" in page.text
    numbers = [word for word in output.split("Ada")[-1].split() if word[0].isdigit()]
    assert len(numbers) > 5 and all(number.strip("()") in page.text for number in numbers)
