"""A run that several commands are asked about."""

import pytest
from synthetic import write_run


@pytest.fixture(scope="module")
def conventional(tmp_path_factory):
    return str(write_run(tmp_path_factory.mktemp("run"), ranks=4, cycles=2000, ar1=0.5, rank_sd=0.02))
