"""Runs many commands of `spikemark` quickly: each in a fork of one process that has loaded what it needs.

A request is a line of JSON on standard input, {"arguments", "environment", "folder", "output", "errors",
"room"}. Two lines answer it, {"pid"} at the beginning and {"status"} at the end, negative for a signal.
"""

import contextlib
import gc
import importlib
import json
import os
import resource
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

LOADED = (
    "matplotlib.figure", "numpy", "pandas", "pyarrow.pandas_compat", "pyarrow.parquet", "scipy.sparse",
    "spikemark.cli.main", "spikemark.prediction.partition.methods", "spikemark.records.imported",
    "spikemark.report", "spikemark.running.dry_run.carry_out", "spikemark.running.measure",
    "spikemark.running.sweeps", "spikemark.tender.acceptance", "spikemark.tender.answering",
    "spikemark.tender.commitment", "spikemark.tender.new", "spikemark.tender.offers_page",
)  # fmt: skip
LIMIT_S = 300  # of a command
MOST_BYTES = 2**31  # that a process may write to of its own memory


class Server:
    """Takes commands; use it as a context manager. `environment` is added to that of this process."""

    def __init__(self, environment: dict[str, str]):
        self.process = subprocess.Popen(
            [sys.executable, "-P", __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment, "OPENBLAS_NUM_THREADS": "1"},
        )

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.process.wait()

    def start(
        self,
        arguments: list[str],
        environment: dict[str, str],
        folder: Path,
        said: Path,
        room: int | None = None,
    ) -> int:
        """Begins a command in a working folder; what it prints goes to the files `said`.out and `said`.err.

        `room`: bytes that a file may have at most. Returns its process.
        """
        asked = {
            "arguments": arguments,
            "environment": environment,
            "folder": str(folder),
            "output": f"{said}.out",
            "errors": f"{said}.err",
            "room": room,
        }
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())["pid"]

    def ended(self) -> int:
        """Waits for the end of the command; its exit status, negative for a signal."""
        return json.loads(self.process.stdout.readline())["status"]


def limit(room: int | None) -> None:
    """Lets no file of this process, and of those that it starts, become longer than so many bytes.

    None of them may take more memory than MOST_BYTES either, so that what a fault sets loose ends.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    if room is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))


def _command(asked: dict[str, Any]) -> None:
    """Becomes the command; returns in no other way than the command does."""
    os.setsid()
    signal.alarm(LIMIT_S)
    os.chdir(asked["folder"])
    for number, path in ((1, asked["output"]), (2, asked["errors"])):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, number)
        os.close(file)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    limit(asked["room"])
    os.environ.update(asked["environment"])
    sys.argv = ["spikemark", *asked["arguments"]]
    runpy.run_module("spikemark", run_name="__main__")


def main() -> None:
    """Answers requests until there are no more."""
    for name in LOADED:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # a command that ends would otherwise search, and so copy, all that was loaded
    while line := sys.stdin.readline():
        process = os.fork()
        if process == 0:
            _command(json.loads(line))
            return
        print(json.dumps({"pid": process}), flush=True)
        print(json.dumps({"status": os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])}), flush=True)


if __name__ == "__main__":
    main()
