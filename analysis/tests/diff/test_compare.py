"""Two results side by side: pairs, phases and causes that add up, what differs, and what is
refused.
"""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from compared import run, sweep
from synthetic import edit

from spikemark.core.errors import BadInput
from spikemark.diff import show, sides
from spikemark.diff.compare import INCONCLUSIVE, OPEN, SLOWER, compare, gate, verdict
from spikemark.diff.estimate import ASSUMED_SESSIONS, REPEATED, VarianceComponents
from spikemark.diff.times import CYCLE, times
from spikemark.records.record import load_run
from spikemark.waiting.ladder import PARTS_OF_TIME


def pairs_of(made) -> int:
    return sum(setup.pairs for setup in made.setups)


WAYS = {
    "usual": {},
    "structure aware": {"schedule": "structure_aware"},
    "unequal ranks": {"ranks": 4, "rank_sd": 0.1},
    "one rank": {"ranks": 1},
    "few cycles": {"cycles": 15},
}


@pytest.mark.parametrize("way", WAYS)
def test_phases_and_causes_add_up_to_the_cycle(tmp_path, way):
    loaded = load_run(run(tmp_path / "a", **WAYS[way]))
    found = times(loaded)
    whole = np.nansum(loaded.cycles, axis=2).mean()
    assert found.parts[CYCLE].value == pytest.approx(whole, rel=1e-5)
    for prefix in ("phase.", "cause."):
        own = [part.value for name, part in found.parts.items() if name.startswith(prefix)]
        assert sum(own) == pytest.approx(whole, rel=1e-5)
    assert ({f"cause.{name}" for name in PARTS_OF_TIME} <= set(found.parts)) == (
        way not in ("one rank", "few cycles")
    )


def test_a_planted_cause_is_found(tmp_path):
    """One rank that computes longer makes the others wait."""
    first = sweep(tmp_path / "a", ranks=4)
    second = sweep(
        tmp_path / "b",
        ranks=4,
        overrides={"nodes": ["n1", "n1", "n1", "n2"], "slower": {"n2": 1.3}},
    )
    (setup,) = compare(first, second).setups
    share = {name: setup.change(name) for name in setup.parts}
    assert share["cause.imbalance"].low > 0.15 and share["phase.waiting"].low > 0.15
    assert 0 < share["cause.computing"].low < share["cause.computing"].high < 0.12
    assert share["cause.exchange"].low < 0 < share["cause.exchange"].high + 1e-12


def test_repetitions_give_the_spread_and_seeds_do_not_add_to_it(tmp_path):
    two = {"repetitions": 2, "seeds": [1, 2], "spread": 0.05}
    made = compare(sweep(tmp_path / "a", **two), sweep(tmp_path / "b", seed=1, **two))
    (setup,) = made.setups
    assert setup.cycle.spread == REPEATED and setup.pairs == 4 and setup.cycle.degrees == 5


def test_sides_that_were_measured_one_after_the_other_may_differ_by_more(tmp_path):
    """The machine may have changed in between; a history would tell, and simulated times do not
    change.
    """
    first, in_turns = sweep(tmp_path / "a"), sweep(tmp_path / "b", seed=1)
    later = sweep(tmp_path / "c", seed=1, overrides={"provenance__started": "2026-01-02T00:00:00Z"})
    (turns,), (apart,) = (compare(first, second).setups for second in (in_turns, later))
    assert apart.cycle.sessions_assumed and not turns.cycle.sessions_assumed
    assert apart.change().half > 1.2 * turns.change().half
    assert apart.cycle.sessions_s == pytest.approx(
        2**0.5 * ASSUMED_SESSIONS * apart.cycle.first_s, rel=0.01
    )
    known = {CYCLE: VarianceComponents(1e-4, 20, 0.0, 10)}
    assert not compare(first, later, lambda run: known).setups[0].cycle.sessions_assumed


class TestPairs:
    def test_runs_of_one_id_are_paired_and_the_rest_is_listed(self, tmp_path):
        first, second = sweep(tmp_path / "a", repetitions=3), sweep(tmp_path / "b", repetitions=5)
        (gone,) = [
            m for m in sides.read(first).runs.itertuples() if m.label.endswith("repetition=2")
        ]
        shutil.rmtree(gone.run.path)
        pairs, alone = sides.pair(sides.read(first), sides.read(second))
        assert [run.path.name for run in pairs["run"]] == [run.path.name for run in pairs["run_b"]]
        assert pairs["setup"].nunique() == 1 and len(pairs) == 2 and alone[0] == []
        assert sorted(line[-1] for line in alone[1]) == ["2", "4", "5"]

    def test_runs_that_another_field_was_set_for_are_paired_by_label(self, tmp_path):
        first, second = sweep(tmp_path / "a"), sweep(tmp_path / "b", set={"inject.mean_us": 5})
        made = compare(first, second)
        assert pairs_of(made) == 5
        assert not {*sides.read(first).runs["id"]} & {*sides.read(second).runs["id"]}
        assert {field: n for (field, *_), n in made.differs.items()}["inject.mean_us"] == 5

    def test_results_of_two_machines_are_paired(self, tmp_path):
        for name, slower in (("old/x/here", 1.0), ("new/x/there", 1.3)):
            sweep(tmp_path / name, slower)
        made = compare(tmp_path / "old", tmp_path / "new")
        assert pairs_of(made) == 5 and made.overall.low > 0.2
        assert pairs_of(compare(tmp_path / "old" / "x", tmp_path / "new" / "x")) == 5

    def test_machines_of_one_side_are_told_apart(self, tmp_path):
        for side in ("old", "new"):
            for machine in ("here", "there"):
                sweep(
                    tmp_path / side / "x" / machine,
                    1.5 if (side, machine) == ("new", "there") else 1.0,
                )
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
            (one, tmp_path / "nowhere", "nowhere: expected a run"),
        ):
            with pytest.raises(BadInput, match=words):
                compare(first, second)


LOAD = {"warnings": ["foreign load: other processes kept 0.90 cores busy"]}


class TestDisturbed:
    def test_nothing_is_judged_if_all_runs_of_a_side_were(self, tmp_path):
        made = compare(sweep(tmp_path / "a"), sweep(tmp_path / "b", 2.0, overrides=LOAD))
        (setup,) = made.setups
        assert (
            not setup.judged
            and made.change(setup).interval is None
            and made.overall.interval is None
        )
        assert made.change(setup).value == pytest.approx(1.0, abs=0.05)
        assert "foreign load" in made.cautions[0] and gate(made, 0.05).state == INCONCLUSIVE

    def test_single_ones_are_left_out(self, tmp_path):
        first, second = sweep(tmp_path / "a"), sweep(tmp_path / "b")
        worst = sides.read(second).runs["run"].iloc[0].path
        edit(worst, **LOAD)
        (setup,) = compare(first, second).setups
        assert setup.judged and setup.runs == (5, 4) and "1 of 10 runs" in setup.caution

    def test_runs_of_unknown_load_do_not_tell(self, tmp_path):
        made = compare(run(tmp_path / "a"), run(tmp_path / "b", host__foreign_load=None))
        assert not made.setups[0].judged and "not known" in made.cautions[0] and made.overall

    def test_runs_that_are_too_short_have_no_change_but_advice(self, tmp_path):
        brief = {"mean_s": 50e-6}
        made = compare(run(tmp_path / "a", **brief), run(tmp_path / "b", **brief))
        assert not made.overall and not made.change(made.setups[0]) and made.cautions == []
        assert "0.2 s" in show.sentence(made) and "simulate at least" in show.sentence(made)
        assert gate(made, 0.05).state == INCONCLUSIVE and "too short" in gate(made, 0.05).sentence
        content = show.difference_content(made, gate(made, 0.05))
        assert content["overall"]["value"] is None and "too short" in content["overall"]["reason"]
        assert show.lines(made) and show.first_table(made).rows

    def test_simulated_times_need_no_repetitions(self, tmp_path):
        first, second = (
            run(tmp_path / name, kind="simulated", mean_s=m)
            for name, m in (("a", 5.0e-3), ("b", 5.1e-3))
        )
        (setup,) = compare(first, second).setups
        assert setup.judged and setup.change(CYCLE).low > 0


@pytest.mark.parametrize(("slower", "found"), [(1.1, SLOWER), (1.0, OPEN)])
def test_a_slowdown_that_few_long_cycles_hide_is_seen_in_the_median_cycle(tmp_path, slower, found):
    made = compare(sweep(tmp_path / "a", seed=1), sweep(tmp_path / "b", slower, seed=2))
    (setup,) = made.setups
    unsure = replace(setup, parts={**setup.parts, CYCLE: replace(setup.cycle, error_s=1.0)})
    made = replace(made, setups=[unsure])
    change = made.median_change(unsure)
    assert verdict(made.change(unsure)) == OPEN and verdict(change) == found
    assert change.value == pytest.approx(slower - 1, abs=0.03)
    assert any("median cycle" in line for line in show.lines(made)) == (found == SLOWER)
    assert show.difference_content(made)["setups"][0]["median_change"] == change.content()
