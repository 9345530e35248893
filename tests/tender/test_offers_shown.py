"""`spikemark tender offers`: names, page, JSON, copied measurements, and what is refused."""

import json

import pytest
from html_page import Page
from tender.sheets import Sheet

from spikemark.core.errors import BadInput
from spikemark.prediction.life import Life
from spikemark.tender import bids_compared, check, checked, offers_page, offers_show, received_bids, shared

pytestmark = pytest.mark.usefixtures("checker")


def test_long_and_equal_names_stay_apart(beside):
    of = beside(Sheet("A" * 300), Sheet("Same"), Sheet("Same"))
    names = [bid.name for bid in of.bids]
    assert len(names[0]) == 40 and names[1:] == ["Same (answer1)", "Same (answer2)"]
    assert len(bids_compared.sentence(of)) <= 200


@pytest.mark.parametrize("runs", [None, 3, [3], [{"name": ["x"], "repetitions": 1}], [{"name": "x"}]])
def test_odd_runs_of_an_answer_with_a_sheet_are_left_to_the_checker(tmp_path, runs):
    path = Sheet("Ada").write(tmp_path / "a")
    answer = json.loads((path / "answer.json").read_text())
    (path / "answer.json").write_text(json.dumps(answer | {"runs": runs}))
    (bid,) = received_bids.read([path], None)
    assert bid.evidence["target", "real_time_factor"].projected.value == 0.8


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
