"""What the tests of comparisons share: a network, and few numbers of nodes."""

import pytest
from advised import MACHINE
from small_machine import OPTIONS

from spikemark import machines
from spikemark.prediction import asked


@pytest.fixture
def few(monkeypatch):
    """Comparisons try up to eight nodes."""
    monkeypatch.setattr("spikemark.prediction.compare.NODES", (1, 2, 4, 8))


@pytest.fixture
def network():
    """A network that a few nodes run in real time."""
    return asked.of_preset("mam-benchmark", options=list(OPTIONS))


@pytest.fixture
def large():
    """The same with ten times the neurons and synapses of each."""
    return asked.of_preset("mam-benchmark", options=["areas=8", "neurons_per_area=60000", "indegree=4000"])


@pytest.fixture
def known(monkeypatch):
    """One machine, `made-up`, which lacks nothing."""
    monkeypatch.setattr(machines, "load", {"made-up": MACHINE}.__getitem__)
    monkeypatch.setattr(machines, "load_any", {"made-up": MACHINE}.__getitem__)
    monkeypatch.setattr(machines, "filled", lambda profile: profile)
