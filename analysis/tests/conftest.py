"""Fixtures shared by all tests of the package."""

from pathlib import Path

import pytest


@pytest.fixture
def data() -> Path:
    """Folder of the published check values."""
    return Path(__file__).parent / "data"
