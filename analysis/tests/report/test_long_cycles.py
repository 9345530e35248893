"""The page says what made long cycles long, where the runs kept it."""

from types import SimpleNamespace

from spikemark.quantities.quantity import Quantity
from spikemark.report import long_cycles
from spikemark.waiting.causes import NOT_SEEN, Cause, Causes


def causes(cycles=10, blind=("firmware",), **shares) -> Causes:
    names = {"not_seen": NOT_SEEN}
    found = [Cause(names.get(name, name), Quantity(value), "") for name, value in shares.items()]
    return Causes(cycles, 1.0, tuple(found), (), (), blind)


def bar(*found) -> SimpleNamespace:
    return SimpleNamespace(configuration=SimpleNamespace(label="conventional"), causes=found)


def test_shares_are_means_over_the_runs_with_long_cycles():
    runs = causes(processes=0.5, not_seen=0.5), causes(30, processes=0.7, not_seen=0.3), causes(0)
    (row,) = long_cycles.table([bar(*runs), bar()], "title").rows
    assert (row["cycles"], round(row["processes"], 9), round(row[NOT_SEEN], 9)) == (40 / 3, 0.6, 0.4)
    assert row["sleep"] == 0 and row["coincides"] == "nothing"


def test_names_that_coincide_stand_in_one_cell_the_largest_first():
    found = causes(RCU=0.1, NET_RX=0.6), causes(NET_RX=0.4)
    (row,) = long_cycles.table([bar(*found)], "title").rows
    assert row["coincides"] == "NET_RX 50.0\u202f%, RCU 5.0\u202f%"


def test_what_could_not_be_seen_is_said_once():
    notes = long_cycles.table([bar(causes(not_seen=1.0), causes(not_seen=1.0))], "title").notes
    assert notes.count("Could not be seen: firmware.") == 1


def test_runs_without_counts_or_long_cycles_have_no_table():
    assert long_cycles.table([bar(), bar(causes(0))], "title") is None
