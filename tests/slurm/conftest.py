"""What the tests on Slurm share. `make test` leaves them out where Slurm is not installed, and says so."""

import shutil
import tempfile
from pathlib import Path

import private_slurm
import pytest

HERE = Path(__file__).parent
#: Tests that need another program, and the Debian package that holds it.
NEEDED = {"test_jube.py": "jube"}
collect_ignore = [name for name, program in NEEDED.items() if shutil.which(program) is None]


def pytest_report_header() -> list[str]:
    return [f"left out: {name}: needs the package {NEEDED[name]}" for name in collect_ignore]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
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
