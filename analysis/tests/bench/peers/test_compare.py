"""A comparison from end to end with stand-ins: interleaved, repeated, resumed, refused, written."""

import json

import pandas as pd
import pytest
from fake_peers import QUICK, Fake, busy_machine, experiment, figures, quiet_machine

from spikemark.bench.peers import content, show, table
from spikemark.bench.peers.compare import compare
from spikemark.core.errors import BadInput
from spikemark.core.lock import locked

pytestmark = pytest.mark.usefixtures("four_cores")


class Setting:
    """A folder, two programs of which the mini-app is 5 times ahead, and what was said."""

    def __init__(self, folder):
        self.folder = folder
        self.lines = []
        self.miniapp = Fake("miniapp", lambda threads, _: figures(threads=threads, speed=10.0 * threads))
        self.peer = Fake("peer", lambda threads, _: figures(threads=threads, speed=2.0, bytes_per_synapse=40))

    def compare(self, busy=quiet_machine, conditions=QUICK, **changes):
        return compare(
            experiment(self.folder / "experiment", **changes),
            self.folder / "out",
            (self.miniapp, self.peer),
            conditions,
            self.lines.append,
            busy,
        )

    def raw(self):
        return {p.name: p.read_bytes() for p in (self.folder / "out" / "runs").iterdir()}

    def table(self):
        return pd.read_parquet(self.folder / "out" / "peers.parquet")


@pytest.fixture
def setting(tmp_path):
    return Setting(tmp_path)


def factor(found, threads, quantity):
    return next(e for e in found.factors if (e.threads, e.quantity) == (threads, quantity))


def test_a_comparison_gives_factors_and_keeps_everything(setting):
    found = setting.compare()
    assert found.complaints == []
    assert factor(found, 1, "speed").median == pytest.approx(5)
    assert factor(found, 2, "speed").median == pytest.approx(10)
    assert factor(found, 1, "bytes_per_synapse").median == pytest.approx(4)
    scaling = {e.program: e.median for e in found.scaling}
    assert scaling == {"miniapp": pytest.approx(2), "peer": pytest.approx(1)}
    assert json.loads((setting.folder / "out" / "peers.json").read_text()) == found.model_dump()
    trials = table.contract().validate(setting.table())
    assert len(trials) == len(setting.raw()) == 20
    assert (trials["attempts"] == 1).all() and not trials["disturbed"].any()
    raw = json.loads(next(iter(setting.raw().values())))
    assert raw["raw"]["simulate_s"] == raw["figures"]["simulate_s"]
    assert raw["command"][0] == "echo"
    assert sorted(p.name for p in (setting.folder / "out" / "unchecked").iterdir()) == []


def test_programs_run_in_turns_in_the_order_of_the_plan(setting):
    setting.compare()
    plan = json.loads((setting.folder / "out" / "comparison.json").read_text())
    said = [line.split("] ")[1].split(":")[0] for line in setting.lines if line.startswith("[")]
    assert said == [f"{t['program']} threads={t['threads']} round={t['round']}" for t in plan["trials"]]


def test_what_is_measured_stays(setting):
    setting.compare(repetitions=2)
    before = setting.raw()
    found = setting.compare(repetitions=3)
    assert {name: setting.raw()[name] for name in before} == before
    assert found.measured == 12
    assert "12 runs, 4 to measure" in setting.lines[-5]
    assert len(setting.miniapp.calls) == len(setting.peer.calls) == 6


def test_another_build_of_the_miniapp_is_measured_anew(setting):
    setting.compare(repetitions=1)
    setting.miniapp.identity = "2"
    setting.compare(repetitions=1)
    assert (len(setting.miniapp.calls), len(setting.peer.calls)) == (4, 2)


def test_an_interrupted_comparison_goes_on(setting):
    def stop(threads, call):
        if call == 2:
            raise KeyboardInterrupt
        return figures(threads=threads, speed=2.0)

    setting.peer.says = stop
    with pytest.raises(KeyboardInterrupt):
        setting.compare(repetitions=2)
    before = setting.raw()
    assert len(before) < 8
    found = setting.compare(repetitions=2)
    assert found.complaints == []
    assert len(setting.raw()) == 8
    assert {name: setting.raw()[name] for name in before} == before


def test_disturbed_runs_are_repeated_then_kept_and_flagged(setting):
    found = setting.compare(busy=busy_machine, repetitions=1, threads=[1])
    trials = setting.table()
    assert (trials["attempts"] == QUICK.attempts).all()
    assert trials["disturbed"].all()
    assert (trials["foreign_load"] > QUICK.foreign_limit).all()
    assert len(setting.raw()) == 2 * QUICK.attempts
    assert found.disturbed == 2
    assert factor(found, 1, "speed").disturbed == 1
    (line,) = show.disturbances(found)
    assert line.startswith("Disturbed (*), others kept more than")
    assert line.count("1 thread: 1 of 1 round") == 2
    assert (
        sum("not quiet after" in line and "going on" in line for line in setting.lines) == 2 * QUICK.attempts
    )
    setting.compare(busy=busy_machine, repetitions=1, threads=[1])
    assert len(setting.raw()) == 2 * QUICK.attempts  # enough is enough


def test_the_load_a_program_saw_itself_counts_and_the_least_disturbed_stays(setting):
    loads = {1: 0.9, 2: 0.3, 3: 0.5}
    setting.peer.says = lambda threads, call: figures(threads=threads, foreign_load=loads[call])
    setting.compare(repetitions=1, threads=[1])
    row = setting.table().set_index("program").loc["peer"]
    assert (row["foreign_load"], row["attempts"], row["disturbed"]) == (0.3, 3, True)


def test_one_undisturbed_repetition_is_enough(setting):
    setting.peer.says = lambda threads, call: figures(threads=threads, foreign_load=0.5 if call == 1 else 0.0)
    setting.compare(repetitions=1, threads=[1])
    row = setting.table().set_index("program").loc["peer"]
    assert (row["attempts"], row["disturbed"]) == (2, False)


def test_an_unknown_load_disturbs_nothing(setting):
    setting.compare(busy=lambda: None, repetitions=1, threads=[1])
    assert setting.table()["foreign_load"].isna().all()
    assert not setting.table()["disturbed"].any()
    assert sum("load by others unknown" in line for line in setting.lines) == 2


def test_different_rates_are_no_comparison(setting):
    setting.peer.says = lambda threads, call: figures(threads=threads, spikes=210)
    found = setting.compare(repetitions=1, threads=[1])
    (complaint,) = found.complaints
    assert complaint.startswith("no comparison with peer on 1 threads: mean rates differ")
    assert all(entry.median is None for entry in found.factors)


def test_a_failed_run_is_named_and_tried_again_by_the_next_call(setting):
    works = setting.peer.says
    setting.peer.says = lambda threads, call: "no memory" if call == 2 else works(threads, call)
    found = setting.compare(repetitions=2, threads=[1])
    (complaint,) = found.complaints
    assert complaint.startswith("failed: peer threads=1 round=2: no memory")
    (log,) = (setting.folder / "out" / "failed").iterdir()
    assert log.read_text().startswith("no memory\n")
    assert factor(found, 1, "speed").rounds == 1
    assert setting.compare(repetitions=2, threads=[1]).complaints == []
    assert not log.exists()


def test_a_program_that_refuses_the_network_is_asked_once(setting):
    setting.peer.says, setting.peer.status = (lambda threads, call: "model: not allowed"), 2
    found = setting.compare(repetitions=3)
    assert len(setting.peer.calls) == 1
    assert len(setting.miniapp.calls) == 6
    assert sum("model: not allowed" in line for line in found.complaints) == 6
    assert found.complaints[-1] == "no comparison with peer on 2 threads: peer was not measured"


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"threads": 2}, "asked for 1 threads on 1 rank, got 2 on 1"),
        ({"simulate_s": 0}, "no valid result"),
        ({"spikes": None}, "no valid result"),
    ],
)
def test_a_result_that_cannot_be_is_a_failure(setting, said, words):
    setting.peer.says = lambda threads, call: figures(**said)
    found = setting.compare(repetitions=1, threads=[1])
    assert words in found.complaints[0]
    assert len(setting.raw()) == 1


def test_events_that_are_not_counted_are_expected_from_the_network(setting):
    setting.peer.says = lambda threads, call: figures(threads=threads, synaptic_events=None)
    setting.compare(repetitions=1, threads=[1])
    trials = setting.table().set_index("program")
    assert not trials.loc["peer", "events_counted"] and trials.loc["miniapp", "events_counted"]
    assert trials.loc["peer", "synaptic_events"] == pytest.approx(200 * 20)


def test_nothing_measured_is_still_a_table(setting):
    for program in (setting.miniapp, setting.peer):
        program.says = lambda threads, call: "broken"
    found = setting.compare(repetitions=1)
    assert found.measured == 0
    assert list(setting.table().columns) == list(table.contract().columns)
    assert len(found.complaints) == 4 + 2


def test_a_damaged_result_is_named(setting):
    setting.compare(repetitions=1)
    damaged = next((setting.folder / "out" / "runs").iterdir())
    damaged.write_text("{")
    with pytest.raises(BadInput, match=damaged.name):
        setting.compare(repetitions=1)


def test_two_comparisons_do_not_share_a_folder(setting):
    with locked(setting.folder / "out"), pytest.raises(BadInput, match="running here"):
        setting.compare()


def factors(found) -> set[str]:
    """The cells of the columns of factors."""
    shown = show.table(found)
    heads = [head for head, _ in shown.heads]
    return {row[heads.index(show.AHEAD)] for row in shown.cells}


def test_one_round_has_no_interval(setting):
    found = setting.compare(repetitions=1)
    assert "no intervals: they need at least two rounds" in show.notes(found)
    assert "5.00" in factors(found)
    assert "5.00 (5.00)" in factors(setting.compare(repetitions=2))


def test_the_table_shows_every_program_quantity_and_note(setting):
    setting.peer.title, setting.miniapp.title = "Peer", "Mini"
    setting.peer.says = lambda threads, call: figures(
        threads=threads, note="has no ring", baseline_bytes=4000
    )
    found = setting.compare(repetitions=2)
    shown = show.table(found)
    assert [column.head for column in shown.columns] == ["", "threads", "Mini", "Peer", show.AHEAD]
    expected = [(f"{q.title} ({q.unit})", n) for q in table.COMPARED for n in (1, 2)]
    assert [(row["what"], row["threads"]) for row in shown.rows] == [*expected, ("speed, over 1 thread", 2)]
    notes = show.notes(found)
    assert "Peer: has no ring" in notes
    assert "Peer: 1.00 B / synapse of its memory exists before the network is built" in notes


def test_what_a_comparison_found_is_read_back(setting):
    found = setting.compare(repetitions=2)
    assert content.read(setting.folder / "out" / content.FILE) == found
