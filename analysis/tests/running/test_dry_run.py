"""Dry runs: which ranks run, side by side, going on after an interruption, and what is refused."""

import dry_folder
import numpy as np
import pytest
from small_network import describe

from spikemark.core import memory
from spikemark.core.errors import BadInput
from spikemark.launch.process import ProgramFailed
from spikemark.prediction import measured
from spikemark.records import dry_run
from spikemark.running.dry_run import LARGEST, RANDOM, SMALLEST, carry_out, choose, plan

RANKS = 8


def counts(*events: float) -> np.ndarray:
    return np.array([[e, 10, e, 5] for e in events], dtype=float)


def test_the_sample_has_the_largest_the_smallest_and_others_at_random():
    found = choose(counts(3, 9, 5, 1, 4, 6), 4, seed=1)
    assert [found[1], found[3]] == [LARGEST, SMALLEST] and list(found) == sorted(found)
    assert sorted(found.values()) == sorted([LARGEST, SMALLEST, RANDOM, RANDOM])
    assert choose(counts(3, 9, 5, 1, 4, 6), 1, seed=1) == {1: LARGEST}
    assert {0, 3} < {*choose(counts(4, 4, 4, 4), 3, seed=1)}


def test_a_larger_sample_contains_the_smaller_one_and_the_seed_decides():
    all_counts = counts(*range(20))
    few, more = (set(choose(all_counts, n, 1)) for n in (4, 9))
    assert few < more
    assert choose(all_counts, 9, 1) == choose(all_counts, 9, 1) != choose(all_counts, 9, 2)
    assert set(choose(all_counts, 20, 1)) == set(range(20))


def test_the_last_group_is_filled_up_so_that_every_rank_has_neighbours():
    made = plan(dry_folder.description(), RANKS, 1, side_by_side=2, sample=3)
    assert len(made.why) == 4
    assert len(plan(dry_folder.description(), 3, 1, side_by_side=2, sample=3).why) == 3
    assert len(plan(dry_folder.description(), RANKS, 1, side_by_side=3).why) == 3


def test_ranks_of_unequal_areas_differ_in_work():
    run = dry_folder.description(schedule="structure_aware", placement="area")
    for number, population in enumerate(run["network"]["populations"]):
        population["size"] = 100 + 10 * number
    made = plan(run, RANKS, 1, sample=2)
    assert made.why == {0: SMALLEST, RANKS - 1: LARGEST}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"sample": 9}, "sample=9; expected 1 to 8"),
        ({"side_by_side": 9}, "ranks_here=9; expected 1 to 8"),
        ({"rate_hz": 3.0}, "rate=3.0; "),
        ({"description": {"record": {"cycles": False}}}, "record.cycles=False"),
        ({"neuron": {"model": "lif_delta"}}, r"^rate: "),
    ],
)
def test_what_cannot_be_planned_is_refused(changes, complaint):
    description, neuron = (
        dry_folder.description(**changes.pop("description", {})),
        changes.pop("neuron", None),
    )
    for population in description["network"]["populations"] if neuron else ():
        population["neuron"] = neuron
    with pytest.raises(BadInput, match=complaint):
        plan(description, RANKS, 1, **changes)
    assert neuron is None or plan(description, RANKS, 1, rate_hz=4.0).rate_hz == 4.0


def test_a_group_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    file = tmp_path / "meminfo"
    file.write_text("MemAvailable: 1 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", file)
    with pytest.raises(BadInput, match=r"ranks_here=2: a group of ranks needs .* GB of memory"):
        plan(dry_folder.description(), RANKS, 1, side_by_side=2)


def test_groups_run_together_and_the_same_call_goes_on(tmp_path, monkeypatch):
    groups, told = [], []
    dry_folder.in_process(monkeypatch, groups)
    wanted = plan(dry_folder.description(), RANKS, 1, 2, 4)
    found = carry_out(wanted, tmp_path / "out", lambda *what: told.append(what))
    assert [len(group) for group in groups] == [2, 2]
    assert (
        sorted(rank for group in groups for rank in group) == found.timed.tolist() == [*wanted.why]
    )
    assert told[-1][:2] == (4, 4) and told[-1][2].startswith("[4/4] rank ")
    more = carry_out(plan(dry_folder.description(), RANKS, 1, 2, 6), tmp_path / "out")
    assert len(groups) == 3 and set(more.timed) > set(found.timed)
    again = carry_out(plan(dry_folder.description(), RANKS, 1, 2, 6), tmp_path / "out")
    assert len(groups) == 3 and np.array_equal(again.rows, more.rows)


def test_a_dry_run_is_of_the_description_that_a_record_holds_in_fewer_digits(tmp_path, monkeypatch):
    dry_folder.in_process(monkeypatch, [])
    told = dry_folder.description(inject={"mean_us": 3.236795775560451})
    recorded = told | {"inject": {"mean_us": 3.23679577556045}}
    run = carry_out(plan(told, RANKS, 1, 1, RANKS), tmp_path / "out")
    measured.check(run, recorded)
    carry_out(plan(recorded, RANKS, 1, 1, RANKS), tmp_path / "out")
    other = told | {"inject": {"mean_us": 3.2367957755}}
    with pytest.raises(BadInput) as refused:
        measured.check(run, other)
    assert refused.value.field == "inject.mean_us"
    with pytest.raises(BadInput, match=r"inject.mean_us=3.23679577556045; expected 3.2367957755"):
        carry_out(plan(other, RANKS, 1, 1, RANKS), tmp_path / "out")


def test_what_ran_stays_when_a_later_rank_fails(tmp_path, monkeypatch):
    wanted, out = plan(dry_folder.description(), RANKS, 1, 1, 3), tmp_path / "out"
    last = [*wanted.why][-1]
    dry_folder.in_process(monkeypatch, fail=last)
    with pytest.raises(ProgramFailed, match=rf"rank {last}: miniapp: the disk is full"):
        carry_out(wanted, out)
    assert not dry_run.is_dry_run(out)
    groups = []
    dry_folder.in_process(monkeypatch, groups)
    assert len(carry_out(wanted, out).timed) == 3
    assert groups == [[last]]


def test_what_the_mini_app_refuses_is_bad_input_and_leaves_nothing(tmp_path, monkeypatch):
    dry_folder.in_process(monkeypatch, refuse=0)
    with pytest.raises(BadInput, match="--of: too many"):
        carry_out(plan(dry_folder.description(), RANKS, 1), tmp_path / "out")
    assert [*tmp_path.iterdir()] == []


def test_a_folder_of_something_else_is_refused_and_left_alone(tmp_path, monkeypatch):
    """Neighbours change the times: ranks of one dry run must all have had as many."""
    dry_folder.write(monkeypatch, tmp_path / "out", sample=1)
    same = dry_folder.description()
    for wanted, complaint in (
        (plan(describe(areas=3), 3, 1), "holds a dry run of another description"),
        (plan(same, RANKS, 2), "threads=1; expected 2"),
        (plan(same, 4, 1), "of=8; expected 4"),
        (plan(same, RANKS, 1, 2), "ranks_here=1; expected 2"),
    ):
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
        with pytest.raises(BadInput, match=complaint):
            carry_out(wanted, tmp_path / "out")
        assert before == {
            path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()
        }
    (tmp_path / "out" / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match=r"contains 'letter.txt'; expected a folder that is new"):
        carry_out(plan(same, RANKS, 1), tmp_path / "out")
