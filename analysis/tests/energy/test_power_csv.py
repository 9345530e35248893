"""Power from outside: what a CSV may look like, and one clear line for what it may not."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_power import T0, Planted, iso, write_csv

from spikemark.core.errors import BadInput
from spikemark.energy import analysis, outside
from spikemark.energy.power_csv import read_power
from spikemark.energy.power_header import WATTS, read_header
from spikemark.energy.timeline import of_run

PLANTED = Planted()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return PLANTED.run(tmp_path_factory.mktemp("run"))


def file(folder, interval_s=0.5, offset=0.0, noise=1.0, seed=1, columns=("node [W]",), keep=None, **options):
    """The planted power, shared between the columns."""
    times = PLANTED.times(interval_s)
    rng = np.random.default_rng(seed)
    watts = PLANTED.watts(times) + noise * rng.standard_normal(len(times))
    kept = np.ones(len(times), bool) if keep is None else keep(times)
    shares = {name: watts[kept] / len(columns) for name in columns}
    return write_csv(folder / "power.csv", (T0 + times + offset)[kept], shares, **options)


class TestGoodFiles:
    @pytest.mark.parametrize(
        ("names", "unit"),
        [
            (["time", "power [W]"], 1),
            (["Time (s)", "node1 (kW)"], 1e3),
            (["timestamp", "watts"], 1),
            (["epoch", "PDU1_mw"], 1e-3),
            (["elapsed_s", "power_W"], 1),
            (["date_time", "Power mW"], 1e-3),
            (["time [ms]", "temperature [C]", "W"], 1),
        ],
    )
    def test_names_tell_what_columns_are(self, names, unit):
        header = read_header(names, "f: line 1")
        assert header.time.index == 0
        assert [c.factor for c in header.power] == [unit]
        assert header.time.factor == (1e-3 if "ms" in names[0] else 1)

    @given(st.sampled_from(sorted(WATTS)), st.integers(1, 4), st.integers(0, 2**31))
    @settings(max_examples=20)
    def test_the_unit_and_the_channels_do_not_change_the_power(self, unit, channels, seed):
        import tempfile
        from pathlib import Path

        rng = np.random.default_rng(seed)
        times, watts = np.arange(5.0), rng.uniform(0, 500, 5)
        shares = rng.dirichlet(np.ones(channels))
        columns = {f"n{i} [{unit}]": watts * s / WATTS[unit] for i, s in enumerate(shares)}
        with tempfile.TemporaryDirectory() as folder:
            found = read_power(write_csv(Path(folder) / "p.csv", times, columns))
        assert sum(c.power_w for c in found.channels.values()) == pytest.approx(watts)

    @pytest.mark.parametrize("zone", ["+00:00", "Z", "", "+05:30"])
    def test_iso_times(self, tmp_path, zone):
        hours = 5.5 if zone == "+05:30" else 0
        path = write_csv(tmp_path / "p.csv", iso(T0 + np.arange(3.0), zone), {"w": np.ones(3)})
        found = read_power(path)
        assert found.channels["w"].time_s == pytest.approx(T0 - 3600 * hours + np.arange(3))
        assert any("UTC" in note for note in found.notes) == (zone == "")

    def test_comments_blank_lines_and_other_columns(self, tmp_path):
        path = tmp_path / "p.csv"
        path.write_text("\ufeff# a meter\n\ntime,power [W],voltage [V]\n0,5,230\n\n1,6,231\n2,7,229\n")
        found = read_power(path)
        assert found.channels["power"].power_w.tolist() == [5, 6, 7]
        assert found.lines == {"power": [4, 6, 7]}
        assert found.notes == ["columns not used: voltage [V]"]

    def test_channels_are_chosen(self, tmp_path):
        path = write_csv(
            tmp_path / "p.csv", range(3), {"a [W]": [1, 1, 1], "b [W]": [2, 2, 2], "c_kW": [3] * 3}
        )
        assert list(read_power(path).channels) == ["a", "b", "c"]
        assert list(read_power(path, ["b", "c_kW"]).channels) == ["b", "c"]


SLURM = "Step,Node,ElapsedTime,EpochTime,Power [W]\n"  # sh5util --extract, and the unit


class TestRowsOfSeveralMeters:
    """One line per meter and time, as Slurm and many PDUs write them."""

    ROWS = SLURM + "0,n1,0,1000,100\n0,n1,1,1001,110\n0,n1,2,1002,120\n0,n2,0,1000,50\n0,n2,2,1002,70\n"

    def test_each_is_a_channel_with_times_of_its_own(self, tmp_path):
        (tmp_path / "p.csv").write_text(self.ROWS)
        found = read_power(tmp_path / "p.csv")
        assert {n: c.power_w.tolist() for n, c in found.channels.items()} == {
            "n1": [100, 110, 120], "n2": [50, 70],
        }  # fmt: skip
        assert found.channels["n2"].time_s.tolist() == [1000, 1002]
        assert found.lines == {"n1": [2, 3, 4], "n2": [5, 6]}
        assert found.notes == ["columns not used: Step, ElapsedTime"]
        assert list(read_power(tmp_path / "p.csv", ["n2"]).channels) == ["n2"]
        line = refused(tmp_path / "p.csv", ["n3"])
        assert "channel 'n3'; columns of power: Power [W]; rows of: n1, n2" in line

    def test_several_columns_are_channels_of_each(self, tmp_path):
        path = tmp_path / "p.csv"
        path.write_text("time,outlet,a [W],b [W]\n0,1,1,2\n0,2,3,4\n1,1,1,2\n1,2,3,4\n")
        assert list(read_power(path).channels) == ["1 a", "1 b", "2 a", "2 b"]
        assert list(read_power(path, ["2", "b"]).channels) == ["2"]

    def test_they_are_summed(self, tmp_path, run):
        times = T0 + PLANTED.times(0.5)
        watts = PLANTED.watts(PLANTED.times(0.5))
        rows = [f"{t + late:.3f},{node},{w / 2}" for t, w in zip(times, watts, strict=True)
                for node, late in (("n1", 0.0), ("n2", 0.1))]  # fmt: skip
        (tmp_path / "p.csv").write_text("\n".join(["time,node,power [W]", *rows, ""]))
        found = analysis.measured(run, outside.source(run, tmp_path / "p.csv"))
        assert found.gross_j.value == pytest.approx(PLANTED.gross_j, rel=0.01)
        assert found.idle_w.value == pytest.approx(PLANTED.idle_w, rel=0.01)


def refused(path, *arguments, run=None, **options) -> str:
    with pytest.raises(BadInput) as error:
        if run is None:
            read_power(path, *arguments, **options)
        else:
            outside.source(run, path, *arguments, **options)
    line = str(error.value)
    assert "\n" not in line and str(path) in line
    return line


BAD = {
    "when,power [W]\n0,1\n1,2\n": r"line 1: no column of time in 'when, power \[W\]'; allowed: time,",
    "time;power [W]\n0;1\n1;2\n": "line 1: no column of time .*commas between columns",
    "time,power\n0,1\n1,2\n": r"line 1: column 'power' has no unit of power; allowed: mW, W, kW",
    "time,power [MW]\n0,1\n1,2\n": r"line 1: column 'power \[MW\]' has no unit of power",
    "time,voltage [V]\n0,1\n1,2\n": "line 1: column 'voltage \\[V\\]' has no unit of power",
    "time,a [W],node power\n0,1,2\n1,2,2\n": "column 'node power' has no unit",
    "time,p [W],p [W]\n0,1,2\n1,2,2\n": r"column 'p \[W\]' occurs twice",
    "time,power [W]\n0,1\n2,2\n1,3\n": "line 4: time '1' lies before that of the line above; allowed: in",
    "time,power [W]\n0,1\n1,2\n1,3\n": "line 4: time '1' stands twice",
    "time,power [W]\n0,1\n1,-2\n2,1\n": r"line 3: power \[W\] '-2'; allowed: a number >= 0",
    "time,power [W]\n0,1\n1,\n2,1\n": r"line 3: power \[W\] ''; allowed",
    "time,power [W]\n0,1\n1,nan\n2,1\n": r"line 3: power \[W\] 'nan'",
    "time,power [W]\n0,1\nlater,2\n": "line 3: time 'later'; allowed: a number, or a time such as 2026",
    "time,power [W]\n0,1\ninf,2\n": "line 3: time 'inf'",
    "time,power [W]\n0,1\n1,2,3\n": "line 3: 3 fields; the first line has 2",
    "time,power [W]\n0,1\n": "1 readings; at least two",
    "time,node,power [W]\n0,a,1\n0,b,1\n1,a,2\n1,a,3\n": "line 5: time '1' stands twice",
    "time,node,power [W]\n0,a,1\n0,b,1\n1,a,2\n": "1 readings of b; at least two",
    "time,node,power [W]\n": "0 readings; at least two",
    "time,node,power\n0,a,1\n1,a,1\n": "column 'power' has no unit",
    "": "line 1: no column of time",
}


@pytest.mark.parametrize("text", BAD)
def test_a_bad_file_gets_one_line(tmp_path, text):
    path = tmp_path / "power.csv"
    path.write_text(text)
    assert re.search(BAD[text], refused(path))


def test_unknown_channels_are_refused(tmp_path):
    path = write_csv(tmp_path / "p.csv", range(3), {"a [W]": [1, 1, 1], "note": [0, 0, 0]})
    assert "channel 'b'; columns of power: a [W]" in refused(path, ["b"])
    assert "channel 'note', which has no unit (mW, W, kW)" in refused(path, ["note"])
    assert "not found" in refused(tmp_path / "absent.csv")


def test_a_meter_slower_than_the_run_is_refused(tmp_path, run):
    assert "the measured part has 0 readings within 20 s, one every 30 s; allowed: 2" in refused(
        file(tmp_path, interval_s=30.0), run=run
    )


def test_nodes_without_a_channel_are_named(tmp_path):
    two = Planted().run(tmp_path / "run", host__nodes=2)
    path = file(tmp_path)
    (note,) = [n for n in outside.source(two, path).notes if "nodes" in n]
    assert note.startswith("the run had 2 nodes, but the file has the power of 1:")
    path = file(tmp_path, columns=("a [W]", "b [W]"))
    assert not [n for n in outside.source(two, path).notes if "nodes" in n]


class TestAlignment:
    def test_by_the_clock_gives_the_planted_energy(self, tmp_path, run):
        source = outside.source(run, file(tmp_path, columns=("a [W]", "b [W]")))
        found = analysis.measured(run, source)
        assert found.gross_j.low <= PLANTED.gross_j <= found.gross_j.high
        assert found.net_j.value == pytest.approx(PLANTED.net_j, rel=0.03)
        assert found.net_j.low <= PLANTED.net_j <= found.net_j.high
        assert list(source.traces) == ["a", "b"] and not [n for n in source.notes if "steps up" in n]

    @given(st.floats(-1000, 1000), st.booleans())
    @settings(max_examples=10)
    def test_an_offset_or_the_knee_corrects_a_wrong_clock(self, tmp_path_factory, run, offset, by_knee):
        path = file(tmp_path_factory.mktemp("csv"), offset=offset, interval_s=0.25)
        options = {"align": "knee"} if by_knee else {"offset_s": -offset}
        found = analysis.measured(run, outside.source(run, path, **options))
        assert found.gross_j.value == pytest.approx(PLANTED.gross_j, rel=0.02)
        assert found.idle_w.value == pytest.approx(PLANTED.idle_w, rel=0.02)

    def test_relative_times_need_the_knee(self, tmp_path, run):
        path = file(tmp_path, offset=-T0)
        line = refused(path, run=run)
        assert re.search(r"covers 0 s to 72\.5 s, the measured part of .* 2026-01-01T00:00:32", line)
        assert "they do not overlap" in line and "--align knee" in line
        source = outside.source(run, path, align="knee")
        assert source.timeline.measured == pytest.approx(tuple(PLANTED.edges[4:6]), abs=0.3)
        assert f"an offset of {T0:.0f}"[:20] in source.notes[0]

    def test_a_clock_that_is_a_little_wrong_is_noticed(self, tmp_path, run):
        source = outside.source(run, file(tmp_path, offset=3.0))
        (found,) = (
            re.match(r"power steps up (\S+) s after the run began according to the clocks", note)
            for note in source.notes[1:]
        )
        assert float(found[1]) == pytest.approx(3, abs=0.25)

    def test_part_of_a_run_is_not_enough(self, tmp_path, run):
        end = PLANTED.edges[4] + 5
        line = refused(file(tmp_path, keep=lambda t: t < end), run=run)
        assert re.search(r"covers 4\.5 s of the 20 s of the measured part", line)

    def test_a_gap_during_the_run_is_refused_and_elsewhere_not(self, tmp_path, run):
        edges = PLANTED.edges
        inside = file(tmp_path, keep=lambda t: (t < edges[4] + 5) | (t > edges[4] + 8))
        line = refused(inside, run=run)
        assert re.search(r"line 76: 4 s after the line before; allowed during the run: 1\.5 s", line)
        outside.source(run, file(tmp_path, keep=lambda t: (t < 2) | (t > 8)))

    def test_other_words(self, tmp_path, run):
        path = file(tmp_path)
        with pytest.raises(BadInput, match="align='eye'; allowed: times, knee"):
            outside.source(run, path, align="eye")
        with pytest.raises(BadInput, match="offset=nan; allowed: a number of seconds"):
            outside.source(run, path, offset_s=float("nan"))
        with pytest.raises(BadInput, match="at-wall=0; allowed"):
            outside.source(run, path, at_wall_percent=0)

    def test_a_clock_that_was_set_cannot_place_a_run(self, tmp_path):
        path = file(tmp_path)
        for step_s in (3600.0, -1.0):
            run = PLANTED.run(tmp_path / "run", timing__clock_step_s=step_s)
            with pytest.raises(BadInput, match=rf"clock_step_s={step_s:.3f}: .*, so that .*--align knee"):
                outside.source(run, path)
            placed = outside.source(run, path, align="knee")
            assert placed.timeline.measured[0] - T0 == pytest.approx(PLANTED.edges[3], abs=0.3)
        assert outside.source(PLANTED.run(tmp_path / "run", timing__clock_step_s=1e-6), path)

    @pytest.mark.parametrize("step_s", [3600.0, 1.0, -1.0])
    def test_a_span_that_is_not_the_time_it_took_is_refused(self, tmp_path, step_s):
        """A record from before the clock was watched."""
        ended = PLANTED.timing()["timing__simulate_ended_s"] + step_s
        run = PLANTED.run(tmp_path / "run", timing__simulate_ended_s=ended)
        with pytest.raises(BadInput, match="the system clock was set in between"):
            of_run(run)
        with pytest.raises(BadInput, match="set in between, so that it cannot place the run"):
            outside.source(run, file(tmp_path))

    def test_a_watched_clock_places_a_run_on_a_busy_host(self, tmp_path):
        """The first rank left the barrier before the measured part later than the slowest did."""
        began = PLANTED.timing()["timing__simulate_started_s"] + 1.0
        run = PLANTED.run(tmp_path / "run", timing__simulate_started_s=began, timing__clock_step_s=1e-6)
        assert of_run(run).measured[0] == outside.source(run, file(tmp_path)).timeline.measured[0] == began
        hour = PLANTED.run(
            tmp_path / "hour", timing__simulate_started_s=began - 3600, timing__clock_step_s=0.0
        )
        with pytest.raises(BadInput, match="one of them is wrong"):
            of_run(hour)

    def test_a_record_without_times(self, tmp_path):
        old = {f"timing__{n}": None for n in ("simulate_started_s", "simulate_ended_s", "idle_before_s",
                                              "idle_after_s")}  # fmt: skip
        run = PLANTED.run(tmp_path / "run", **old)
        path = file(tmp_path)
        with pytest.raises(BadInput, match=r"simulate_started_s: missing.*--align knee"):
            outside.source(run, path)
        placed = outside.source(PLANTED.run(tmp_path / "again", **old, timing__simulate_s=24.0,
                                            timing__real_time_factor=2400.0), path, align="knee")  # fmt: skip
        assert placed.timeline.measured[0] - T0 == pytest.approx(PLANTED.edges[3], abs=0.3)
