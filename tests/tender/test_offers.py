"""Answers to a tender side by side: what is chosen, what that rests on, and what is refused."""

import json
from dataclasses import dataclass, field

import pytest
from html_page import Page

from spikemark.core.errors import BadInput
from spikemark.prediction.life import Life
from spikemark.tender import (
    bids_compared,
    check,
    checked,
    offers_page,
    offers_show,
    received_bids,
    shared,
)

#: A check.py that says what stands in the file `verdict` of the answer.
CHECKER = """
import json, pathlib, sys
words = (pathlib.Path(sys.argv[1]) / "verdict").read_text().split()
reasons = [{"number": 500 + i, "where": "record.json", "text": text} for i, text in enumerate(words[1:])]
print(json.dumps({"verdict": words[0], "reasons": reasons}))
sys.exit({"VALID": 0, "INVALID": 1, "INCOMPLETE": 2}.get(words[0], 7))
"""
MODEL, MEASURED = "dry_run+profile", ""


@pytest.fixture(autouse=True)
def checker(monkeypatch):
    monkeypatch.setattr(check, "text", lambda: CHECKER)


@dataclass(frozen=True)
class Sheet:
    """What a made-up bidder says of the target: (value, low, high); `method`: MEASURED or of a projection."""

    bidder: str
    price: float | None = 1e6
    factor: tuple = (0.8, 0.7, 0.9)
    joules: tuple | None = (1e-7, 0.9e-7, 1.1e-7)
    method: str = MODEL
    committed: float | None = None
    verdict: str = "VALID"
    nodes: int = 16
    currency: str = "EUR"
    quick: bool = False
    bundle: str = "b" * 64
    sheet: bool = True
    power: dict = field(default_factory=dict)

    def write(self, folder):
        folder.mkdir(parents=True)
        answer = {"kind": "tender_answer", "format_version": 1, "bidder": self.bidder, "category": "base"}
        run = {"name": "target", "repetitions": [{}] * 5, "figure": {}}
        answer |= {"bundle_sha256": self.bundle, "quick": self.quick, "runs": [run]}
        (folder / "answer.json").write_text(json.dumps(answer))
        (folder / "verdict").write_text(self.verdict)
        if self.sheet:
            (folder / "commitment.json").write_text(json.dumps(self.content()))
        return folder

    def content(self):
        evidence = [("real_time_factor", self.factor), ("joules_per_synaptic_event", self.joules)]
        entries = [
            {"run": "target", "figure": name, "value": v and v[0], "low": v and v[1], "high": v and v[2]}
            | ({"reason": "no meter"} if v is None else {})
            | ({"method": self.method, "assumes": ["profile x", "16 ranks"]} if self.method else {})
            for name, v in evidence
        ]
        made = {"kind": "tender_commitment", "format_version": 1}
        made |= {"bidder": self.bidder, "machine": "a machine"}
        made |= {"nodes": self.nodes, "measured": [], "projected": [], "power": self.power}
        made["projected" if self.method else "measured"] = entries
        if self.price is not None:
            made["price"] = {"currency": self.currency, "total": self.price}
        value = self.committed or self.factor[0]
        made["committed"] = [{"run": "target", "figure": "real_time_factor", "value": value}]
        return made


@pytest.fixture
def beside(tmp_path):
    """Sets made-up sheets side by side."""

    def make(*sheets, life=None, reach=1.0):
        paths = [sheet.write(tmp_path / f"answer{i}") for i, sheet in enumerate(sheets)]
        return bids_compared.beside(received_bids.read(paths, None), None, life or Life(), reach)

    return make


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


def test_long_and_equal_names_stay_apart(beside):
    of = beside(Sheet("A" * 300), Sheet("Same"), Sheet("Same"))
    names = [bid.name for bid in of.bids]
    assert len(names[0]) == 40 and names[1:] == ["Same (answer1)", "Same (answer2)"]
    assert len(bids_compared.sentence(of)) <= 200


def test_hostile_names_do_not_leave_their_cell(beside):
    of = beside(Sheet("<script>alert(1)</script>"), Sheet("Bob"))
    page = offers_page.render(of)
    assert "<script>alert" not in page and "&lt;script&gt;" in page


def test_the_page_has_the_first_screen_of_compare(beside):
    of = beside(Sheet("Ada", 1e6, verdict="INVALID sum"), Sheet("Bob", 2e6))
    made = offers_page.render(of)
    text, head = Page(made).text, made.partition("<main>")[0]
    assert 'class="cards"' in head and 'id="headline"' in head
    places = [
        text.index(part) for part in (bids_compared.sentence(of), "What each bidder offers", "check.py says")
    ]
    assert places == sorted(places)
    assert made.count("<summary>") == 0, "nothing is folded"
    assert "Ada: INVALID" in text and "500 record.json: sum" in text


def test_json_has_everything(beside):
    content = offers_show.content(beside(Sheet("Ada"), Sheet("Bob", 2e6, joules=None)))
    json.dumps(content, allow_nan=False)
    ada, bob = content["offers"]
    assert ada["cost"]["value"] == 1e6 and ada["verdict"] == "VALID" and ada["sure"]
    assert bob["energy_per_event_uj"] == {"value": None, "interval": None, "unit": "J", "reason": "no meter"}
    assert {"sentence", "rests_on", "sensitivity"} <= content.keys()


def test_a_folder_of_offers_stands_for_its_answers(tmp_path):
    for name in ("one", "two"):
        Sheet(name).write(tmp_path / "all" / name)
    assert [path.name for path in received_bids.found([tmp_path / "all"])] == ["one", "two"]
    with pytest.raises(BadInput, match="given twice"):
        received_bids.found([tmp_path / "all", tmp_path / "all" / "one"])


def test_a_checker_that_fails_makes_no_answer_valid(tmp_path, monkeypatch):
    path = Sheet("Ada", verdict="ODD").write(tmp_path / "a")
    assert checked.checked(path, None) == checked.Checked("INCOMPLETE", ("the checker ended with status 7",))
    for program, said in (
        (
            "import sys; print('check.py: a: cannot be read here', file=sys.stderr); sys.exit(3)",
            "cannot be read",
        ),
        ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
    ):
        monkeypatch.setattr(check, "text", lambda program=program: program)
        with pytest.raises(BadInput, match=said):
            checked.checked(path, None)
    monkeypatch.setattr(check, "text", lambda: "import time; time.sleep(60)")
    monkeypatch.setattr(checked, "LIMIT_S", 0.5)
    assert "did not end" in checked.checked(path, None).reasons[0]


@pytest.mark.parametrize(
    ("sheets", "complaint"),
    [
        ((Sheet("A"), Sheet("B", currency="USD")), "currency: EUR (A) and USD (B); allowed: one currency"),
        ((Sheet("A"), Sheet("B", bundle="c" * 64)), "bundle_sha256: an answer to another bundle than"),
        ((Sheet(" "),), "bidder=' '; allowed: a text"),
        ((Sheet("A", price=-1.0),), "price.total=-1.0"),
        ((Sheet("A", currency="euro"),), "price.currency='euro'"),
    ],
)
def test_offers_that_cannot_be_compared_are_refused(refusal, tmp_path, sheets, complaint):
    paths = [sheet.write(tmp_path / f"a{i}") for i, sheet in enumerate(sheets)]
    assert complaint in refusal("tender", "offers", *paths)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["{none}"], "no answer.json in it or in its folders"),
        (["{one}", "--target-rtf", "0"], "target_rtf=0: a real-time factor above 0"),
        (["{one}", "--years", "0"], "years=0; allowed: above 0"),
        (["{one}", "--html", "{none}"], "--html: {none} is a folder"),
        (["{one}", "--bundle", "{none}"], "no tender.json"),
    ],
)
def test_bad_questions_are_refused_in_one_line(refusal, tmp_path, arguments, complaint):
    names = {"none": tmp_path / "none", "one": Sheet("A").write(tmp_path / "one")}
    names["none"].mkdir()
    assert complaint.format(**names) in refusal("tender", "offers", *(a.format(**names) for a in arguments))


def test_the_command_prints_and_writes_a_page(spikemark, tmp_path, small):
    sheets = [Sheet("Ada", bundle=small.sha256), Sheet("Bob", 2e6, bundle=small.sha256)]
    for sheet in sheets:
        sheet.write(tmp_path / "offers" / sheet.bidder)
    page = tmp_path / "page.html"
    arguments = ["tender", "offers", tmp_path / "offers", "--bundle", small.path, "--price-kwh", "0.3"]
    status, output, errors = spikemark(*arguments, "--html", page)
    assert (status, errors) == (0, "") and "Ada costs the least over its life" in output
    assert page.read_text().startswith("<!DOCTYPE html>")
    content = json.loads(spikemark(*arguments, "--json")[1])
    assert content["offers"][0]["power_w"]["value"] > 0  # from the energy and the events of the bundle


def test_measurements_that_two_bidders_hand_in_are_named(tmp_path):
    """At most one of them made these; a file of the same size with other times is no copy."""
    folders = [Sheet(name).write(tmp_path / name) for name in ("Alpha", "Beta", "Gamma")]
    for folder, times in zip(folders, ("aaaa", "aaaa", "gggg"), strict=True):
        for repetition, more in ((1, "1"), (2, folder.name)):
            place = folder / "runs" / "target" / str(repetition)
            place.mkdir(parents=True)
            (place / "cycles.npy").write_text(f"{times}{more:5}")
    of = bids_compared.beside(received_bids.read(folders, None), None, Life())
    said = "Alpha and Beta hand in the same cycle times of 1 repetition: at most one of them measured these."
    assert shared.lines(of.bids) == [said] == offers_show.content(of)["shared_measurements"]
    assert said in offers_show.first(of).notes and said in Page(offers_page.render(of)).text
    assert shared.lines(of.bids[1:]) == []
