"""What a results folder says of itself: the kind of its times, and where they come from."""

import pytest
from fake_simulation import simulated
from planned import grid, write_experiment
from synthetic import job

from spikemark.cli.sweep import print_outcome
from spikemark.quantities.quantity import KINDS
from spikemark.records.cases import look
from spikemark.records.gather import gather
from spikemark.records.results import Results
from spikemark.report import conclude
from spikemark.report.cautions import cautions
from spikemark.running.sweeps import Outcome


@pytest.mark.parametrize(
    ("kind", "where"), [("measured", "this machine"), ("simulated", "the simulated machine")]
)
def test_every_number_can_be_told_what_it_is(kind, where, tmp_path):
    folder = write_experiment(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=100))
    view = look(gather(simulated(folder) if kind == "simulated" else folder))
    assert {view.kind, view.sweep.kind, view.case.kind, *(m.kind for m in view.sweep.runs)} == {kind}
    assert (view.where, kind in KINDS) == (where, True)


def test_a_lost_launch_json_is_named(tmp_path, capsys, undrawn):
    """It says how a run was started, which nothing else knows; the run itself is used on."""
    runs = grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=100, launch=job(1))
    folder = write_experiment(tmp_path, runs)
    assert gather(folder).lost == []
    run = gather(folder).runs[1]
    (run.run.path / "launch.json").unlink()
    sweep = gather(folder)
    assert [m.planned.id for m in sweep.unlaunched] == [run.planned.id] and len(sweep.runs) == len(runs)
    (line,) = sweep.lost
    assert line.startswith(f"{run.planned.label}: {run.run.path / 'launch.json'} is lost, so its launcher")
    assert [text for text in cautions(look(sweep)) if text.startswith("lost: launch.json of 1 of 3 runs")]
    outcome = Outcome(Results(folder), len(runs))
    conclude(outcome)
    print_outcome(outcome)
    assert outcome.status == 0 and f"lost: {line}" in capsys.readouterr().err.splitlines()
