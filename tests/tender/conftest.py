"""A bundle, and the command line as bidder and buyer use it."""

import os

import pytest
from command_line import refusal, spikemark  # noqa: F401
from tender.sheets import CHECKER

from spikemark.cli import main
from spikemark.prediction.life import Life
from spikemark.tender import bids_compared, bundle, check, received_bids

SMALL = ["--quick", "--commit", "HEAD", "--node-memory", "0.02", "--minimum", "0.1"]


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """A bundle whose runs take a tenth of a second."""
    folder = tmp_path_factory.mktemp("bundle") / "small"
    with pytest.raises(SystemExit) as end:
        main.main(["tender", "new", str(folder), *SMALL])
    assert end.value.code == 0
    return bundle.read(folder)


@pytest.fixture(autouse=True)
def as_root(monkeypatch):
    """Open MPI starts nothing for root unless told so."""
    if os.geteuid() == 0:
        monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
        monkeypatch.setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


@pytest.fixture
def checker(monkeypatch):
    """The checker says what stands in the file `verdict` of the answer."""
    monkeypatch.setattr(check, "text", lambda: CHECKER)


@pytest.fixture
def beside(tmp_path):
    """Sets made-up sheets side by side."""

    def make(*sheets, life=None, reach=1.0):
        paths = [sheet.write(tmp_path / f"answer{i}") for i, sheet in enumerate(sheets)]
        return bids_compared.beside(received_bids.read(paths, None), None, life or Life(), reach)

    return make
