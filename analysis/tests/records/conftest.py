"""A run that tests of its reader change."""

import pytest
from synthetic import write_run


@pytest.fixture
def run_dir(tmp_path):
    return write_run(tmp_path / "run", ranks=3, threads=2, cycles=100)
