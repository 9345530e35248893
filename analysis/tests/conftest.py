"""Fixtures shared by all tests of the package."""

from pathlib import Path

import pytest

from spikemark import cli


@pytest.fixture
def data() -> Path:
    """Folder of the published check values."""
    return Path(__file__).parent / "data"


@pytest.fixture
def spikemark(capsys):
    """Runs the command line in this process: (status, output, errors)."""

    def run(*arguments) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            cli.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return run
