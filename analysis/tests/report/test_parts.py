"""The small parts of the page: merged warnings, groups of runs, drawings."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from planned import grid, run, view_of, write_experiment
from scipy import stats

from spikemark.records.cases import ratio, split
from spikemark.records.gather import Configuration, gather
from spikemark.report import style
from spikemark.report.merging import merged
from spikemark.report.sections import access, autocorrelation, cycle_times
from spikemark.report.sections.access import Share
from spikemark.report.sections.cycle_times.distributions import Distribution


def test_warnings_that_differ_in_numbers_become_one_with_their_range():
    runs = [
        ["load: 0.97 cores of 2", "virtual"],
        ["load: 10.5 cores of 2", "virtual"],
        ["{odd} 3", "virtual", "virtual"],
    ]
    assert merged(runs) == [("virtual", 3), ("load: 0.97–10.5 cores of 2", 2), ("(odd) 3", 1)]
    assert merged([]) == []


def test_runs_are_grouped_by_what_must_not_differ(tmp_path):
    runs = [
        *grid(ranks=(1, 2), ratios=(10,), seeds=(1, 2), cycles=50),
        run("conventional", 1, seed=1, threads=2, cycles=50),
        run("conventional", 1, seed=1, cycles=50, fields={"preset.neurons_per_area": 7}),
        run("structure_aware", 10, seed=1, cycles=50, fields={"preset.delay_ratio": 10}),
    ]
    sizes = sorted(len(case.runs) for case in split(gather(write_experiment(tmp_path, runs)).runs))
    assert sizes == [1, 1, 13]


def test_interval_of_the_ratio_is_the_t_interval_of_the_logarithms(tmp_path):
    view = view_of(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1, 2, 3, 4), cycles=100))
    chosen = {c.schedule: c for c in view.case.configurations()}
    plain, aware = (view.case.of(chosen[name], 2) for name in ("conventional", "structure_aware"))
    found = ratio(plain, aware, lambda m: m.real_time_factor)
    logs = np.log([m.real_time_factor for m in plain]) - np.log([m.real_time_factor for m in aware])
    low, high = stats.t.interval(0.95, len(logs) - 1, logs.mean(), stats.sem(logs))
    assert (found.low, found.value, found.high) == pytest.approx(np.exp([low, logs.mean(), high]))


def test_drawings_keep_text_as_text_and_share_no_ids():
    def draw(name):
        with style.drawing() as (figure, (axes,)):
            axes.plot([1, 2], [3, 4], color=style.COLOUR["deliver"], label="rising")
            axes.set_xlabel("time (s)")
            return ET.fromstring(style.markup(figure, name, "a line that rises"))

    one, two = draw("one"), draw("two")
    ids = [{e.get("id") for e in root.iter() if e.get("id")} for root in (one, two)]
    assert ids[0] and not ids[0] & ids[1]
    assert "time (s)" in "".join(one.itertext())
    assert one.get("aria-label") == "a line that rises" and one.get("role") == "img"
    text = ET.tostring(one, encoding="unicode")
    assert "var(--deliver)" in text and "font-family" not in text and "DejaVu" not in text


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([0.001, -0.001], -0.03, 0.03), ([0.04, 0.01], -0.03, 0.06), ([0.999, -0.4], -0.6, 1.0)],
)
def test_the_axis_of_an_autocorrelation_fits_it(values, low, high):
    bottom, top = autocorrelation.limits([np.array(values)], noise=0.02)
    assert low <= bottom < min(-0.02, *values) and max(0.02, *values) < top <= high


def test_small_shares_are_drawn_per_thousand(tmp_path):
    def axis(count):
        share = Share(Configuration("conventional", "area", 1, "self"), 2, [count], [count], [], [1.0])
        return "".join(ET.fromstring(access.drawing.draw([share], "name", "words")).itertext())

    assert "per 1000 synaptic events" in axis(0.004) and "0.00" not in axis(0.004)
    assert "per synaptic event" in axis(0.4)


def test_the_legend_names_no_schedule_by_colour():
    times = np.geomspace(1e-6, 9e-6, 40).reshape(2, 20)
    shown = [
        Distribution(s, s, 1, 1, 1, times, times.max(axis=0), (1e-6, 9e-6), 0.9)
        for s in ("conventional", "structure_aware")
    ]
    svg = cycle_times.drawing.draw(shown, (1e-6, 9e-6), True, "name", "words")
    assert svg.count("all ranks") == 1 and "_nolegend_" not in svg
    before = svg[: svg.index("all ranks")]
    after_panels = before[before.rindex("structure_aware") :]
    assert "var(--conventional)" in after_panels and "var(--structure-aware)" in after_panels


def test_unknown_phases_and_schedules_have_colours():
    phases = ["update", "overlap-wait", "idle"]
    colours = [style.phase_colour(name, phases) for name in phases]
    assert len(set(colours)) == 3
    assert style.schedule_colour("overlapped") != style.schedule_colour("conventional")
