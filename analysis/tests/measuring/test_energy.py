"""`spikemark energy`: from own readings, from a file, modelled, or missing with the reason."""

import json
import re

import numpy as np
import pytest
import swept
from planted_power import T0, Planted, energy_fields, write_csv, write_own

from spikemark import machines
from spikemark.core.errors import BadInput
from spikemark.machines import priors
from spikemark.measuring import energy, energy_answer, modelled_energy
from spikemark.measuring.quality_level import quality_level
from spikemark.measuring.run_timeline import Timeline
from spikemark.models.power import PowerTrace, Sampling
from spikemark.records import record

PLANTED = Planted()


@pytest.fixture
def metered(tmp_path):
    """A run with a counter of energy on two nodes, and events from outside."""
    folder = tmp_path / "own"
    PLANTED.run(folder, energy=energy_fields(PLANTED, nodes=2))
    write_own(folder, PLANTED, nodes=2)
    return folder


@pytest.fixture
def bare(tmp_path):
    """A run without energy."""
    PLANTED.run(tmp_path / "bare")
    return tmp_path / "bare"


@pytest.mark.parametrize("unit", ["J", "W"])
def test_own_readings_of_all_nodes(tmp_path, unit):
    PLANTED.run(tmp_path, energy=energy_fields(PLANTED, nodes=2, unit=unit))
    write_own(tmp_path, PLANTED, nodes=2, unit=unit)
    result = energy.of_run(record.load_run(tmp_path))
    assert result.kind == "measured"
    assert result.gross_j.value == pytest.approx(2 * PLANTED.gross_j, rel=1e-3)
    assert result.idle_w.value == pytest.approx(2 * PLANTED.idle_w, rel=1e-3)
    assert result.net_j.value == pytest.approx(2 * PLANTED.net_j, rel=1e-2)
    assert result.values["mean_w"].value == pytest.approx(2 * PLANTED.busy_w, rel=1e-3)
    assert result.values["gross_delay_js"].value == pytest.approx(
        result.gross_j.value * PLANTED.measured_s
    )
    assert result.sampling.interval_s == pytest.approx(
        0.1
    ) and result.sampling.coverage == pytest.approx(1)
    if unit == "J":
        assert result.gross_j.low <= 2 * PLANTED.gross_j <= result.gross_j.high


def test_events_of_both_definitions_and_one_screen(metered, spikemark):
    run = record.load_run(metered)
    totals = run.record.totals.model_copy(update={"external_events": 5000})
    result = energy.of_run(
        record.Run(run.path, run.record.model_copy(update={"totals": totals}), None, None)
    )
    recurrent, every = result.per_event
    assert (recurrent.definition, every.definition) == ("recurrent", "recurrent + external")
    assert (
        recurrent.events == totals.synaptic_events > 0 and every.events == recurrent.events + 5000
    )
    assert recurrent.gross_uj.value == pytest.approx(1e6 * result.gross_j.value / recurrent.events)
    assert every.net_uj.value == pytest.approx(1e6 * result.net_j.value / every.events)
    status, output, _ = spikemark("energy", metered)
    assert status == 0 and len(output.splitlines()) <= 24 and "gross" in output.splitlines()[0]


BAD_OWN = {
    "nothing": (lambda text: "", "empty"),
    "no column": (lambda text: text.replace("time_s", "when"), "time_s"),
    "not a number": (
        lambda text: text.replace("package-0,17", "package-0,x17", 1),
        "line 2: time_s='x17",
    ),
    "less": (
        lambda text: re.sub(r"^((?:.*\n){5}(?:[^,]*,){4})[^,]*", r"\g<1>0.0", text),
        "line 6: energy_j='0.0'",
    ),
    "more than any package draws": (
        lambda text: re.sub(
            ",([^,]+),$", lambda cell: f",{1e5 * float(cell[1])!r},", text, flags=re.M
        ),
        "line 3: energy_j=",
    ),
    "falling": (lambda text: text + text.splitlines(keepends=True)[1], "time_s="),
}


@pytest.mark.parametrize("case", BAD_OWN)
def test_spoiled_readings_get_one_line(metered, case, refusal):
    change, words = BAD_OWN[case]
    path = metered / "energy.csv"
    path.write_text(change(path.read_text()))
    line = refusal("energy", metered)
    assert words in line and str(path) in line


def test_a_file_from_outside(bare, tmp_path, spikemark, refusal):
    times = PLANTED.times(0.5)
    path = write_csv(
        tmp_path / "p.csv", times, {"a [W]": PLANTED.watts(times), "b_kw": 0 * times + 0.01}
    )
    assert str(path) in refusal("energy", bare, "--power", path)
    by_knee = json.loads(
        spikemark("energy", bare, "--power", path, "--align", "knee", "--channel", "a", "--json")[1]
    )
    assert refusal("energy", bare, "--power", path, "--offset", T0).count("a [W], b_kw") == 1
    named = ("--channel", "a", "--channel", "b")
    by_clock = json.loads(
        spikemark("energy", bare, "--power", path, "--offset", T0, *named, "--json")[1]
    )
    assert by_knee["gross_j"]["value"] == pytest.approx(PLANTED.gross_j, rel=0.02)
    assert by_clock["gross_j"]["value"] == pytest.approx(
        PLANTED.gross_j + 10 * PLANTED.measured_s, rel=0.01
    )
    assert np.ptp(by_knee["idle_w"]["interval"]) == pytest.approx(1)  # steady, in whole watts
    assert [c["name"] for c in by_knee["channels"]] == ["a"]
    assert by_clock["idle_w"]["value"] == pytest.approx(PLANTED.idle_w + 10, rel=0.01)


class TestLevels:
    LONG = Timeline((100.0, 200.0), (90.0, 95.0))
    TRACE = PowerTrace(np.arange(80.0, 220.0), power_w=np.ones(140))
    GOOD = Sampling(readings=100, interval_s=1.0, longest_s=1.0, coverage=1.0)

    @pytest.mark.parametrize(
        ("change", "level", "lacking"),
        [
            ({}, 2, None),
            ({"accuracy": 4.0}, 1, "accuracy of 2 %"),
            ({"accuracy": 6.0}, 0, "accuracy of 5 %"),
            ({"accuracy": None}, 0, "whole machine"),
            ({"idle": False}, 1, "idle power"),
            ({"sampling": Sampling(50, 2.0, 2.0, 1.0)}, 0, "reading per second"),
            ({"sampling": Sampling(90, 1.0, 1.0, 0.9)}, 0, "core phase"),
            ({"run": Timeline((100.0, 150.0))}, 0, "core phase"),
            ({"sampling": Sampling(9, 1.0, 1.0, 1.0)}, 1, "10 readings"),
            ({"trace": PowerTrace(np.arange(99.0, 202.0), power_w=np.ones(103))}, 1, "full run"),
        ],
    )
    def test_what_is_lacking_of_the_next_level_is_named(self, change, level, lacking):
        measurement = {
            "accuracy": 1.0,
            "idle": True,
            "sampling": self.GOOD,
            "run": self.LONG,
            "trace": self.TRACE,
        }
        measurement |= change
        accuracy = measurement.pop("accuracy")
        result = quality_level(**measurement, at_wall=accuracy)
        assert result.level == level and (lacking or "") in "; ".join(result.lacking)

    def test_own_readings_never_reach_one(self, metered):
        assert energy.of_run(record.load_run(metered)).level.level == 0


def machine(**power) -> machines.Profile:
    empty = machines.checked({"format_version": 1, "name": "made-up", "title": "Made up"}, "f")
    values = {"node.cores": 4, **{f"power.{name}": watts for name, watts in power.items()}}
    return empty.assume_all(
        {path: machines.Assumption(value, "a test") for path, value in values.items()}
    )


class TestModel:
    @pytest.mark.parametrize(("nodes", "idle"), [(None, 100), (3, 300)])
    def test_nodes_draw_idle_and_so_much_per_core_and_card(self, bare, nodes, idle):
        run = record.load_run(bare)
        busy, cards = run.record.ranks * run.record.threads, 21 if nodes else 0
        result = modelled_energy.on_machine(run, machine(idle=100, core=10, card=7), nodes)
        assert result.kind == "modelled" and result.level is None
        assert result.gross_j.value == pytest.approx(
            (idle + 10 * busy + cards) * PLANTED.measured_s
        )
        assert result.net_j.value == pytest.approx((10 * busy + cards) * PLANTED.measured_s)
        for quantity in result.values.values():
            assert quantity.low < quantity.value < quantity.high

    def test_the_interval_is_that_of_the_assumed_power(self, bare):
        result = modelled_energy.on_machine(record.load_run(bare), machine(idle=100, core=1e-6), 1)
        low, high = (100 * priors.spread("power.idle") ** power for power in (-0.5, 0.5))
        assert result.idle_w.interval == pytest.approx((low, high), rel=0.01)
        assert result.gross_j.interval == pytest.approx((low * 20, high * 20), rel=0.01)
        assert result.net_j.high < 1e-3  # idle power is the same in gross and idle energy

    def test_a_power_without_an_interval_has_one(self, bare):
        stated = machine(core=1e-6).with_values(
            {"power.idle": machines.Value(100, "W", "literature", "x")}
        )
        result = modelled_energy.on_machine(record.load_run(bare), stated, 1)
        assert result.idle_w.interval == pytest.approx((100 / 1.3, 130), rel=0.01)

    def test_the_watts_of_an_offer_are_those_of_busy_nodes(self, bare):
        """Exactly, where all cores are busy; else the model holds, and a remark says why."""
        run = record.load_run(bare)
        busy = run.record.ranks * run.record.threads
        offered = machines.Value(1050.0, "W", "literature", "offer A")
        modelled = machine(idle=100, core=10, card=7)
        for cores, is_used in ((busy, True), (busy + 1, False)):
            stated = {"node.cores": machines.Value(cores, "1", "literature", "offer A")}
            without = modelled.with_values(stated)
            result = modelled_energy.on_machine(
                run, without.with_values({modelled_energy.OFFERED: offered}), 1
            )
            watts = result.gross_j.value / PLANTED.measured_s
            assert watts == pytest.approx(1050.0 if is_used else 100 + 10 * busy)
            assert result.gross_j.limits == pytest.approx((1050 * 20, 1050 * 20)) or not is_used
            assert any(modelled_energy.OFFERED in line for line in result.remarks) != is_used
            assert result.net_j.value == pytest.approx((watts - 100) * PLANTED.measured_s)

    def test_the_command_that_is_proposed_names_the_file_of_the_machine(
        self, bare, spikemark, tmp_path
    ):
        text = machines.file_of("jureca-dc").read_text()
        file = tmp_path / "an-offer.yaml"
        file.write_text(text.replace("name: jureca-dc", "name: an-offer", 1))
        _, output, _ = spikemark("energy", bare, "--machine", file)
        (command,) = re.findall(r"`spikemark (predict [^`]*)`", output)
        assert str(file) in command and spikemark(*command.split())[0] == 0
        result = modelled_energy.on_machine(record.load_run(bare), machines.load(file))
        assert not any("`" in line for line in result.remarks)

    def test_a_modelled_energy_says_so_everywhere(self, bare, spikemark):
        status, output, _ = spikemark("energy", bare, "--machine", "jureca-dc", "--details")
        assert status == 0 and "modelled" in output and "power.idle = 88.9 W" in output
        content = json.loads(spikemark("energy", bare, "--machine", "jureca-dc", "--json")[1])
        assert content["kind"] == "modelled" and content["model"]["idle_w"] == 88.9
        low, high = content["gross_j"]["interval"]
        assert low < content["gross_j"]["value"] < high

    def test_times_of_another_machine_are_remarked_upon(self, bare, spikemark):
        _, output, _ = spikemark("energy", bare, "--machine", "jureca-dc")
        (command,) = re.findall(r"`spikemark (predict [^`]*)`", output)
        assert spikemark(*command.split())[0] == 0

    @pytest.mark.parametrize(
        ("host", "remarks"),
        [
            ({"cpu": "AMD EPYC 7742 64-Core Processor", "cores": 128, "virtual_machine": False}, 0),
            ({"cpu": "AMD EPYC 7742 64-Core Processor", "cores": 128, "virtual_machine": True}, 1),
            ({"cpu": "AMD EPYC 7742 64-Core Processor", "cores": 64, "virtual_machine": False}, 1),
            ({"cpu": "AMD EPYC 7763 64-Core Processor", "cores": 128, "virtual_machine": False}, 1),
            ({"cpu": None, "cores": 128, "virtual_machine": False}, 1),
        ],
    )
    def test_the_machine_of_the_run_is_known_by_its_processor(self, tmp_path, host, remarks):
        run = PLANTED.run(
            tmp_path / "run", **{f"host__{name}": value for name, value in host.items()}
        )
        assert len(modelled_energy.on_machine(run, machines.load("jureca-dc")).remarks) == remarks

    def test_where_there_is_no_meter_the_model_is_named(self, bare, spikemark):
        status, output, _ = spikemark("energy", bare)
        assert status == 0 and "--machine" in output


@pytest.mark.parametrize(
    "options",
    [["--nodes", "2"], ["--machine", "grace", "--power", "x.csv"], ["--keep"], ["--align", "knee"]],
)
def test_options_that_do_not_fit_get_one_line(bare, refusal, options):
    assert options[0].strip("-") in refusal("energy", bare, *options)


def test_kept_power_comes_before_own_readings(tmp_path, spikemark):
    results, (planned,) = swept.planned(tmp_path / "results")
    folder = results.run(planned.id)
    PLANTED.run(folder, energy=energy_fields(PLANTED))
    write_own(folder, PLANTED)
    times = PLANTED.times(0.5)
    path = write_csv(tmp_path / "p.csv", T0 + times, {"a [W]": 2 * PLANTED.watts(times)})
    assert spikemark("energy", folder, "--power", path, "--keep")[0] == 0
    result = energy.of_run(record.load_run(folder))
    assert result.source.name == "p.csv"
    assert result.gross_j.value == pytest.approx(2 * PLANTED.gross_j, rel=0.02)
    about = json.loads(results.power(planned.id).read_text())
    results.power(planned.id).write_text(json.dumps(about | {"offset_s": "0"}))
    with pytest.raises(BadInput, match=results.power(planned.id).name):
        energy.of_run(record.load_run(folder))
    results.power(planned.id).unlink()
    assert energy.of_run(record.load_run(folder)).source.name == "powercap"


def test_each_value_has_a_row_where_it_is_marked_and_a_field(metered):
    """Rows of the energies per event stand between those above and below them."""
    answer = energy_answer.EnergyAnswer(energy.of_run(record.load_run(metered)))
    names = list(answer.table["what"])
    per_event = [place for place, name in enumerate(names) if "per event" in name]
    assert per_event == list(range(per_event[0], per_event[0] + 4))
    content = answer.content()
    for name, value in energy.VALUES.items():
        place = names.index(value.words)
        assert (place > per_event[-1]) == value.below_events and place not in per_event
        assert content[name] == value.of(answer.energy).content()
