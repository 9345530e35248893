"""Growth of cost: which runs make a doubling, the factors, what the page says of them, and what it hides."""

import pytest
from html_page import page
from planned import run, view_of
from printed import lines
from small_network import describe

from spikemark.quantities.words import NARROW
from spikemark.report.cautions import cautions
from spikemark.report.sections import growth
from spikemark.report.sections.growth import MARK
from spikemark.report.sections.growth.doublings import COSTS, doublings

CROWDED = "oversubscribed: 4 ranks x 1 threads on 2 cores of a node; times are no evidence of speed"
PHASES = ("deliver", "update", "collocate", "synchronise", "exchange")


def timed(seconds, noise=1.0, **phases) -> dict:
    """Overrides of a record: every phase, and building, takes `seconds` or what `phases` says."""
    found = {f"timing__phases__{p}__mean_s": phases.get(p, seconds) * noise for p in PHASES}
    return {**found, "timing__build_s": phases.get("build", seconds) * noise}


def member(neurons=100, indegree=20, ranks=2, threads=1, repetition=1, **options) -> dict:
    network = describe(areas=2, neurons=neurons, indegree=indegree, delay_ratio=10)
    fields = {"preset.neurons_per_area": neurons, "preset.indegree": indegree}
    options = {"cycles": 100, "description": network, "threads": threads, **options}
    return run("conventional", 1, ranks, repetition=repetition, fields=fields, **options)


def repeated(noises=(0.99, 1.0, 1.01), seconds=1e-3, slower=None, **options) -> list[dict]:
    return [
        member(repetition=i, **timed(seconds, noise, **(slower or {})), **options)
        for i, noise in enumerate(noises, 1)
    ]


def found_in(folder, runs):
    return doublings(view_of(folder, runs).sweep.runs)


def rows(section, caption) -> list[dict]:
    return lines(next(table for table in section.tables if caption in table.title))


def test_each_quantity_is_found_by_itself(tmp_path):
    runs = [
        member(),
        member(neurons=200),
        member(indegree=40),
        member(ranks=4),
        member(threads=2),
        member(neurons=400, indegree=80),  # two doublings of two quantities away from anything
        member(neurons=300),
    ]
    assert [(d.quantity, d.label) for d in found_in(tmp_path, runs)] == [
        ("neurons", "neurons 200 → 400"),
        ("in-degree", "in-degree 20 → 40"),
        ("ranks", "ranks 2 → 4"),
        ("threads", "threads 1 → 2"),
    ]


def test_random_in_degrees_are_doubled_in_their_mean(tmp_path):
    runs = [member(), member(indegree=40)]
    for one in runs:
        for projection in one["description"]["network"]["projections"]:
            projection["indegree"] = {"mean": float(projection["indegree"]), "distribution": "poisson"}
    assert [d.quantity for d in found_in(tmp_path, runs)] == ["in-degree"]


@pytest.mark.parametrize(
    "other",
    [
        member(neurons=200, indegree=40),
        member(neurons=200, ranks=4),
        member(neurons=200, cycles=200),
        {**member(neurons=200), "schedule": "structure_aware"},
        member(ranks=6),
    ],
)
def test_runs_that_differ_in_more_or_less_are_no_doubling(tmp_path, other):
    assert found_in(tmp_path, [member(), other]) == []


def test_without_doublings_the_page_says_how_to_get_them(tmp_path):
    section = growth.section(view_of(tmp_path, [member()]))
    assert section.tables == [] and "spikemark sweep growth" in section.missing[0]


def test_costs_are_core_times_per_work(tmp_path):
    (small,) = view_of(tmp_path, [member(threads=2, **timed(2e-3))]).sweep.runs
    record, cores = small.run.record, 4
    totals = record.totals
    values = {cost.name: cost.value(small) for cost in COSTS}
    assert values["build"] == pytest.approx(2e-3 * cores / totals.synapses)
    assert values["deliver"] == pytest.approx(2e-3 * cores / totals.synaptic_events)
    assert values["update"] == pytest.approx(2e-3 * cores / (totals.neurons * 100))  # a cycle is one step
    assert values["collocate"] == pytest.approx(2e-3 * cores / totals.spikes)
    assert values["exchange"] == pytest.approx(2e-3 / 100)  # wall-clock time, one window per cycle
    exchange = next(cost for cost in COSTS if cost.name == "exchange")
    assert exchange.judged(small) == pytest.approx(2e-3 / (totals.bytes_sent / 2))


def test_what_grows_like_its_work_is_not_named_and_what_grows_by_more_is(tmp_path):
    small = repeated()
    pair = view_of(tmp_path / "counts", [member(), member(neurons=200)]).sweep.runs
    before, after = (m.run.record.totals for m in pair)
    ratio = after.synaptic_events / before.synaptic_events
    slower = {"deliver": 1.5e-3 * ratio, "update": 1.9e-3, "build": 1.9e-3}
    large = repeated(neurons=200, seconds=1e-4, slower=slower)
    section = growth.section(view_of(tmp_path, small + large))
    (box,) = section.boxes
    assert box.tone == "plain" and box.text.startswith("Neurons doubled.")
    assert box.text.endswith("Times that grew more than the work: deliver per synaptic event ×1.50 (1 of 1).")
    (times,) = rows(section, "time")
    assert times["deliver / synaptic event"].startswith("1.50 (")
    assert times["deliver / synaptic event"].endswith(f"){NARROW}{MARK}")
    assert times["build / synapse"].startswith("0.950")
    assert times["pairs"] == "3"
    assert sum(MARK in text for text in times.values()) == 1
    (counts,) = rows(section, "memory")
    assert (counts["neurons"], counts["synapses"], counts["memory: ring"]) == ("2.00", "2.00", "2.00")
    assert [line for line in section.text if line.startswith("Neurons doubled, in-degree fixed")]
    assert not [line for line in section.text if line.startswith("Ranks doubled")]


def test_noise_hides_a_small_growth(tmp_path):
    noisy = repeated((0.5, 1.0, 2.0)) + repeated((1.1, 0.6, 2.5), ranks=4)
    (box,) = growth.section(view_of(tmp_path, noisy)).boxes
    assert (
        "Times that grew more than the work: none; for" in box.text and "repetitions cannot tell" in box.text
    )


def test_one_pair_has_factors_but_proves_nothing(tmp_path):
    runs = repeated((1.0,)) + repeated((9.0,), threads=2)
    section = growth.section(view_of(tmp_path, runs))
    (times,) = rows(section, "time")
    assert "(" not in times["deliver / synaptic event"] and MARK not in "".join(times.values())
    assert "Times that grew more than the work: none" in section.boxes[0].text


def test_ranks_spread_the_synapses_over_more_lists(tmp_path):
    section = growth.section(view_of(tmp_path, repeated() + repeated(ranks=4, seconds=1e-6)))
    (counts,) = rows(section, "memory")
    assert counts["synapses"] == "1.00" and float(counts["memory: lists"]) > 1.5
    assert "memory for lists per synapse ×" in section.boxes[0].text
    assert "first accesses per synaptic event ×" in section.boxes[0].text
    assert "memory for log" not in section.boxes[0].text and "memory: log" not in counts


def test_one_rank_exchanges_nothing(tmp_path):
    section = growth.section(view_of(tmp_path, repeated(ranks=1) + repeated(ranks=2)))
    (times,) = rows(section, "time")
    assert times["exchange / window"] == "missing"
    assert rows(section, "memory")[0]["bytes / window"] == "from none"


def test_more_ranks_than_cores_give_counts_and_no_times(tmp_path, undrawn):
    runs = repeated() + repeated(ranks=4, warnings=[CROWDED])
    section = growth.section(view_of(tmp_path, runs))
    assert [table.title for table in section.tables] == ["Factors of work and memory"]
    assert section.missing == ["Times of ranks 2 → 4 are not shown: more ranks × threads than cores."]
    assert "Times that grew more than the work" not in section.boxes[0].text
    words = page(tmp_path / "page", runs).text
    assert "not in the figures: 3 runs with more ranks × threads than cores" in words


def test_the_other_figures_leave_oversubscribed_runs_out_unless_there_are_no_others(tmp_path):
    crowded = repeated(ranks=4, warnings=[CROWDED])
    mixed = view_of(tmp_path / "mixed", repeated() + crowded)
    assert (mixed.ranks, mixed.crowded, mixed.left_out) == (2, 3, [])
    alone = view_of(tmp_path / "alone", crowded)
    assert (alone.ranks, alone.crowded, alone.left_out) == (4, 0, [])


def test_load_by_others_is_said(tmp_path):
    runs = repeated() + repeated(threads=2, warnings=["foreign load: other processes kept 1.75 cores busy"])
    assert any("1.75 cores" in line for line in cautions(view_of(tmp_path, runs)))


def test_several_networks_on_one_page(tmp_path, undrawn):
    words = page(tmp_path, repeated() + repeated(neurons=200) + repeated(indegree=40)).text
    assert "neurons 200 → 400" in words and "in-degree 20 → 40" in words
    assert "Factors of work and memory" in words and "Factors of time per unit of work" in words
