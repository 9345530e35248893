"""An honest answer, made once, and the command line as bidders and buyers use it."""

import pytest
from command_line import answers_have_their_schema, refusal, spikemark  # noqa: F401
from shared import shared
from tender import offered


@pytest.fixture(scope="session")
def honest(tmp_path_factory):
    """The answer of an honest bidder, from real runs; nobody may change it."""
    return offered.Made(shared(tmp_path_factory, "honest", offered.write))


@pytest.fixture
def copy(honest, tmp_path):
    """A copy of it."""
    return honest.copy(tmp_path / "copy")
