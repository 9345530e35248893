"""The command line as tests use it: fixtures for every conftest.py that wants them."""

import pytest

from spikemark.cli import main


@pytest.fixture
def spikemark(capsys):
    """Runs the command line in this process: (status, output, errors)."""

    def run(*arguments) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main.main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return end.value.code, captured.out, captured.err

    return run


@pytest.fixture
def refusal(spikemark):
    """Runs a command line that is bad input: it prints nothing else than the one line that this returns."""

    def run(*arguments) -> str:
        status, output, errors = spikemark(*arguments)
        assert (status, output, errors.count("\n")) == (2, "", 1), errors
        assert errors.startswith("spikemark: ")
        return errors.removeprefix("spikemark: ").rstrip("\n")

    return run
