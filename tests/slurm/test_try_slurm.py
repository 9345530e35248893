"""`make try-slurm`: a private Slurm for a user, which ends with the shell."""

import subprocess
import sys

import private_slurm
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
