"""`make try-slurm`: a private Slurm for a user, which ends with the shell."""

import signal
import subprocess
import sys

import private_slurm
import pytest
from checkout import ROOT, run


def test_a_shell_has_a_slurm_of_its_own_that_ends_with_it(tmp_path):
    command = "srun --nodes=2 hostname; scontrol show config | grep ^SLURM_CONF; exit 7"
    script = ROOT / "tests" / "slurm" / "private_slurm.py"
    done = run(sys.executable, script, "shell", "bash", "-c", command, timeout=120)
    assert done.returncode == 7, done.stderr
    welcome, _, printed = done.stdout.partition("Type exit")
    assert "salloc" in welcome
    *_, line = [line for line in printed.splitlines() if line]
    configuration = line.partition("= ")[2]
    assert "slurm-" in configuration
    gone = subprocess.run(["pgrep", "-f", configuration], capture_output=True, text=True)
    assert gone.stdout == "" and private_slurm.missing() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_slurm_ends_where_the_shell_is_ended_from_outside(number):
    command = "scontrol show config | grep ^SLURM_CONF; exec sleep 100"
    script = ROOT / "tests" / "slurm" / "private_slurm.py"
    words = [sys.executable, script, "shell", "bash", "-c", command]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        configuration = next(line for line in process.stdout if line.startswith("SLURM_CONF"))
        process.send_signal(number)
        assert process.wait(60) == 128 + number
    folder = configuration.partition("= ")[2].strip()
    gone = subprocess.run(["pgrep", "-f", folder], capture_output=True, text=True)
    assert gone.stdout == ""
