"""Fixtures shared by all tests of the package."""

import os
from pathlib import Path

import pytest
from command_line import answers_have_their_schema, refusal, spikemark, undrawn  # noqa: F401
from hypothesis import settings

from spikemark import launch, machines
from spikemark.measuring import host

# The same examples in every run, however busy the machine; `--hypothesis-profile search` looks for
# others.
settings.register_profile("steady", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def made_up_host(monkeypatch):
    """In place of this host: one core, and a processor without a profile; no test is to depend on
    another.
    """
    monkeypatch.setattr(host, "CPUINFO", Path("/nowhere/cpuinfo"))
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0})


@pytest.fixture
def four_cores(monkeypatch):
    """A machine on which programs that are compared find four cores."""
    monkeypatch.setattr(launch, "available_cores", lambda: 4)


@pytest.fixture
def plant(tmp_path, monkeypatch):
    """Returns a function that makes a shell script stand in for a command of the system."""
    folder = tmp_path / "planted-commands"

    def command(name: str, body: str) -> None:
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
        if not os.environ["PATH"].startswith(f"{folder}{os.pathsep}"):
            monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    return command


@pytest.fixture
def data() -> Path:
    """Folder of the published check values."""
    return Path(__file__).parent / "data"


@pytest.fixture
def fake(monkeypatch):
    """In place of machine profiles and of SimGrid, see fake_simulation."""
    from fake_simulation import FakeSimulation

    from spikemark.running.simulation import run as simulation

    found = FakeSimulation()
    monkeypatch.setattr(machines, "load", found.load)
    monkeypatch.setattr(machines, "load_any", found.load)
    monkeypatch.setattr(machines, "filled", lambda profile: profile, raising=False)
    monkeypatch.setattr(simulation, "simulate", found.simulate)
    return found
