"""CPU nodes beside accelerated ones: published runs, times from kernels, and when no machine is named."""

import json
import re
from dataclasses import replace

import pytest
import yaml
from html_page import Page, without_glossary
from small_machine import Machine

from spikemark import machines
from spikemark.prediction import (
    accelerated,
    asked,
    compare_beside,
    compare_offers,
    compare_show,
    runs_published,
    simulators,
)
from spikemark.prediction import compare as comparing
from spikemark.prediction.life import Life
from spikemark.prediction.loads import Counting
from spikemark.prediction.offers import MOST, MOST_WORDS
from spikemark.quantities.quantity import Quantity, missing
from spikemark.report import machines_page

NAMES = machines.accelerated_names()
KERNELS = [name for name in NAMES if "accelerator.t_next" in machines.load(name).values]
OF_MICROCIRCUIT = [
    name for name in NAMES if any(r.network == "microcircuit" for r in runs_published.of_machine(name))
]


def compare(network, profiles, target=1.0, **others) -> comparing.Comparison:
    """With one schedule, since the best ones take long to find."""
    return comparing.compare(network, profiles, target, "conventional", **others)


@pytest.fixture(scope="module")
def microcircuit():
    return asked.of_preset("microcircuit", full=True)


@pytest.fixture(scope="module")
def small():
    return asked.of_preset("microcircuit")


@pytest.fixture
def one_node(monkeypatch):
    monkeypatch.setattr(comparing, "NODES", (1,))


def beside(found: Quantity, time: float, name: str = "gpu") -> accelerated.Accelerated:
    """A made-up accelerated machine with this energy."""
    times = Quantity(time, time / 1.25, time * 1.25, "1", "literature")
    none = missing("no price", "EUR", mark="unknown")
    figures = {"real_time_factor": times, "energy_j": found, "energy_per_event_uj": found}
    figures |= {"life_nodes": none, "life_cost": none}
    return accelerated.Accelerated(name, name, 1.0, figures, 1, 1, "made up")


def test_all_published_machines_have_their_runs_of_the_microcircuit(microcircuit):
    made = compare(microcircuit, [machines.load(name) for name in OF_MICROCIRCUIT])
    for a in made.accelerated:
        known = [r for r in runs_published.of_machine(a.name) if r.network == "microcircuit"]
        fastest = min(r.real_time_factor.value for r in known if not r.variant)
        assert a.time.value == fastest and a.time.kind == "literature" and a.results == known
        assert a.devices == 1 and (a.word in ("excluded", "possible")) == (fastest > 1)
    rows = compare_offers.first(made).rows
    assert [row["offer"] for row in rows] == OF_MICROCIRCUIT and all(row["real_time_factor"] for row in rows)
    energies = {row["offer"]: row["energy_per_event_uj"] for row in rows}
    assert energies["rtx-4090"] and not energies["tesla-v100"]  # that of 2018 belongs to another run
    assert "2018" in energies["tesla-v100"].reason


def test_the_energy_is_counted_as_predictions_count_it(microcircuit):
    """Published energies are per recurrent event, ours per event; joules per second are the same."""
    (a,) = compare(microcircuit, [machines.load("rtx-4090")]).accelerated
    events = accelerated.Events.of(Counting(microcircuit.description, microcircuit.rates.hz))
    assert events.recurrent == pytest.approx(938_037_605, rel=0.1)  # as Knight & Nowotny 2018 count
    assert a.figures["energy_j"].value == pytest.approx(0.074e-6 * events.recurrent)
    per_event = a.figures["energy_j"].value / (events.recurrent + events.outside)
    assert a.figures["energy_per_event_uj"].value == pytest.approx(1e6 * per_event)


@pytest.mark.parametrize("name", KERNELS)
def test_times_from_kernels_are_those_of_the_run_that_they_come_from(name, microcircuit, monkeypatch):
    published = {r.who: r.real_time_factor.value for r in runs_published.of_machine(name)}["PyGeNN"]
    monkeypatch.setattr(runs_published, "of", lambda network, known: [])
    (a,) = compare(microcircuit, [machines.load(name)]).accelerated
    assert a.time.kind == "extrapolated" and a.time.value == pytest.approx(published, rel=0.1)
    assert a.time.low < a.time.value / 2.9 and a.time.high > a.time.value * 2.9


def test_another_size_rate_or_network_is_not_the_published_one(small, microcircuit, network):
    known = runs_published.of_machine("titan-rtx")
    assert runs_published.network_of(microcircuit, known) == "microcircuit"
    assert runs_published.network_of(small, known) is runs_published.network_of(network, known) is None
    faster = asked.of_preset("microcircuit", full=True, rate=20.0)
    assert runs_published.network_of(faster, known) is None


@pytest.mark.parametrize("name", NAMES)
def test_what_is_unknown_is_null_with_a_reason_and_no_machine_is_named(name, network, few):
    """Nothing was published of mam-benchmark, whose neurons have no kernel time either."""
    made = compare(network, [Machine(), machines.load(name)])
    (a,) = made.accelerated
    assert not a.time and "published" in a.time.reason and "accelerator." in a.time.reason
    said = compare_show.sentence(made)
    assert said == f"No verdict for real-time factor 1.00: the speed of {name} with this network is unknown."
    content = json.loads(json.dumps(compare_show.content(made), allow_nan=False))
    figure = content["accelerated"][0]["figures"]["real_time_factor"]
    assert figure["value"] is None and figure["reason"]
    assert content["offers"][1]["nodes_likely"] == "unknown"
    assert any(line.startswith(f"{name}: the real-time factor is unknown") for line in content["verdict"])


def test_published_runs_belong_to_the_device_not_to_the_name_of_a_profile(microcircuit):
    """An offer with the same devices has their runs, one that only takes the name of a profile has none."""
    shipped = machines.load("rtx-4090")
    offer = replace(shipped.assume("accelerator.devices", 4, "1", "an offer"), name="offer")
    other = shipped.assume("accelerator.name", "GeForce RTX 5090", None, "an offer")
    made = compare(microcircuit, [offer, other])
    same, unknown = made.accelerated
    assert same.time.value == 0.2719 and (same.nodes, same.devices) == (1, 1)
    assert not unknown.time and not unknown.results


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_time_says_which_other_networks_ran_on_the_device(name, network, few):
    (a,) = compare(network, [Machine(), machines.load(name)]).accelerated
    known = {r.network for r in runs_published.of_device(machines.load(name)) if not r.variant}
    assert known and all(f"{other} (real-time factor " in a.time.reason for other in known)


def test_a_published_network_that_no_preset_makes_is_no_network_that_is_asked(microcircuit, network):
    """Nobody published the rates of the digital twin brain, so nothing can be said to be as large."""
    known = runs_published.of_machine("dcu-gfx906")
    assert [r.devices for r in known] == [14012] and known[0].real_time_factor.high > 560
    assert runs_published.network_of(microcircuit, known) is runs_published.network_of(network, known) is None


def test_runs_on_several_devices_belong_to_nodes_with_as_many():
    shipped = machines.load("tesla-v100")
    several = [r for r in runs_published.of_device(shipped) if r.devices > 1]
    assert several and all(r.network == "mam" for r in several)
    four = shipped.assume("accelerator.devices", 4, "1", "an offer")
    assert {r.devices for r in runs_published.of_device(four)} == {1}


def test_networks_that_may_not_fit_have_no_time(microcircuit, monkeypatch):
    monkeypatch.setattr(runs_published, "of", lambda network, known: [])
    tiny = machines.load("titan-rtx").assume("accelerator.memory", 1, "GB", "a test")
    (a,) = compare(microcircuit, [tiny]).accelerated
    assert not a.time and "fit into a device" in a.time.reason


@pytest.mark.parametrize(
    ("times", "simulator", "said"),
    [
        (1.0, "mini-app", "cannot be told apart"), (1 / 5, "mini-app", "differ by a factor of 4"),
        (5.0, "mini-app", "differ by a factor of 4"), (1 / 40, "mini-app", "gpu needs the least energy"),
        (40.0, "mini-app", "made-up needs the least energy"), (None, "mini-app", "that of gpu is unknown"),
    ],
)  # fmt: skip
def test_verdicts_of_energy(times, simulator, said, network, few):
    made = compare(network, [Machine()], simulator=simulator)
    ours = made.candidates[0].over_range("energy_j")
    assert ours
    energy = missing("not published", "J") if times is None else ours.times(times)
    made = replace(made, accelerated=[beside(energy, 0.5)])
    for page in (compare_show.sentence(made), machines_page.render(made)):
        assert said in page
    sentence = compare_show.sentence(made)
    assert len(sentence) <= MOST and len(sentence.split()) <= MOST_WORDS
    assert ("No verdict" in sentence) == ("least" not in sentence)


@pytest.mark.parametrize(
    ("time", "said"), [(0.001, "is faster"), (1000.0, "is slower"), (None, "cannot be told apart")]
)
def test_times_side_by_side(time, said, network, few):
    made = compare(network, [Machine()])
    best = made.candidates[0].fastest.figures["real_time_factor"].value
    made = replace(made, accelerated=[beside(missing("not published"), time or best * 2)])
    (line,) = [line for line in compare_beside.lines(made, lambda c: c.name) if line.startswith("Beside gpu")]
    assert said in line and "made-up is predicted" in line


def test_a_machine_that_misses_the_target_does_not_count(network, few):
    made = compare(network, [Machine()])
    slow = replace(made, accelerated=[beside(missing("not published"), 7.0)])
    assert compare_show.sentence(slow).startswith("Only made-up may reach real-time factor 1.00")
    both = replace(slow, candidates=[c.at(1e-6) for c in made.candidates], target=1e-6)
    assert "out of reach" in compare_show.sentence(both)


def test_costs_need_a_price_and_include_energy_that_is_known(microcircuit):
    priced = machines.load("rtx-4090").assume("price.node_hour", 1.5, "EUR/h", "a test")
    (a,) = compare(microcircuit, [priced], life=Life(2, 1000)).accelerated
    assert a.figures["life_nodes"].value == pytest.approx(3000) and not a.figures["life_cost"]
    (b,) = compare(microcircuit, [priced], life=Life(2, 1000, 0.3)).accelerated
    watts = b.figures["energy_j"].value / b.time.value
    assert b.figures["life_cost"].value == pytest.approx(3000 + watts * 1e-3 * 2000 * 0.3)
    low, high = b.figures["life_cost"].interval
    assert low < b.figures["life_cost"].value < high
    (c,) = compare(microcircuit, [machines.load("rtx-4090")]).accelerated
    assert not c.figures["life_nodes"] and "price.node_hour" in c.figures["life_nodes"].reason


def test_programs_differ_by_less_than_is_allowed_for(microcircuit, one_node):
    """NEST 3.3 on a node of JURECA-DC, beside what is predicted of the mini-app and of NEST."""
    (nest,) = runs_published.of(microcircuit, runs_published.of_machine("jureca-dc"))
    profile = machines.filled(machines.load("jureca-dc"))
    for name in simulators.SIMULATORS:
        made = compare(microcircuit, [profile], simulator=name)
        predicted = made.candidates[0].tried[0].figures["real_time_factor"]
        apart = nest.real_time_factor.value / predicted.high
        assert 1 < apart < compare_beside.PROGRAMS[made.simulator] < 2 * apart


def test_what_a_spike_costs_counts_where_it_is_known(small):
    known = machines.load("titan-rtx")
    more = known.assume("accelerator.t_spike", 50, "ns", "a test")
    one, other = (compare(small, [profile]).accelerated[0].time.value for profile in (known, more))
    spikes = sum(p["size"] for p in small.description["network"]["populations"])
    assert spikes * 0.5 * 50e-9 < other - one < spikes * 20 * 50e-9  # at 0.5 to 20 spikes/s


def test_only_accelerated_machines(microcircuit):
    made = compare(microcircuit, [machines.load("rtx-4090")])
    assert "mini-app" not in compare_offers.first(made).title
    assert compare_show.sentence(made).startswith("Only rtx-4090 may reach real-time factor 1.00: sure on 1")
    html = machines_page.render(made)
    page = Page(html)
    assert "What was published of this network" in page.text and "GeNN 4.8.0" in page.text
    assert "mini-app" not in re.sub("<[^>]*>", "", without_glossary(html)), "of such machines it has no times"


@pytest.mark.parametrize("name", NAMES)
def test_other_commands_refuse_them_in_one_line(name, spikemark, tmp_path):
    description = tmp_path / "run.json"
    description.write_text(spikemark("preset", "mam-benchmark")[1])
    for command in (
        ("predict", description, "--ranks", "1"), ("advise", description),
        ("simulate", description, "--ranks", "2"),
    ):  # fmt: skip
        status, output, error = spikemark(*map(str, command), "--machine", name)
        assert status == 2 and not output and error.count("\n") == 1
        assert f"machine {name} has accelerators" in error


def test_a_node_without_a_number_of_devices_is_refused(spikemark, tmp_path):
    leaf = {"value": 1, "unit": "ns", "kind": "assumed", "reference": "a test"}
    content = {"format_version": 1, "name": "bare", "title": "Bare", "accelerator": {"t_next": leaf}}
    (tmp_path / "bare.yaml").write_text(yaml.safe_dump(content))
    status, output, error = spikemark("compare", str(tmp_path / "bare.yaml"), "--preset", "mam-benchmark")
    assert status == 2 and not output and error.count("\n") == 1
    assert "bare: accelerator.devices is unknown, needed for a comparison" in error


def test_the_command_prints_the_table_and_the_sentence(spikemark):
    status, output, _ = spikemark("compare", "rtx-4090", "titan-rtx", "--preset", "microcircuit", "--full")
    assert status == 0 and "No verdict on energy" in output and "literature" in output
    lines = output.splitlines()
    assert next(i for i, line in enumerate(lines) if line.startswith("No verdict")) < 20
