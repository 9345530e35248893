"""`spikemark energy`: from own readings, from a file, modelled, or missing with the reason."""

import json
import re

import numpy as np
import pytest
from planted_power import T0, Planted, energy_fields, write_csv, write_own

from spikemark.core.errors import BadInput
from spikemark.energy import analysis, levels, show
from spikemark.energy.power_model import PowerModel
from spikemark.energy.sampling import Sampling
from spikemark.energy.timeline import Timeline
from spikemark.energy.trace import Trace, thinned
from spikemark.records import record

PLANTED = Planted()


@pytest.fixture
def own(tmp_path):
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
    found = analysis.of_run(record.load(tmp_path))
    assert found.kind == "measured"
    assert found.gross_j.value == pytest.approx(2 * PLANTED.gross_j, rel=1e-3)
    assert found.idle_w.value == pytest.approx(2 * PLANTED.idle_w, rel=1e-3)
    assert found.net_j.value == pytest.approx(2 * PLANTED.net_j, rel=1e-2)
    assert found.mean_w.value == pytest.approx(2 * PLANTED.busy_w, rel=1e-3)
    assert found.gross_delay_js.value == pytest.approx(found.gross_j.value * PLANTED.measured_s)
    assert found.sampling.rate_hz == pytest.approx(10) and found.sampling.coverage == pytest.approx(1)
    assert found.after.watts.value == pytest.approx(2 * PLANTED.idle_w, rel=1e-2)
    if unit == "J":
        assert found.gross_j.low <= 2 * PLANTED.gross_j <= found.gross_j.high


def test_events_of_both_definitions(own):
    run = record.load(own)
    totals = run.record.totals.model_copy(update={"external_events": 5000})
    run = record.Run(run.path, run.record.model_copy(update={"totals": totals}), run.ranks, None, None)
    recurrent, every = analysis.of_run(run).per_event
    assert (recurrent.definition, every.definition) == ("recurrent", "recurrent + external")
    assert recurrent.events == totals.synaptic_events > 0 and every.events == recurrent.events + 5000
    gross = analysis.of_run(run).gross_j.value
    assert recurrent.gross_uj.value == pytest.approx(1e6 * gross / recurrent.events)
    assert every.net_uj.value == pytest.approx(1e6 * analysis.of_run(run).net_j.value / every.events)


def test_a_silent_run_has_no_energy_per_event(bare):
    run = record.load(bare)
    totals = run.record.totals.model_copy(update={"synaptic_events": 0})
    run = record.Run(run.path, run.record.model_copy(update={"totals": totals}), run.ranks, None, None)
    found = analysis.modelled(run, PowerModel("made up", 10, 1, 2), busy_cores=4, cards=1)
    assert found.per_event[0].gross_uj.reason == "no synaptic event"


class TestWithout:
    def test_one_line_says_what_could_be_done(self, bare, spikemark):
        status, out, err = spikemark("energy", bare)
        assert (status, err) == (0, "")
        (line,) = out.splitlines()
        assert line.startswith(f"{bare}: no energy: energy was not asked for")
        assert "record.energy=true" in line and "--power FILE.csv" in line

    def test_json_has_null_and_the_reason(self, bare, spikemark):
        status, out, _ = spikemark("energy", bare, "--json")
        content = json.loads(out)
        assert status == 0 and content["kind"] is None and content["advice"]
        for name in ("gross_j", "idle_w", "idle_j", "net_j", "mean_w", "gross_delay_js", "net_delay_js"):
            assert content[name]["value"] is None and "not asked for" in content[name]["reason"]
        assert all(e["gross_uj"]["value"] is None for e in content["per_event"])
        assert content["per_event"][0]["events"] > 0

    def test_the_reason_is_that_of_the_record(self, tmp_path, spikemark):
        PLANTED.run(tmp_path / "run", energy_reason="powercap: denied")
        assert "no energy: powercap: denied" in spikemark("energy", tmp_path / "run")[1]

    def test_readings_that_end_too_early(self, own):
        path = own / "energy.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:150]))
        found = analysis.of_run(record.load(own))
        assert found.kind is None and "end before the measured part" in found.net_j.reason

    @pytest.mark.parametrize("option", ["--offset 3", "--align knee", "--at-wall 0", "--channel a"])
    def test_every_option_of_a_file_needs_it(self, bare, refusal, option):
        name, value = option.split()
        assert refusal("energy", bare, name, value) == f"{name}: only with --power FILE.csv"

    @pytest.mark.parametrize("unit", ["J", "W"])
    def test_readings_around_the_run_are_none_of_it(self, tmp_path, unit):
        PLANTED.run(tmp_path, energy=energy_fields(PLANTED, unit=unit))
        write_own(tmp_path, PLANTED, unit=unit, interval_s=25.0)
        found = analysis.of_run(record.load(tmp_path))
        assert found.kind is None
        assert "1 readings within 20 s, one every 25 s; allowed: 2 or more" in found.reason


BAD_OWN = {
    "nothing": (lambda text: "", "truncated"),
    "no column": (lambda text: text.replace("time_s", "when"), "columns node, source"),
    "not a number": (lambda text: text.replace("package-0,17", "package-0,x17", 1), "line 2: time_s='x17"),
    "falling": (
        lambda text: text + text.splitlines(keepends=True)[1],
        "later than that of the reading before",
    ),
}


@pytest.mark.parametrize("case", BAD_OWN)
def test_spoiled_readings_get_one_line(own, case, refusal):
    change, words = BAD_OWN[case]
    path = own / "energy.csv"
    path.write_text(change(path.read_text()))
    line = refusal("energy", own)
    assert words in line and str(path) in line


def test_lost_readings_are_named(own, refusal):
    (own / "energy.csv").unlink()
    assert "energy.csv: not found" in refusal("energy", own)


def test_the_table_and_the_json_say_the_same(own, spikemark):
    status, out, _ = spikemark("energy", own)
    assert status == 0
    assert out.index("gross energy") < out.index("net energy")
    assert "EE HPC WG: below level 1" in out and "10.0 Hz" in out
    assert "note: reading took up to" in out and "% of a processor" in out
    means = re.findall(r"(pause|warm-up|measured part|pause after) ([\d.]+) W[, ]", out)
    assert [name for name, _ in means] == ["pause", "warm-up", "measured part", "pause after"]
    assert [float(watts) for _, watts in means] == pytest.approx([200, 320, 320, 200], rel=0.01)
    content = json.loads(spikemark("energy", own, "--json")[1])
    assert content["kind"] == "measured" and content["source"] == "powercap"
    assert content["gross_j"]["value"] == pytest.approx(2 * PLANTED.gross_j, rel=1e-3)
    assert content["phases"]["measured"] == [0, pytest.approx(PLANTED.measured_s)]
    assert content["phases"]["idle_before"][1] == pytest.approx(-PLANTED.warmup_s)
    power = np.array(content["power"]["power_w"])
    assert 2 * PLANTED.idle_w - 1 < power.min() < power.max() < 2 * PLANTED.busy_w + 1
    assert sum(c["gross_j"] for c in content["channels"]) == pytest.approx(content["gross_j"]["value"])


def test_a_file_from_outside(bare, tmp_path, spikemark, refusal):
    times = PLANTED.times(0.5)
    path = write_csv(tmp_path / "p.csv", times, {"a [W]": PLANTED.watts(times), "b_kw": 0 * times + 0.01})
    assert "do not overlap" in refusal("energy", bare, "--power", path)
    one = json.loads(spikemark("energy", bare, "--power", path, "--align", "knee", "--channel", "a",
                               "--json")[1])  # fmt: skip
    both = json.loads(spikemark("energy", bare, "--power", path, "--offset", T0, "--json")[1])
    assert one["gross_j"]["value"] == pytest.approx(PLANTED.gross_j, rel=0.02)
    assert both["gross_j"]["value"] == pytest.approx(PLANTED.gross_j + 10 * PLANTED.measured_s, rel=0.01)
    assert np.ptp(one["idle_w"]["interval"]) == pytest.approx(1)  # steady, in whole watts
    assert any("columns not used: b_kw" in note for note in one["notes"])
    assert both["idle_w"]["value"] == pytest.approx(PLANTED.idle_w + 10, rel=0.01)


class TestLevels:
    LONG = Timeline((100.0, 200.0), (90.0, 95.0), (200.0, 205.0))
    TRACE = Trace(np.arange(80.0, 220.0), power_w=np.ones(140))
    GOOD = Sampling(readings=100, interval_s=1.0, longest_s=1.0, coverage=1.0)

    def of(self, accuracy=1.0, idle=True, sampling=GOOD, timeline=LONG, trace=TRACE):
        return levels.reached(sampling, trace, timeline, idle, accuracy)

    def test_a_meter_at_the_wall_reaches_two(self):
        found = self.of()
        assert (found.level, found.words, found.lacking) == (2, "level 2", [])

    @pytest.mark.parametrize(
        ("change", "level", "lacking"),
        [
            ({"accuracy": 4.0}, 1, "4b accuracy"),
            ({"accuracy": 6.0}, 0, "4b accuracy"),
            ({"accuracy": None}, 0, "2, 3, 4a what is measured"),
            ({"idle": False}, 1, "1c idle power"),
            ({"sampling": Sampling(50, 2.0, 2.0, 1.0)}, 0, "1a granularity"),
            ({"sampling": Sampling(90, 1.0, 1.0, 0.9)}, 0, "1b timing"),
            ({"timeline": Timeline((100.0, 150.0))}, 0, "1b timing"),
            ({"sampling": Sampling(9, 1.0, 1.0, 1.0)}, 1, "1c readings"),
            ({"trace": Trace(np.arange(99.0, 202.0), power_w=np.ones(103))}, 1, "1b timing"),
        ],
    )
    def test_what_is_lacking_is_named(self, change, level, lacking):
        found = self.of(**change)
        assert found.level == level
        assert lacking in [c.aspect for c in found.lacking]

    def test_own_readings_never_reach_one(self, own):
        assert analysis.of_run(record.load(own)).level.level == 0


class TestModel:
    MODEL = PowerModel("made up", idle_w=100, core_w=8, card_w=5, sources={"idle_w": "a test"})

    def test_power(self):
        assert self.MODEL.power_w(4, 1) == 137 and self.MODEL.power_w(0) == 100
        with pytest.raises(BadInput, match="core_w=-1: a power in W >= 0"):
            PowerModel("no", 1, -1, 0)
        with pytest.raises(BadInput, match="idle_w=nan"):
            PowerModel("no", float("nan"), 1, 0)

    def test_a_modelled_energy_says_so_everywhere(self, bare):
        found = analysis.modelled(record.load(bare), self.MODEL, busy_cores=4, cards=1)
        assert found.gross_j.value == pytest.approx(137 * PLANTED.measured_s)
        assert found.net_j.value == pytest.approx(37 * PLANTED.measured_s)
        assert found.level is None and found.gross_j.low is None
        assert show.content(found)["kind"] == "modelled"
        assert show.table(found).heads[1][1] == found.gross_j.kind == "modelled"


def test_thinning_keeps_the_mean():
    times = np.arange(10_001.0)
    few = thinned(times, np.sin(times), 600)
    assert len(few[0]) <= 600 and np.all(np.diff(few[0]) > 0)
    assert thinned(times[:10], times[:10], 10) == (pytest.approx(times[:10]), pytest.approx(times[:10]))
