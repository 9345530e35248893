"""Activity of the networks: planted spikes, what is folded, published values, and what is missing."""

import json

import numpy as np
import pytest
from html_page import page_of
from planned import run, write_experiment
from printed import kinds, lines
from small_network import describe

from spikemark import activity
from spikemark.presets import PRESETS, microcircuit, published_rates
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.sections import SECTIONS
from spikemark.report.sections.activity import NOTHING, section
from spikemark.report.sections.activity.networks import MOST_GROUPS, fold, networks

SECONDS = 1.0
LIMIT_BYTES = 300_000


def network(areas: int = 2, neurons: int = 100, inhibitory: tuple = (), **names) -> dict:
    """A description that records spikes; spikes of `inhibitory` areas weigh -1, `names` renames areas."""
    found = describe(areas=areas, neurons=neurons)
    found["record"] |= {"spikes": True, "cycles": False}
    for p in found["network"]["projections"]:
        sources = p["source"] if isinstance(p["source"], list) else [p["source"]]
        p["weight"] = -1 if set(sources) <= set(inhibitory) else 1
    text = json.dumps(found)
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return json.loads(text)


def member(seed: int = 1, **options) -> dict:
    given = {"cycles": round(1e4 * SECONDS), "description": network(), "ranks": 1, "delay_ratio": 1}
    return run(**{**given, "seed": seed, **options})


def plant(results, shares, modulation=0.0, frequency_hz=4.0, steady=()):
    """Write spikes.npy of every run: as many as its record counts, `shares` of them in each population.

    Rates go up and down as a square wave, but for the populations numbered in `steady`.
    """
    for path in sorted((results / "runs").iterdir()):
        content = json.loads((path / "record.json").read_text())
        if not content["description"]["record"]["spikes"]:
            continue
        rng, number = np.random.default_rng(7), content["totals"]["spikes"]
        sizes = [p["size"] for p in content["description"]["network"]["populations"]]
        ends = np.round(np.cumsum(shares) * number).astype(int)
        of = np.searchsorted(ends, np.arange(number), side="right")
        gid = np.cumsum([0, *sizes])[of] + rng.integers(0, np.array(sizes)[of])
        t = np.linspace(0, SECONDS, 10_000, endpoint=False)
        weight = 1 + modulation * np.sign(np.sin(2 * np.pi * frequency_hz * t))
        step = rng.choice(10_000, number, p=weight / weight.sum())
        step = np.where(np.isin(of, steady), rng.integers(0, 10_000, number), step)
        spikes = np.column_stack([gid, step])[np.lexsort((gid, step))]
        np.save(path / "spikes.npy", spikes.astype(np.uint32))
    return results


def found(folder, runs, shares=(0.75, 0.25), **options):
    planted = {k: options.pop(k) for k in ("modulation", "frequency_hz", "steady") if k in options}
    results = plant(write_experiment(folder, runs, **options), shares, **planted)
    view = look(gather(results))
    return section(view), view


def test_rates_of_planted_spikes(tmp_path):
    shown, view = found(tmp_path, [member()])
    spikes = view.sweep.runs[0].run.record.totals.spikes
    (table,) = shown.tables
    assert table.title == "Schedules on this machine"
    one, two = lines(table)
    assert (one["population"], one["neurons"]) == ("area0", "100")
    assert float(one["rate (Hz)"]) == pytest.approx(0.75 * spikes / 100, rel=0.01)
    assert float(two["rate (Hz)"]) == pytest.approx(0.25 * spikes / 100, rel=0.01)
    assert "published (Hz)" not in one and kinds(table)[2] == "counted"
    assert float(one["CV of intervals"]) == pytest.approx(0.9, abs=0.1)
    assert shown.missing == []
    assert shown.figures[0].table.cells[0] == ["neurons", "200"]


def test_one_entry_per_network_of_whatever_seed_and_schedule(tmp_path):
    other = network(neurons=50)
    runs = [member(s, schedule=n) for s in (2, 1) for n in ("conventional", "placement_only")]
    runs.append(member(description=other, fields={"preset.neurons_per_area": 50}))
    shown, view = found(tmp_path, runs, experiment=named("mam-benchmark"))
    assert [table.title for table in shown.tables] == [
        "mam-benchmark, neurons_per_area = 50",
        "mam-benchmark",
    ]
    assert [dict(f.table.cells)["runs of this network, all seeds"] for f in shown.figures] == ["1", "4"]
    assert networks(view.sweep.runs, "")[1].measured.planned.seed == 1


def named(preset: str) -> dict:
    return {"name": "demo", "title": "t", "preset": {"name": preset, "options": {}}}


def test_published_rates_stand_beside(tmp_path):
    description = network(area0="L4E", area1="L4I")
    fields = {"preset.name": "microcircuit"}
    shown, _ = found(tmp_path, [member(description=description, fields=fields)])
    one, two = lines(shown.tables[0])
    assert float(one["published (Hz)"]) == pytest.approx(microcircuit.RATES.hz["L4E"], rel=0.01)
    ratio = float(two["rate (Hz)"]) / microcircuit.RATES.hz["L4I"]
    assert float(two["rate / published"]) == pytest.approx(ratio, rel=0.01)
    assert kinds(shown.tables[0])[3] == "literature"
    assert microcircuit.RATES.source in shown.figures[0].caption
    unknown = network(area0="L4E", area1="elsewhere")
    shown, _ = found(tmp_path / "two", [member(description=unknown, fields=fields)])
    assert lines(shown.tables[0])[1]["published (Hz)"] == "missing"


def test_every_preset_with_published_rates_names_their_source():
    known = {name: published_rates(name) for name in PRESETS}
    assert known["microcircuit"].hz == microcircuit.RATES.hz and known["mam-benchmark"] is None
    assert published_rates(None) is published_rates("unheard-of") is None
    for rates in known.values():
        assert rates is None or (len(rates.source) > 10 and min(rates.hz.values()) > 0)


def test_many_populations_are_folded_and_it_is_said():
    def recorded(names, areas, fires):
        plain = {"size": 1, "neuron": {"model": "ignore_and_fire"}}
        populations = [{"name": n, "area": a, **plain} for n, a in zip(names, areas, strict=True)]
        gids = np.repeat(np.arange(len(names)), fires)
        spikes = np.column_stack([gids, np.zeros(len(gids))]).astype(np.uint32)
        time = {"resolution_ms": 1, "simulate_ms": 10}
        return activity.recording({"time": time, "network": {"populations": populations}}, spikes)

    few = [f"p{i}" for i in range(MOST_GROUPS)]
    assert fold(recorded(few, few, 1)) == ({n: [n] for n in few}, "")
    groups, words = fold(recorded([f"{n}{i}" for n in few for i in "EI"], [n for n in few for _ in "EI"], 1))
    assert groups == {n: [f"{n}E", f"{n}I"] for n in few}
    assert words == "The populations of an area are merged (24 populations)."
    many = [f"p{i}" for i in range(20)]
    groups, words = fold(recorded(many, many, np.arange(20)))
    assert list(groups) == [*many[9:], "9 others"] and groups["9 others"] == many[:9]
    assert words == "The 9 populations that fire least are merged."


def test_up_states_and_a_rhythm_are_told(tmp_path):
    shown, _ = found(tmp_path, [member()], modulation=1.0)
    values = dict(shown.figures[0].table.cells)
    assert float(values["alternation of up and down states (Hz)"]) == pytest.approx(4, rel=0.05)
    assert float(values["up states, mean (ms)"]) == pytest.approx(125, rel=0.15)
    assert "Shaded: up states." in shown.figures[0].caption
    shown, _ = found(tmp_path / "flat", [member()])
    assert dict(shown.figures[0].table.cells)["up and down states"].startswith("none: ")
    assert "Shaded" not in shown.figures[0].caption


def test_states_of_one_population_among_steady_ones_are_found(tmp_path):
    shown, _ = found(tmp_path, [member()], (0.25, 0.75), modulation=1.0, steady=(1,))
    values = dict(shown.figures[0].table.cells)
    assert values["neurons with up and down states"] == "area0"
    assert float(values["alternation of up and down states (Hz)"]) == pytest.approx(4, rel=0.05)
    assert "Shaded: up states of area0, its rate in blue." in shown.figures[0].caption


def test_a_published_mean_of_all_neurons_holds_for_its_options_only(tmp_path):
    def values(folder, state):
        fields = {"preset.name": "dpsnn", "preset.state": state}
        shown, _ = found(folder, [member(fields=fields)])
        return dict(shown.figures[0].table.cells), shown.figures[0].caption

    rows, caption = values(tmp_path / "aw", "aw")
    assert rows["published mean rate (Hz, literature)"] == "3.20" and "Simula" in caption
    rows, caption = values(tmp_path / "sw", "sw")
    assert "published mean rate (Hz, literature)" not in rows and "Simula" not in caption


def test_inhibitory_populations_have_a_colour_of_their_own(tmp_path):
    shown, view = found(tmp_path, [member(description=network(inhibitory=("area1",)))])
    groups = networks(view.sweep.runs, "")[0].groups
    assert [g.inhibitory for g in groups] == [False, True]
    assert "negative weights" in shown.figures[0].caption
    assert "inhibitory" in shown.figures[0].svg
    shown, _ = found(tmp_path / "two", [member()])
    assert "inhibitory" not in shown.figures[0].svg


def test_the_picture_of_many_spikes_stays_small(tmp_path):
    description = network(areas=40, neurons=50)
    for p in description["network"]["populations"]:
        p["neuron"]["rate_hz"] = 200
    shown, _ = found(tmp_path, [member(description=description)], [1 / 40] * 40)
    assert 20_000 < len(shown.figures[0].svg.encode()) < LIMIT_BYTES
    assert "The 29 populations that fire least are merged." in shown.figures[0].caption


def test_without_spikes_one_line_says_how_to_get_them(tmp_path):
    shown, _ = found(tmp_path, [member(description=describe(areas=2, neurons=100))])
    assert (shown.figures, shown.tables, shown.missing) == ([], [], [NOTHING])
    assert "record.spikes" in NOTHING


def test_a_silent_network_and_a_short_run_are_missing_not_zero(tmp_path):
    silent = network()
    for p in silent["network"]["populations"]:
        p["neuron"]["rate_hz"] = 0
    shown, _ = found(tmp_path, [member(description=silent)])
    assert shown.figures == [] and shown.missing == ["Schedules on this machine: no neuron fired in 1.00 s."]
    assert lines(shown.tables[0])[0]["CV of intervals"] == "missing"
    results = write_experiment(tmp_path / "short", [member(cycles=20)])
    (path,) = (results / "runs").iterdir()
    number = json.loads((path / "record.json").read_text())["totals"]["spikes"]
    np.save(path / "spikes.npy", np.tile([[3, 19]], (number, 1)).astype(np.uint32))
    shown = section(look(gather(results)))
    values = dict(shown.figures[0].table.cells)
    assert values["peak of the spectrum (Hz)"] == values["up and down states"] == "missing"
    assert any("synchrony" in line for line in shown.missing)
    assert any("CV of" in line for line in shown.missing)


def test_the_page_holds_the_section(tmp_path, undrawn):
    assert section in SECTIONS
    page = page_of(plant(write_experiment(tmp_path, [member()]), (0.5, 0.5)))
    assert "activity" in page.ids and page.loads == []
    assert any(image.startswith("Activity of Schedules on this machine") for image in page.images)
