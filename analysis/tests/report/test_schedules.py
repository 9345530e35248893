"""Whatever schedules were swept: all stand in the figures, and what differs besides is named beside them."""

from itertools import combinations

import pytest
from planned import run, write_experiment
from synthetic import describe, level, overlap

from spikemark.network.schedules import SCHEDULES
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report import first_screen
from spikemark.report.cautions import cautions
from spikemark.report.headline import MOST_WORDS, headline
from spikemark.report.sections import access, budget, cycle_times, phases, speed, waiting

SUBSETS = [names for n in range(1, len(SCHEDULES) + 1) for names in combinations(SCHEDULES, n)]
D = 10
MEAN_S = {name: 40e-6 - 5e-6 * i for i, name in enumerate(SCHEDULES)}


def folder(path, schedules, seeds=(1, 2, 3), ranks=2, cycles=200, **options):
    """Results of an experiment over `schedules`; runs that overlap have the exchange that they need."""
    runs = []
    for seed in seeds:
        for name in schedules:
            network = describe(areas=2, neurons=100, indegree=20, delay_ratio=D)
            network["exchange"] = "ialltoallv" if SCHEDULES[name].lagged else "alltoallv"
            ratio = D if SCHEDULES[name].uses_delay_ratio else 1
            given = {"description": network, "cycles": cycles, "mean_s": MEAN_S[name], "cv": 0.05}
            runs.append(run(name, ratio, ranks, seed, **(given | options)))
    found = write_experiment(path, runs)
    made = {"overlapped": overlap, "hierarchical": level}
    for record in (found / "runs").glob("*/record.json"):
        for name in made:
            if f'"schedule": "{name}"' in record.read_text():
                made[name](record.parent)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("schedules", SUBSETS, ids="+".join)
def test_every_schedule_stands_in_every_figure(tmp_path, schedules, request):
    if len(schedules) < len(SCHEDULES):
        request.getfixturevalue("undrawn")
    results = folder(tmp_path, schedules)
    view = look(gather(results))
    labels = {c.label for c in view.case.configurations()}
    assert {c.schedule for c in view.case.configurations()} == set(schedules)
    tables = [first_screen.picture(view).table, first_screen.table(view)]
    sections = [phases, speed, waiting, cycle_times]
    if {"conventional", "placement_only", "structure_aware"} & set(schedules):
        sections.append(budget)
    for section in sections:
        tables += [figure.table for figure in section.section(view).figures if figure.id != "speed-bound"]
    tables.append(next(f for f in access.section(view).figures if f.id == "access-figure").table)
    for table in tables:
        assert {row["schedule"] for row in table.rows} == labels, table.heads


@pytest.mark.parametrize("schedules", SUBSETS, ids="+".join)
def test_the_headline_compares_what_was_swept(tmp_path, schedules):
    view = look(gather(folder(tmp_path, schedules, cycles=200)))
    found = headline(view)
    assert len(found.sentence.split()) <= MOST_WORDS
    if len(schedules) == 1:
        assert found.verdict == "none" and "compares no schedules" in found.sentence
        return
    assert view.base.schedule == schedules[0]  # the conventional one, or else the first of the registry
    assert view.other.schedule in schedules[1:] and view.candidates == len(schedules) - 1
    speeds = {c.schedule: view.speed_up(c).value for c in view.case.configurations() if c != view.base}
    assert speeds[view.other.schedule] == max(speeds.values())
    for configuration in (view.base, view.other):
        assert SCHEDULES[configuration.schedule].label in found.sentence


def test_what_differs_besides_the_schedule_is_named(tmp_path):
    view = look(gather(folder(tmp_path, ("conventional", "overlapped", "hierarchical"), cycles=100)))
    labels = [c.label.replace("\u00a0", " ") for c in view.case.configurations()]
    assert labels == [
        "conventional, exchange alltoallv",
        "overlapped, D = 10, exchange ialltoallv",
        "hierarchical, D = 10, exchange alltoallv",
    ]
    alike = look(gather(folder(tmp_path / "alike", ("conventional", "structure_aware"), cycles=100)))
    assert [c.besides for c in alike.case.configurations()] == [[], []]


def test_a_placement_that_is_not_the_schedule_s_own_is_named(tmp_path):
    runs = [
        run("conventional", 1, seed=s, placement=p, cycles=100)
        for s in (1, 2, 3)
        for p in ("area", "round_robin")
    ]
    view = look(gather(write_experiment(tmp_path, runs)))
    assert sorted(c.label for c in view.case.configurations()) == [
        "conventional",
        "conventional, placement area",
    ]
    assert "placement" in headline(view).sentence


def test_exchanges_of_one_schedule_are_compared_and_named(tmp_path):
    runs = []
    for seed in (1, 2, 3):
        for exchange, mean_s in (("alltoallv", 40e-6), ("neighbor", 20e-6)):
            network = describe(areas=2, neurons=100, indegree=20, delay_ratio=D) | {"exchange": exchange}
            given = {"description": network, "mean_s": mean_s, "cv": 0.01, "cycles": 100}
            runs.append(run("conventional", 1, 2, seed, **given, fields={"exchange": exchange}))
    found = headline(look(gather(write_experiment(tmp_path, runs))))
    assert "conventional with exchange neighbor ran" in found.sentence
    assert "as conventional with exchange alltoallv" in found.sentence


def test_schedules_that_cannot_stand_beside_the_others_are_named_in_the_cautions(tmp_path):
    runs = [run(s, d, 2, 1, cycles=100) for s, d in (("conventional", 1), ("structure_aware", D))]
    runs.append(run("hierarchical", D, 2, 1, cycles=100, threads=2))
    view = look(gather(write_experiment(tmp_path, runs)))
    words = " ".join(cautions(view))
    assert "with them, the schedules hierarchical are in no figure" in words


def test_the_intervals_of_several_candidates_hold_together(tmp_path):
    """The fastest is chosen with the results known, so its interval is wider than that of one comparison."""
    two = look(gather(folder(tmp_path / "two", ("conventional", "hierarchical"), cycles=200, cv=0.3)))
    all_ = look(gather(folder(tmp_path / "all", tuple(SCHEDULES), cycles=200, cv=0.3)))
    alone = two.speed_up(two.other)
    same = next(c for c in all_.case.configurations() if c.schedule == "hierarchical")
    among = all_.speed_up(same)
    assert among.value == pytest.approx(alone.value)
    assert among.low < alone.low and among.high > alone.high
