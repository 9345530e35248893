"""The section on energy: figures of planted runs, and one line where there is none."""

import pytest
from html_page import page_of
from planned import run, write_experiment
from planted_power import T0, Planted, energy_fields, write_csv, write_own
from printed import kinds

from spikemark.quantities.words import number
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.report.sections import SECTIONS, energy

PLANTED = Planted()


def experiment(folder, with_energy=(True, True), planted=PLANTED, **overrides):
    """Two runs of a network, on 1 and 2 ranks."""
    timing = {"timing__simulate_s": planted.measured_s, "timing__real_time_factor": planted.measured_s / 0.01}
    runs = [
        run(ranks=ranks, cycles=100, energy=energy_fields(planted) if has else None, **timing,
            **{**planted.timing(), **overrides})
        for ranks, has in zip((1, 2), with_energy, strict=True)
    ]  # fmt: skip
    results = write_experiment(folder, runs)
    for position, has in enumerate(with_energy):
        if has:
            write_own(results / "runs" / f"{position:012x}", planted)
    return results


def section(results):
    return energy.section(look(gather(results)))


def test_without_energy_it_is_one_line(tmp_path):
    found = section(experiment(tmp_path, (False, False), energy_reason="powercap: denied"))
    (line,) = found.missing
    assert line.startswith("Energy: powercap: denied. ") and "--power FILE.csv" in line
    assert not (found.figures or found.tables or found.text)
    assert energy.section in SECTIONS


def test_power_over_time_has_phases_and_a_baseline(tmp_path):
    found = section(experiment(tmp_path))
    power, events = found.figures
    assert [row[0] for row in power.table.cells] == ["pause", "warm-up", "timed part", "pause after"]
    assert [row[3] for row in power.table.cells] == [number(w, 4) for w in (100, 160, 160, 100)]
    assert "2 ranks" in power.caption and "Dashed" in power.caption
    assert "<svg" in power.svg and "idle" in power.svg
    assert {row[1] for row in events.table.cells} == {"1", "2"}
    assert {row[2] for row in events.table.cells} == {"recurrent"}  # no events from outside
    table, published = found.tables
    assert "as published" in published.title and kinds(published)[2] == "literature"
    assert [row[2] for row in published.cells] == ["1.1", "3.4", "5.7"]
    assert [row[3] for row in table.cells] == ["powercap", "powercap"]
    assert [row[5] for row in table.cells] == ["3\u202f200", "3\u202f200"]
    assert table.cells[0][6] == "1\u202f200"
    assert "below level 1" in found.text[1]


def test_runs_without_are_counted(tmp_path):
    found = section(experiment(tmp_path, (True, False)))
    assert len(found.figures) == 2
    assert found.missing == ["Energy: energy was not asked for (record.energy is false) (in 1 run)."]


def test_without_a_pause_gross_energy_is_drawn(tmp_path):
    planted = Planted(idle_s=0, warmup_s=0)
    none = {"timing__idle_before_s": None, "timing__idle_after_s": None}
    power, events = section(experiment(tmp_path, planted=planted, **none)).figures
    assert "Idle power is missing: no idle pause" in power.caption and "Gross energy" in events.caption
    assert [row[0] for row in power.table.cells] == ["timed part"]


def test_spoiled_readings_do_not_cost_the_page(tmp_path):
    results = experiment(tmp_path)
    (results / "runs" / f"{0:012x}" / "energy.csv").write_text("spoiled")
    found = section(results)
    assert "truncated" in found.missing[0] and len(found.figures) == 2


class TestKept:
    """Power from outside, kept for the first of two runs."""

    @pytest.fixture
    def results(self, tmp_path):
        return experiment(tmp_path / "sweep", (False, False))

    @pytest.fixture
    def meter(self, tmp_path):
        times = PLANTED.times(0.5)
        return write_csv(tmp_path / "meter.csv", T0 + 60 + times, {"a [W]": 2 * PLANTED.watts(times)})

    def run(self, results, which=0):
        return results / "runs" / f"{which:012x}"

    def test_the_report_takes_it(self, spikemark, results, meter):
        before = spikemark("energy", self.run(results))[1]
        asked = ("energy", self.run(results), "--power", meter, "--offset", -60)
        printed = spikemark(*asked)[1]
        status, again, errors = spikemark(*asked, "--keep")
        assert (status, again) == (0, printed) and errors.endswith(f"power/{0:012x}.json\n")
        meter.unlink()
        found = section(results)
        assert found.tables[0].cells[0][3:6] == [
            "meter.csv",
            "20.0",
            "6\u202f370",
        ]  # the step at the end is half seen
        assert "read by meter.csv" in found.figures[0].caption
        assert found.missing[0].endswith("(in 1 run).")  # that of the other
        assert "no energy" in before and spikemark("energy", self.run(results))[1] == printed

    def test_it_stands_before_the_readings_of_the_run_and_runs_share_a_copy(self, spikemark, tmp_path, meter):
        results = experiment(tmp_path / "own")
        for which in (0, 1):
            spikemark("energy", self.run(results, which), "--power", meter, "--align", "knee", "--keep")
        assert {row[3] for row in section(results).tables[0].cells} == {"meter.csv"}
        assert len(list((results / "power").iterdir())) == 3

    def test_what_cannot_be_used_is_named_and_costs_no_page(self, spikemark, results, meter):
        spikemark("energy", self.run(results), "--power", meter, "--align", "knee", "--keep")
        (about,) = (results / "power").glob("*.json")
        about.write_text(about.read_text().replace('"offset_s": 0.0', '"offset_s": "none"'))
        assert any("offset_s" in line and "delete it" in line for line in section(results).missing)
        status, _, errors = spikemark("energy", self.run(results))
        assert status == 2 and str(about) in errors and errors.count("\n") == 1

    def test_refused(self, spikemark, results, meter, tmp_path):
        PLANTED.run(tmp_path / "alone")
        asked = ("--power", meter, "--align", "knee", "--keep")
        status, output, errors = spikemark("energy", tmp_path / "alone", *asked)
        assert (status, output) == (2, "") and "--keep" in errors and "no results folder" in errors
        assert spikemark("energy", self.run(results), "--keep")[0] == 2
        assert not (results / "power").exists()

    def test_no_meter_has_seen_a_simulated_run(self, spikemark, tmp_path, meter):
        PLANTED.run(tmp_path / "simulated", kind="simulated")
        status, _, errors = spikemark("energy", tmp_path / "simulated", "--power", meter, "--align", "knee")
        assert status == 2 and "was simulated" in errors


def test_the_page_holds_it(tmp_path, undrawn):
    made = page_of(experiment(tmp_path))
    assert "energy-power" in made.ids and made.loads == []
    assert "Energy per synaptic event" in made.text


@pytest.mark.parametrize("external", [0, 700])
def test_events_from_outside_have_a_series_of_their_own(tmp_path, external):
    results = experiment(tmp_path)
    view = look(gather(results))
    for m in view.case.runs:
        object.__setattr__(m.run.record.totals, "external_events", external)
    found = energy.section(view)
    kinds = {row[2] for row in found.figures[1].table.cells}
    assert kinds == ({"recurrent", "recurrent + external"} if external else {"recurrent"})
