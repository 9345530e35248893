"""Small MPI programs under SimGrid, on the platforms of simulated runs."""

import os
import subprocess
from pathlib import Path

from spikemark.running.simulation.platform import Platform

ROOT = Path(__file__).parents[3]
SUPPORT, MINIAPP = ROOT / "analysis/tests/support", ROOT / "miniapp"


def build(folder: Path, name: str, *more: str) -> Path:
    """Compile support/NAME.c with files of the mini-app; the program is in `folder`."""
    cost = folder / "message_cost.o"
    source = MINIAPP / "simulated/message_cost.cpp"
    subprocess.run(
        ["g++", "-O1", "-fPIC", "-DSMPI_HELPERS_H", "-c", source, "-o", cost], check=True
    )
    files = [SUPPORT / f"{name}.c", *(MINIAPP / file for file in more), cost]
    flags = ["-O1", "-DSPIKEMARK_SIMULATED", f"-I{MINIAPP}/src"]
    if "simulated/all_to_all.c" in more:
        flags += ["-include", str(MINIAPP / "simulated/all_to_all.h")]
    subprocess.run(["smpicc", *flags, *files, "-lstdc++", "-o", folder / name], check=True)
    return folder / name


def times(program: Path, built: Platform, *arguments: object) -> list[list[str]]:
    """The words after `time` in the lines that the program prints on all ranks of the platform."""
    folder = program.parent
    (folder / "platform.xml").write_text(built.xml)
    (folder / "hosts").write_text(built.hosts)
    where = ["-platform", "platform.xml", "-hostfile", "hosts", *built.flags]
    command = ["smpirun", "-np", str(built.hosts.count("\n")), *where]
    command += ["--cfg=smpi/simulate-computation:no", str(program), *map(str, arguments)]
    environment = {**os.environ, **built.environment}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600
    )
    rows = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("time ")]
    assert rows, done.stderr
    return rows
