"""Power from outside: what a CSV may look like, and one clear line for what it may not."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_power import T0, Planted, iso, write_csv

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import measured
from spikemark.measuring.meter import WATTS, read, read_header, source

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
        assert header.time == (0, 1e-3 if "ms" in names[0] else 1)
        assert [*header.power.values()] == [unit]

    @pytest.mark.parametrize("unit", ["mW", "W", "kW"])
    @pytest.mark.parametrize("channels", [1, 4])
    def test_the_unit_and_the_channels_do_not_change_the_power(self, tmp_path, unit, channels):
        rng = np.random.default_rng(channels)
        watts, shares = rng.uniform(0, 500, 5), rng.dirichlet(np.ones(channels))
        columns = {f"n{i} [{unit}]": watts * s / WATTS[unit] for i, s in enumerate(shares)}
        traces = read(write_csv(tmp_path / "p.csv", np.arange(5.0), columns))
        assert sum(trace.power_w for trace in traces.values()) == pytest.approx(watts)

    @pytest.mark.parametrize("zone", ["+00:00", "Z", "", "+05:30"])
    def test_iso_times(self, tmp_path, zone):
        hours = 5.5 if zone == "+05:30" else 0
        path = write_csv(tmp_path / "p.csv", iso(T0 + np.arange(3.0), zone), {"w": np.ones(3)})
        assert read(path)["w"].time_s == pytest.approx(T0 - 3600 * hours + np.arange(3))

    def test_comments_blank_lines_and_other_columns(self, tmp_path):
        path = tmp_path / "p.csv"
        path.write_text("\ufeff# a meter\n\ntime,power [W],voltage [V]\n0,5,230\n\n1,6,231\n2,7,229\n")
        assert read(path)["power"].power_w.tolist() == [5, 6, 7]

    @pytest.mark.parametrize(
        ("text", "chosen", "expected"),
        [
            ("time,a [W],b [W],c_kW\n0,1,2,3\n1,1,2,3\n", None, ["a", "b", "c"]),
            ("time,a [W],b [W],c_kW\n0,1,2,3\n1,1,2,3\n", ["b", "c_kW"], ["b", "c"]),
            (
                "time,node,a [W],b [W]\n0,x,1,5\n0,y,2,5\n1,x,1,5\n1,y,2,5\n",
                None,
                ["x a", "x b", "y a", "y b"],
            ),
            ("time,node,a [W],b [W]\n0,x,1,5\n0,y,2,5\n1,x,1,5\n1,y,2,5\n", ["y"], ["y a", "y b"]),
            ("time,node,a [W]\n0,x,1\n0,y,2\n1,x,1\n1,y,2\n", None, ["x", "y"]),
        ],
    )
    def test_channels_are_chosen(self, tmp_path, text, chosen, expected):
        path = tmp_path / "p.csv"
        path.write_text(text)
        assert list(read(path, chosen)) == expected
        with pytest.raises(BadInput) as error:
            read(path, ["d"])
        assert error.value.field == "channel"


def refused(path, run=None, **options) -> str:
    with pytest.raises(BadInput) as error:
        source(run, path, **options) if run else read(path)
    line = str(error.value)
    assert "\n" not in line and str(path) in line
    return line


BAD = {  # text: the line and the words that must be named
    "when,power [W]\n0,1\n1,2\n": "line 1: .*'when, power",
    "time;power [W]\n0;1\n1;2\n": "line 1: .*time",
    "time,power\n0,1\n1,2\n": "line 1: .*power",
    "time,power [MW]\n0,1\n1,2\n": r"line 1: .*power \[MW\]",
    "time,p [W],p [W]\n0,1,2\n1,2,2\n": r"p \[W\]",
    "time,power [W]\n0,1\n2,2\n1,3\n": "line 4: time='1'",
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
    "": "line 1: ",
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
        made = source(run, file(tmp_path, columns=("a [W]", "b [W]")))
        found = measured(run, made)
        assert found.gross_j.low <= PLANTED.gross_j <= found.gross_j.high
        assert found.net_j.value == pytest.approx(PLANTED.net_j, rel=0.03)
        assert found.net_j.low <= PLANTED.net_j <= found.net_j.high
        assert list(made.traces) == ["a", "b"] and not [n for n in made.notes if "steps up" in n]

    @given(st.floats(-1000, 1000), st.booleans())
    @settings(max_examples=10)
    def test_an_offset_or_the_knee_corrects_a_wrong_clock(self, tmp_path_factory, run, offset, by_knee):
        path = file(tmp_path_factory.mktemp("csv"), offset=offset, interval_s=0.25)
        options = {"align": "knee"} if by_knee else {"offset_s": -offset}
        found = measured(run, source(run, path, **options))
        assert found.gross_j.value == pytest.approx(PLANTED.gross_j, rel=0.02)
        assert found.idle_w.value == pytest.approx(PLANTED.idle_w, rel=0.02)

    def test_relative_times_need_the_knee(self, tmp_path, run):
        path = file(tmp_path, offset=-T0)
        line = refused(path, run=run)
        assert "0 s to 72.5 s" in line and "2026-01-01T00:00:32" in line and "--align knee" in line
        made = source(run, path, align="knee")
        assert made.timeline.measured == pytest.approx(tuple(PLANTED.edges[4:6]), abs=0.3)

    def test_a_clock_that_is_a_little_wrong_is_noticed(self, tmp_path, run):
        made = source(run, file(tmp_path, offset=3.0))
        (found,) = (re.match(r"power steps up (\S+) s after", note) for note in made.notes[1:])
        assert float(found[1]) == pytest.approx(3, abs=0.25)

    def test_part_of_a_run_and_a_gap_during_it_are_refused_and_a_gap_before_is_not(self, tmp_path, run):
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
        whole = {"timing__simulate_s": 24.0, "timing__real_time_factor": 2400.0}  # with the warm-up
        placed = source(PLANTED.run(tmp_path / "again", **old, **whole), path, align="knee")
        assert placed.timeline.measured[0] - T0 == pytest.approx(PLANTED.edges[3], abs=0.3)
