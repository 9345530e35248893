"""What a comparison of machines says, what it rests on, and when it names no machine."""

import re
from dataclasses import replace
from itertools import permutations
from textwrap import shorten

import pytest
from small_machine import OPTIONS, Machine, Value, dear

from spikemark import machines
from spikemark.machines.plain import named
from spikemark.prediction import asked, compare_show, decisions, simulators
from spikemark.prediction import compare as comparing
from spikemark.prediction.life import Life
from spikemark.report import machines_drawing, machines_page

pytestmark = pytest.mark.usefixtures("few")


def compare(*of, schedule: str = "conventional", **others):
    """A comparison with one schedule, since the best ones take long to find."""
    return comparing.compare(*of, schedule=schedule, **others)


def test_a_clear_verdict_is_drawn_and_names_how_much():
    network = asked.of_preset("mam-benchmark", options=list(OPTIONS))
    costly = Machine("costly").with_(price__node_hour=900)
    made = compare(network, [Machine(), costly], target=0.5)
    found = decisions.verdict(made.candidates, "cost_eur")
    assert found.best.name == "made-up" and 1 < found.times < 450
    assert "made-up costs the least" in compare_show.sentence(made)
    assert decisions.verdict(made.candidates, "energy_j").best is None  # the same power


def test_the_verdict_on_cost_is_that_over_the_life_as_on_the_page(network):
    """The quick machine costs less in each simulated hour, and more over its life: it idles no less."""
    slow = Machine("slow").with_(price__node_hour=2, power__core=40)
    quick = {p: v.value / 8 for p, v in slow.values.items() if p.startswith("kernels.")}
    quick = Machine("quick").with_(
        **{path.replace(".", "__"): value for path, value in quick.items()}, price__node_hour=2.6
    )
    for life, name, least in (
        (None, "life_nodes", "slow"), (Life(price_kwh=0.1), "life_cost", "slow"),
        (Life(price_kwh=50.0), "life_cost", "quick"),
    ):  # fmt: skip
        made = compare(network, [slow, quick], target=100.0, life=life)
        assert decisions.verdict(made.candidates, "cost_eur").best.name == "quick"
        found = decisions.verdict(made.candidates, name)
        said, content = compare_show.sentence(made), compare_show.content(made)
        assert found.best.name == least and said.startswith(f"{least} costs the least over its life")
        assert ("without energy" in said) == (name == "life_nodes")
        costs = {m["name"]: m["life"][name]["interval"] for m in content["machines"]}
        other = "quick" if least == "slow" else "slow"
        times = costs[other][0] / costs[least][1]
        assert 1 < found.times <= times * 1.001 and content["verdicts"][name]["least"] == least
        shown = compare_show.table(made).content()["rows"]
        assert all(row[name] for row in shown) and said.split(",")[0] in machines_page.render(made)
    no_power = compare(network, [slow, quick.with_(power__idle=None)], target=100.0, life=life)
    found = decisions.verdict(no_power.candidates, "life_cost")
    assert found.best is None and found.rests_on == [("quick", "power.idle")]


def test_a_value_that_turns_the_order_is_named():
    """Which of two machines is better rests on an assumed value: no winner, and the value is named."""
    network = asked.of_preset("mam-benchmark", options=list(OPTIONS))
    guessed = Machine("guessed").with_(kernels__full_node__t_next=Value(1.8, "ns", "assumed"))
    made = compare(network, [Machine(), guessed], target=0.5)
    found = decisions.verdict(made.candidates, "energy_j")
    assert found.best is None and ("guessed", "kernels.full_node.t_next") in found.rests_on
    said = compare_show.sentence(made)
    assert "No verdict on" in said and len(said.split()) <= 30
    assert any("kernels.full_node.t_next" in line for line in compare_show.lines(made))


def guessed(name: str, path: str = "kernels__full_node__t_next") -> Machine:
    """A machine of which one value is assumed."""
    known = Machine().get(path.replace("__", "."))
    return Machine(name).with_(**{path: replace(known, kind="assumed", interval=(0, 4 * known.value))})


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ([Machine("two")], "the unmeasured speed of one"),
        ([guessed("two")], "the unmeasured speed of one and two"),
        ([guessed("two", "power__core")], "the unmeasured speed of one and the unknown power of two"),
        ([guessed("two"), guessed("three")], "the unmeasured speed of one, two and three"),
    ],
)
def test_the_first_sentence_names_every_machine_whose_unknowns_decide(network, others, said):
    made = compare(network, [guessed("one"), *others], target=0.5)
    found = decisions.verdict(made.candidates, "energy_j")
    assert {machine for machine, _ in found.rests_on} == set(re.findall("one|two|three", said))
    words = decisions.rests(made.candidates, found, compare_show.name_of)
    assert sorted(re.findall(r"\w+", words)) == sorted(re.findall(r"\w+", f"it rests on {said}"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (4, "the intervals overlap; the unmeasured time per synapse of one that that that decides most."),
        (12, "the unmeasured time per synapse of one that"),
        (25, "rests on unknown values of both machines"),
    ],
)
def test_the_first_sentence_is_short_for_long_names_too(network, words, said):
    free = [guessed(name).with_(price__node_hour=None) for name in ("one", "two")]
    made = compare(network, free, target=0.5)
    found = compare_show.sentence(made, lambda c: " ".join([c.name, *["that"] * (words - 1)]))
    assert said in found and len(found.split()) <= 30 and len(found) <= 200


def test_what_is_unknown_never_wins():
    network = asked.of_preset("mam-benchmark", options=list(OPTIONS))
    cheap = Machine("cheap").with_(price__node_hour=0.001, power__core=0.01, power__idle=0.1)
    assert (
        decisions.verdict(compare(network, [Machine(), cheap], 0.5).candidates, "cost_eur").best.name
        == "cheap"
    )
    for path, name in (
        ("price__node_hour", "cost_eur"),
        ("power__idle", "energy_j"),
        ("node__memory", "cost_eur"),
    ):
        less = cheap.with_(**{path: None})
        made = compare(network, [Machine(), less], 0.5)
        found = decisions.verdict(made.candidates, name)
        assert found.best is None and ("cheap", path.replace("__", ".")) in found.rests_on
        lacking = decisions.lacking(made.candidates, compare_show.name_of)
        assert any(path.replace("__", ".") in line and "cheap" in line for line in lacking)
    assert made.candidates[1].certainty == "likely"  # never sure without its memory
    assert (
        "whether the network fits into memory is not known on cheap: ask the vendor for memory of a"
        in " ".join(compare_show.lines(made))
    )


def test_no_verdict_rests_on_a_cost_without_an_upper_end(network):
    """A machine that is likely to reach the target, but sure to on no number of nodes."""
    path = "kernels.full_node.update.ignore_and_fire"
    usual = Machine().values[path].value
    cheap = Machine("cheap").with_(price__node_hour=0.001)
    steady = compare(network, [cheap], 1.0).candidates[0]
    target = 1.2 * min(p.figures["real_time_factor"].high for p in steady.tried)
    for most, best in ((1.1 * usual, "cheap"), (5 * usual, None)):
        assumed = Value(usual, "ns", kind="assumed", interval=(0.8 * usual, most))
        made = compare(network, [Machine(), cheap.with_(**{path.replace(".", "__"): assumed})], target)
        c = made.candidates[1]
        assert c.certainty == ("sure" if best else "likely")
        for name in ("cost_eur", "life_nodes"):
            found = decisions.verdict(made.candidates, name)
            assert (found.best and found.best.name) == best
            if best is None:
                assert "no upper end" in found.why and found.rests_on[0] == ("cheap", path)
        said = " ".join([compare_show.sentence(made), *compare_show.verdict(made)])
        assert ("cheap costs the least" in said) == (best is not None)
        if best is None:
            assert f"no upper end; it rests on {named(path)} of cheap" in said
            content = compare_show.content(made)["verdicts"]["life_nodes"]
            assert content["least"] is None and {"machine": "cheap", "path": path} in content["rests_on"]


def test_the_answer_is_one_short_sentence_for_every_pair_of_machines(network):
    """At most thirty words, titles of machines, and no path of a profile."""
    guessed = Machine("guessed").with_(kernels__full_node__t_next=Value(1.8, "ns", "assumed"))
    costly = Machine("costly").with_(price__node_hour=900)
    titles = {name: machines.load(name).title for name in machines.names()}
    for other in (guessed, costly, Machine("less").with_(power__idle=None, price__node_hour=None)):
        for target in (1e-6, 0.1, 0.2, 100.0):
            made = compare(network, [Machine(), other], target)
            for pair in permutations(titles.values(), 2):
                titled = [replace(c, title=t) for c, t in zip(made.candidates, pair, strict=True)]
                shown = replace(made, candidates=titled)
                named = machines_page.labels(shown)
                said = compare_show.sentence(shown, lambda c, named=named: named[c.name])
                assert len(said.split()) <= 30 and "_" not in said and "`" not in said, said
                assert len(said) <= 200, said
                assert len(set(named.values())) == 2


def test_labels_of_machines_are_their_own(network):
    made = compare(network, [Machine("a"), Machine("b"), Machine("c")], target=0.5)
    titles = ("One: fast", "One: slow", "Two: fast")
    shown = replace(
        made, candidates=[replace(c, title=t) for c, t in zip(made.candidates, titles, strict=True)]
    )
    assert machines_page.labels(shown) == {"a": "One: fast", "b": "One: slow", "c": "Two"}
    same = replace(made, candidates=[replace(c, title="One") for c in made.candidates])
    assert machines_page.labels(same) == {n: f"One ({n})" for n in "abc"}


@pytest.mark.parametrize(
    "titles",
    [
        ["Offer B: 2 x 48 cores, NDR InfiniBand"] * 2,
        ["A vendor with a name that takes many words: 96 cores, NDR", "Another: 64 cores"],
        [f"Offer of the vendor, 2 x 48 cores: memory of {n} GB, NDR" for n in (256, 512)],
    ],
)
def test_no_drawing_cuts_what_tells_machines_apart(network, titles):
    names = ("ndr", "ndr-net")
    made = compare(network, [Machine(name) for name in names], target=0.5)
    found = [replace(c, title=t) for c, t in zip(made.candidates, titles, strict=True)]
    shown = replace(made, candidates=found)
    labels = machines_page.labels(shown).values()
    cut = {shorten(label, machines_drawing.WIDE, placeholder=" …") for label in labels}
    assert len(cut) == 2 and cut == set(labels)
    page = machines_page.render(shown)
    assert all(label in page for label in labels)
    if len(set(titles)) == 1:
        assert set(labels) == {f"Offer B ({name})" for name in names}


def test_the_verdict_says_what_intervals_do_not_hold(large):
    alone = compare(large, [Machine()], target=100.0)
    several = compare(large, [Machine()], target=1e-6)
    assert compare_show.BEYOND not in compare_show.verdict(alone)
    assert compare_show.BEYOND in compare_show.verdict(several)
    assert simulators.MINE in compare_show.verdict(alone)


def test_the_verdict_is_made_of_the_numbers(network):
    made = compare(network, [Machine(), dear()], target=0.5)
    words = " ".join(compare_show.verdict(made))
    for c in made.candidates:
        assert c.name in words and f"{c.needed.nodes} node" in words
    assert "energy" in words and "cost" in words


def test_ranks_are_named_where_a_node_has_several(network):
    one, four = (compare(network, [Machine()], target=0.2, ranks_per_node=n) for n in (1, 4))
    found = four.candidates[0].needed
    assert found.ranks == 4 * found.nodes
    assert f"{found.nodes} ({found.ranks} ranks)" in compare_show.table(four).cells[0]
    assert f" ({found.ranks} ranks, " in " ".join(compare_show.verdict(four))
    assert f"{found.nodes} ({found.ranks} ranks)" in machines_page.render(four)
    assert "ranks" not in " ".join(compare_show.table(one).cells[0])
    assert " ranks, " not in " ".join(compare_show.verdict(one))


def test_machines_without_the_memory_are_out(network):
    small = Machine("small").with_(node__memory=1e-4)
    made = compare(network, [Machine(), small], target=0.5)
    assert made.candidates[1].usable == []
    assert any("small has too little memory" in line for line in compare_show.verdict(made))
    assert compare_show.content(made)["machines"][1]["chosen"] is None
