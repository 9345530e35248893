"""A folder of several runs or results is refused with a command that takes one of them."""

import shutil

import proposed
import pytest
from checkout import ROOT

from spikemark.records.run_files import runs_below

SWEEP = ROOT / "docs" / "notebooks" / "data" / "waiting" / "jureca-dc"
#: Commands that take one run, and those that take the results of one sweep.
OF_A_RUN = {
    "waiting": ["waiting", "FOLDER", "--details"],
    "energy": ["energy", "FOLDER"],
    "cachesim": ["cachesim", "FOLDER"],
    "scorep": ["scorep", "FOLDER"],
    "timeline": ["export", "FOLDER", "--format", "timeline"],
    "caliper": ["export", "FOLDER", "--format", "caliper"],
    "talp": ["export", "FOLDER", "--format", "talp"],
    "predict": ["predict", "FOLDER", "--machine", "jureca-dc"],
}
OF_A_SWEEP = {
    "report": ["report", "FOLDER"],
    "collect": ["collect", "FOLDER"],
    "csv": ["export", "FOLDER", "--format", "csv"],
    "figures": ["export", "FOLDER", "--format", "figures"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of one experiment on two machines; the name has a blank."""
    folder = tmp_path_factory.mktemp("several") / "my results"
    for machine in ("here", "there"):
        shutil.copytree(SWEEP, folder / "waiting" / machine)
    return folder


def proposal(spikemark, words: list[str], named) -> list[str]:
    """The word that the command at the end of a refusal has in place of the folder."""
    typed = [str(named) if word == "FOLDER" else word for word in words]
    status, _, error = spikemark(*typed)
    assert status == 2 and len(error.splitlines()) == 1, error
    (better,) = proposed.in_text(error)
    replaced = [new for old, new in zip(typed, better, strict=True) if old != new]
    assert len(replaced) == 1
    return replaced


@pytest.mark.parametrize("verb", OF_A_RUN)
@pytest.mark.parametrize("below", [".", "waiting", "waiting/there", "waiting/there/runs"])
def test_a_folder_of_several_runs_proposes_one(verb, below, folder, spikemark):
    (path,) = proposal(spikemark, OF_A_RUN[verb], folder / below)
    assert path in [str(run) for run in runs_below(folder / below)]


@pytest.mark.parametrize("verb", OF_A_SWEEP)
@pytest.mark.parametrize("below", [".", "waiting", "waiting/here/runs"])
def test_a_folder_of_several_results_proposes_one(verb, below, folder, spikemark):
    (path,) = proposal(spikemark, OF_A_SWEEP[verb], folder / below)
    assert path == str(folder / "waiting" / "here")


def test_what_is_proposed_works(folder, spikemark):
    (path,) = proposal(spikemark, OF_A_RUN["waiting"], folder)
    assert spikemark("waiting", path)[0] == 0
