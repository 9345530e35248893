"""What a shell offers while a command is typed, asked for as shells do: by variables of the
environment.
"""

import os
import subprocess
import sys

import pytest

from spikemark.cli.main import COMPLETION


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_the_command(shell):
    script = subprocess.run(
        [sys.executable, "-m", "spikemark"],
        env={**os.environ, COMPLETION: f"source_{shell}"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert f"{COMPLETION}=complete_{shell}" in script and "spikemark" in script
