"""Every command that judges the times of a run says where they are no evidence of speed."""

import re
import shutil
from dataclasses import replace

import fake_scorep
import pytest
from by_day import half_by_night
from synthetic import write_run

from spikemark.cli.main import commands
from spikemark.records.record import load_run

#: What may be wrong with a run, as changed arguments of `write_run`.
WRONG = {
    "foreign load": {"host__foreign_load": 1.7},
    "oversubscribed": {"warnings": ["oversubscribed: 2 ranks x 1 thread on 1 core of node a"]},
    "too short": {"mean_s": 50e-6},
}
#: Arguments of `write_run` for a run that lasts long enough.
LONG_ENOUGH = {"ranks": 2, "cycles": 1000, "mean_s": 500e-6}
#: Words with which a command says so.
SAID = re.compile(r"no evidence|too short|disturbed|oversubscribed|not judged", re.IGNORECASE)
#: Arguments of commands that judge the times of the runs in two folders.
JUDGING = {
    "waiting": ["{run}"],
    "diff": ["{other}", "{run}"],
    "predict": ["{run}", "--machine", "jureca-dc"],
    "energy": ["{run}", "--machine", "jureca-dc"],
    "scorep": ["{folder}"],
    "export": ["{run}", "--format", "caliper"],
}
#: Further ones of the same commands.
FURTHER = [
    ("export", ["{run}", "--format", "talp"]),
    ("export", ["{run}", "--format", "timeline"]),
]
#: Commands without times of a run of their own, and why.
OTHERS = {
    **dict.fromkeys(["advise", "compare", "partition", "machine", "preset"], "no run"),
    **dict.fromkeys(["schema", "score", "study", "peers", "bench", "calibrate"], "no run"),
    **dict.fromkeys(["sweep", "report", "collect"], "results of a sweep, see running and report"),
    "run": "carried out by the workflow, which judges its runs",
    "dryrun": "prints the warnings of its ranks",
    "simulate": "assumes the times of a run it replays, in simulation.json",
    "cachesim": "counts, no times",
    "import": "times of another program",
    "anchor": "times of another program",
    "tender": "judges the runs of vendors, see the tests of tenders",
}


def words_of(tmp_path, spikemark, command, arguments, **wrong) -> str:
    """All that a command says of a run with something wrong."""
    folder = tmp_path / ("-".join(wrong) or "quiet")
    for name in ("run", "other"):
        write_run(folder / name, nodes=["a", "a"], delay_ratio=1, **{**LONG_ENOUGH, **wrong})
    scorep = folder / "scorep"
    if command == "scorep":
        shutil.copytree(folder / "run", scorep / "record")
        fake_scorep.write(load_run(folder / "run"), scorep)
    places = {"run": folder / "run", "other": folder / "other", "folder": scorep}
    words = [word.format(**places) for word in arguments]
    status, printed, remarks = spikemark(command, *words)
    assert status == 0, remarks
    if command == "export":
        return remarks
    return printed + remarks


@pytest.mark.parametrize(("judging", "wrong"), half_by_night([*JUDGING.items(), *FURTHER], WRONG))
@pytest.mark.slow
def test_it_is_said(tmp_path, spikemark, judging, wrong):
    command, arguments = judging
    assert not SAID.search(words_of(tmp_path, spikemark, command, arguments))
    assert SAID.search(words_of(tmp_path, spikemark, command, arguments, **WRONG[wrong]))


def test_every_command_is_one_of_them():
    known = {*JUDGING, *OTHERS}
    assert commands().keys() == known


@pytest.mark.parametrize("wrong", WRONG)
def test_a_run_has_a_caution_for_all_that_is_wrong(tmp_path, wrong):
    settings = {**LONG_ENOUGH, **WRONG[wrong]}
    assert len(load_run(write_run(tmp_path / "one", **settings)).cautions) == 1


def test_all_that_is_wrong_is_said_and_nothing_of_a_simulated_run(tmp_path):
    settings = dict(LONG_ENOUGH)
    for changes in WRONG.values():
        settings |= changes
    run = load_run(write_run(tmp_path / "all", **settings))
    assert len(run.cautions) == len(WRONG)
    simulated = replace(run, record=run.record.model_copy(update={"kind": "simulated"}))
    assert simulated.cautions == []
