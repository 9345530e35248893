"""The section on speed: rates, costs, memory, scaling, and delivery against its bound."""

import re

import numpy as np
import pytest
from benched import write_kernels
from planned import grid, run, write_experiment
from printed import heads, kinds, lines
from synthetic import describe

from spikemark.bench import kernel_bench, kernels
from spikemark.quantities.words import number
from spikemark.records import record
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report import build
from spikemark.report.sections import SECTIONS, phases, speed
from spikemark.report.sections.speed.setups import REST, by_where, gains, prepare

pytestmark = pytest.mark.slow
FEW = {"ranks": (1, 2), "ratios": (10,), "seeds": (1, 2), "cycles": 100}


def threaded(**options) -> list[dict]:
    """Both schedules on 1 × 1, 1 × 2 and 2 × 1 ranks × threads."""
    one = grid(**FEW, **options)
    two = [dict(m, threads=2, label=m["label"] + " threads=2") for m in one if m["ranks"] == 1]
    return one + two


def section(experiment):
    return speed.section(look(gather(experiment)))


def figures(experiment) -> dict:
    return {figure.id: figure for figure in section(experiment).figures}


def setups(experiment) -> list:
    return prepare(look(gather(experiment)))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    experiment = write_experiment(tmp_path_factory.mktemp("whole"), threaded())
    write_kernels(experiment)
    return experiment


def test_follows_where_the_time_goes():
    assert SECTIONS.index(speed.section) == SECTIONS.index(phases.section) + 1


def test_all_threads_and_ranks_of_the_network_are_there_and_no_other_network(tmp_path):
    other = dict(run("conventional", 1, 1, seed=1, cycles=100), fields={"preset.indegree": 7})
    found = setups(write_experiment(tmp_path, [*threaded(), other]))
    assert list(by_where(found)) == ["1 rank × 1 thread", "1 rank × 2 threads", "2 ranks × 1 thread"]
    assert [(s.configuration.schedule, len(s.runs)) for s in found] == [
        ("conventional", 2),
        ("placement_only", 2),
        ("structure_aware", 2),
    ] * 3


def test_rates_and_costs_follow_from_the_records(whole):
    for setup in setups(whole):
        for i, m in enumerate(setup.runs):
            r = record.load(m.run.path).record
            cores, events = r.ranks * r.threads, r.totals.synaptic_events
            deliver, update = (r.timing.phases[name].mean_s for name in ("deliver", "update"))
            assert setup.delivery[i] == pytest.approx(events / (deliver * cores))
            assert setup.whole[i] == pytest.approx(events / (r.timing.simulate_s * cores))
            assert setup.deliver_s[i] * setup.delivery[i] == pytest.approx(1)
            steps = r.timing.cycles  # a cycle is one step in these networks
            assert setup.update_s[i] == pytest.approx(update * cores / (r.totals.neurons * steps))
        counts = [m.run.record.totals for m in setup.runs]
        assert setup.length == pytest.approx(
            sum(t.synaptic_events for t in counts) / sum(t.first_accesses for t in counts)
        )


def test_several_steps_in_a_cycle(tmp_path):
    description = describe(delay_ratio=10)
    description["time"]["cycle_ms"] = 0.5
    options = {"delay_ratio": 1, "ranks": 1, "seed": 1, "cycles": 100}
    for name, more in (("one", {}), ("five", {"description": description})):
        write_experiment(tmp_path / name, [run("conventional", **options, **more)])
    one, five = (setups(tmp_path / name / "demo" / "here")[0] for name in ("one", "five"))
    assert one.update_s[0] == pytest.approx(5 * five.update_s[0])  # the same time for five times the steps


def test_numbers_of_the_page_are_those_of_the_records(whole):
    found = setups(whole)
    rates = lines(figures(whole)["speed-rates"].table)
    costs = lines(section(whole).tables[0])
    assert len(rates) == len(costs) == len(found)
    for setup, rate, cost in zip(found, rates, costs, strict=True):
        assert rate["ranks × threads"] == cost["ranks × threads"] == f"{setup.ranks} × {setup.threads}"
        assert rate["delivery alone (10⁶/s/core)"] == number(np.mean(setup.delivery) / 1e6)
        assert rate["whole run (10⁶/s/core)"] == number(np.mean(setup.whole) / 1e6)
        assert cost["update (ns / neuron / step)"] == number(1e9 * np.mean(setup.update_s))
        assert cost["mean list length"] == number(setup.length)
        overhead = np.mean([m.run.record.timing.timer_overhead for m in setup.runs])
        assert cost["clock reading, share of the run"] == f"{100 * overhead:.1f}\u202f%"
    assert build(gather(whole), whole / "report.html")
    words = re.sub(r"\s+", " ", (whole / "report.html").read_text())
    assert all(row["delivery alone (10⁶/s/core)"] in words for row in rates)


def test_memory_adds_up_to_the_peak(whole):
    for setup in setups(whole):
        memory = [m.run.record.memory for m in setup.runs]
        assert set(setup.memory) == {*memory[0].parts, REST}
        assert sum(setup.memory.values()) == pytest.approx(np.mean([m.bytes_per_synapse for m in memory]))
        assert setup.memory["synapses"] == pytest.approx(8)
    table = figures(whole)["speed-memory"].table
    assert kinds(table)[2:] == ["counted"] * (len(table.columns) - 3) + ["measured"]


@pytest.mark.parametrize(
    ("peak", "words"), [(None, "missing: peak unknown"), (1000, "missing: the peak is below the parts")]
)
def test_memory_that_is_not_known_is_not_made_up(tmp_path, peak, words):
    changed = {"memory__peak_bytes": peak, "memory__bytes_per_synapse": None}
    experiment = write_experiment(tmp_path, grid(**FEW, **changed))
    assert {s.memory[REST] for s in setups(experiment)} == {None}
    figure = figures(experiment)["speed-memory"]
    assert {row[-1] for row in figure.table.cells} == {words} and words in figure.alt


def test_parts_this_version_does_not_know_are_shown(tmp_path):
    parts = {"synapses": 80_000, "plasticity": 40_000, "axons": 8_000}
    figure = figures(write_experiment(tmp_path, grid(**FEW, memory__parts=parts)))["speed-memory"]
    assert "plasticity (B)" in heads(figure.table)
    assert len(set(re.findall(r"var\(--other-\d\)", figure.svg))) >= 2


def test_speed_up_is_the_ratio_of_times_over_networks(tmp_path):
    runs = threaded()
    for m in runs:  # a rank more: 1.6 times as fast, a thread more: 1.25 times; the record says how it ran
        seconds = m["seed"] / (1.6 if m["ranks"] == 2 else 1.25 if m.get("threads") == 2 else 1)
        m.update(timing__simulate_s=seconds, timing__real_time_factor=seconds / 0.01)
    experiment = write_experiment(tmp_path, runs)
    found = gains(setups(experiment))
    assert len(found) == 3
    for group in found.values():
        assert [g.setup.where for g in group] == ["1 rank × 2 threads", "2 ranks × 1 thread"]
        assert [g.ratio.value for g in group] == pytest.approx([1.25, 1.6])
        assert {(g.base.where, g.ideal, len(g.ratio.pairs)) for g in group} == {("1 rank × 1 thread", 2, 2)}
    rows = lines(figures(experiment)["speed-scaling"].table)
    assert [(row["speed-up"], row["of proportional"]) for row in rows] == [
        ("1.25", "62\u202f%"),
        ("1.60", "80\u202f%"),
    ] * 3


@pytest.mark.parametrize(
    ("runs", "words"),
    [
        (grid(**{**FEW, "ranks": (2,)}), "Scaling: all runs have 2 ranks × 1 thread."),
        (
            [run("conventional", 1, 1, cycles=100), run("conventional", 1, 2, seed=2, cycles=100)],
            "no configuration was run on one network",
        ),
        (
            [run("conventional", 1, 1, cycles=100), run("structure_aware", 10, 2, cycles=100)],
            "no configuration was run on one network",
        ),
    ],
)
def test_no_scaling_without_something_to_compare(tmp_path, runs, words):
    experiment = write_experiment(tmp_path, runs)
    assert "speed-scaling" not in figures(experiment)
    assert any(words in line for line in section(experiment).missing)


def test_one_pair_has_no_interval(tmp_path):
    runs = [run("conventional", 1, ranks, cycles=100) for ranks in (1, 2)]
    figure = figures(write_experiment(tmp_path, runs))["speed-scaling"]
    assert "interval" not in figure.caption and figure.table.cells[0][5] == "missing: one pair"


def test_delivery_is_set_against_the_bound_at_its_own_list_length(whole):
    costs = lines(section(whole).tables[0])
    table = kernels.read(whole.parent.parent / "bench" / "here" / kernel_bench.TABLE)
    for setup, cost in zip(setups(whole), costs, strict=True):
        bound = kernels.bound_ns(table, setup.length)
        assert cost["bound (ns / synapse)"] == number(bound)
        assert cost["multiple of the bound"] == number(1e9 * np.mean(setup.deliver_s) / bound)
    figure = figures(whole)["speed-bound"]
    assert [row[0] for row in figure.table.cells] == ["1", "8", "64"]
    assert {row[-1] for row in figure.table.cells} == {"1.25"}
    assert section(whole).missing == []


def test_without_times_of_kernels_the_page_says_how_to_get_them(tmp_path):
    experiment = write_experiment(tmp_path, grid(**FEW))
    found = section(experiment)
    assert "speed-bound" not in [f.id for f in found.figures]
    assert [line for line in found.missing if "run `spikemark bench`" in line]
    assert "bound (ns / synapse)" not in heads(found.tables[0])


@pytest.mark.parametrize("only", [[kernels.BOUND], [kernels.DELIVER], [kernels.BOUND_PLAIN]])
def test_missing_kernels_are_named(tmp_path, only):
    experiment = write_experiment(tmp_path, grid(**FEW))
    write_kernels(experiment, only=only)
    found = section(experiment)
    assert "speed-bound" not in [f.id for f in found.figures]
    assert [line for line in found.missing if "were not measured together" in line]
    build(gather(experiment), experiment / "report.html")


def test_lists_beyond_those_of_the_kernels_have_no_bound(tmp_path):
    experiment = write_experiment(tmp_path, grid(**FEW))
    write_kernels(experiment, lengths=(1, 2))
    found = section(experiment)
    assert {row[-1] for row in found.tables[0].cells} == {"missing"}
    assert [line for line in found.missing if re.search(r"mean list length .* for 1 to 2", line)]


def test_a_spoiled_table_of_kernels_does_not_cost_the_page(tmp_path):
    experiment = write_experiment(tmp_path, grid(**FEW))
    write_kernels(experiment)
    (kernel_bench.folder("here", tmp_path) / kernel_bench.TABLE).write_text("spoiled")
    assert [line for line in section(experiment).missing if "not a Parquet file" in line]


def test_networks_without_events_or_synapses(tmp_path):
    silent = write_experiment(tmp_path / "silent", grid(**FEW, description=describe(rate_hz=0)))
    bare = write_experiment(tmp_path / "bare", grid(**FEW, description=describe(indegree=0)))
    for experiment in (silent, bare):
        write_kernels(experiment)
        found = section(experiment)
        assert "speed-rates" not in [f.id for f in found.figures]
        assert [line for line in found.missing if "no synaptic event occurred" in line]
        assert {row[-1] for row in found.tables[0].cells} == {"missing"}
    assert [line for line in section(bare).missing if "no synapses" in line]
    build(gather(bare), bare / "report.html")


def test_configurations_of_one_label_have_panels_of_their_own(tmp_path):
    """Areas whole and areas spread over ranks: the schedules have the same name."""
    runs = [
        run("structure_aware", 10, ranks, 1, placement=placement, label=f"{placement} {ranks}")
        for placement in ("area", "area_group")
        for ranks in (1, 2)
    ]
    figure = figures(write_experiment(tmp_path, runs))["speed-scaling"]
    assert "area_group" in figure.svg and "D\u00a0=\u00a010<" in figure.svg
