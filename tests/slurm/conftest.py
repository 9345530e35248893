"""What the tests on Slurm share."""

import tempfile
from pathlib import Path

import private_slurm
import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(here):
            item.add_marker(pytest.mark.slurm)
            item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session")
def slurm():
    """A Slurm with four nodes of two cores each."""
    with (
        tempfile.TemporaryDirectory(prefix="slurm-") as folder,
        private_slurm.private_slurm(Path(folder)) as it,
    ):
        yield it
