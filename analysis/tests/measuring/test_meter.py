"""Power from outside: what a CSV may look like, and one clear line for what it may not."""

import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_power import T0, Planted, iso, write_csv

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import measured
from spikemark.measuring.meter import source
from spikemark.measuring.meter_columns import WATTS, Kind, column
from spikemark.measuring.meter_file import read_power

PLANTED = Planted()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return PLANTED.run(tmp_path_factory.mktemp("run"))


def file(
    folder,
    interval_s=0.5,
    offset=0.0,
    noise=1.0,
    seed=1,
    columns=("node [W]",),
    keep=None,
    **options,
):
    """The planted power, shared between the columns."""
    times = PLANTED.times(interval_s)
    rng = np.random.default_rng(seed)
    watts = PLANTED.watts(times) + noise * rng.standard_normal(len(times))
    readings = np.ones(len(times), bool) if keep is None else keep(times)
    shares = {name: watts[readings] / len(columns) for name in columns}
    return write_csv(folder / "power.csv", (T0 + times + offset)[readings], shares, **options)


TWO_OF_TWO = "time,node,a [W],b [W]\n0,x,1,5\n0,y,2,5\n1,x,1,5\n1,y,2,5\n"


class TestGoodFiles:
    @pytest.mark.parametrize(
        ("name", "kind", "factor"),
        [
            ("time", Kind.TIME, 1),
            ("Time (s)", Kind.TIME, 1),
            ("time [ms]", Kind.TIME, 1e-3),
            ("timestamp", Kind.TIME, 1),
            ("timestamp_system_epoch_ms", Kind.TIME, 1e-3),
            ("EpochTime", Kind.TIME, 1),
            ("Time_Of_Day_Seconds", Kind.TIME, 1),
            ("date_time", Kind.TIME, 1),
            ("cpu_time", Kind.OTHER, 1),
            ("start_time", Kind.OTHER, 1),
            ("power [W]", Kind.POWER, 1),
            ("node1 (kW)", Kind.POWER, 1e3),
            ("PDU1_mw", Kind.POWER, 1e-3),
            ("Power mW", Kind.POWER, 1e-3),
            ("watts", Kind.POWER, 1),
            ("W", Kind.POWER, 1),
            ("PkgWatt", Kind.POWER, 1),
            ("PowerConsumedWatts", Kind.POWER, 1),
            ("AverageConsumedWatts", Kind.STATISTIC, 1),
            ("PowerCapacityWatts", Kind.LIMIT, 1),
            ("TotalMegaWatt", Kind.OTHER, 1),
            ("nvml_power_watts", Kind.POWER, 1),
            ("scaph_host_power_microwatts", Kind.POWER, 1e-6),
            ("VDD_IN/mW", Kind.POWER, 1e-3),
            ("Current Socket Graphics Package Power (W)", Kind.POWER, 1),
            ("power.draw.instant [W]", Kind.POWER, 1),
            ("power.draw.average [W]", Kind.STATISTIC, 1),
            ("Average Graphics Package Power (W)", Kind.STATISTIC, 1),
            ("AvgPower [W]", Kind.STATISTIC, 1),
            ("Max_Power [W]", Kind.STATISTIC, 1),
            ("power.limit [W]", Kind.LIMIT, 1),
            ("enforced.power.limit [W]", Kind.LIMIT, 1),
            ("power_cap_mW", Kind.LIMIT, 1e-3),
            ("TDP [W]", Kind.LIMIT, 1),
            ("temperature [C]", Kind.OTHER, 1),
            ("power [MW]", Kind.OTHER, 1),
            ("energy [J]", Kind.OTHER, 1),
            ("Apparent power (W)", Kind.OTHER, 1),
            ("reactive_power_W", Kind.OTHER, 1),
            ("power factor [W]", Kind.OTHER, 1),
            ("Active power (W)", Kind.POWER, 1),
            ("entity_id", Kind.PART, 1),
            ("_field", Kind.PART, 1),
            ("Node", Kind.NODE, 1),
            ("hostname", Kind.NODE, 1),
            ("index", Kind.DEVICE, 1),
            ("pci.bus_id", Kind.DEVICE, 1),
            ("Step", Kind.STEP, 1),
            ("sensor", Kind.PART, 1),
        ],
    )
    def test_names_tell_what_columns_are(self, name, kind, factor):
        assert (column(name).kind, column(name).factor) == (kind, factor)

    @pytest.mark.parametrize("unit", ["mW", "W", "kW"])
    @pytest.mark.parametrize("channels", [1, 4])
    def test_the_unit_and_the_channels_do_not_change_the_power(self, tmp_path, unit, channels):
        rng = np.random.default_rng(channels)
        watts, shares = rng.uniform(0, 500, 5), rng.dirichlet(np.ones(channels))
        columns = {f"n{i} [{unit}]": watts * s / WATTS[unit] for i, s in enumerate(shares)}
        traces = read_power(write_csv(tmp_path / "p.csv", np.arange(5.0), columns), [*columns])
        assert sum(trace.power_w for trace in traces.values()) == pytest.approx(watts)

    @pytest.mark.parametrize("zone", ["+00:00", "Z", "", "+05:30"])
    def test_iso_times(self, tmp_path, zone):
        hours = 5.5 if zone == "+05:30" else 0
        path = write_csv(tmp_path / "p.csv", iso(T0 + np.arange(3.0), zone), {"w": np.ones(3)})
        assert read_power(path)["w"].time_s == pytest.approx(T0 - 3600 * hours + np.arange(3))

    def test_comments_blank_lines_and_other_columns(self, tmp_path):
        path = tmp_path / "p.csv"
        path.write_text(
            "\ufeff# a meter\n\ntime,power [W],voltage [V]\n0,5,230\n\n1,6,231\n2,7,229\n"
        )
        assert read_power(path)["power"].power_w.tolist() == [5, 6, 7]

    @pytest.mark.parametrize(
        ("text", "chosen", "expected"),
        [
            ("time,a [W],b [W],c_kW\n0,1,2,3\n1,1,2,3\n", ["a", "b", "c"], ["a", "b", "c"]),
            ("time,a [W],b [W],c_kW\n0,1,2,3\n1,1,2,3\n", ["b", "c_kW"], ["b", "c"]),
            (TWO_OF_TWO, ["a"], ["x a", "y a"]),
            (TWO_OF_TWO, ["y", "a", "b [W]"], ["y a", "y b"]),
            (TWO_OF_TWO, ["x a", "y b"], ["x a", "y b"]),
            ("time,node,a [W]\n0,x,1\n0,y,2\n1,x,1\n1,y,2\n", None, ["x", "y"]),
        ],
    )
    def test_channels_are_chosen(self, tmp_path, text, chosen, expected):
        path = tmp_path / "p.csv"
        path.write_text(text)
        assert list(read_power(path, chosen)) == expected
        with pytest.raises(BadInput) as error:
            read_power(path, ["d"])
        assert error.value.field == "channel"


def refused(path, run=None, **options) -> str:
    with pytest.raises(BadInput) as error:
        source(run, path, **options) if run else read_power(path)
    line = str(error.value)
    assert "\n" not in line and str(path) in line
    return line


BAD = {  # text: the line and the words that must be named
    "when,power [W]\n0,1\n1,2\n": "time in 'when, power",
    "time;power [W]\n0;1\n1;2\n": "line 1: semicolons",
    "time,energy_w\n" + "".join(f"{i},{10 * i}\n" for i in range(40)): "never falls",
    '"time";"power [W]"\n0;1\n1;2\n': "line 1: semicolons",
    "Date,Time,power [W]\n2026/01/31,12:00:00,1\n2026/01/31,12:00:01,2\n": "Date has days only",
    "time,entity_id,power [W]\n0,plug,1\n0,rack,1\n3,plug,2\n4,plug,2\n5,rack,3\n": (
        "entity_id: plug, rack"
    ),
    "time,power\n0,1\n1,2\n": "power in 'time, power'",
    "time,power [MW]\n0,1\n1,2\n": r"power in .*power \[MW\]",
    "time,p [W],p [W]\n0,1,2\n1,2,2\n": r"p \[W\]",
    "time,power [W]\n0,1\n2,2\n0.0,3\n": "line 4: time='0.0'",
    "time,power [W]\n0,1\n1,2\n1,3\n": "line 4: time='1'",
    "time,power [W]\n0,1\n1,-2\n2,1\n": r"line 3: power \[W\]='-2'",
    "time,power [W]\n0,1\n1,\n2,1\n": r"line 3: power \[W\]=''",
    "time,power [W]\n0,1\n1,nan\n2,1\n": r"line 3: power \[W\]='nan'",
    "time,power [W]\n0,1\nlater,2\n": "line 3: time='later'",
    "time,power [W]\n0,1\ninf,2\n": "line 3: time='inf'",
    "time,power [W]\n0,1\n1,2,3\n": "line 3: 3 fields",
    "time,power [W]\n0,1\n": "1 readings",
    "time,node,power [W]\n0,a,1\n0,b,1\n1,a,2\n1,a,3\n": "line 5: time='1'",
    "time,node,power [W]\n0,a,1\n0,b,1\n1,a,2\n": "line 3: 1 readings",
    "time,node,power [W]\n": "two readings or more",
    "": "empty",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_file_gets_one_line(tmp_path, text):
    path = tmp_path / "power.csv"
    path.write_text(text)
    assert re.search(BAD[text], refused(path))


def test_a_meter_slower_than_the_run_is_refused(tmp_path, run):
    assert "0 readings within 20 s" in refused(file(tmp_path, interval_s=30.0), run=run)


class TestAlignment:
    def test_by_the_clock_gives_the_planted_energy(self, tmp_path, run):
        readings = source(run, file(tmp_path, columns=("a [W]", "b [W]")), ["a", "b"])
        result = measured(run, readings)
        assert result.gross_j.low <= PLANTED.gross_j <= result.gross_j.high
        assert result.net_j.value == pytest.approx(PLANTED.net_j, rel=0.03)
        assert result.net_j.low <= PLANTED.net_j <= result.net_j.high
        assert list(readings.traces) == ["a", "b"] and not readings.remarks

    @given(st.floats(-1000, 1000), st.booleans())
    @settings(max_examples=10)
    def test_an_offset_or_the_knee_corrects_a_wrong_clock(
        self, tmp_path_factory, run, offset, by_knee
    ):
        path = file(tmp_path_factory.mktemp("csv"), offset=offset, interval_s=0.25)
        options = {"align": "knee"} if by_knee else {"offset_s": -offset}
        result = measured(run, source(run, path, **options))
        assert result.gross_j.value == pytest.approx(PLANTED.gross_j, rel=0.02)
        assert result.gross_j.low <= PLANTED.gross_j <= result.gross_j.high
        assert result.idle_w.value == pytest.approx(PLANTED.idle_w, rel=0.02)

    def test_relative_times_need_the_knee(self, tmp_path, run):
        path = file(tmp_path, offset=-T0)
        line = refused(path, run=run)
        assert "0 s to 72.5 s" in line and "2026-01-01T00:00:32" in line and "--align knee" in line
        readings = source(run, path, align="knee")
        assert readings.timeline.measured == pytest.approx(tuple(PLANTED.edges[4:6]), abs=0.3)

    def test_a_clock_that_is_a_little_wrong_is_noticed(self, tmp_path, run):
        readings = source(run, file(tmp_path, offset=3.0))
        (late_s,) = (re.search(r"steps up (\S+) s after", remark) for remark in readings.remarks)
        assert float(late_s[1]) == pytest.approx(3, abs=0.25)

    def test_part_of_a_run_and_a_gap_during_it_are_refused_and_a_gap_before_is_not(
        self, tmp_path, run
    ):
        at = PLANTED.edges[4]
        assert "covers" in refused(file(tmp_path, keep=lambda t: t < at + 5), run=run)
        line = refused(file(tmp_path, keep=lambda t: (t < at + 5) | (t > at + 8)), run=run)
        assert "4 s between two readings" in line
        source(run, file(tmp_path, keep=lambda t: (t < 2) | (t > 8)))

    def test_an_accuracy_names_its_field(self, tmp_path, run):
        with pytest.raises(BadInput) as error:
            source(run, file(tmp_path), at_wall_percent=0)
        assert error.value.field == "at-wall"

    def test_a_clock_that_was_set_cannot_place_a_run(self, tmp_path):
        path = file(tmp_path)
        for step_s in (3600.0, -1.0):
            run = PLANTED.run(tmp_path / "run", timing__clock_step_s=step_s)
            with pytest.raises(BadInput, match=r"clock_step_s=.*--align knee"):
                source(run, path)
            placed = source(run, path, align="knee")
            assert placed.timeline.measured[0] - T0 == pytest.approx(PLANTED.edges[3], abs=0.3)
        assert source(PLANTED.run(tmp_path / "run", timing__clock_step_s=1e-6), path)

    def test_a_record_without_times(self, tmp_path):
        names = ("simulate_started_s", "simulate_ended_s", "idle_before_s", "idle_after_s")
        old, path = {f"timing__{name}": None for name in names}, file(tmp_path)
        with pytest.raises(BadInput, match=r"simulate_started_s: missing.*--align knee"):
            source(PLANTED.run(tmp_path / "run", **old), path)
        with_warmup = {
            "timing__simulate_s": 24.0,
            "timing__real_time_factor": 2400.0,
        }  # with the warm-up
        placed = source(PLANTED.run(tmp_path / "again", **old, **with_warmup), path, align="knee")
        assert placed.timeline.measured[0] - T0 == pytest.approx(PLANTED.edges[3], abs=0.3)


class TestWhichWatts:
    """What is power, and whose; the totals and rails of real meters."""

    @pytest.mark.parametrize(
        "names",
        [
            "power.draw [W],power.draw.instant [W]",
            "board [W],gpu [mW]",
            "package-0_w,core_w,dram_w",
            "PkgWatt,CorWatt,RAMWatt",
            "power [W],cpu_power [W],memory_power [W],accel0_power [W]",
            "VDD_IN/mW,VDD_CPU_GPU_CV/mW,VDD_SOC/mW",
        ],
    )
    def test_several_columns_of_power_are_named_and_never_added(self, tmp_path, names):
        path = tmp_path / "power.csv"
        columns = names.split(",")
        values = ",".join(str(10 * (1 + place)) for place in range(len(columns)))
        path.write_text(f"time,{names}\n0,{values}\n1,{values}\n")
        line = refused(path)
        assert all(name in line for name in columns) and "--channel" in line
        (trace,) = read_power(path, [columns[0]]).values()
        assert trace.power_w[0] == 10 * column(columns[0]).factor

    @pytest.mark.parametrize("label", ["sensor", "channel", "rail", "domain", "metric"])
    def test_parts_of_a_node_are_named_and_never_added(self, tmp_path, label):
        path = tmp_path / "power.csv"
        path.write_text(f"time,{label},power [W]\n0,total,9\n0,cpu,5\n1,total,9\n1,cpu,5\n")
        line = refused(path)
        assert "cpu, total" in line and "--channel" in line
        assert [*read_power(path, ["cpu"])] == ["cpu"]

    def test_a_total_among_the_nodes_is_not_added(self, tmp_path):
        path = tmp_path / "power.csv"
        path.write_text(
            "time,node,power [W]\n0,n1,4\n0,n2,5\n0,total,9\n1,n1,4\n1,n2,5\n1,total,9\n"
        )
        assert "total" in refused(path)
        assert [*read_power(path, ["n1", "n2"])] == ["n1", "n2"]

    @pytest.mark.parametrize("name", ["power.limit [W]", "power.draw.average [W]"])
    def test_limits_and_averages_are_never_power(self, tmp_path, name):
        path = tmp_path / "power.csv"
        path.write_text(f"time,power [W],{name}\n0,5,400\n1,6,400\n")
        assert [*read_power(path)] == ["power"]
        with pytest.raises(BadInput) as error:
            read_power(path, [name])
        assert error.value.field == "channel" and name in str(error.value)
        path.write_text(f"time,{name}\n0,400\n1,400\n")
        assert name in refused(path)

    @pytest.mark.parametrize("column", ["index", "gpu", "device", "uuid", "pci.bus_id"])
    def test_a_column_that_numbers_devices_separates_them(self, tmp_path, column):
        path = tmp_path / "power.csv"
        path.write_text(f"time,{column},name,power [W]\n0,7,A,5\n0.1,8,A,50\n1,7,A,6\n1.1,8,A,60\n")
        first, second = read_power(path).values()
        assert (first.power_w.tolist(), second.power_w.tolist()) == ([5, 6], [50, 60])

    @pytest.mark.parametrize("column", ["mystery", "slot"])
    @pytest.mark.parametrize("second", [0.0, 0.01, 0.5])
    def test_devices_that_no_known_column_tells_apart(self, tmp_path, column, second):
        path = tmp_path / "power.csv"
        rows = [f"{i},A,90\n{i + second},B,30" for i in range(10)]
        path.write_text("\n".join([f"time,{column},power [W]", *rows]))
        refused(path)
        path.write_text(
            "\n".join(
                ["time,power [W]", *(row.replace(",A,", ",").replace(",B,", ",") for row in rows)]
            )
        )
        refused(path)

    @pytest.mark.parametrize(
        ("channels", "words"),
        [(["m1", "nothing"], "nothing"), (["0"], "step 0.*gpu 0|gpu 0.*step 0")],
    )
    def test_a_channel_that_says_nothing_or_two_things(self, tmp_path, channels, words):
        path = tmp_path / "power.csv"
        rows = [f"{t},{s},m1,{g},5" for s in (0, 1) for g in (0, 1) for t in (10 * s, 10 * s + 1)]
        path.write_text("\n".join(["time,step,node,gpu,power [W]", *rows]))
        with pytest.raises(BadInput, match=words) as error:
            read_power(path, channels)
        assert error.value.field == "channel"
        assert [*read_power(path, ["step 0"])] == ["m1 step 0 gpu 0", "m1 step 0 gpu 1"]


PAGE = ROOT / "docs/energy-and-traces.md"
RECIPE = re.compile(r"`sed -i \"([^\"]*)\" meter.csv`")


class TestFilesOfOthers:
    def test_nvidia_smi(self, tmp_path, run):
        """As `nvidia-smi --query-gpu=… --format=csv` writes it: dates with slashes, units in the
        cells.
        """
        times = PLANTED.times(0.1)
        rows = [
            f"{time}, {gpu}, NVIDIA A100, {watts / 2:.2f} W, 400.00 W, 35 %"
            for time, watts in zip(iso(T0 + times, ""), PLANTED.watts(times), strict=True)
            for gpu in (0, 1)
        ]
        rows = [row.replace("-", "/", 2).replace("T", " ", 1) for row in rows]
        names = "timestamp, index, name, power.draw [W], power.limit [W], utilization.gpu [%]"
        path = tmp_path / "nvidia.csv"
        path.write_text("\n".join([names, *rows]))
        readings = source(run, path)
        gross_j = measured(run, readings).gross_j
        assert gross_j.low <= PLANTED.gross_j <= gross_j.high and gross_j.high - gross_j.low < 80
        assert [*readings.traces] == ["index 0", "index 1"]
        assert "power.limit [W]" in readings.notes[-1] and "index 0" in readings.remarks[0]

    def test_sh5util_with_eleven_steps(self, tmp_path, run):
        """The recipe of docs/energy-and-traces.md: steps come in the order of their names, as
        text.
        """
        rows = []
        for step in sorted(range(11), key=str):
            begin = int(T0) + 5 + 80 * (step - 7)
            seconds = np.arange(begin, begin + 75)
            watts = PLANTED.watts(seconds - T0) if step == 7 else 300 + 0 * seconds
            rows += [
                f"{step},n1,{t - begin},{t},{w:.0f},2400"
                for t, w in zip(seconds, watts, strict=True)
            ]
        header = "Step,Node,ElapsedTime,EpochTime,Power,CPUFrequency"
        path = tmp_path / "meter.csv"
        path.write_text("\n".join([header, *rows]) + "\n")
        subprocess.run(["sed", "-i", RECIPE.search(PAGE.read_text())[1], path], check=True)
        readings = source(run, path)
        gross_j = measured(run, readings).gross_j
        assert [*readings.traces] == [
            "n1 step 7"
        ] and gross_j.low <= PLANTED.gross_j <= gross_j.high
        with pytest.raises(BadInput, match="step 10"):
            source(run, path, align="knee")

    def test_steps_that_overlap_have_read_the_same_node(self, tmp_path, run):
        path = tmp_path / "meter.csv"
        rows = [f"{step},n1,{T0 + t},90" for step in ("batch", "0") for t in range(80)]
        path.write_text("\n".join(["Step,Node,EpochTime,Power [W]", *rows]))
        line = refused(path, run=run)
        assert "step batch" in line and "step 0" in line
        assert [*source(run, path, channels=["step 0"]).traces] == ["n1 step 0"]


class TestTimes:
    def test_times_without_a_zone_must_not_fit_twice(self, tmp_path, run):
        seconds = np.arange(-4000.0, 4000.0)
        path = write_csv(tmp_path / "p.csv", iso(T0 + seconds, ""), {"w": 90 + 0 * seconds})
        assert "zone" in refused(path, run=run)
        assert source(run, path, offset_s=0.0)
        assert source(
            run, write_csv(tmp_path / "p.csv", iso(T0 + seconds, "Z"), {"w": 90 + 0 * seconds})
        )

    def test_a_clock_that_is_set_back(self, tmp_path):
        path = tmp_path / "p.csv"
        hours = [f"2026-10-25T02:{minute:02}:00,90" for minute in range(60)]
        path.write_text("\n".join(["time,w", *hours, *hours]))
        assert "line 62: time=" in refused(path)
        path.write_text(
            "\n".join(
                [
                    "time,w",
                    *(row.replace(",", "+02:00,") for row in hours),
                    *(row.replace(",", "+01:00,") for row in hours),
                ]
            )
        )
        assert len(read_power(path)["w"].power_w) == 120

    def test_whole_seconds_widen_the_interval(self, run, tmp_path):
        """Readings whose times were cut to whole seconds: the truth lies within the interval."""
        for begin in np.arange(0.05, 1, 0.1):
            times = np.arange(begin, 70)
            path = write_csv(tmp_path / "p.csv", np.floor(T0 + times), {"w": PLANTED.watts(times)})
            gross_j = measured(run, source(run, path)).gross_j
            assert gross_j.low <= PLANTED.gross_j <= gross_j.high

    @pytest.mark.parametrize("decimals", [1, 2])
    def test_kilowatts_with_few_decimals_widen_the_interval(self, run, tmp_path, decimals):
        times = PLANTED.times(0.5)
        kilowatts = np.round((PLANTED.watts(times) + 4) / 1e3, decimals)
        path = write_csv(tmp_path / "p.csv", T0 + times, {"power [kW]": kilowatts})
        gross_j = measured(run, source(run, path)).gross_j
        assert gross_j.low <= PLANTED.gross_j + 4 * PLANTED.measured_s <= gross_j.high

    @pytest.mark.parametrize("truth", ["mW", "W", "kW"])
    @pytest.mark.parametrize("says", ["mW", "W", "kW"])
    def test_a_unit_that_no_node_can_have_is_remarked_upon(self, run, tmp_path, truth, says):
        """350 W of a node, in every unit and under the name of every other one."""
        times = PLANTED.times(0.5)
        values = PLANTED.watts(times) / PLANTED.watts(times).mean() * 350 / WATTS[truth]
        path = write_csv(tmp_path / "p.csv", T0 + times, {f"power [{says}]": values})
        if (truth, says) == ("mW", "kW"):  # more than anything measured here
            assert f"power [{says}]" in refused(path, run=run)
            return
        remarks = [line for line in source(run, path).remarks if "unit" in line]
        assert len(remarks) == (truth != says)
        assert all(f"power [{says}]" in line for line in remarks)

    def test_a_reading_of_nothing_during_the_run(self, tmp_path, run):
        times = PLANTED.times(0.5)
        watts = np.where(np.arange(len(times)) == 80, 0.0, PLANTED.watts(times))
        assert "0 W" in refused(write_csv(tmp_path / "p.csv", T0 + times, {"w": watts}), run=run)


def test_the_interval_of_several_meters_is_no_narrower_than_theirs(run, tmp_path):
    """The edges of the run lie between readings of each meter, though those of all are close
    together.
    """
    parts = []
    for node, begin in enumerate((0.05, 0.35, 0.7)):
        times = np.arange(begin, 70)
        parts.append(
            pd.DataFrame({"time": T0 + times, "node": node, "w": PLANTED.watts(times) / 3})
        )
    path = tmp_path / "p.csv"
    pd.concat(parts).to_csv(path, index=False)
    gross_j = measured(run, source(run, path)).gross_j
    assert gross_j.low <= PLANTED.gross_j <= gross_j.high
