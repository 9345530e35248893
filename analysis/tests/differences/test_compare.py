"""Two results side by side: pairs, phases and causes that add up, what differs, and what is refused."""

import json
import shutil

import numpy as np
import pytest
from compared import run, sweep

from spikemark.core.errors import BadInput
from spikemark.differences import apart, sides
from spikemark.differences.compare import compare
from spikemark.differences.spread import ASSUMED_SESSIONS, ASSUMPTION, REPEATED, Known, Spread
from spikemark.differences.times import CYCLE, times
from spikemark.records.record import load
from spikemark.waiting.budget import PARTS


def pairs_of(made) -> int:
    return sum(len(setup.pairs) for setup in made.setups)


def change(folder, **fields):
    """Changes fields of a record; `__` separates levels."""
    path = folder / "record.json"
    record = json.loads(path.read_text())
    for name, value in fields.items():
        *levels, last = name.split("__")
        at = record
        for level in levels:
            at = at[int(level)] if isinstance(at, list) else at[level]
        at[last] = value
    path.write_text(json.dumps(record))
    return folder


WAYS = {
    "usual": {},
    "structure aware": {"schedule": "structure_aware"},
    "unequal ranks": {"ranks": 4, "rank_sd": 0.1},
    "one rank": {"ranks": 1},
    "few cycles": {"cycles": 15},
}


@pytest.mark.parametrize("way", WAYS)
def test_phases_and_causes_add_up_to_the_cycle(tmp_path, way):
    loaded = load(run(tmp_path / "a", **WAYS[way]))
    found = times(loaded)
    whole = np.nansum(loaded.cycles, axis=2).mean()
    assert found.cycle.value == pytest.approx(whole, rel=1e-5)
    assert sum(part.value for part in found.phases.values()) == pytest.approx(whole, rel=1e-5)
    assert sum(part.value for part in found.causes.values()) == pytest.approx(whole, rel=1e-5)
    assert (set(PARTS) <= set(found.causes)) == (way not in ("one rank", "few cycles"))


def test_differences_of_phases_and_causes_add_up(tmp_path):
    made = compare(run(tmp_path / "a"), run(tmp_path / "b", mean_s=60e-6, rank_sd=0.1))
    (setup,) = made.setups
    for prefix in ("phase.", "cause."):
        total = sum(e.difference_s for name, e in setup.parts.items() if name.startswith(prefix))
        assert total == pytest.approx(setup.cycle.difference_s, rel=1e-4)


def test_waiting_that_one_side_did_not_time_is_compared_with_the_exchange(tmp_path):
    first = run(tmp_path / "a")
    no_barrier = {"description": load(first).record.description | {"record": {"barrier": False}}}
    for second in (run(tmp_path / "b", **no_barrier), run(tmp_path / "c", **no_barrier)):
        (setup,) = compare(first, second).setups
        assert "phase.exchange, with waiting" in setup.parts and "waiting" in setup.missing
        assert not {"phase.waiting", "phase.exchange"} & set(setup.parts)
        total = sum(e.difference_s for name, e in setup.parts.items() if name.startswith("phase."))
        assert total == pytest.approx(setup.cycle.difference_s, abs=1e-12)
        first = second


def test_a_run_without_cycles_has_phases_and_no_causes_of_waiting(tmp_path):
    plain = run(tmp_path / "a")
    description = load(plain).record.description
    other = run(tmp_path / "b", description=description | {"record": {"cycles": False}})
    (setup,) = compare(plain, other).setups
    assert "cause.waiting" in setup.parts and not any(f"cause.{name}" in setup.parts for name in PARTS)
    assert setup.cycle.spread == ASSUMPTION


def test_a_planted_cause_is_found(tmp_path):
    """One rank that computes longer makes the others wait."""
    first = sweep(tmp_path / "a", ranks=4)
    second = sweep(
        tmp_path / "b", ranks=4, overrides={"nodes": ["n1", "n1", "n1", "n2"], "slower": {"n2": 1.3}}
    )
    (setup,) = compare(first, second).setups
    share = {name: setup.change(name) for name in setup.parts}
    assert share["cause.persistent"].low > 0.15 and share["phase.waiting"].low > 0.15
    assert 0 < share["cause.computing"].low < share["cause.computing"].high < 0.12
    assert share["cause.exchange"].low < 0 < share["cause.exchange"].high + 1e-12
    assert all(one.slowest.rank == 3 and one.slowest.certain for one in setup.second)


def test_repetitions_give_the_spread_and_seeds_do_not_add_to_it(tmp_path):
    two = {"repetitions": 2, "seeds": [1, 2], "spread": 0.05}
    made = compare(sweep(tmp_path / "a", **two), sweep(tmp_path / "b", seed=1, **two))
    (setup,) = made.setups
    assert setup.cycle.spread == REPEATED and len(setup.pairs) == 4 and setup.cycle.degrees == 5


def test_sides_that_were_measured_one_after_the_other_may_differ_by_more(tmp_path):
    """The machine may have changed in between; a history would tell, and simulated times do not change."""
    first, in_turns = sweep(tmp_path / "a"), sweep(tmp_path / "b", seed=1)
    later = sweep(tmp_path / "c", seed=1, overrides={"provenance__started": "2026-01-02T00:00:00Z"})
    (turns,), (apart,) = (compare(first, second).setups for second in (in_turns, later))
    assert apart.cycle.sessions_assumed and not turns.cycle.sessions_assumed
    assert apart.change().half > 1.2 * turns.change().half
    assert apart.cycle.sessions_s == pytest.approx(2**0.5 * ASSUMED_SESSIONS * apart.cycle_s, rel=0.01)
    known = Known({CYCLE: Spread(1e-4, 20, 0.0, 10)}, "")
    assert not compare(first, later, lambda run: known).setups[0].cycle.sessions_assumed


def test_what_sessions_have_in_common_does_not_average_out_over_setups(tmp_path):
    grid = {"grid": [{"delay_ratio": [1, 2, 5, 10]}]}
    sessions = Known({CYCLE: Spread(0.01**2, 50, 0.03**2, 50)})
    first, second = sweep(tmp_path / "a", **grid), sweep(tmp_path / "b", seed=1, **grid)
    alone, known = compare(first, second).overall, compare(first, second, lambda run: sessions).overall
    assert known.half > 1.9 * 2**0.5 * 0.03 > 2 * alone.half


class TestPairs:
    def test_runs_of_one_id_are_paired_and_the_rest_is_listed(self, tmp_path):
        first, second = sweep(tmp_path / "a", repetitions=3), sweep(tmp_path / "b", repetitions=5)
        (gone,) = [m for m in sides.read(first).members if m.label.endswith("repetition=2")]
        shutil.rmtree(gone.run.path)
        found = sides.pair(sides.read(first), sides.read(second))
        (pairs,) = found.setups.values()
        assert all(one.id == other.id for one, other in pairs) and len(pairs) == 2
        assert found.only_first == []
        assert sorted(line[-1] for line in found.only_second) == ["2", "4", "5"]

    def test_runs_that_another_field_was_set_for_are_paired_by_label(self, tmp_path):
        first, second = sweep(tmp_path / "a"), sweep(tmp_path / "b", set={"inject.mean_us": 5})
        made = compare(first, second)
        assert pairs_of(made) == 5
        assert not {one.id for one in sides.read(first).members} & {m.id for m in sides.read(second).members}
        fields = {one.field: (one.group, one.runs) for one in made.differs}
        assert fields["inject"] == (apart.CONFIGURATION, 5)

    def test_results_of_two_machines_are_paired(self, tmp_path):
        for name, slower in (("old/x/here", 1.0), ("new/x/there", 1.3)):
            sweep(tmp_path / name, slower)
        made = compare(tmp_path / "old", tmp_path / "new")
        assert pairs_of(made) == 5 and made.overall.low > 0.2
        assert pairs_of(compare(tmp_path / "old" / "x", tmp_path / "new" / "x")) == 5

    def test_machines_of_one_side_are_told_apart(self, tmp_path):
        for side in ("old", "new"):
            for machine in ("here", "there"):
                sweep(tmp_path / side / "x" / machine, 1.5 if (side, machine) == ("new", "there") else 1.0)
        made = compare(tmp_path / "old", tmp_path / "new")
        slower = {setup.name.split(":")[0]: made.change(setup).low > 0.3 for setup in made.setups}
        assert slower == {"here": False, "there": True}

    def test_sides_that_do_not_fit_are_refused(self, tmp_path):
        one, many = run(tmp_path / "run"), sweep(tmp_path / "sweep")
        other = sweep(tmp_path / "other", name="y")
        for first, second, words in (
            (one, many, "is a run and"),
            (one, one, "given twice"),
            (many, many, "given twice"),
            (many, other, "no run has a partner"),
            (one, tmp_path / "nowhere", "nothing to compare is there"),
        ):
            with pytest.raises(BadInput, match=words):
                compare(first, second)


NETWORKS = {
    "seed": ({"seed": 2}, "seed=2"),
    "a field of the network": ({"network__populations__0__size": 101}, "network.populations.0.size=101"),
    "the cycle": ({"time__cycle_ms": 0.2}, "time.cycle_ms=0.2"),
}

OTHERS = {
    apart.MACHINE: ({"host__cpu": "other"}, "cpu", "synthetic CPU", "other"),
    apart.CONFIGURATION: ({"description__exchange": "direct"}, "exchange", "alltoallv", "direct"),
    apart.VERSIONS: ({"provenance__compiler": "gcc 14"}, "compiler", "synthetic 1.0", "gcc 14"),
    apart.BINDING: ({"host__binding": [[1], [0]]}, "binding", "[0], [1]", "[1], [0]"),
}


class TestApart:
    @pytest.mark.parametrize("what", NETWORKS)
    def test_networks_that_differ_are_refused_with_the_field(self, tmp_path, what):
        fields, words = NETWORKS[what]
        other = change(
            run(tmp_path / "b"), **{f"description__{name}": value for name, value in fields.items()}
        )
        with pytest.raises(BadInput, match=words.replace(".", r"\.")):
            compare(run(tmp_path / "a"), other)

    def test_other_spikes_of_one_network_are_refused(self, tmp_path):
        with pytest.raises(BadInput, match=r"checksum=0+1;"):
            compare(run(tmp_path / "a"), change(run(tmp_path / "b"), checksum="0" * 15 + "1"))

    def test_simulated_and_measured_times_are_not_compared(self, tmp_path):
        with pytest.raises(BadInput, match="kind='simulated'"):
            compare(run(tmp_path / "a"), change(run(tmp_path / "b"), kind="simulated"))

    @pytest.mark.parametrize("group", apart.GROUPS)
    def test_everything_else_is_told(self, tmp_path, group):
        fields, field, before, after = OTHERS[group]
        found = compare(run(tmp_path / "a"), change(run(tmp_path / "b"), **fields)).differs
        assert found == [apart.Differs(group, field, before, after)]

    def test_ranks_and_threads_are_told(self, tmp_path):
        description = load(run(tmp_path / "a", ranks=2)).record.description
        found = compare(tmp_path / "a", run(tmp_path / "b", ranks=4, description=description)).differs
        assert ("ranks", "2", "4") in {(one.field, one.first, one.second) for one in found}


LOAD = {"warnings": ["foreign load: other processes kept 0.90 cores busy"]}


class TestDisturbed:
    def test_nothing_is_judged_if_all_runs_of_a_side_were(self, tmp_path):
        made = compare(sweep(tmp_path / "a"), sweep(tmp_path / "b", 2.0, overrides=LOAD))
        (setup,) = made.setups
        assert not setup.judged and made.change(setup).interval is None and made.overall.interval is None
        assert made.change(setup).value == pytest.approx(1.0, abs=0.05)
        assert "foreign load" in made.cautions[0]

    def test_single_ones_are_left_out(self, tmp_path):
        first, second = sweep(tmp_path / "a"), sweep(tmp_path / "b")
        worst = sides.read(second).members[0].run.path
        change(worst, **LOAD)
        (setup,) = compare(first, second).setups
        assert setup.judged and (len(setup.first), len(setup.second), setup.left_out) == (5, 4, 1)

    def test_short_runs_do_not_tell(self, tmp_path):
        made = compare(run(tmp_path / "a"), run(tmp_path / "b", host__foreign_load=None))
        assert not made.setups[0].judged and "0.2 s" in made.cautions[0]

    def test_simulated_times_need_no_repetitions(self, tmp_path):
        first, second = (
            run(tmp_path / name, kind="simulated", mean_s=m) for name, m in (("a", 50e-6), ("b", 51e-6))
        )
        (setup,) = compare(first, second).setups
        assert setup.judged and setup.change(CYCLE).low > 0
