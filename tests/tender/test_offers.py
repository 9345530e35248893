"""Answers to a tender side by side: what is chosen, and what that rests on."""

import pytest
from tender.sheets import MEASURED, Sheet

from spikemark.prediction.life import Life
from spikemark.tender import bids_compared, checked, offers_show, received_bids

pytestmark = pytest.mark.usefixtures("checker")


def test_the_cheapest_sure_offer_is_named(beside):
    of = beside(Sheet("Ada", 1e6), Sheet("Bob", 1.5e6))
    said = bids_compared.sentence(of)
    assert said.startswith("Ada costs the least over its life without energy for real-time factor 1.00")
    assert "at least 1.5 times less than others" in said and len(said) <= 200


def test_energy_over_the_life_can_turn_the_order(beside):
    """Ten times the power costs more over the life than the price does."""
    power = [{"projected_w": {"value": w, "low": 0.9 * w, "high": 1.1 * w}} for w in (1e5, 1e4)]
    sheets = Sheet("Ada", 1e6, power=power[0]), Sheet("Bob", 1.5e6, power=power[1])
    of = beside(*sheets, life=Life(price_kwh=0.3))
    spent = 1e-3 * 1e5 * 5 * 8000 * 0.3
    found = bids_compared.cost(of, of.bids[0])
    assert found.value == pytest.approx(1e6 + spent)
    assert found.interval == pytest.approx((1e6 + 0.9 * spent, 1e6 + 1.1 * spent))
    assert found.kind == "modelled" and bids_compared.sentence(of).startswith(
        "Bob costs the least over its life for"
    )


def test_power_follows_from_energy_and_time_where_the_sheet_has_none(beside):
    of = beside(Sheet("Ada"))
    bid = received_bids.replace(of.bids[0], events_per_s=1e11)
    assert bids_compared.power(of, bid).value == pytest.approx(1e-7 * 1e11 / 0.8)
    assert not bids_compared.power(
        of, of.bids[0]
    )  # without the bundle, nobody knows how many events there are


def test_a_limit_of_power_is_that_of_all_nodes(beside):
    of = beside(Sheet("Ada", joules=None, power={"node_limit_w": 500.0}), life=Life(price_kwh=0.3))
    assert bids_compared.power(of, of.bids[0]).value == 500 * 16
    assert bids_compared.cost(of, of.bids[0]).value == pytest.approx(1e6 + 8 * 5 * 8000 * 0.3)


def test_an_offer_that_is_not_sure_is_not_named_and_the_unknown_is(beside):
    of = beside(Sheet("Ada", 1e6, (0.9, 0.7, 1.3)), Sheet("Bob", 2e6))
    said = bids_compared.sentence(of)
    assert said == (
        "No verdict for real-time factor 1.00: Ada would cost the least, but is not sure to reach it; the"
        " projected real-time factor of Ada decides."
    )
    top = bids_compared.effects(of)[0]
    assert (top.offer, top.path, top.ends, top.turns) == ("Ada", "real-time factor", (1e6, None), True)
    assert top.orders == (("Ada", "Bob"), ("Bob",))


def test_overlapping_costs_name_no_offer(beside):
    power = {"projected_w": {"value": 1e5, "low": 1e4, "high": 3e5}}
    of = beside(Sheet("Ada", 1e6, power=power), Sheet("Bob", 1.5e6, power=power), life=Life(price_kwh=0.3))
    assert "No verdict on cost" in bids_compared.sentence(of) and "power of " in bids_compared.sentence(of)


def test_measured_figures_are_not_unknown(beside):
    of = beside(Sheet("Ada", factor=(0.9, 0.8, 1.2), method=MEASURED), Sheet("Bob", 2e6))
    assert [e for e in bids_compared.effects(of) if e.offer == "Ada"] == []
    row = bids_compared.offers(of)[0]
    assert row.time.kind == "measured" and (row.likely, row.sure) == ("16", "none")
    assert "measured, 5 repetitions" in bids_compared.bases(of)[0].rests_on


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (Sheet("Bad", 1.0, verdict="INVALID phase-sum"), "1 left out as INVALID or as a try"),
        (Sheet("Bad", 1.0, quick=True), "1 left out as INVALID or as a try"),
    ],
)
def test_invalid_answers_and_tries_are_never_chosen(beside, bad, said):
    of = beside(bad, Sheet("Ada", 1e6), Sheet("Bob", 2e6))
    assert bids_compared.sentence(of).startswith("Ada costs the least") and said in bids_compared.sentence(of)
    assert all(effect.offer != "Bad" for effect in bids_compared.effects(of))


def test_nothing_is_chosen_where_nothing_may_be(beside):
    of = beside(Sheet("Ada", verdict="INVALID a"), Sheet("Bob", quick=True))
    said = bids_compared.sentence(of)
    assert said == "No offer can be chosen: 1 of 2 is INVALID and 1 of 2 is a try with a quick bundle."


def test_an_incomplete_answer_is_called_that(beside):
    of = beside(Sheet("Ada", 1e6, verdict="INCOMPLETE no-manifest"), Sheet("Bob", 2e6))
    assert "but its answer is INCOMPLETE" in bids_compared.sentence(of)
    assert offers_show.verdicts(of).cells[0][-2:] == ["INCOMPLETE", "500 record.json: no-manifest"]


def test_reasons_of_one_number_are_one_line(beside, monkeypatch):
    of = beside(Sheet("Ada"))
    reasons = tuple(f"{number} a.json: {text}" for number in range(300, 312) for text in "xyz")
    odd = received_bids.replace(of.bids[0], verdict=checked.Checked("INVALID", reasons))
    shown = (
        offers_show.verdicts(bids_compared.Compared(**{**vars(of), "bids": [odd]})).cells[0][-1].split("\n")
    )
    assert shown[0] == "300 a.json: x (and 2 more)" and shown[-1] == "and 4 more reasons" and len(shown) == 9


@pytest.mark.parametrize("lacking", [Sheet("Ada", sheet=False), Sheet("Ada", price=None)])
def test_a_price_is_never_made_up(beside, lacking):
    of = beside(lacking, Sheet("Bob"))
    assert not bids_compared.cost(of, of.bids[0]) and "of Ada is unknown" in bids_compared.sentence(of)
    assert bids_compared.effects(of)[0].no_value
    assert offers_show.first(of).cells[0][-1] == "unknown"


def test_a_target_nobody_reaches(beside):
    assert (
        bids_compared.sentence(beside(Sheet("Ada"), reach=0.1)) == "No offer reaches real-time factor 0.100."
    )


def test_without_a_target_all_nodes_count(beside):
    of = beside(Sheet("Ada"), Sheet("Bob", 3e6), reach=None)
    assert bids_compared.sentence(of).startswith("Ada costs the least over its life without energy, at least")
    assert offers_show.first(of).cells[0][2:4] == ["16", "16"]


@pytest.mark.parametrize(
    ("committed", "said"),
    [(0.8, "as the evidence"), (0.76, "−5.0\u202f%, within its interval"), (0.6, "better than its interval"),
     (0.88, "+10.0\u202f%, within its interval")],
)  # fmt: skip
def test_promises_stand_beside_their_evidence(beside, committed, said):
    of = beside(Sheet("Ada", committed=committed))
    (row, *_) = offers_show.beside(of).cells
    assert said in row[-1] and row[4].endswith("modelled")
