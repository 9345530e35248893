"""What a results folder says of itself: the kind of its times, and where they come from."""

import pytest
from fake_simulation import simulated
from planned import grid, write_experiment

from spikemark.quantities.quantity import KINDS
from spikemark.records.cases import look
from spikemark.records.gather import gather


@pytest.mark.parametrize(
    ("kind", "where"), [("measured", "this machine"), ("simulated", "the simulated machine")]
)
def test_every_number_can_be_told_what_it_is(kind, where, tmp_path):
    folder = write_experiment(tmp_path, grid(ranks=(2,), ratios=(10,), seeds=(1,), cycles=100))
    view = look(gather(simulated(folder) if kind == "simulated" else folder))
    assert {view.kind, view.sweep.kind, view.case.kind, *(m.kind for m in view.sweep.runs)} == {kind}
    assert (view.where, kind in KINDS) == (where, True)
