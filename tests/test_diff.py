"""Planted waits, from real runs to the answer: `diff` finds the phase, and tells what differs."""

import os
import subprocess

import program
import pytest

from spikemark.core.errors import BadInput
from spikemark.diff.compare import compare
from spikemark.diff.times import CYCLE
from spikemark.launch import mpirun
from spikemark.launch.layout import LaunchLayout, Nodes

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

WAIT_US = 300


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Records by what was set: nothing, a wait in every cycle, another seed, another exchange."""
    folder = tmp_path_factory.mktemp("runs")
    ways = {
        "plain": {},
        "waits": {"inject__mean_us": WAIT_US},
        "seed": {"seed": 2},
        "sent": {"exchange": "p2p"},
    }
    for name, fields in ways.items():
        wanted = {"schedule": "conventional", "time__simulate_ms": 100, **fields}
        program_line = [str(program.MINIAPP), str(program.EXAMPLE), "--out", str(folder / name)]
        start = mpirun.start(
            [*program_line, *program.sets(**wanted)], LaunchLayout(2), Nodes((2,), "this host")
        )
        subprocess.run(
            start.command, env=start.applied(os.environ), check=True, capture_output=True
        )
    return folder


def test_a_planted_wait_is_the_phase_that_differs(runs):
    made = compare(runs / "plain", runs / "waits")
    parts = made.setups[0].parts
    longer = parts["phase.inject"].difference_s
    assert longer >= 0.95e-6 * WAIT_US  # a wait may be longer, where other programs run
    assert parts["cause.computing"].difference_s > 0.5 * longer
    assert [field for field, *_ in made.differs] == ["inject.mean_us"]
    for prefix in ("phase.", "cause."):
        total = sum(part.difference_s for name, part in parts.items() if name.startswith(prefix))
        assert total == pytest.approx(parts[CYCLE].difference_s, rel=1e-4)


def test_another_network_is_refused_and_another_exchange_is_told(runs):
    with pytest.raises(BadInput, match=r"seed=2; .* has 1: only runs of one network"):
        compare(runs / "plain", runs / "seed")
    found = {field for field, *_ in compare(runs / "plain", runs / "sent").differs}
    assert "exchange" in found and any(field.startswith("lanes.") for field in found)
